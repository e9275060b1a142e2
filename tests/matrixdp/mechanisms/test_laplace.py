import numpy as np
import pytest
from exactness import same_copies
from mechanismqueries import CTG, LIVER, MOVEMENT, one_stream, streams
from scipy import stats

from matrixdp.mechanisms.laplace import Laplace
from matrixdp.privacy.sensitivity import Ball, Box, IdentityQuery, SecondMomentQuery


@pytest.mark.parametrize(
    ("query", "epsilon", "scale", "kind"),
    [
        (LIVER, 1, 12, "matrix"),
        (CTG, 1, 21, "matrix"),
        (CTG, 0.1, 210, "matrix"),
        (MOVEMENT, 1, 9.827044, "second_moments"),
        (IdentityQuery(Ball(1, 4), 10, "zero_out"), 1, 2, "matrix"),
        # l1 over the triangle: half of sqrt(2) m over all entries and 2 on the diagonal
        (SecondMomentQuery(Ball(1, 4), 10), 1, (4 * np.sqrt(2) + 2) / 20, "second_moments"),
    ],
)
def test_scales(query, epsilon, scale, kind):
    release = Laplace().calibrate(query, epsilon=epsilon)
    assert release.noise_std == pytest.approx(np.sqrt(2) * scale, rel=1e-6)
    assert (release.epsilon_delivered, release.delta, release.mu) == (epsilon, 0, None)
    assert release.output_type == kind


def assert_laplace(sample, scale):
    """The sum of N absolute values is Gamma(N); 1.4e6 of them show a scale 0.5 % off."""
    for factor, right in ((1, True), (0.995, False), (1.005, False)):
        p = stats.gamma.cdf(np.abs(sample).sum() * factor / scale, sample.size)
        assert (5e-5 < p < 1 - 5e-5) == right
    assert stats.kstest(sample.ravel()[:100_000], stats.laplace(scale=scale).cdf).pvalue > 1e-3


def test_the_noise_on_a_matrix():
    value = np.random.default_rng(5).uniform(-1, 1, LIVER.shape)
    noisy = Laplace().calibrate(LIVER, epsilon=1).simulate(value, streams(1000))
    assert_laplace(noisy - value, 12)


def test_the_noise_on_second_moments_is_symmetric_and_independent_above_the_diagonal():
    m = 20
    query = SecondMomentQuery(Box.cube(m, -1, 1), 100)
    noisy = Laplace().calibrate(query, epsilon=1).simulate(np.eye(m), one_stream(7000))
    noise = noisy - np.eye(m)
    assert same_copies(noise, noise.swapaxes(1, 2))
    upper = noise[:, *np.triu_indices(m)]
    assert_laplace(upper, 20 * 21 / 2 / 100)
    correlations = np.corrcoef(upper.T) - np.eye(m * (m + 1) // 2)
    assert np.abs(correlations).max() < 6 / np.sqrt(len(upper))
