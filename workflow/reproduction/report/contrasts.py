"""The engine of every comparison: a linear contrast of trials, its interval and its tests.

A contrast is a weighted sum of rows, trial by trial: one row minus another one, or minus 1.5 times
it, or plus a share of the gap between two further ones. Rows on the same data set share their
splits, so that their contrast is one sample, and the test is the paired one by Student's t. Rows on
two data sets are independent samples, and the test is Welch's. Where trials are heavy-tailed the
median and the sign test take the place of mean and t.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy  # its parts load at their first use, which tables do without
from numpy.typing import ArrayLike

from matrixdp.checks import Array
from reproduction.report.statistics import LARGE_SAMPLE, LEVEL, POWER, ROUNDING

#: Trials are heavy-tailed if one has more than this share of all squared deviations, among at least
#: ``LARGE_SAMPLE``. That trial would dominate the interval of the mean: the median is tested.
HEAVY = 0.5

#: Lower bound of p-values, because corrections divide by them.
SMALLEST = 1e-300


def frame(rows: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return the values of trials: a row for each cell (``keys``), a column for each trial.

    Cells without some trial have NaN there.
    """
    return rows[rows["trial"].notna()].pivot(index=[*keys], columns="trial", values="value")


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

    def interval(self) -> tuple[Any, Any]:
        """Return the ends of the two-sided interval at ``LEVEL``."""
        half = scipy.special.stdtrit(self.freedom, 1 - LEVEL / 2) * self.error
        return self.value - half, self.value + half

    def detectable(self, level: float = LEVEL) -> Any:
        """Return the smallest effect that the two-sided test at ``level`` detects with ``POWER``.

        The usual approximation adds the quantiles of Student's t for the level and for the power,
        in standard errors.
        """
        significant = scipy.special.stdtrit(self.freedom, 1 - level / 2)
        return (significant + scipy.special.stdtrit(self.freedom, POWER)) * self.error

    def above(self, margin: float = 0.0) -> Any:
        """Return the p-value of "at most ``margin``" against "above it"."""
        return self._tail(np.subtract(self.value, margin))

    def below(self, margin: float = 0.0) -> Any:
        """Return the p-value of "at least ``margin``" against "below it"."""
        return self._tail(np.subtract(margin, self.value))

    @property
    def p(self) -> Any:
        """Two-sided p-value of the null hypothesis 0."""
        return np.minimum(1.0, 2 * np.minimum(self.above(), self.below()))

    def _tail(self, distance: Any) -> Any:
        # Estimates without any variance are exact up to rounding.
        fixed = self.error <= ROUNDING * (1 + np.abs(self.value))
        with np.errstate(divide="ignore", invalid="ignore"):
            tail = scipy.special.stdtr(self.freedom, -distance / self.error)
        tail = np.where(fixed, np.where(distance > ROUNDING, 0.0, 1.0), tail)
        return np.where(np.equal(self.freedom, 0), np.nan, np.maximum(tail, SMALLEST))[()]


def estimate(*samples: ArrayLike) -> Estimate:
    """Return the estimate of a contrast: the sum of the means of independent samples.

    The degrees of freedom are Student's for one sample, and Welch's for several.

    Args:
        samples: the parts of the contrast from each data set, arrays of shape (..., trials);
            trials that are NaN are left out.
    """
    moments = [_moments(sample) for sample in samples]
    value, square, freedom = (sum(part) for part in zip(*moments, strict=True))
    if len(moments) > 1:
        below = sum(part**2 / degrees for _, part, degrees in moments)
        freedom = square**2 / below if below > 0 else freedom
    return Estimate(value, np.sqrt(square), freedom)


def _moments(values: ArrayLike) -> tuple[Any, Any, Any]:
    """Return the mean over trials, its squared standard error, and the degrees of freedom."""
    values = np.asarray(values, dtype=float)
    finite = np.isfinite(values)
    n = finite.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(finite, values, 0.0).sum(axis=-1) / n
        squares = np.where(finite, values - mean[..., None], 0.0) ** 2
        square = squares.sum(axis=-1) / (n - 1) / n
    return mean[()], square[()], np.maximum(n - 1, 0)[()]


