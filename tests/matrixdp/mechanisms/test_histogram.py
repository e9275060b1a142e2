"""Private bounds: the bins, what neighbours change in their counts, the noise and the threshold."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from exactness import same_integers
from scipy.special import ndtr

from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.histogram import BETA, OTHERS, bounds, thresholds
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import NoGuarantee
from matrixdp.privacy.sizes import BINS, LARGEST, SIDE, SMALLEST, SizeQuery, bins, edges
from matrixdp.release import ledger

RELATIONS = ("replace", "zero_out", "add_or_remove")
#: A missing value, zeros, both signs, and sizes beyond all bins.
VALUES = (np.nan, 0.0, 1e-300, -1.0, 3.0, np.inf)


def sizes(relation="replace", per_person=None, columns=1):
    return SizeQuery.of(columns, 100, relation, per_person=per_person)


def search(*, pure, columns=2, relation="replace", group=None):
    """Return the histogram by the noise that is asked for, at epsilon 0.5."""
    mechanism = Laplace() if pure else Gaussian()
    return mechanism.calibrate(sizes(relation, group, columns), epsilon=0.5, delta=1e-6)


def test_bins_cover_all_numbers_and_split_at_powers_of_two():
    for number in range(BINS):
        low, high = edges(number)
        middle = (low + high) / 2
        assert bins(np.array([middle]))[0] == number
        if number > SIDE:
            below = SIDE if number == SIDE + 1 else number - 1
            assert bins(np.array([low, np.nextafter(low, 0)])).tolist() == [number, below]
            assert edges(BINS - 1 - number) == (-high, -low)
            assert number == BINS - 1 or edges(number + 1)[0] == high
    extremes = np.array([-np.inf, -1e300, 0.0, -0.0, 5e-324, -1e-10, 1e300, np.inf])
    assert bins(extremes).tolist() == [0, 0, *[SIDE] * 4, BINS - 1, BINS - 1]
    assert bins(np.array([np.nan])).tolist() == [-1]


def test_a_record_is_counted_once_in_each_column_whatever_block_it_is_in():
    query = sizes(columns=2)
    rows = np.array([[1.0, np.nan], [-3.0, 0.0], [np.inf, 1.5], [np.nan, np.nan]])
    counts = query.counts([rows]).reshape(2, BINS)
    assert counts.sum(axis=1).tolist() == [3, 2]
    assert counts[1, bins(np.array(1.5))] == 1
    assert same_integers(query.counts([rows[:1], rows[1:]]), query.value(rows.T))


def changes(relation, columns, group, trials):
    """Yield changes of the counts between neighbours, all of them or so many at random."""
    records = [*product(VALUES, repeat=columns)]
    query, stream = sizes(relation, group, columns), np.random.default_rng(0)
    pairs = product(records, repeat=2) if group == 1 else ()
    sides = [(np.array([one]), np.array([other])) for one, other in pairs]
    for _ in range(trials):
        one, other = (stream.integers(len(records), size=group) for _ in range(2))
        if stream.random() < 0.5:
            one, other = one[:1].repeat(group), other[:1].repeat(group)
        sides.append((np.array(records)[one], np.array(records)[other]))
    for one, other in sides:
        # A null record, and one that is not there, are in no bin.
        after = query.counts([other]) if relation == "replace" else 0
        yield query.counts([one]) - after


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("group", [1, 3])
def test_no_neighbours_change_more_than_the_sensitivities_and_some_reach_them(
    relation, columns, group
):
    query = sizes(relation, group, columns)
    found = [*changes(relation, columns, group, 300)]
    for power, bound in ((1, query.l1_sensitivity), (2, query.l2_sensitivity)):
        largest = max(np.linalg.norm(change.ravel(), power) for change in found)
        assert largest == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("group", [None, 3])
@pytest.mark.parametrize("pure", [True, False])
def test_replayed_noise_hides_neighbours_at_what_is_spent(relation, group, pure):
    query = sizes(relation, group, 2)
    release = search(pure=pure, columns=2, relation=relation, group=group)
    largest = 0.0
    for change in [*changes(relation, 2, group or 1, 60)][:: 1 if group else 40]:
        start = np.full(query.shape, 50.0)
        # The same bits for both: what differs is the change over the unit of the noise.
        one, other = (
            release.add_noise(value, np.random.default_rng(1).bytes)
            for value in (start, start + change)
        )
        apart = release.noise.whiten(other - one).ravel() / release.rounding_factor
        largest = max(largest, np.linalg.norm(apart, 1 if pure else 2))
    spent = release.epsilon_delivered if pure else release.mu
    assert 0.999 * spent < largest <= spent


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("columns", [1, 7])
def test_an_empty_bin_passes_with_the_stated_probability_over_all_bins(pure, columns):
    release = search(pure=pure, columns=columns)
    scale = release.noise_std * release.rounding_factor
    for threshold, beta in zip(thresholds(release), (BETA, OTHERS), strict=True):
        far = -threshold / scale
        chance = np.exp(far * np.sqrt(2)) / 2 if pure else ndtr(far)
        assert beta * 0.999 < chance * release.query.features <= beta


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("group", [None, 3])
def test_noise_that_is_a_hundredth_short_is_refused(pure, relation, group):
    release = search(pure=pure, columns=2, relation=relation, group=group)
    ledger.check(release)
    with pytest.raises(NoGuarantee, match="the release states"):
        ledger.check(replace(release, noise=release.noise.times(0.99)))


def test_bounds_are_the_ends_of_the_outermost_bins_above_the_thresholds():
    release = search(pure=False, columns=6)
    lone, other = thresholds(release)
    assert lone / 2 < lone < other
    noisy = np.zeros((6, BINS))
    # The largest count of a column needs less than others far away, and those next to it least.
    noisy[0, bins(np.array([-3.0, 0.7, 40.0]))] = other + 1
    noisy[0, bins(np.array([-300.0, 4000.0]))] = other - 1
    noisy[1, bins(np.array([5.0]))] = lone + 1
    noisy[1, bins(np.array([9.0, 17.0, 300.0, 2.0]))] = lone / 2 + 1
    noisy[1, bins(np.array([33.0, 1.0]))] = lone / 2 - 1
    noisy[2, bins(np.array([0.0, 5.0]))] = other + 1
    noisy[3, SIDE] = lone + 1
    noisy[4, [0, 1, BINS - 1]] = other + 1
    noisy[5, bins(np.array([5.0, 9.0]))] = lone - 1
    tiny, most = 2.0**SMALLEST, 2.0 ** (LARGEST + 1)
    sides = [(-4, 64), (2, 32), (0, 8), (-tiny, tiny), (-most, most), None]
    assert bounds(release, noisy.reshape(-1, 1)) == sides
