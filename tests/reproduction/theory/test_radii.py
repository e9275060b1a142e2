import numpy as np
import pytest
from scipy import stats

from reproduction.theory import radii


def draws(d, k, count, seed=0):
    """Directions from scratch, radii of Gamma(k), in units of 1 / lambda; shape (count, d)."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, d))
    return z * (rng.standard_gamma(k, count) / np.linalg.norm(z, axis=1))[:, None]


@pytest.mark.parametrize(
    ("d", "expected"), [(2, 0.3532), (6, 0.6682), (24, 0.8837), (1488, 0.99996)]
)
def test_the_exponential_radius_is_not_private_and_the_right_one_is(d, expected):
    assert radii.delta(1.0, d, 1) == pytest.approx(expected, abs=6e-5)
    assert radii.delta(1.0, d, d) == 0
    assert radii.delta(0.9, 2, 2) > 0, "and no more private than it says"


@pytest.mark.parametrize(
    ("d", "k", "epsilon"), [(2, 1, 1.0), (6, 1, 3.0), (2, 2, 0.4), (6, 6, 0.2)]
)
def test_delta_against_the_loss_of_draws(d, k, epsilon):
    z = draws(d, k, 400_000)
    r, other = np.linalg.norm(z, axis=1), np.linalg.norm(z - np.eye(d)[0], axis=1)
    loss = (d - k) * np.log(other / r) + other - r
    share = np.maximum(-np.expm1(epsilon - loss), 0)
    error = share.std() / np.sqrt(len(share))
    assert radii.delta(epsilon, d, k) == pytest.approx(share.mean(), abs=4 * error)
    assert 4 * error < 0.1 * share.mean()


def test_delta_falls_with_epsilon():
    for d, k in ((2, 1), (24, 1), (24, 24)):
        curve = [radii.delta(epsilon, d, k) for epsilon in np.geomspace(0.01, 300, 61)]
        assert (np.diff(curve) <= 2e-4).all()
        assert curve[0] > 0.05
        assert curve[-1] < 1e-3


def test_the_mechanism_has_a_gamma_radius_and_lambda_n_epsilon_over_sqrt_d():
    d, count = 6, 20_000
    noise = radii.vectors(d, count, np.random.default_rng(5))
    radius = np.linalg.norm(noise, axis=0) / np.sqrt(d)
    assert stats.kstest(radius, stats.gamma(d).cdf).pvalue > 1e-3
    assert stats.kstest(radius, stats.expon.cdf).pvalue < 1e-99
    assert stats.kstest(1.03 * radius, stats.gamma(d).cdf).pvalue < 1e-3
