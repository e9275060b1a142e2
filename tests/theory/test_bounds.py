import numpy as np
import pytest

from matrixdp.mechanisms import mvg
from matrixdp.theory import bounds


@pytest.fixture(scope="module")
def table():
    return bounds.bounds(0)


def test_the_threshold_of_r_is_12(table):
    rows = table[table["case"].eq("grid")].groupby("r")[["harmonic", "root_harmonic"]].first()
    limit = (2 * np.sqrt(2) - 1) * rows["harmonic"]
    assert rows.loc[12, "root_harmonic"] == pytest.approx(5.6112, abs=5e-5)
    assert limit[12] == pytest.approx(5.6740, abs=5e-5)
    assert rows.loc[13, "root_harmonic"] == pytest.approx(5.8885, abs=5e-5)
    assert limit[13] == pytest.approx(5.8146, abs=5e-5)
    above = rows["root_harmonic"] > limit
    assert not above[:12].any()
    assert above[12:].all()


def test_theorem_4_on_the_grid_and_that_its_conditions_are_needed(table):
    grid = table[table["case"].eq("grid")]
    larger = grid["phi_thm3"] >= grid["phi_thm2"]
    first, second = grid["ratio"] <= 1, (grid["r"] > 12) & (grid["ratio"] <= np.sqrt(2))
    assert larger[first | second].all()
    at_most = grid[~(first | second) & grid["ratio"].le(np.sqrt(2))]
    assert (at_most["phi_thm3"] < at_most["phi_thm2"]).any(), "up to r = 12 it may be smaller"
    assert (larger == (grid["alpha"] >= grid["omega"])).all()


def test_phi_solves_its_quadratic(table):
    for quadratic, phi in (("alpha", "phi_thm2"), ("omega", "phi_thm3")):
        left = table[quadratic] * table[phi] ** 2 + table["beta"] * table[phi]
        np.testing.assert_allclose(left, 2 * table["epsilon"], rtol=1e-12)


def test_experiment_ii_in_units_of_gamma(table):
    (row,) = table[table["case"].eq("experiment II")].itertuples()
    gamma = 4e4
    assert row.alpha * gamma**2 == pytest.approx(7.7897749e9, rel=1e-7)
    assert row.omega * gamma**2 == pytest.approx(2620545.1, rel=1e-7)
    assert row.beta * gamma == pytest.approx(502.18404, rel=1e-7)
    assert row.phi_thm2 / gamma == pytest.approx(1.599112e-5, rel=1e-6)
    assert row.phi_thm3 / gamma == pytest.approx(7.8303529e-4, rel=1e-7)


def test_kernel_matrices_meet_the_first_condition_from_8_records_on(table):
    rows = table[table["case"].eq("kernel matrix")].set_index("r")["ratio"]
    assert (rows[rows.index > 7] < 1).all()
    assert (rows[rows.index <= 7] > 1).all()


def test_coefficients_broadcast_and_the_literal_zeta_is_larger():
    gamma = np.array([1.0, 2.0])
    both = [mvg.coefficients((3, 5), gamma=gamma, s2=0.5, delta=1e-3, zeta=z) for z in mvg.ZETAS]
    np.testing.assert_array_equal(both[0].alpha, both[1].alpha)
    assert both[0].alpha.shape == (2,)
    assert (both[1].beta > both[0].beta).all()
