import numpy as np
import pytest

from matrixdp.theory import multipliers


@pytest.fixture(scope="module")
def table():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multipliers, "SAMPLED_RELEASES", np.array([1, 32, 3162]))
        return multipliers.compositions(0)


def test_theorem_4_is_exact_and_grows_as_the_root(table):
    rows = table[table["accountant"].eq("theorem_4") & ~table["sampled"]]
    for _, group in rows.groupby("epsilon"):
        ratio = group["multiplier"] / np.sqrt(group["releases"])
        assert np.ptp(ratio) < 1e-9
        np.testing.assert_allclose(group["epsilon_actual"], group["epsilon"], rtol=1e-9)


@pytest.mark.parametrize("sampled", [False, True])
def test_accountants_are_private_and_in_order(table, sampled):
    rows = table[table["sampled"].eq(sampled)]
    private = rows[~rows["accountant"].eq("linear")]
    assert (private["epsilon_actual"] <= private["epsilon"] * (1 + 1e-9)).all()
    z = rows.pivot_table(
        index=["epsilon", "releases"], columns="accountant", values="multiplier", sort=False
    )
    assert (z["pld"] <= z["rdp"]).all()
    assert (z["pld"] <= z["kov_3.3_analytic"] * (1 + 1e-6)).all()
    assert (z["kov_3.3_analytic"] <= z["kov_3.4_analytic"] * (1 + 1e-9)).all()
    assert (z["kov_3.4_analytic"] <= z["kov_3.4_classical"]).all()
    assert (z["kov_3.4_analytic"] <= z["naive"] * (1 + 1e-9)).all()


def test_the_papers_amplification_is_wrong_and_less_so_over_many_steps(table):
    rows = table[table["accountant"].eq("linear")]
    excess = rows.assign(excess=rows["epsilon_actual"] / rows["epsilon"])
    first = excess[excess["releases"].eq(1)]["excess"]
    last = excess[excess["releases"].eq(3162)]["excess"]
    assert (excess["excess"] > 1).all()
    assert (first > 40).all()
    assert (last < 1.05).all()
