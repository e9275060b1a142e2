import numpy as np
import pytest
from scipy.stats import multivariate_normal

from matrixdp.mechanisms.allocation import water_filling
from matrixdp.theory import filling
from matrixdp.theory.filling import SPECTRUM


@pytest.fixture(scope="module")
def table():
    return filling.filling(3)


@pytest.fixture(scope="module")
def gains(table):
    return table[table["kind"].eq("gain")].pivot(
        index="budget", columns="allocation", values="value"
    )


def values(table, kind, allocation):
    rows = table[table["kind"].eq(kind) & table["allocation"].eq(allocation)]
    return rows.set_index("budget")["value"].astype(float)


def test_water_filling_is_the_numerical_optimum_and_others_are_worse(gains):
    np.testing.assert_allclose(gains["numerical"], gains["water"], rtol=1e-7)
    assert (gains["water"] >= gains["equal"]).all()
    assert (gains["water"] > 1.5 * gains["equal"])[gains.index < 1].any()
    assert (gains["quadratic"] >= gains["water"]).all(), "its limit is the wider one"
    defined = gains["printed"].dropna()
    np.testing.assert_allclose(defined, gains.loc[defined.index, "water"], rtol=1e-12)


def test_the_conditions_of_optimality_hold_and_catch_another_allocation(table):
    assert values(table, "residual", "water").max() < 1e-12
    u = water_filling(SPECTRUM, 1.0)
    assert filling.optimality_residual(SPECTRUM, u) < 1e-12
    assert filling.optimality_residual(SPECTRUM, np.roll(u, 1)) > 0.1
    all_on_the_second = np.eye(6)[1] * 1e-6
    assert filling.optimality_residual(SPECTRUM, all_on_the_second) > 0.1


def test_the_printed_formula_goes_negative_below_its_threshold(table, gains):
    u = filling.printed_formula(SPECTRUM, np.array([6.793751e-9]))
    np.testing.assert_allclose(u, (0.183, 0.164, 0.107, 0.048, -0.114, -0.388), atol=1e-3)
    marks = table[table["kind"].eq("mark")].set_index("allocation")["budget"]
    assert marks["printed"] == pytest.approx(2.3306, abs=1e-4)
    assert marks["mvg"] == pytest.approx((3.2709036e-4) ** 2 / np.sqrt(248), rel=1e-6)
    assert marks["exact"] == pytest.approx(0.4620580646**2 / 4, rel=1e-9)
    assert gains["printed"].isna().eq(gains.index < marks["printed"]).all()


def test_the_gain_is_twice_the_mutual_information(table, gains):
    np.testing.assert_allclose(
        values(table, "information", "determinants"), gains["water"], rtol=1e-4, atol=1e-12
    )
    rows = table[table["kind"].eq("information") & table["allocation"].eq("sampled")]
    for row in rows.itertuples():
        expected = filling.gain(SPECTRUM, water_filling(SPECTRUM, row.budget))
        assert abs(row.value - expected) < 4 * row.standard_error
        # The statistic would see one tenth more or less.
        assert 4 * row.standard_error < 0.1 * expected


def test_joint_information_against_entropies_of_scipy():
    u = np.array([0.5, 0.2, 0.1, 0.0, 0.0, 0.0])
    kept = u > 0
    noisy = multivariate_normal(cov=np.diag(SPECTRUM[kept] + 1 / u[kept])).entropy()
    alone = multivariate_normal(cov=np.diag(1 / u[kept])).entropy()
    assert filling.joint_information(SPECTRUM, u) == pytest.approx(2 * (noisy - alone), rel=1e-12)
