"""Intervals, tests, corrections for multiplicity, and comparisons of means.

Rows on the same data set share their splits, and are compared by the paired differences of trials.
Rows on two data sets are independent, and are compared by Welch's test. Both use Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, stdtr, stdtrit

from matrixdp.checks import Array

#: Level of every test; intervals have 1 - LEVEL.
LEVEL = 0.05

#: Power that defines a detectable effect.
POWER = 0.8

#: Number of trials from which the interval of a mean is 1.96 standard errors (as in the MVG paper).
LARGE_SAMPLE = 30

#: Smallest number of trials that may order rows; with fewer there are no winners and no headlines.
ENOUGH = 10

#: Trials are heavy-tailed if one has more than this share of all squared deviations, among at least
#: ``LARGE_SAMPLE``. That trial would dominate the interval of the mean: the median is tested.
HEAVY = 0.5

#: Numbers below this are rounding errors of 0.
ROUNDING = 1e-12

#: Verdict on a mean that does not differ from the published one by more than both intervals allow.
WITHIN = "within"

#: Number of resamples of the bootstrap.
RESAMPLES = 1000

#: Lower bound of p-values, because corrections divide by them.
SMALLEST = 1e-300


def half_width(sd: Any, n: Any) -> Any:
    """Return half the 95 % confidence interval of a mean of ``n`` trials; NaN for one trial.

    It is 1.96 sd / sqrt(n) as in section 8 of the MVG paper, and Student's t below
    ``LARGE_SAMPLE`` trials.
    """
    quantile = np.where(n >= LARGE_SAMPLE, 1.96, stdtrit(n - 1, 0.975))
    return quantile * sd / np.sqrt(n)


def covers(difference: ArrayLike, *half_widths: ArrayLike) -> Any:
    """Return whether the interval of a difference of independent numbers covers 0.

    The half-width of the difference is the root of the sum of their squares; a NaN counts as 0.
    This serves means whose trials are not at hand: a published one, or one of another reading.
    """
    return np.abs(difference) <= _joint(half_widths) + ROUNDING


def _joint(half_widths: Sequence[ArrayLike]) -> Any:
    return np.sqrt(sum(np.nan_to_num(np.asarray(width, dtype=float)) ** 2 for width in half_widths))


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
    """Return whether a tight epsilon is above the claimed one by more than rounding."""
    return actual > claimed_epsilon * (1 + 1e-6)


def price(epsilon: ArrayLike, loss: ArrayLike, share: float = 0.5) -> Any:
    """Return the smallest epsilon from which on a loss is at most ``share``.

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
    above = curves > share
    last = len(x) - 1 - above[::-1].argmax(axis=0)
    left, right = np.maximum(np.minimum(last, len(x) - 2), 0), np.minimum(last + 1, len(x) - 1)
    each = np.arange(curves.shape[1])
    # A curve that never crosses the share has no part; it is replaced below.
    with np.errstate(all="ignore"):
        part = (curves[left, each] - share) / (curves[left, each] - curves[right, each])
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


@dataclass(frozen=True)
class Estimate:
    """Estimates whose errors follow Student's t; the fields have the same shape.

    Attributes:
        value: the estimates.
        error: their standard errors.
        freedom: their degrees of freedom; 0, and NaN results, where there are too few trials.
    """

    value: Any
    error: Any
    freedom: Any

    def interval(self, level: float = LEVEL) -> tuple[Any, Any]:
        """Return the ends of the two-sided interval."""
        half = stdtrit(self.freedom, 1 - level / 2) * self.error
        return self.value - half, self.value + half

    def detectable(self, level: float = LEVEL) -> Any:
        """Return the smallest effect that the two-sided test at ``level`` detects with ``POWER``.

        The usual approximation adds the quantiles of Student's t for the level and for the power,
        in standard errors.
        """
        return (stdtrit(self.freedom, 1 - level / 2) + stdtrit(self.freedom, POWER)) * self.error

    def above(self, null: float = 0.0) -> Any:
        """Return the p-value of "at most ``null``" against "above it", at least ``SMALLEST``."""
        return self._tail(np.subtract(self.value, null))

    def below(self, null: float = 0.0) -> Any:
        """Return the p-value of "at least ``null``" against "below it", at least ``SMALLEST``."""
        return self._tail(np.subtract(null, self.value))

    @property
    def p(self) -> Any:
        """Two-sided p-value of the null hypothesis 0."""
        return np.minimum(1.0, 2 * np.minimum(self.above(), self.below()))

    def _tail(self, distance: Any) -> Any:
        # Estimates without any variance are exact up to rounding.
        fixed = self.error <= ROUNDING * (1 + np.abs(self.value))
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = stdtr(self.freedom, -distance / self.error)
        tail = np.where(fixed, np.where(distance > ROUNDING, 0.0, 1.0), tail)
        return np.where(np.equal(self.freedom, 0), np.nan, np.maximum(tail, SMALLEST))[()]


