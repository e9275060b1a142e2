"""The true delta of the rank-one Gaussian mechanism, against draws of its noise."""

from __future__ import annotations

import numpy as np
import pytest

from reproduction.mechanisms.rank_one import NonPrivateRankOne, deviation
from reproduction.theory import rank_one


@pytest.mark.parametrize(
    ("dimension", "delta", "expected"),
    [(10, 1 / 10176, 0.240), (16, 1e-5, 0.44), (231, 1 / 2126, 0.997)],
)
def test_true_delta_is_the_frequency_of_draws(
    dimension: int, delta: float, expected: float
) -> None:
    found = rank_one.true_delta(1.0, delta, dimension)
    assert found == pytest.approx(expected, abs=3e-3)
    distribution = NonPrivateRankOne((dimension, 1), deviation(1.0, delta, dimension))
    drawn = distribution.sample(np.random.default_rng(1), 40_000)[:, :, 0]
    radius = np.linalg.norm(drawn, axis=1)
    drawn[:, 0] -= 1
    losses = distribution.loss(radius, np.linalg.norm(drawn, axis=1))
    gain = np.maximum(0, -np.expm1(np.minimum(1 - losses, 0)))
    assert found == pytest.approx(gain.mean(), abs=5 * gain.std() / 200 + 1e-3)


def test_deviation_is_the_published_constant_and_falls_to_its_limit() -> None:
    # (delta Gamma(3/2) / (sqrt(pi) Gamma(2)))^(2/2) at M = 4 is delta / 2.
    assert deviation(1.0, 0.1, 4) == pytest.approx(np.sqrt(2 / 0.05))
    assert deviation(1.0, 1e-5, 100_000) == pytest.approx(np.sqrt(2), rel=1e-3)


def test_it_is_private_in_three_dimensions_and_nowhere_near_in_many() -> None:
    for delta in (1e-2, 1e-5, 1e-10):
        assert rank_one.true_delta(1.0, delta, 3) < delta
        assert rank_one.true_delta(1.0, delta, 1000) > 0.999