def shared_mean(values: ArrayLike, baseline: ArrayLike) -> Estimate:
    """Return the means of rows as they would be over all trials of a baseline.

    With B the baseline on its N trials, and X the row on the n trials of both, the mean is
    mean(X) + mean(B) - mean_n(B), where mean_n is over these n. Its variance is that of double
    sampling (Cochran, Sampling Techniques, 1977, chapter 12), Var(X)/N + (1/n - 1/N) Var(X - B). A
    row with all trials has its own mean and variance to the last digit: nothing cancels, however
    small its error is beside the baseline's. The degrees of freedom are those of X.

    Args:
        values: trials of the rows, shape (rows, trials); NaN was not run.
        baseline: trials of the baseline, shape (trials,).
    """
    rows = np.asarray(values, dtype=float)
    level = np.broadcast_to(np.asarray(baseline, dtype=float), rows.shape)
    shared = np.isfinite(rows - level)
    mean, square, freedom = _moments(np.where(shared, rows, np.nan))
    _, square_difference, _ = _moments(rows - level)
    level_shared, *_ = _moments(np.where(shared, level, np.nan))
    level_mean, *_ = _moments(level)
    share = shared.sum(axis=-1) / np.isfinite(level).sum(axis=-1)
    total = share * square + (1 - share) * square_difference
    return Estimate(mean + (level_mean - level_shared), np.sqrt(total), freedom)


def ratio_interval(first: Sequence[Array], second: Sequence[Array]) -> tuple[float, float, float]:
    """Return the ratio of two contrasts, and the ends of Fieller's interval.

    The interval contains the factors that the test of ``first`` minus the factor times ``second``
    does not reject, with the degrees of freedom at the ratio. It is infinite where too few factors
    are rejected.

    Args:
        first, second: the parts of both contrasts from each data set, arrays of shape (trials,);
            a contrast without a part there has zeros.
    """
    above, below = estimate(*first), estimate(*second)
    ratio = above.value / below.value
    difference = estimate(*(a - ratio * b for a, b in zip(first, second, strict=True)))
    quantile = scipy.special.stdtrit(difference.freedom, 1 - LEVEL / 2) ** 2
    shared = sum(np.cov(a, b)[0, 1] / len(a) for a, b in zip(first, second, strict=True))
    square = below.value**2 - quantile * below.error**2
    middle = above.value * below.value - quantile * shared
    root = middle**2 - square * (above.value**2 - quantile * above.error**2)
    if square <= 0 or root < 0:
        return float(ratio), -np.inf, np.inf
    half = np.sqrt(root)
    return float(ratio), float((middle - half) / square), float((middle + half) / square)


def heavy_tailed(values: ArrayLike) -> Any:
    """Return whether trials, the last axis, are heavy-tailed (``HEAVY``); NaN are left out."""
    values = np.asarray(values, dtype=float)
    n = np.isfinite(values).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nansum(values, axis=-1, keepdims=True) / n[..., None]
    squares = np.nan_to_num((values - mean) ** 2)
    return (n >= LARGE_SAMPLE) & (squares.max(axis=-1) > HEAVY * squares.sum(axis=-1))


def median(values: ArrayLike) -> tuple[float, float, float, float]:
    """Return a median, the ends of its 95 % interval, and the two-sided p-value of a median of 0.

    The interval lies between order statistics, and p is that of the sign test, which ignores zeros
    (SciPy's test of a quantile would count them for the null hypothesis). Both are exact for every
    continuous distribution. Trials, an array of shape (n,), that are NaN are left out.
    """
    trials = np.asarray(values, dtype=float)
    trials = trials[np.isfinite(trials)]
    low, high = scipy.stats.quantile_test(trials).confidence_interval(1 - LEVEL)
    positive, signs = int((trials > 0).sum()), int((trials != 0).sum())
    p = scipy.stats.binomtest(positive, signs).pvalue if signs else 1.0
    return float(np.median(trials)), float(low), float(high), max(float(p), SMALLEST)


def test(values: Array) -> pd.DataFrame:
    """Return the estimate of each contrast, with its interval, its two-sided p, and its kind.

    ``difference``, ``low``, ``high`` and ``p`` are of the mean, or of the median where the trials
    are heavy-tailed; ``statistic`` says which.

    Args:
        values: contrasts that are one sample each, shape (contrasts, trials).
    """
    mean, heavy = estimate(values), heavy_tailed(values)
    numbers = np.stack([mean.value, *mean.interval(), mean.p])
    for i in np.flatnonzero(heavy):
        numbers[:, i] = median(values[i])
    table = pd.DataFrame(numbers.T, columns=["difference", "low", "high", "p"])
    return table.assign(
        statistic=np.where(heavy, "median", "mean"), n_trials=np.isfinite(values).sum(axis=1)
    )