def mean_of(values: ArrayLike) -> Estimate:
    """Return the mean over trials, the last axis; trials that are NaN are left out."""
    values = np.asarray(values, dtype=float)
    finite = np.isfinite(values)
    n = finite.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(finite, values, 0.0).sum(axis=-1) / n
        squares = np.where(finite, values - mean[..., None], 0.0) ** 2
        error = np.sqrt(squares.sum(axis=-1) / (n - 1) / n)
    return Estimate(mean[()], error[()], np.maximum(n - 1, 0)[()])


def heavy_tailed(values: ArrayLike) -> Any:
    """Return whether trials, the last axis, are heavy-tailed (``HEAVY``); NaN are left out."""
    values = np.asarray(values, dtype=float)
    n = np.isfinite(values).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nansum(values, axis=-1, keepdims=True) / n[..., None]
    squares = np.nan_to_num((values - mean) ** 2)
    return (n >= LARGE_SAMPLE) & (squares.max(axis=-1) > HEAVY * squares.sum(axis=-1))


class Median(NamedTuple):
    """A median, the ends of its 95 % interval, and the two-sided p-value of a median of 0."""

    value: float
    low: float
    high: float
    p: float


def median_of(values: ArrayLike) -> Median:
    """Return the median of trials, an array of shape (n,); NaN are left out.

    The interval lies between order statistics, and p is that of the sign test, which ignores zeros.
    Both are exact for every continuous distribution. With at most 5 trials the interval is
    infinite.
    """
    trials = np.sort(np.asarray(values, dtype=float))
    trials = trials[np.isfinite(trials)]
    n = len(trials)
    # The largest k for which at most k - 1 of n trials lie below the median in 2.5 % of all cases.
    k = int(np.searchsorted(bdtr(np.arange(n + 1), n, 0.5), LEVEL / 2))
    low, high = (trials[k - 1], trials[n - k]) if k else (-np.inf, np.inf)
    positive, signs = int((trials > 0).sum()), int((trials != 0).sum())
    p = min(1.0, 2 * bdtr(min(positive, signs - positive), signs, 0.5))
    return Median(float(np.median(trials)), float(low), float(high), max(float(p), SMALLEST))


class Pair(NamedTuple):
    """Trials of two rows, one value per trial.

    Attributes:
        first, second: values, shape (trials,); paired ones may be stacks (..., trials).
        paired: whether entry k of both is the same trial; otherwise the rows are independent.
    """

    first: Array
    second: Array
    paired: bool = True

    def difference(self, factor: float = 1.0) -> Estimate:
        """Return the estimate of the mean of ``first`` minus ``factor`` times that of ``second``.

        It uses the differences of paired trials, and otherwise Welch's degrees of freedom.
        """
        if self.paired:
            return mean_of(self.first - factor * self.second)
        first, second = mean_of(self.first), mean_of(self.second)
        parts = first.error**2, (factor * second.error) ** 2
        below = parts[0] ** 2 / first.freedom + parts[1] ** 2 / second.freedom
        freedom = sum(parts) ** 2 / below if below > 0 else first.freedom + second.freedom
        return Estimate(first.value - factor * second.value, np.sqrt(sum(parts)), freedom)

    def ratio(self) -> tuple[float, float, float]:
        """Return the mean of ``first`` over that of ``second``, and the ends of Fieller's interval.

        The interval contains the factors that :meth:`difference` does not reject, with the degrees
        of freedom at the ratio. It is infinite where too few factors are rejected.
        """
        first, second = mean_of(self.first), mean_of(self.second)
        ratio = first.value / second.value
        quantile = stdtrit(self.difference(ratio).freedom, 1 - LEVEL / 2) ** 2
        shared = np.cov(self.first, self.second)[0, 1] / len(self.first) if self.paired else 0.0
        square = second.value**2 - quantile * second.error**2
        middle = first.value * second.value - quantile * shared
        root = middle**2 - square * (first.value**2 - quantile * first.error**2)
        if square <= 0 or root < 0:
            return float(ratio), -np.inf, np.inf
        half = np.sqrt(root)
        return float(ratio), float((middle - half) / square), float((middle + half) / square)


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
