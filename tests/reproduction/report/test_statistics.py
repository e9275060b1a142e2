"""Intervals, tests and corrections, against SciPy and by how often they are right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from reproduction.report.contrasts import estimate, heavy_tailed, median, ratio_interval
from reproduction.report.statistics import (
    LEVEL,
    combine,
    covers,
    holm,
    price,
    price_interval,
    verdict,
)


@pytest.fixture
def stream():
    return np.random.default_rng(5)


@pytest.mark.parametrize("n", [2, 5, 100])
def test_paired_differences_are_scipys_paired_t_test(stream, n):
    first, second = stream.standard_normal((2, n)) + [[0.3], [0.0]]
    theirs = stats.ttest_rel(first, second)
    ours = estimate(first - second)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.freedom == theirs.df
    assert ours.interval() == pytest.approx(tuple(theirs.confidence_interval()))
    greater = stats.ttest_rel(first, 1.5 * second, alternative="greater").pvalue
    ours = estimate(first - 1.5 * second)
    assert (ours.above(), ours.below()) == pytest.approx((greater, 1 - greater))


@pytest.mark.parametrize(("n", "m"), [(2, 3), (5, 5), (100, 20)])
def test_rows_that_share_nothing_are_scipys_welch_test(stream, n, m):
    first, second = 2 * stream.standard_normal(n) + 1, stream.standard_normal(m)
    theirs = stats.ttest_ind(first, second, equal_var=False)
    ours = estimate(first, -second)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert ours.freedom == pytest.approx(theirs.df)
    assert ours.interval() == pytest.approx(tuple(theirs.confidence_interval()))


@pytest.mark.parametrize("paired", [True, False])
def test_a_ratios_interval_ends_where_the_test_begins_to_reject(stream, paired):
    first, second = stream.standard_normal((2, 30)) + [[12.0], [8.0]]
    nothing = np.zeros(30)
    above, below = ([first], [second]) if paired else ([first, nothing], [nothing, second])

    def p(factor):
        return estimate(*(a - factor * b for a, b in zip(above, below, strict=True))).p

    ratio, low, high = ratio_interval(above, below)
    assert ratio == pytest.approx(first.mean() / second.mean())
    assert low < ratio < high
    # Exactly for trials that are shared; else the degrees of freedom move a little along the way.
    assert [p(low), p(high)] == pytest.approx([0.05, 0.05], rel=1e-9 if paired else 0.01)
    below[-1] = below[-1] - 8.0
    assert ratio_interval(above, below)[1:] == (-np.inf, np.inf)


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("n", [5, 40])
def test_a_known_shift_is_found_as_often_as_it_should_and_none_in_one_of_twenty(n, paired):
    stream, runs = np.random.default_rng(n), 4000
    split = 3 * stream.standard_normal((runs, n)) * paired
    noise = stream.standard_normal((2, runs, n))
    shift = 3.0 * np.sqrt(2 / n)
    for size, expected in ((0.0, 0.05), (shift, None)):
        first, second = split + noise[0] + size, split + noise[1]
        pairs = zip(first, second, strict=True)
        p = np.array([estimate(a - b).p if paired else estimate(a, -b).p for a, b in pairs])
        freedom = n - 1 if paired else 2 * n - 2
        quantile = stats.t.ppf(0.975, freedom)
        power = stats.nct.sf(quantile, freedom, 3.0) + stats.nct.cdf(-quantile, freedom, 3.0)
        found, tolerance = (p < 0.05).mean(), 4 * np.sqrt(0.25 / runs)
        assert found == pytest.approx(expected or power, abs=0.015 if expected else tolerance)


def detectable(n, level):
    """Return the effect, in deviations, that n trials show four times in five."""
    quantiles = stats.t.ppf([1 - level / 2, 0.8], n - 1)
    return quantiles.sum() / np.sqrt(n)


@pytest.mark.parametrize(("n", "tolerance"), [(5, 0.12), (100, 0.03)])
@pytest.mark.parametrize("level", [0.05, 0.005])
def test_a_detectable_effect_is_found_four_times_in_five(n, tolerance, level):
    noise = np.random.default_rng(n).standard_normal((4000, n))
    found = estimate(noise + detectable(n, level)).above() < level / 2
    assert found.mean() == pytest.approx(0.8, abs=tolerance)


@pytest.mark.parametrize("n", [5, 100])
@pytest.mark.parametrize("level", [0.05, 0.005])
def test_a_detectable_effect_is_in_units_of_the_spread_of_the_trials(n, level):
    trials = np.random.default_rng(n).standard_normal(n)
    expected = detectable(n, level) * trials.std(ddof=1)
    assert estimate(trials).detectable(level) == pytest.approx(expected, rel=0.006)


def test_many_pairs_at_once_and_trials_that_are_missing(stream):
    values = stream.standard_normal((3, 10))
    values[1, 4] = np.nan
    found = estimate(values[[0, 0]] - values[[1, 2]])
    for i, second in enumerate((1, 2)):
        theirs = stats.ttest_rel(values[0], values[second], nan_policy="omit")
        assert found.p[i] == pytest.approx(theirs.pvalue)
        assert found.freedom[i] == theirs.df
    one = estimate([1.0])
    assert one.value == 1.0
    assert np.isnan([one.p, *one.interval()]).all()


def test_what_never_varies_is_known():
    exact = estimate(np.zeros(5) - np.full(5, 2.0))
    assert (exact.above(), exact.below()) == (1.0, 1e-300)
    assert exact.interval() == (-2.0, -2.0)
    same = estimate(np.full(5, 0.1 + 0.2) - np.full(5, 0.3))
    assert same.p == 1.0


def test_a_statement_of_parts_is_as_sure_as_its_parts():
    p_for, p_against = (0.01, 0.2, 0.03), (0.99, 0.8, 0.004)
    assert combine(p_for, p_against, every=True) == (0.4, pytest.approx(0.024), 1, 2)
    assert combine(p_for, p_against, every=False) == (pytest.approx(0.06), 1.0, 0, 0)


def test_holm_against_a_hand_computation():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_half_widths_of_independent_means_add_as_squares():
    assert covers([5.0, 5.001, 1.0], 3.0, [4.0, 4.0, np.nan]).tolist() == [True, False, True]


def test_verdict_on_the_border_and_without_interval():
    assert verdict(5.0, 3.0, 10.0, 4.0) == "within"
    assert verdict(5.0, 3.0, 10.0 + 1e-9, 4.0) == "higher"
    assert verdict(5.0, 3.0, -1e-9, 4.0) == "lower"
    assert verdict(0.0, 0.0, 3e-17, 0.0) == "within"
    assert verdict(5.0, 3.0, 10.0, float("nan")) == ""


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ([1, 0.75, 0.25, 0], np.sqrt(10)),
        ([1, 0.75, 0.75, 0], 10 ** (1 + 1 / 3)),
        ([0.2, 0.9, 0.1, 0.6], np.inf),
        ([0.5, 0.1, 0.2, 0.3], 0.0),
        # It has to stay there.
        ([0.2, 0.2, 1.0, 0.0], 10**1.5),
    ],
)
def test_price_is_where_a_loss_falls_to_half_for_good(loss, expected):
    epsilon = np.array([0.1, 1, 10, 100])
    order = [2, 0, 3, 1]
    found = price(epsilon[order], np.array(loss)[order])
    assert found == pytest.approx(expected)


def test_an_interval_of_a_price_is_that_of_resampled_trials_which_rows_share():
    """Splits move all rows alike, and so no price; independent noise moves it."""
    stream = np.random.default_rng(1)
    split = stream.standard_normal((1, 100))
    means = np.array([[0.0], [1.0], [2.0], [0.75], [0.25]])
    epsilon = [0.1, 1.0, 10.0]
    assert price_interval(epsilon, means + split) == pytest.approx((10**0.5, 10**0.5))
    noisy = means + split + 0.5 * stream.standard_normal((5, 100))
    low, high = price_interval(epsilon, noisy)
    sample = noisy.mean(axis=1)
    middle = price(epsilon, (sample[2:] - sample[0]) / (sample[1] - sample[0]))
    assert 1 < low < middle < high < 10


def test_one_trial_with_most_of_the_squares_is_a_heavy_tail(stream):
    values = stream.standard_normal((3, 100))
    values[1, 7], values[2, :50] = 30.0, np.nan
    assert heavy_tailed(values).tolist() == [False, True, False]
    assert not heavy_tailed([0.0] * 28 + [9.0])  # 29 trials
    assert heavy_tailed([0.0] * 29 + [9.0])
    assert not heavy_tailed(np.ones(100))


def test_a_medians_interval_covers_it_as_often_as_it_should(stream):
    draws = stream.standard_cauchy((500, 100))
    medians = [median(row) for row in draws]
    covered = np.mean([low <= 0 <= high for _, low, high, _ in medians])
    assert 0.95 <= covered <= 0.98
    # The test and the interval are one.
    assert all((p < LEVEL) == (not low <= 0 <= high) for _, low, high, p in medians)
    some = draws[0].copy()
    some[:40] = np.nan
    assert median(some) == median(some[40:])
    assert median(np.zeros(40))[3] == 1
