import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from mechanismqueries import LIVER, budget

from matrixdp.privacy.sensitivity import SecondMomentQuery
from reproduction.mechanisms.allocation import (
    Binary,
    MaxPNR,
    Shares,
    printed_formula,
    quadratic_filling,
    water_filling,
)
from reproduction.mechanisms.directions import PrivateDirections

#: Eigenvalues of X X^T of the Liver data, and the precision that MVG may spend on them.
LIVER_SPECTRUM = np.array([20.2, 14.6, 7.98, 5.42, 2.88, 1.61])
LIVER_BUDGET = (3.2709036e-4) ** 2 / np.sqrt(248)

spectra = arrays(float, st.integers(1, 8), elements=st.floats(1e-6, 1e6)).map(
    lambda values: np.sort(values)[::-1]
)
budgets = st.floats(1e-12, 1e6)


@pytest.mark.parametrize(
    ("allocation", "features", "expected"),
    [
        (Shares(), 4, (0.25,) * 4),
        (Shares((0.5, 0.3, 0.2)), 3, (0.5, 0.3, 0.2)),
        (Binary((0, 3), 0.75), 4, (0.375, 0.125, 0.125, 0.375)),
        (Binary((1,), 0.9), 3, (0.05, 0.9, 0.05)),
        (Binary((), 0.9), 3, (1 / 3,) * 3),
    ],
)
def test_shares(allocation, features, expected):
    np.testing.assert_allclose(allocation.resolve(features), expected)
    np.testing.assert_allclose(allocation.precisions(3.0, features, None), 3 * np.sqrt(expected))


@given(spectra, budgets)
@settings(max_examples=200, deadline=None)
def test_water_filling_satisfies_its_optimality_conditions(eigenvalues, total):
    """Filled directions share one level u + 1 / lambda, and the others lie above it."""
    u = water_filling(eigenvalues, total)
    assert (u >= 0).all()
    assert u.sum() == pytest.approx(total, rel=1e-12)
    floors, filled = 1 / eigenvalues, u > 0
    assert filled[0]
    level = (u + floors)[filled]
    noise = 1e-12 * (level.max() + floors[filled].max())
    assert np.ptp(level) <= noise
    assert (floors[~filled] >= level.max() - noise).all()


@given(spectra, budgets)
@settings(max_examples=200, deadline=None)
def test_quadratic_filling_satisfies_its_optimality_conditions(eigenvalues, norm):
    """The gradient lambda / (1 + lambda u) is parallel to u, on the sphere."""
    u = quadratic_filling(eigenvalues, norm)
    assert (u > 0).all()
    assert norm * (1 - 1e-9) <= np.linalg.norm(u) <= norm * (1 + 1e-12)
    ratio = eigenvalues / (1 + eigenvalues * u) / u
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_the_printed_closed_form_is_negative_at_the_papers_parameters():
    """Eq. (25) takes the water level over all directions, filled or not."""
    printed = printed_formula(LIVER_SPECTRUM, LIVER_BUDGET)
    np.testing.assert_allclose(printed, (0.183, 0.164, 0.107, 0.048, -0.114, -0.388), atol=1.5e-3)
    u = water_filling(LIVER_SPECTRUM, LIVER_BUDGET)
    assert u.tolist() == [LIVER_BUDGET, 0, 0, 0, 0, 0]
    assert (quadratic_filling(LIVER_SPECTRUM, LIVER_BUDGET) > 0).all()


def test_fillings_work_on_stacks_of_spectra():
    stack = np.sort(np.random.default_rng(0).uniform(0.1, 10, (50, 6)), axis=1)[:, ::-1]
    for fill in (water_filling, quadratic_filling):
        together, alone = fill(stack, 0.5), [fill(spectrum, 0.5) for spectrum in stack]
        np.testing.assert_allclose(together, alone, rtol=1e-12)
    np.testing.assert_allclose(MaxPNR().precisions(0.5, 6, stack), water_filling(stack, 0.5))


class TestPrivateDirections:
    def test_the_papers_share_needs_this_noise_on_the_second_moments(self):
        release = PrivateDirections().calibrate(LIVER, **budget(LIVER))
        assert release.noise_std == pytest.approx(0.24764, rel=1e-4)
        assert (release.epsilon, release.delta) == (0.2, 0.2 / 248)
        assert release.query == SecondMomentQuery(LIVER.domain, 248)

    def test_directions_diagonalise_what_was_released_and_nothing_else(self):
        private = PrivateDirections()
        moments = private.calibrate(LIVER, **budget(LIVER))
        x = np.random.default_rng(3).uniform(-1, 1, (40, 6, 248))
        noisy = moments.simulate(x @ x.swapaxes(1, 2) / 248, np.random.default_rng(0), 40)
        directions, spectrum = private.of(noisy, 248)
        eigenvalues = np.einsum("tik,tij,tjk->tk", directions, 248 * noisy, directions)
        np.testing.assert_allclose(
            directions.swapaxes(1, 2) @ directions,
            np.broadcast_to(np.eye(6), (40, 6, 6)),
            atol=1e-12,
        )
        largest = np.abs(eigenvalues).max(axis=1, keepdims=True)
        np.testing.assert_allclose(spectrum, np.maximum(eigenvalues, 1e-9 * largest), rtol=1e-6)
        assert (np.diff(spectrum) <= 0).all()
        assert (spectrum > 0).all()
        assert (eigenvalues < 0).any()

    def test_no_noise_gives_the_exact_spectrum(self):
        """An enormous budget stands in for none."""
        private = PrivateDirections()
        moments = private.calibrate(LIVER, epsilon=1e9, delta=0.1)
        x = np.random.default_rng(3).uniform(-1, 1, (6, 248)) * np.linspace(1, 0.1, 6)[:, None]
        _, spectrum = private.of(moments.simulate(x @ x.T / 248, np.random.default_rng(0), 1), 248)
        np.testing.assert_allclose(spectrum[0], np.linalg.svd(x)[1] ** 2, rtol=1e-2)


@pytest.mark.parametrize("norm", ["l1", "l2", "printed"])
def test_without_an_unfilled_direction_precisions_are_equal_or_those_of_the_theorem(norm):
    scarce, ample = LIVER_BUDGET, 5.0
    stack = np.stack([LIVER_SPECTRUM, np.ones(6)])
    for budget_ in (scarce, ample):
        plain = MaxPNR(norm).precisions(budget_, 6, stack)
        found = MaxPNR(norm, unfilled="equal").precisions(budget_, 6, stack)
        full = (plain > 0).all(axis=1)
        assert full.tolist() == [norm == "l2" or budget_ == ample, True]
        np.testing.assert_allclose(found[full], plain[full])
        np.testing.assert_allclose(found[~full], budget_ / 6)
