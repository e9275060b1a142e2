"""Known ways to get privacy wrong; each names the tool that must catch it, and the tool does."""

from dataclasses import replace

import numpy as np
import pytest

from matrixdp import laws
from matrixdp.checks import InputError
from matrixdp.mechanisms.allocation import Binary, Shares
from matrixdp.mechanisms.base import NoGuarantee
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import IMGM, Gaussian
from matrixdp.mechanisms.mvg import MVG
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Ball, Box, IdentityQuery, SecondMomentQuery
from mechanisms.support import LIVER, budget, scale_is_right, streams


@pytest.mark.parametrize(
    ("calibration", "constant", "real"), [("2014", 1.25, 2.265e-5), ("2006", 2, 1.364e-5)]
)
def test_the_constructor_and_the_exact_curve_catch_the_classical_gaussian_at_epsilon_10(
    calibration, constant, real
):
    epsilon, delta = 10, 1e-5
    sigma = np.sqrt(2 * np.log(constant / delta)) / epsilon
    assert gaussian.delta(epsilon, 1 / sigma) == pytest.approx(real, rel=1e-3)
    with pytest.raises(NoGuarantee, match=f"delta {real:.3g}".replace("+", r"\+")):
        Gaussian(calibration).calibrate(LIVER, epsilon=epsilon, delta=delta)


def test_the_sensitivity_search_catches_entrywise_laplace_with_2_sqrt_p():
    """Published code for unit-norm records perturbs x x^T as if 2 sqrt(p) were its l1 norm."""
    p = 20
    x = np.random.default_rng(0).standard_normal((1000, p))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    found = np.abs(x[:, :, None] * x[:, None, :]).sum(axis=(1, 2)).max()
    assert found > 1.5 * 2 * np.sqrt(p)
    assert found <= SecondMomentQuery(Ball(1, p), 1, "zero_out").l1 == p


def test_the_constructor_catches_shares_that_sum_to_more_than_one():
    with pytest.raises(InputError, match="the shares must sum to 1"):
        Shares((0.75, 0.75))


@pytest.mark.parametrize("rotated", [False, True])
def test_exact_mu_catches_directional_noise_that_is_a_tenth_too_small(rotated):
    query = IdentityQuery(Box.cube(4, -1, 1), 50)
    basis = np.linalg.qr(np.vander(np.arange(1.0, 5)))[0] if rotated else None
    release = DirectionalGaussian(Binary((0,), 0.75), directions=basis).calibrate(
        query, epsilon=1, delta=0.01
    )
    factor = 0.9 * release.noise.row_factor
    variances = factor**2 if basis is None else np.diag(basis.T @ factor @ factor.T @ basis)
    mu = query.directional_mu(variances, basis)
    assert mu.exact
    assert gaussian.epsilon(0.01, mu.value) > 1.1


def sampled_squares(release, deviations):
    """Sum of squares of the noise after dividing each feature's by its declared deviation."""
    value = np.zeros(LIVER.shape)
    return (((release.sample(value, streams(1000))) / deviations) ** 2).sum()


@pytest.mark.parametrize("kind", ["inverted", "variance as deviation", "deviation 1 % small"])
def test_the_chi_square_test_catches_a_wrong_scale(kind):
    numbers = 1000 * 6 * 248
    release = MVG(allocation=Binary((0, 5), 0.75)).calibrate(LIVER, **budget(LIVER))
    deviations = release.noise.row_factor
    wrong = {
        "inverted": 1 / deviations,
        "variance as deviation": deviations**2,
        "deviation 1 % small": 0.99 * deviations,
    }[kind]
    bad = replace(release, noise=laws.MatrixNormal(LIVER.shape, wrong))
    assert scale_is_right(sampled_squares(release, deviations[:, None]), numbers)
    assert not scale_is_right(sampled_squares(bad, deviations[:, None]), numbers)


@pytest.mark.parametrize(
    ("nominal", "sigma", "real"), [(0.1, 10.137, 12.65), (0.5, 3.3377, 57.4), (1, 2.1718, 110.9)]
)
def test_the_exact_curve_catches_amplification_of_a_release_of_all_records(nominal, sigma, real):
    """IMGM's second experiment calibrates to (epsilon / q, delta / q) and publishes everything."""
    query, q = IdentityQuery(Box.cube(150, -1, 1), 256), 256 / 25000
    release = IMGM().calibrate(query, epsilon=nominal / q, delta=1e-5 / q)
    assert release.noise_std == pytest.approx(sigma, rel=1e-4)
    assert gaussian.epsilon(1e-5, release.mu) == pytest.approx(real, rel=1e-3)


def test_the_exact_curve_catches_noise_divided_by_the_root_of_the_batch():
    release = IMGM().calibrate(LIVER, epsilon=0.1, delta=1e-5)
    assert gaussian.epsilon(1e-5, release.mu * np.sqrt(256)) > 20 * release.epsilon
