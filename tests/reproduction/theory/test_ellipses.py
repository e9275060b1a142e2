import numpy as np
import pytest

from matrixdp.privacy import gaussian_dp
from reproduction.mechanisms.mvg import MVG
from reproduction.theory import ellipses
from reproduction.theory.ellipses import DATA, DIRECTIONS, MOMENTS


@pytest.fixture(scope="module")
def table():
    return ellipses.ellipses(4)


def points(table, panel, noise, role):
    chosen = table["panel"].eq(panel) & table["noise"].eq(noise) & table["role"].eq(role)
    return table[chosen][["x", "y"]].to_numpy()


def distribution(shares, scale):
    return DIRECTIONS @ np.diag(scale / np.sqrt(shares)) @ DIRECTIONS.T


def test_covariances_are_those_of_algorithms_1_and_2(table):
    directional, equal = np.array([0.95, 0.05]), np.array([0.5, 0.5])
    phi = MVG().precision_budget(DATA, epsilon=1, delta=1 / 200)
    unimodal = np.sqrt(200) / phi**2
    for panel, noise, shares in (
        ("left", "mvg_directional", directional),
        ("middle", "mvg_directional", directional),
        ("middle", "mvg_iid", equal),
    ):
        expected = distribution(shares, unimodal)
        close = 0.03 * np.abs(expected).max()
        np.testing.assert_allclose(
            points(table, panel, noise, "covariance"), expected, rtol=0, atol=close
        )
    for theorem in (2, 3):
        phi = MVG(theorem).precision_budget(MOMENTS, epsilon=1, delta=1 / 100)
        sigma = distribution(directional, 1 / phi)
        found = points(table, "right", f"mvg_thm{theorem}", "covariance")
        np.testing.assert_allclose(found, sigma * sigma[0, 0], rtol=0, atol=0.03 * found.max())


def test_ellipses_hold_95_percent_and_axes_are_the_directions(table):
    for (panel, noise), part in table[table["noise"].ne("none")].groupby(["panel", "noise"]):
        covariance = points(part, panel, noise, "covariance")
        samples = points(part, panel, noise, "sample")
        assert len(samples) == ellipses.POINTS
        distances = np.einsum("ki,ij,kj->k", samples, np.linalg.inv(covariance), samples)
        assert 0.9 < (distances < 5.9915).mean() < 0.99
        contour = points(part, panel, noise, "contour")
        np.testing.assert_allclose(contour[0], contour[-1], atol=1e-9 * np.abs(contour).max())
        squares = np.einsum("ki,ij,kj->k", contour, np.linalg.inv(covariance), contour)
        np.testing.assert_allclose(squares, 5.9915, rtol=1e-4)
        longer, shorter = points(part, panel, noise, "axis")
        assert np.linalg.norm(longer) >= np.linalg.norm(shorter)
        assert longer @ shorter == pytest.approx(0, abs=1e-6 * (longer @ longer))
    longer, _ = points(table, "left", "mvg_directional", "axis")
    assert abs(longer @ DIRECTIONS[:, 1]) > 0.999 * np.linalg.norm(longer)


def test_no_noise_along_the_utility_direction_is_below_what_privacy_needs(table):
    ((x, y),) = points(table, "middle", "none", "utility")
    needed = 2 * (abs(x) + abs(y)) / gaussian_dp.mu(1, 1 / 200)
    unit = np.array([x, y])
    for noise in ("mvg_iid", "mvg_directional", "exact_iid", "exact_directional"):
        found = np.sqrt(unit @ points(table, "middle", noise, "covariance") @ unit)
        assert found > 0.99 * needed
        if noise.startswith("exact"):
            assert found < 1.03 * needed, "the exact ones come near"
