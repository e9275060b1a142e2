"""The bootstrap of means, and Holm's correction."""

import numpy as np
import pytest

from matrixdp.checks import InputError
from matrixdp.results.claims.resampling import bootstrap_means, holm, interval


def test_holm_against_a_hand_computation():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    stream = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        split = stream.standard_normal(30)
        rows = {name: split + stream.exponential(size=30) for name in ("a", "b")}
        means = bootstrap_means({"x": rows}, stream, 1000)
        low, high = interval(means["a"] - means["b"])
        hits += low <= 0 <= high
    assert 0.91 <= hits / 300 <= 0.98


def test_the_spread_of_a_resampled_mean_is_that_of_the_mean():
    values = np.random.default_rng(1).standard_normal(20)
    found = bootstrap_means({"x": {"a": values}}, np.random.default_rng(0), 20_000)["a"]
    assert found.std() == pytest.approx(values.std(ddof=1) / np.sqrt(20), rel=0.03)
    with pytest.raises(InputError, match="must share at least two"):
        bootstrap_means({"x": {"a": [1.0]}}, np.random.default_rng(0))
