"""Intervals of means, prices, and corrections for multiplicity.

Tests of trials are in :mod:`reproduction.report.contrasts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts load at their first use, which tables do without
from numpy.typing import ArrayLike

from matrixdp.checks import Array

#: Level of every test; intervals have 1 - LEVEL.
LEVEL = 0.05

#: Power that defines a detectable effect.
POWER = 0.8

#: Number of trials from which the interval of a mean is 1.96 standard errors (as in the MVG paper).
LARGE_SAMPLE = 30

#: Smallest number of trials that may order rows; with fewer there are no winners and no headlines.
ENOUGH = 10

#: Numbers below this are rounding errors of 0.
ROUNDING = 1e-12

#: Verdict on a mean that does not differ from the published one by more than both intervals allow.
WITHIN = "within"

#: Loss, 0 without privacy and 1 for the baseline, at which a price is read off.
SHARE = 0.5

#: Number of resamples of the bootstrap.
RESAMPLES = 1000


def half_width(sd: Any, n: Any) -> Any:
    """Return half the 95 % confidence interval of a mean of ``n`` trials; NaN for one trial.

    It is 1.96 sd / sqrt(n) as in section 8 of the MVG paper, and Student's t below
    ``LARGE_SAMPLE`` trials.
    """
    quantile = np.where(n >= LARGE_SAMPLE, 1.96, scipy.special.stdtrit(n - 1, 0.975))
    return quantile * sd / np.sqrt(n)


def covers(difference: ArrayLike, *half_widths: ArrayLike) -> Any:
    """Return whether the interval of a difference of independent numbers covers 0.

    The half-width of the difference is the root of the sum of their squares; a NaN counts as 0.
    This serves means whose trials are not at hand: a published one, or one of another reading.
    """
    half = np.sqrt(sum(np.nan_to_num(np.asarray(width, dtype=float)) ** 2 for width in half_widths))
    return np.abs(difference) <= half + ROUNDING


def verdict(published: float, margin: float, mean: float, ci95: float) -> str:
    """Return whether our mean is ``within``, ``lower`` or ``higher`` than the published one.

    ``within`` means that the 95 % interval of the difference covers 0 (see :func:`covers`). The
    verdict is empty if our mean has no interval.
    """
    if np.isnan(ci95):
        return ""
    if covers(mean - published, margin, ci95):
        return WITHIN
    return "higher" if mean > published else "lower"


def quotient(mean: Any, ci95: Any, base: Any, base_ci95: Any) -> tuple[Any, Any]:
    """Return mean / base and half its 95 % interval by the delta method, for independent means.

    For means that share trials the true interval is shorter.
    """
    ratio = mean / base
    return ratio, np.hypot(ci95, ratio * base_ci95) / np.abs(base)


def exceeds(actual: Any, claimed_epsilon: Any) -> Any:
    """Return whether a delivered epsilon is above the claimed one by more than rounding."""
    return actual > claimed_epsilon * (1 + 1e-6)


def price(epsilon: ArrayLike, loss: ArrayLike) -> Any:
    """Return the smallest epsilon from which on a loss is at most ``SHARE``.

    The loss is 0 without privacy and 1 for the baseline. It belongs to at least one epsilon, in any
    order. The result is interpolated in the logarithm of epsilon. It is 0 if the loss is small
    enough at every epsilon, and infinite if it is too large at the largest.

    Args:
        epsilon: shape (k,).
        loss: shape (k,), or (k, curves) for a price of each curve.
    """
    order = np.argsort(np.asarray(epsilon), kind="stable")
    x, y = (np.asarray(values, dtype=float)[order] for values in (epsilon, loss))
    curves = y.reshape(len(x), -1)
    above = curves > SHARE
    last = len(x) - 1 - above[::-1].argmax(axis=0)
    left, right = np.maximum(np.minimum(last, len(x) - 2), 0), np.minimum(last + 1, len(x) - 1)
    each = np.arange(curves.shape[1])
    # A curve that never crosses it has no part; it is replaced below.
    with np.errstate(all="ignore"):
        part = (curves[left, each] - SHARE) / (curves[left, each] - curves[right, each])
        result = np.exp(np.log(x[left]) + part * np.log(x[right] / x[left]))
    result = np.where(above[-1], np.inf, np.where(above.any(axis=0), result, 0.0))
    return result if y.ndim > 1 else float(result[0])


def price_interval(epsilon: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Return the 95 % interval of a price, by the percentile bootstrap over shared trials.

    ``values`` has shape (2 + k, trials): without privacy, of a baseline, then at each of the k
    values of ``epsilon``. The resamples are the same in every run.
    """
    values = np.asarray(values, dtype=float)
    trials = values.shape[1]
    share = np.full(trials, 1 / trials)
    counts = np.random.default_rng(0).multinomial(trials, share, size=RESAMPLES)
    nonprivate, baseline, *means = values @ counts.T / trials
    losses = (np.stack(means) - nonprivate) / (baseline - nonprivate)
    prices = np.sort(price(epsilon, losses))
    # Prices beyond the grid are infinite: do not interpolate quantiles.
    ends = np.array([LEVEL / 2, 1 - LEVEL / 2]) * (RESAMPLES - 1)
    low, high = prices[[int(np.floor(ends[0])), int(np.ceil(ends[1]))]]
    return float(low), float(high)


class Joint(NamedTuple):
    """Two-sided p-values for and against a statement, and the indices of the parts that decide."""

    p_for: float
    p_against: float
    weakest: int
    strongest_against: int

    @property
    def p(self) -> float:
        """Two-sided p-value of the statement: the smaller one of both directions."""
        return min(self.p_for, self.p_against)


def combine(p_for: Sequence[float], p_against: Sequence[float], every: bool) -> Joint:
    """Return the evidence for a statement that needs all of k parts (``every``), or any of them.

    "All hold" has the largest of the parts' p-values. It is refuted if one part is, by the smallest
    p-value with Bonferroni's correction for k. For "any holds" the two roles are exchanged.

    Args:
        p_for, p_against: one-sided p-values of the k parts.
        every: whether all parts are needed.
    """
    k = len(p_for)
    if every:
        weakest, against = int(np.argmax(p_for)), int(np.argmin(p_against))
        both = p_for[weakest], k * p_against[against]
    else:
        weakest, against = int(np.argmin(p_for)), int(np.argmax(p_against))
        both = k * p_for[weakest], p_against[against]
    return Joint(min(1.0, 2 * both[0]), min(1.0, 2 * both[1]), weakest, against)


def holm(p_values: ArrayLike) -> Array:
    """Return Holm's corrected p-values, in the order of ``p_values``.

    The i-th smallest of n is multiplied by n - i + 1. The results never decrease with i.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1)
    return corrected
