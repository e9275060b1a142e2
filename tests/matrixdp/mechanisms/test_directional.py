import numpy as np
import pytest
from mechanismqueries import CTG, LIVER, MOVEMENT, budget

from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Ball, RecordsQuery, SecondMomentQuery

FIXED = {"epsilon": 1, "delta": 1e-3}


def shares(query, important, tau):
    """Return the shares of MVG's binary allocation: tau for important directions together."""
    theta = np.full(query.features, (1 - tau) / (query.features - len(important)))
    theta[list(important)] = tau / len(important)
    return tuple(theta)


def variances_of(release):
    """Return the variance along each direction; of symmetric noise that of its factor."""
    size = release.noise.size
    return np.diag(size) if release.noise.symmetric else size[:, 0] ** 2


@pytest.mark.parametrize(
    ("query", "important", "tau", "of_important", "of_others"),
    [
        (LIVER, (0, 5), 0.75, 7.0683, 17.314),
        (LIVER, (0, 5), 0.95, 6.2804, 38.715),
        (LIVER, (0, 5), 0.55, 8.254, 12.905),
        (CTG, (0, 7, 9), 0.75, 5.5665, 23.617),
        (CTG, (0, 7, 9), 0.95, 4.946, 52.808),
    ],
)
def test_noise_of_the_papers_identity_queries(query, important, tau, of_important, of_others):
    release = DirectionalGaussian(shares(query, important, tau)).calibrate(query, **budget(query))
    deviations = np.sqrt(variances_of(release))
    important = list(important)
    np.testing.assert_allclose(deviations[important], of_important, rtol=1e-4)
    np.testing.assert_allclose(np.delete(deviations, important), of_others, rtol=1e-4)
    assert release.noise_std == pytest.approx(np.sqrt(np.mean(deviations**2)))


@pytest.mark.parametrize(
    ("tau", "both", "one", "neither"),
    [(0.75, 11.822, 20.477, 35.467), (0.5, 17.7336, 17.7336, 17.7336)],
)
def test_noise_of_the_papers_second_moments(tau, both, one, neither):
    """Standard deviations before the noise is symmetrised."""
    release = DirectionalGaussian(shares(MOVEMENT, (0, 3), tau)).calibrate(
        MOVEMENT, **budget(MOVEMENT)
    )
    t = variances_of(release)
    entries = np.sqrt(np.outer(t, t))
    np.testing.assert_allclose(entries[[0, 0], [0, 3]], both, rtol=1e-4)
    np.testing.assert_allclose(entries[[0, 3], [1, 2]], one, rtol=1e-4)
    np.testing.assert_allclose(entries[[1, 1], [1, 2]], neither, rtol=1e-4)
    off = ~np.eye(4, dtype=bool)
    symmetrised = np.where(off, entries / np.sqrt(2), entries)
    assert release.noise_std == pytest.approx(np.sqrt(np.mean(symmetrised**2)))
    assert release.tight


@pytest.mark.parametrize(
    ("tau", "factor"), [(0.55, 1.4071247), (0.75, 1.2247449), (0.95, 1.0013922)]
)
def test_noise_along_one_direction_is_no_larger_than_what_a_record_can_change(tau, factor):
    """Factor variance k c^2 / (n B theta): no sign vectors split such shares, so k < sqrt(2)."""
    given = budget(MOVEMENT)
    release = DirectionalGaussian(shares(MOVEMENT, (0,), tau)).calibrate(MOVEMENT, **given)
    unit = 1e4 / MOVEMENT.n_records / gaussian_dp.mu(given["epsilon"], given["delta"])
    theta = np.array([tau, *[(1 - tau) / 3] * 3])
    np.testing.assert_allclose(variances_of(release), factor * unit / theta, rtol=1e-7)
    assert release.tight


def test_equal_shares_on_a_square_are_the_gaussian_orthogonal_ensemble():
    release = DirectionalGaussian().calibrate(MOVEMENT, **budget(MOVEMENT))
    expected = Gaussian().calibrate(MOVEMENT, **budget(MOVEMENT))
    assert release.noise_std == pytest.approx(expected.noise_std)


@pytest.mark.parametrize("kind", [RecordsQuery, SecondMomentQuery])
@pytest.mark.parametrize("adjacency", ["replace", "zero_out"])
def test_weights_do_not_help_in_a_ball(kind, adjacency):
    query = kind(Ball(2, 3), 10, adjacency)
    release = DirectionalGaussian(weights=(1, 10, 100)).calibrate(query, **FIXED)
    variances = variances_of(release)
    np.testing.assert_allclose(variances, variances[0])
    iid = Gaussian().calibrate(query, **FIXED).noise.size[0, 0]
    assert np.sqrt(variances[0]) == pytest.approx(iid if kind is RecordsQuery else np.sqrt(iid))
