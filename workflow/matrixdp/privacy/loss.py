"""The privacy loss distribution of sampled Gaussian noise, discretised and composed.

The discretisation and the composition are those of dp_accounting (Doroshenko et al., PoPETs 2022).
Here stand those of its loops over the points of a grid that take most of its time, as operations on
arrays, with the same results to the last bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from dp_accounting.pld import pld_pmf
from dp_accounting.pld.privacy_loss_mechanism import AdjacencyType, GaussianPrivacyLoss
from scipy import fft
from scipy.special import log_ndtr, ndtr

from matrixdp.checks import Array

#: Mass that a composition may cut off its tails, and count as an infinite loss.
TRUNCATED = 1e-15


def epsilon(multiplier: float, rate: float, steps: int, delta: float, interval: float) -> float:
    """Return an upper bound of epsilon at delta, for adding and for removing a record.

    Args:
        multiplier, rate, steps: of the noise; the rate is below 1.
        delta: above 0.
        interval: distance of the grid's points, in units of the loss.
    """
    sides = (AdjacencyType.REMOVE, AdjacencyType.ADD)
    losses = (_one_step(multiplier, rate, interval, side) for side in sides)
    return max(_epsilon(one, steps, delta) for one in losses)


def _one_step(multiplier: float, rate: float, interval: float, side: AdjacencyType) -> Any:
    """Return the loss of one step, rounded up to the grid."""
    bounds = GaussianPrivacyLoss(
        multiplier, log_mass_truncation_bound=-50, sampling_prob=rate, adjacency_type=side
    ).connect_dots_bounds()
    low = math.floor(bounds.epsilon_lower / interval)
    high = math.ceil(bounds.epsilon_upper / interval)
    losses = np.arange(low, high + 1) * interval
    deltas = _deltas(losses, multiplier, rate, side == AdjacencyType.ADD)
    return pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(interval, low, high, deltas)


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


def _epsilon(one: Any, steps: int, delta: float) -> float:
    """Return the smallest epsilon at which delta of the composed loss is at most this one."""
    if not isinstance(one, pld_pmf.DensePLDPmf):
        return float(one.self_compose(steps, TRUNCATED).get_epsilon_for_delta(delta))
    infinite = TRUNCATED - math.expm1(steps * math.log1p(-one._infinity_mass))
    if infinite > delta:
        return math.inf
    low, high = _bounds(one._probs, steps)
    size = fft.next_fast_len(max(high - low + 1, len(one._probs)))
    # The transform wraps around.
    composed = np.real(fft.ifft(fft.fft(one._probs, size) ** steps))
    mass = np.flip(np.roll(composed, -low)[: high - low + 1])
    # From the largest loss down, until epsilon lies between two of them.
    largest = (one._lower_loss * steps + low + len(mass) - 1) * one._discretization
    down = np.full(len(mass) - 1, -one._discretization)
    losses = np.cumsum(np.append(largest, down))
    upper = np.cumsum(np.append(infinite, mass))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        lower = np.cumsum(np.append(0.0, np.exp(-losses) * mass))
        passed = np.log((upper[:-1] - delta) / lower[:-1]) >= losses
    passed &= (upper[:-1] > delta) & (lower[:-1] > 0)
    nothing = (upper[1:] >= delta) & (lower[1:] == 0)
    end = int(passed.argmax()) if passed.any() else len(mass)
    if nothing[:end].any():
        return max(0.0, float(losses[nothing.argmax()]))
    # The library's own exponential, which may differ from numpy's in the last digit.
    likely = np.fromiter(map(math.exp, (-losses[:end]).tolist()), dtype=float, count=end)
    below = np.cumsum(np.append(0.0, likely * mass[:end]))[-1]
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
