"""The privacy loss distribution of sampled Gaussian noise, discretised and composed.

The loss of one step is rounded up to a grid by "connect the dots" (Doroshenko et al., PoPETs 2022)
and composed by a Fourier transform. It is what dp_accounting computes, to the last bit, on arrays
instead of in loops.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.special import log_ndtr, ndtr, ndtri

from matrixdp.checks import Array

#: Mass that a composition may cut off its tails, and count as an infinite loss.
TRUNCATED = 1e-15

#: Probability beyond the ends of the grid of one step.
BEYOND = 0.5 * math.exp(-50)


class Loss(NamedTuple):
    """A loss on a grid: ``mass`` at (lowest + i) interval, and ``infinite`` at infinity."""

    mass: Array
    lowest: int
    infinite: float


def epsilon(multiplier: float, rate: float, steps: int, delta: float, interval: float) -> float:
    """Return an upper bound of epsilon at delta, for adding and for removing a record.

    Args:
        multiplier, rate, steps: of the noise; the rate is below 1.
        delta: above 0.
        interval: distance of the grid's points, in units of the loss.
    """
    losses = (_one_step(multiplier, rate, interval, added) for added in (False, True))
    return max(_epsilon(_composed(one, steps), interval, delta) for one in losses)


def _one_step(multiplier: float, rate: float, interval: float, added: bool) -> Loss:
    """Return the loss of one step, rounded up to the grid."""
    reach, sign = -ndtri(BEYOND) * multiplier, -1 if added else 1
    # Noise from -reach to reach, without the record and with it, which adds 1.
    ends = np.array([-reach - 0.5, reach + 0.5]) / multiplier**2
    largest, smallest = sorted(
        sign * np.logaddexp(np.log1p(-rate), np.log(rate) + ends), reverse=True
    )
    low, high = math.floor(smallest / interval), math.ceil(largest / interval)
    deltas = _deltas(np.arange(low, high + 1) * interval, multiplier, rate, added)
    deltas = np.minimum.accumulate(deltas)
    falls, growth = np.diff(deltas), math.expm1(interval)
    mass = np.empty_like(deltas)
    mass[0] = 1 - deltas[0] + falls[0] / growth
    mass[1:-1] = (falls[1:] - falls[:-1] * math.exp(interval)) / growth
    mass[-1] = falls[-1] / math.expm1(-interval)
    return Loss(np.maximum(0.0, mass), low, float(deltas[-1]))


def _deltas(losses: Array, multiplier: float, rate: float, added: bool) -> Array:
    """Return the exact delta of one step at each epsilon."""
    # The loss x of the lot's sum is below that of the noise alone; at the limit, x is infinite.
    sign = -1.0 if added else 1.0
    limit = math.log(1 - rate)
    inside = sign * losses > math.log1p(-rate)
    inner = losses[inside]
    deltas = np.zeros_like(losses) if added else -np.expm1(np.where(inside, 0, losses))
    with np.errstate(divide="ignore", invalid="ignore"):
        unsampled = _log_affine(sign * inner, rate)
    at_limit = np.abs(sign * inner - limit) <= 1e-9 * np.maximum(np.abs(inner), abs(limit))
    unsampled = np.where(at_limit, -np.inf, unsampled)
    x = -0.5 - sign * unsampled * multiplier**2
    x = x + 1 if added else x
    if added:
        upper = ndtr(x / multiplier)
        lower = np.logaddexp(
            np.log1p(-rate) + log_ndtr(x / multiplier),
            np.log(rate) + log_ndtr((x - 1) / multiplier),
        )
    else:
        upper = (1 - rate) * ndtr(x / multiplier) + rate * ndtr((x + 1) / multiplier)
        lower = log_ndtr(x / multiplier)
    deltas[inside] = upper - np.exp(inner + lower)
    return np.clip(deltas, 0, 1)


def _log_affine(b: Array, rate: float) -> Array:
    """Return ln(1 + (e^b - 1) / rate)."""
    a, c = 1 / rate, 1 - 1 / rate
    d = b + np.log(a)
    return np.where(b == 0, np.log(a + c), d + np.log1p(-np.exp(np.log(-c) - d)))


def _composed(one: Loss, steps: int) -> Loss:
    """Return the loss of independent steps, pessimistically truncated."""
    low, high = _bounds(one.mass, steps)
    size = fft.next_fast_len(max(high - low + 1, len(one.mass)))
    # The transform wraps around.
    mass = np.roll(np.real(fft.ifft(fft.fft(one.mass, size) ** steps)), -low)[: high - low + 1]
    infinite = TRUNCATED - math.expm1(steps * math.log1p(-one.infinite))
    return Loss(mass, one.lowest * steps + low, infinite)


def _epsilon(loss: Loss, interval: float, delta: float) -> float:
    """Return the smallest epsilon at which the loss's delta is at most this one."""
    if loss.infinite > delta:
        return math.inf
    # From the largest loss down, until epsilon lies between two of them.
    mass, size = np.flip(loss.mass), len(loss.mass)
    losses = np.full(size, -interval)
    losses[0] = (loss.lowest + size - 1) * interval
    losses = np.cumsum(losses)
    upper = np.cumsum(np.append(loss.infinite, mass))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        lower = np.cumsum(np.append(0.0, np.exp(-losses) * mass))
        passed = np.log((upper[:-1] - delta) / lower[:-1]) >= losses
    passed &= (upper[:-1] > delta) & (lower[:-1] > 0)
    nothing = (upper[1:] >= delta) & (lower[1:] == 0)
    end = int(passed.argmax()) if passed.any() else size
    if nothing[:end].any():
        return max(0.0, float(losses[nothing.argmax()]))
    # C's exponential, which may differ from numpy's in the last digit, is the library's.
    shares = np.fromiter(map(math.exp, (-losses[:end]).tolist()), dtype=float, count=end)
    below = np.cumsum(np.append(0.0, shares * mass[:end]))[-1]
    return 0.0 if upper[end] <= below + delta else math.log((upper[end] - delta) / below)


def _bounds(mass: Array, steps: int) -> tuple[int, int]:
    """Return the points between which all but ``TRUNCATED`` of the composed mass lies (Chernoff).

    The moments E e^(k j / size) of the orders -20 <= k <= 20 are products, as their points are
    evenly spaced.
    """
    size, limit = len(mass), -math.log(TRUNCATED / 2)
    bounds = []
    for sign in (-1, 1):
        step, power = np.exp(sign * np.arange(size) / size), mass
        for k in range(1, 21):
            power = power * step
            bounds.append((steps * math.log(power.sum()) + limit) * size / (sign * k))
    low, high = math.floor(max(bounds[:20])), math.ceil(min(bounds[20:]))
    return max(0, low), min((size - 1) * steps, high)
