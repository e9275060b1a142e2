"""Every interval, test, correction and comparison of means.

Trials on one data set share their splits, so that rows are compared by the differences of trials;
rows on two data sets share nothing and are compared after Welch. Both follow Student's t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from matrixdp.checks import Array

#: Level of every test; intervals have 1 - LEVEL.
LEVEL = 0.05

#: With this probability trials show an effect that they are said to be able to show.
POWER = 0.8

#: From this many trials on, the interval of a single mean is 1.96 standard errors (as in the MVG
#: paper).
LARGE_SAMPLE = 30

#: Fewer trials order nothing: what rests on them has no winner and no headline.
ENOUGH = 10

#: Where one trial has more than this share of all squared deviations, and there are at least
#: ``LARGE_SAMPLE`` trials, the interval of a mean tells of that trial: the median is tested.
HEAVY = 0.5

#: An exact 0 may come out of a sum as 1e-17; no smaller metric than this means anything.
ROUNDING = 1e-12

#: How a mean lies to a published one that the two intervals do not tell it from.
WITHIN = "within"

#: How often trials are drawn anew for an interval by the bootstrap.
RESAMPLES = 1000

#: The smallest p-value there is: corrections divide by it.
SMALLEST = 1e-300


def half_width(sd: Any, n: Any) -> Any:
    """Return half the 95 % confidence interval of a mean of ``n`` trials; NaN for one trial.

    1.96 sd / sqrt(n) as in section 8 of the MVG paper; Student's t below ``LARGE_SAMPLE`` trials.
    """
    quantile = np.where(n >= LARGE_SAMPLE, 1.96, stdtrit(n - 1, 0.975))
    return quantile * sd / np.sqrt(n)


def covers(difference: ArrayLike, *half_widths: ArrayLike) -> Any:
    """Return whether the interval of a difference of independent numbers covers 0.

    The half-width of the difference is the root of the sum of squares of theirs; one that is NaN
    counts as exact. For means without their trials: a published one, or one of another reading.
    """
    return np.abs(difference) <= _joint(half_widths) + ROUNDING


def _joint(half_widths: Sequence[ArrayLike]) -> Any:
    return np.sqrt(sum(np.nan_to_num(np.asarray(width, dtype=float)) ** 2 for width in half_widths))


def verdict(published: float, margin: float, mean: float, ci95: float) -> str:
    """Return how our mean lies to the published one: ``within``, ``lower`` or ``higher``.

    ``within`` means that the 95 % interval of the difference covers 0 (see :func:`covers`). Without
    an interval of ours there is no verdict.
    """
    if np.isnan(ci95):
        return ""
    if covers(mean - published, margin, ci95):
        return WITHIN
    return "higher" if mean > published else "lower"


def quotient(mean: Any, ci95: Any, base: Any, base_ci95: Any) -> tuple[Any, Any]:
    """Return mean / base and half its 95 % interval, for means that share no trials.

    By the delta method. Trials that are shared make the true interval shorter.
    """
    ratio = mean / base
    return ratio, np.hypot(ci95, ratio * base_ci95) / np.abs(base)


def exceeds(actual: Any, nominal: Any) -> Any:
    """Return whether a tight epsilon is above the claimed one by more than rounding."""
    return actual > nominal * (1 + 1e-6)


def price(epsilon: ArrayLike, loss: ArrayLike, share: float = 0.5) -> float:
    """Return the smallest epsilon from which on a loss is at most ``share``.

    The loss at each epsilon (at least one, in any order) is 0 without privacy, 1 for the baseline.
    Interpolated in the logarithm of epsilon; 0 if the loss is small enough at each, infinite if it
    is too large at the largest.
    """
    order = np.argsort(epsilon)
    x, y = (np.asarray(values, dtype=float)[order] for values in (epsilon, loss))
    above = np.flatnonzero(y > share)
    if not len(above):
        return 0.0
    last = above[-1]
    if last == len(x) - 1:
        return np.inf
    part = (y[last] - share) / (y[last] - y[last + 1])
    return float(np.exp(np.log(x[last]) + part * np.log(x[last + 1] / x[last])))


def price_interval(epsilon: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """Return the 95 % interval of a price, by the percentile bootstrap over shared trials.

    ``values`` are of shape (2 + k, trials): without privacy, by a baseline, then at each of the k
    values of ``epsilon``. The resamples are the same in every run.
    """
    values = np.asarray(values, dtype=float)
    trials = values.shape[1]
    share = np.full(trials, 1 / trials)
    counts = np.random.default_rng(0).multinomial(trials, share, size=RESAMPLES)
    free, baseline, *means = values @ counts.T / trials
    losses = (np.stack(means) - free) / (baseline - free)
    prices = np.sort([price(epsilon, loss) for loss in losses.T])
    # Prices beyond the grid are infinite, so that no quantile may lie between two of them.
    ends = np.array([LEVEL / 2, 1 - LEVEL / 2]) * (RESAMPLES - 1)
    low, high = prices[[int(np.floor(ends[0])), int(np.ceil(ends[1]))]]
    return float(low), float(high)


@dataclass(frozen=True)
class Estimate:
    """Numbers that follow Student's t about the truth; all of one shape.

    Attributes:
        value: the estimates.
        error: their standard errors.
        freedom: degrees of freedom; 0 where there are too few trials, which leaves NaN.
    """

    value: Any
    error: Any
    freedom: Any

    def interval(self, level: float = LEVEL) -> tuple[Any, Any]:
        """Return the ends of the two-sided interval."""
        half = stdtrit(self.freedom, 1 - level / 2) * self.error
        return self.value - half, self.value + half

    def detectable(self, level: float = LEVEL) -> Any:
        """Return the smallest effect that such trials show with probability ``POWER``.

        That of the two-sided test at ``level``, to the usual approximation: the quantiles of
        Student's t for the level and for the power, in standard errors.
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
        """Two-sided p-value of 0."""
        return np.minimum(1.0, 2 * np.minimum(self.above(), self.below()))

    def _tail(self, distance: Any) -> Any:
        # What never varies is known, but for rounding.
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

    The interval lies between order statistics, and p is that of the sign test, which leaves out
    zeros: both are exact for every continuous distribution. With at most 5 trials the interval is
    infinite.
    """
    from scipy.stats import binom, binomtest

    trials = np.sort(np.asarray(values, dtype=float))
    trials = trials[np.isfinite(trials)]
    n = len(trials)
    # The largest k for which at most k - 1 of n trials lie below the median in 2.5 % of all cases.
    k = int(binom.ppf(LEVEL / 2, n, 0.5))
    low, high = (trials[k - 1], trials[n - k]) if k else (-np.inf, np.inf)
    positive, signs = int((trials > 0).sum()), int((trials != 0).sum())
    p = binomtest(positive, signs).pvalue if signs else 1.0
    return Median(float(np.median(trials)), float(low), float(high), max(float(p), SMALLEST))


class Pair(NamedTuple):
    """Trials of two rows, one value per trial.

    Attributes:
        first, second: of shape (trials,); paired ones may be stacks of these.
        paired: whether entries of one place are one trial; else the rows share nothing.
    """

    first: Array
    second: Array
    paired: bool = True

    def difference(self, factor: float = 1.0) -> Estimate:
        """Return the estimate of the mean of ``first`` minus ``factor`` times that of ``second``.

        Of trials' differences where these are paired, else with Welch's degrees of freedom.
        """
        if self.paired:
            return mean_of(self.first - factor * self.second)
        first, second = mean_of(self.first), mean_of(self.second)
        parts = first.error**2, (factor * second.error) ** 2
        below = parts[0] ** 2 / first.freedom + parts[1] ** 2 / second.freedom
        freedom = sum(parts) ** 2 / below if below > 0 else first.freedom + second.freedom
        return Estimate(first.value - factor * second.value, np.sqrt(sum(parts)), freedom)

    def ratio(self) -> tuple[float, float, float]:
        """Return the mean of ``first`` over that of ``second``, and its interval after Fieller.

        The interval holds the factors that :meth:`difference` does not reject (for rows that share
        nothing with the degrees of freedom at the ratio); infinite where it rejects too few.
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
    """Two-sided p-values for and against a statement, and the parts that decide these."""

    p_for: float
    p_against: float
    weakest: int
    strongest_against: int

    @property
    def p(self) -> float:
        """Two-sided p-value of the statement, in whichever direction."""
        return min(self.p_for, self.p_against)


def jointly(p_for: Sequence[float], p_against: Sequence[float], every: bool) -> Joint:
    """Return the evidence for a statement that needs all of k parts (``every``), or any of them.

    That all of k hold is as sure as the least sure of them, and refuted if one is, with
    Bonferroni's correction for k; and the other way round for any. The p-values are one-sided.
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

    The i-th smallest of n is multiplied by n - i + 1, and never below those before it.
    """
    p = np.asarray(p_values, dtype=float)
    order = np.argsort(p, kind="stable")
    steps = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(steps, 1)
    return corrected
