import numpy as np
import pytest

from matrixdp.mechanisms.allocation import Binary
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Ball, IdentityQuery
from reproduction.mechanisms.mvg import MVG
from reproduction.theory import dimension


@pytest.fixture(scope="module")
def table():
    return dimension.dimension(0)


def slope(rows, column):
    """Return the exponent of m n over the last decade of entries."""
    last = rows[rows["entries"] >= rows["entries"].max() / 10]
    return np.polyfit(np.log(last["entries"]), np.log(last[column]), 1)[0]


@pytest.mark.parametrize(("zeta", "exponent"), [("literal", 5 / 4), ("sqrt", 3 / 4)])
def test_the_exponent_of_the_dimension(table, zeta, exponent):
    rows = table[table["case"].eq("entries") & table["zeta"].eq(zeta)]
    rows = rows.assign(bare=rows["beta"] / rows["harmonic"])
    assert slope(rows, "bare") == pytest.approx(exponent, abs=2e-3)
    # The standard deviation grows by (m n)^(1/4) more, and by the harmonic number.
    rows = rows.assign(bare=rows["mvg_std"] / rows["harmonic"])
    assert slope(rows, "bare") == pytest.approx(exponent + 1 / 4, abs=2e-3)
    assert rows["imgm_std"].nunique() == 1


def test_towards_epsilon_0_mvg_diverges_and_imgm_has_a_limit(table):
    rows = table[table["case"].eq("epsilon") & table["zeta"].eq("sqrt")].sort_values("epsilon")
    small = rows[rows["epsilon"] < 1e-4]
    assert (
        np.ptp(small["mvg_std"] * small["epsilon"])
        < 1e-3 * small["epsilon"].iloc[0] * (small["mvg_std"].iloc[0])
    )
    assert rows["imgm_std"].iloc[0] == pytest.approx(1 / gaussian.mu(0, 1e-5), rel=1e-3)
    assert (rows["mvg_std"] > rows["imgm_std"]).all()


def test_the_noise_is_the_mechanisms():
    # Zeroing a record of a ball of radius 1 has s2 = 1.
    query = IdentityQuery(Ball(radius=1.0, features=256), 150, "zero_out")
    release = MVG(allocation=Binary(), gamma=1.0).calibrate(query, epsilon=1, delta=1e-5)
    rows = dimension._rows("epsilon", "sqrt", (256, 150), 1.0)
    assert rows["mvg_std"].item() == pytest.approx(release.noise_std, rel=1e-12)
