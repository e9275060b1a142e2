"""Clipped second moments, with a radius that is public, chosen, or searched for."""

import numpy as np
from exactness import same_copies, same_integers
from mechanismqueries import (
    LIVER_MOMENTS,
    radii,
    records,
)
from scipy import special, stats

from matrixdp.mechanisms.clipped import (
    PrivatelyClipped,
    clipped,
    shells,
)
from matrixdp.mechanisms.programs import Columns, drawing


def test_clipping_keeps_directions_and_short_records():
    query = clipped(LIVER_MOMENTS, 1 / 16)
    found = records(LIVER_MOMENTS)
    kept = query.domain.clip(found)
    norms = np.linalg.norm(found, axis=0)
    short = norms <= query.domain.radius
    assert 0 < short.sum() < 248
    assert same_copies(kept[:, short], found[:, short])
    np.testing.assert_allclose(np.linalg.norm(kept[:, ~short], axis=0), query.domain.radius)
    cosines = (kept * found).sum(axis=0) / np.linalg.norm(kept, axis=0) / norms
    np.testing.assert_allclose(cosines, 1)
    assert same_copies(query.domain.clip(np.zeros((6, 1))), np.zeros((6, 1)))
    np.testing.assert_allclose(query.value(found), kept @ kept.T / 248, rtol=1e-12)


def test_pure_privacy_is_gaussian_privacy_at_all_points_of_its_curve():
    """Type II errors of a test at level a: (epsilon, 0) allows no fewer than mu does."""
    for mu in (0.01, 0.3, 2.0, 8.0):
        epsilon = special.log_ndtr(mu / 2) - special.log_ndtr(-mu / 2)
        a = np.append(np.linspace(1e-6, 1 - 1e-6, 10_001), stats.norm.cdf(-mu / 2))
        pure = np.maximum(1 - np.exp(epsilon) * a, np.exp(-epsilon) * (1 - a))
        shifted = stats.norm.cdf(-stats.norm.ppf(a) - mu)
        assert (pure >= shifted - 1e-12).all()
        looser = np.maximum(1 - np.exp(1.01 * epsilon) * a, np.exp(-1.01 * epsilon) * (1 - a))
        assert (looser < shifted * (1 - 1e-6)).any()


def test_shells_count_squared_norms_and_neighbours_move_two():
    squares = np.array([1.0, 0.51, 0.49, 0.2, 0.01, 0.0])
    assert same_integers(shells(2 * np.sqrt(squares)[None], 2.0, 4), [2, 1, 1, 2])
    stack = np.stack([records(LIVER_MOMENTS), records(LIVER_MOMENTS, seed=1)])
    assert same_integers(
        shells(stack, np.sqrt(6), 9), [shells(one, np.sqrt(6), 9) for one in stack]
    )
    other = stack[0].copy()
    other[:, 0] = 0
    moved = shells(stack[0], np.sqrt(6), 9) - shells(other, np.sqrt(6), 9)
    assert sorted(moved[moved != 0]) == [-1, 1]


def test_the_private_radius_follows_the_noise_and_the_records():
    release = PrivatelyClipped().calibrate(LIVER_MOMENTS, epsilon=1, delta=1 / 248)
    quiet = PrivatelyClipped().calibrate(LIVER_MOMENTS, epsilon=1e4, delta=1 / 248)
    short, long = records(LIVER_MOMENTS, spread=0.05), records(LIVER_MOMENTS, spread=2.0)
    # Without noise to speak of nothing is clipped; where all is noise, short records choose less.
    assert (radii(quiet, long, np.random.default_rng(0), 50) == 0).all()
    means = [radii(release, one, np.random.default_rng(0), 50).mean() for one in (short, long)]
    assert means[0] > means[1] + 2


def test_a_release_of_short_records_takes_a_small_radius_and_adds_its_ridge():
    release = PrivatelyClipped().calibrate(LIVER_MOMENTS, epsilon=1e4, delta=1 / 248)
    numbers = []
    for spread in (2.0, 0.05):
        columns = records(LIVER_MOMENTS, spread=spread)
        outcome = release.run(Columns(columns), drawing(np.random.default_rng(0)))
        numbers.append(outcome.number)
        part = release.candidates[outcome.number]
        exact = part.query.value(columns)
        np.testing.assert_allclose(outcome.moments, exact, atol=6 * part.noise_std)
        added = release.released(outcome) - outcome.moments
        np.testing.assert_allclose(added, outcome.ridge * np.eye(6), atol=1e-12)
        assert outcome.ridge > 0
    assert numbers[0] < numbers[1]
