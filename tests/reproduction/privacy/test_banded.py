"""Noise correlated over steps: how far a record moves it, and how much of it prefix sums have."""

import itertools

import numpy as np
import pytest
from scipy.linalg import toeplitz

from reproduction.privacy import banded


def prefix_deviation(bands, steps):
    """Return the deviation of prefix sums of the noise over that of Z: root mean square over t."""
    column = np.cumsum(banded.inverse(bands, steps))
    return np.sqrt(np.cumsum(column**2).mean())


def strategy(bands, steps):
    """Return C, shape (steps, steps)."""
    column = np.zeros(steps)
    column[:bands] = banded.coefficients(bands)
    return toeplitz(column, np.zeros(steps))


def farthest(matrix, participations, apart):
    """Return how far a record moves C X, by trial of all its patterns.

    Entries are not negative, and so equal contributions of unit length are the worst ones.
    """
    steps = len(matrix)
    patterns = (
        pattern
        for pattern in itertools.combinations(range(steps), participations)
        if (np.diff(pattern) >= apart).all()
    )
    return max(np.linalg.norm(matrix[:, pattern].sum(axis=1)) for pattern in patterns)


@pytest.mark.parametrize(
    ("bands", "steps", "times"), [(1, 6, 3), (2, 9, 4), (3, 12, 3), (5, 15, 3)]
)
def test_a_record_moves_the_release_by_the_root_of_its_participations(bands, steps, times):
    matrix = strategy(bands, steps)
    found = farthest(matrix, times, bands)
    assert found == pytest.approx(np.sqrt(times), rel=1e-12)
    # Half a per cent less noise is not enough, and participations may not come closer.
    assert found / 0.995 > np.sqrt(times)
    if bands > 1:
        assert farthest(matrix, times, bands - 1) > 1.01 * np.sqrt(times)


def test_any_contributions_move_it_no_farther():
    stream = np.random.default_rng(0)
    matrix = strategy(4, 30)
    for _ in range(200):
        # Gaps of at least 4.
        pattern = np.arange(0, 20, 4) + np.sort(stream.integers(0, 11, 5))
        moved = np.zeros((30, 3))
        moved[pattern] = stream.standard_normal((5, 3))
        moved[pattern] /= np.linalg.norm(moved[pattern], axis=1, keepdims=True)
        assert np.linalg.norm(matrix @ moved) <= np.sqrt(5) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("bands", "steps", "first", "prefix"),
    [
        (4, 40, (0.81970483, 0.40985242, 0.30738931, 0.25615776), 2.7383137689640273),
        (64, 3200, (0.64700216, 0.32350108, 0.24262581, 0.20218818), 7.153836149196459),
        (6, 300, (0.78479991, 0.39239996, 0.29429997, 0.24524997), 5.900869355954252),
    ],
)
def test_strategies_are_those_of_another_library(bands, steps, first, prefix):
    """By jax-privacy 2.0.0: ``optimal_max_error_strategy_coefs``, scaled, ``per_query_error``.

    Its ``minsep_sensitivity_squared`` of these three, with 5, 50 and 50 participations, is 5, 50
    and 50.
    """
    np.testing.assert_allclose(banded.coefficients(bands)[:4], first, atol=1e-8)
    assert prefix_deviation(bands, steps) == pytest.approx(prefix, rel=1e-12)


@pytest.mark.parametrize("bands", [1, 2, 7])
def test_blocks_have_the_noise_of_all_steps_at_once(bands):
    steps, weights = 3 * bands, banded.block_weights(bands)
    draws = np.random.default_rng(0).normal(size=(steps, 4))
    blocks = [np.zeros((bands, 4))]
    for some in draws.reshape(3, bands, 4):
        blocks.append(weights @ np.concatenate([blocks[-1], some]))
    expected = np.linalg.solve(strategy(bands, steps), draws)
    np.testing.assert_allclose(np.concatenate(blocks[1:]), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("bands", [1, 2, 7])
def test_noise_of_steps_and_of_prefix_sums(bands):
    steps = 30
    noise = np.linalg.inv(strategy(bands, steps))
    np.testing.assert_allclose(banded.inverse(bands, steps), noise[:, 0], atol=1e-12)
    rms = np.sqrt((noise**2).sum(axis=1).mean())
    assert banded.step_deviation(bands, steps) == pytest.approx(rms, rel=1e-12)
    sums = np.tril(np.ones((steps, steps))) @ noise
    rms = np.sqrt((sums**2).sum(axis=1).mean())
    assert prefix_deviation(bands, steps) == pytest.approx(rms, rel=1e-12)


@pytest.mark.parametrize("epochs", [1, 2, 4, 50])
@pytest.mark.parametrize("lots", [2, 3, 6, 8, 23, 64])
def test_as_many_bands_as_lots_have_the_least_noise_on_prefix_sums(lots, epochs):
    fewer = (1, *range(2, lots, max(1, lots // 8)))
    best = min(prefix_deviation(bands, lots * epochs) for bands in fewer)
    assert prefix_deviation(lots, lots * epochs) < best * (1.015 if epochs == 1 else 1)
