"""The tight delta of the rank-one Gaussian mechanism R1SMG, over the dimension."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaln

from reproduction.mechanisms.rank_one import NonPrivateRankOne, deviation
from reproduction.theory.numbers import Number, Numbers, Stream, registry

CHECKS, check = registry()

EPSILON, DELTA = 1.0, 1e-5

#: Logarithms of radii over sigma; number of angles, and their range around a right angle in
#: standard deviations.
_RADII = np.linspace(np.log(1e-16), np.log(9), 900)
_ANGLES, _WIDEST = 300, 9.0


def true_delta(epsilon: float, delta: float, dimension: int) -> float:
    """Return the tight delta(epsilon) of noise for a claimed (epsilon, delta), within 1e-3.

    It is the mean of max(0, 1 - e^(epsilon - loss)) over the radius and the angle to the shift. The
    error is relative.
    """
    distribution = NonPrivateRankOne((dimension, 1), deviation(epsilon, delta, dimension))
    radius = distribution.sigma * np.exp(_RADII)[:, None]
    mass = np.exp(_RADII - np.exp(2 * _RADII) / 2) * np.sqrt(2 / np.pi)
    turn = np.minimum(np.pi / 2 - 1e-9, _WIDEST / np.sqrt(dimension))
    angles = np.linspace(-turn, turn, _ANGLES)
    weights = np.exp((dimension - 2) * np.log(np.cos(angles)) - betaln((dimension - 1) / 2, 0.5))
    away = np.sqrt(radius**2 + 1 - 2 * radius * np.sin(angles))
    gain = np.maximum(-np.expm1(np.minimum(epsilon - distribution.loss(radius, away), 0)), 0)
    by_angle = np.trapezoid(gain * weights, angles, axis=1)
    return float(np.trapezoid(by_angle * mass, _RADII))


@check("R1_three", {"ten dimensions": {"dimensions": (10,)}}, dimensions=(3,))
@check("R1", {"three dimensions": {"dimensions": (3, 3)}})
def private(_stream: Stream, *, dimensions: Sequence[int] = (10, 100)) -> Numbers:
    """Noise of the claimed size is private in these dimensions."""
    for m in dimensions:
        ratio = true_delta(EPSILON, DELTA, m) / DELTA
        yield Number(f"true delta over the claimed one, M = {m}", ratio, "<=", 1)
