"""Draws of means, and Holm's correction."""

import numpy as np
import pytest
from scipy import stats

from matrixdp.checks import InputError
from matrixdp.report.claims.resampling import draw_means, holm, interval, one_sided


def test_holm_against_a_hand_computation():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    stream = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        split = stream.standard_normal(30)
        rows = {name: split + stream.exponential(size=30) for name in ("a", "b")}
        means = draw_means({"x": rows}, stream, 1000)
        low, high = interval(means["a"] - means["b"])
        hits += low <= 0 <= high
    assert 0.91 <= hits / 300 <= 0.98


def test_the_spread_of_a_resampled_mean_is_that_of_the_mean():
    values = np.random.default_rng(1).standard_normal(40)
    found = draw_means({"x": {"a": values}}, np.random.default_rng(0), 20_000)["a"]
    assert found.std() == pytest.approx(values.std(ddof=1) / np.sqrt(40), rel=0.03)
    with pytest.raises(InputError, match="must share at least two"):
        draw_means({"x": {"a": [1.0]}}, np.random.default_rng(0))


def test_few_trials_follow_student():
    stream = np.random.default_rng(3)
    first, second = stream.standard_normal((2, 5))
    means = draw_means({"x": {"a": first, "b": second}}, stream, 100_000)
    paired = stats.ttest_1samp(first - second, 0)
    low, high = interval(means["a"] - means["b"])
    assert (low, high) == pytest.approx(paired.confidence_interval(), rel=0.03)
    p = one_sided(means["a"] - means["b"], 0.0)
    assert min(p, 1 - p) == pytest.approx(paired.pvalue / 2, abs=0.005)


def test_five_trials_are_not_too_sure():
    # The bootstrap rejects here in 13 % of cases or so.
    stream = np.random.default_rng(7)
    p = [
        one_sided(draw_means({"x": {"a": stream.standard_normal(5)}}, stream, 2000)["a"], 0.0)
        for _ in range(1000)
    ]
    assert 0.03 <= np.mean(np.minimum(p, np.subtract(1, p)) < 0.025) <= 0.07
