"""Tests of draws accept white noise at their level, and see what lacks noise in any direction."""

import numpy as np
import pytest

from matrixdp.auditing import evidence, whiteness

SIZES = (1, 2, 21, 120)


def white(entries, seed=0):
    count = min(whiteness.draws_of(entries), 4000)
    return np.random.default_rng(seed).standard_normal((count, entries))


def defect(draws):
    return whiteness.judge(draws, np.random.default_rng(1)).defect


@pytest.mark.parametrize("entries", SIZES)
def test_white_noise_has_no_defect(entries):
    for seed in range(20):
        assert not defect(white(entries, seed))


def test_the_level_is_met_where_it_can_be_counted():
    stream = np.random.default_rng(0)
    found = [
        bool(whiteness.judge(stream.standard_normal((60, 8)), stream, level=0.2).defect)
        for _ in range(300)
    ]
    assert sum(found) <= 60


def test_errors_of_a_run_together_are_at_most_one_in_a_thousand():
    assert 4 * evidence.ERROR * evidence.RELEASES == pytest.approx(evidence.FAMILY) == 1e-3


def missing(draws):
    direction = np.random.default_rng(2).standard_normal(draws.shape[1])
    direction /= np.linalg.norm(direction)
    return draws - np.outer(draws @ direction, direction)


def shared(draws):
    return np.column_stack([draws[:, :1], draws[:, :-1]])


def opposite(draws):
    return np.column_stack([-draws[:, 1:2], draws[:, 1:]])


def exact(draws):
    return draws * (np.arange(draws.shape[1]) > 0)


def uneven(draws):
    return draws * np.sqrt(np.where(np.arange(draws.shape[1]) % 2, 1.9, 0.1))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (shared, whiteness.SHARED),
        (opposite, whiteness.SHARED),
        (exact, whiteness.LESS),
        (uneven, whiteness.LESS),
        (lambda draws: 1.2 * draws, whiteness.MORE),
        (lambda draws: np.round(draws, 1), whiteness.GRID),
        (lambda draws: np.clip(draws, -3, 3) + 1e-9 * draws, whiteness.OTHER),
    ],
)
def test_what_lacks_noise_is_seen(change, words):
    assert defect(change(white(120))) == words


def test_the_first_two_tests_do_not_see_a_missing_direction():
    """Of 441 entries, no entry and no pair of entries shows it: only the singular values do."""
    draws = missing(np.random.default_rng(0).standard_normal((2205, 441)))
    assert (draws**2).mean(axis=0).min() > 0.85
    assert np.abs(np.corrcoef(draws.T) - np.eye(441)).max() < 0.15
    assert defect(draws) == whiteness.DIRECTION


def test_blocks_see_entries_that_are_equal_and_no_direction_across():
    draws = np.random.default_rng(0).standard_normal((320, 2000))
    result = whiteness.judge(draws, np.random.default_rng(1))
    assert result.blocks
    assert "within a block" in result.explain()
    draws[:, 1500] = -2 * draws[:, 3] / 2
    assert defect(draws) == whiteness.SHARED


def test_the_smallest_defect_that_is_stated_is_found():
    entries = 21
    result = whiteness.judge(white(entries), np.random.default_rng(0))
    for share, place in ((result.entry, 0), (result.direction, 1)):
        found = 0
        for seed in range(20):
            draws = white(entries, seed)
            if place:
                along = np.ones(entries) / np.sqrt(entries)
                draws = draws - share * np.outer(draws @ along, along)
            else:
                draws[:, 0] *= 1 - share
            found += bool(defect(draws))
        assert found >= 18


def test_repeats_are_as_rare_as_the_grid():
    """Of a million numbers, few are equal by chance; on a grid that a value leaves, some are."""
    draws = np.random.default_rng(0).standard_normal((1000, 1000))
    assert not whiteness._repeats(draws, 1e-9, 0.0)
    coarse = np.round(draws / 1e-10) * 1e-10
    assert whiteness._repeats(coarse, 1e-9, 0.0)
    assert not whiteness._repeats(coarse, 1e-9, 1e-10)
    assert whiteness._repeats(np.round(draws / 1e-8) * 1e-8, 1e-9, 1e-10)


def test_three_equal_numbers_among_a_million_are_seen():
    draws = np.random.default_rng(0).standard_normal((1000, 1000))
    draws[0, :3] = draws[1, :3]
    assert whiteness._repeats(draws, 1e-9, 0.0)
