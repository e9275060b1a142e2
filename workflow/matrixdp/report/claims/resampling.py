"""Draws of means over trials, by bootstrap or after Student, and Holm's correction."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from matrixdp.checks import Array, InputError
from matrixdp.report.summary import LARGE_SAMPLE

RESAMPLES = 10_000

Name = TypeVar("Name", bound=Hashable)


def draw_means(
    values: Mapping[str, Mapping[Name, ArrayLike]],
    stream: np.random.Generator,
    resamples: int = RESAMPLES,
) -> dict[Name, Array]:
    """Return draws of the mean of every row, each of shape (resamples,).

    Args:
        values: group -> row -> one value per trial. Rows of a group share their trials and are
            drawn together (paired); groups are drawn independently (two-sample).
        stream: where the draws come from.
        resamples: how many.

    Returns:
        Means by row. From ``LARGE_SAMPLE`` trials on by bootstrap, spread by sqrt(n / (n - 1))
        about the mean of the trials, which makes their variance that of a mean of n trials, not of
        n - 1. Resampling a handful of trials is too sure of itself (if five differences have one
        sign, so have all resamples, and by chance that happens in 1 of 16 cases): below, every
        difference of rows follows Student's t about that of the trials.

    Raises:
        InputError: a group has fewer than two trials, or rows of different lengths.
    """
    means: dict[Name, Array] = {}
    for group, rows in values.items():
        arrays = {name: np.asarray(row, dtype=float) for name, row in rows.items()}
        sizes = {len(row) for row in arrays.values()}
        if len(sizes) != 1 or min(sizes) < 2:
            raise InputError(
                f"the rows of {group} have {' and '.join(map(str, sorted(sizes)))} trials; they "
                "must share at least two"
            )
        (n,) = sizes
        law = _student if n < LARGE_SAMPLE else _bootstrap
        spread = law(n, stream, resamples)
        for name, row in arrays.items():
            means[name] = row.mean() + spread(row - row.mean())
    return means


def _bootstrap(n: int, stream: np.random.Generator, resamples: int) -> Callable[[Array], Array]:
    """Return what draws the error of a mean from the deviations of its ``n`` trials."""
    drawn = stream.integers(n, size=(resamples, n), dtype=np.int32)
    stretch = np.sqrt(n / (n - 1))
    return lambda deviations: stretch * deviations[drawn].mean(axis=1)


def _student(n: int, stream: np.random.Generator, resamples: int) -> Callable[[Array], Array]:
    """Return the same as :func:`_bootstrap`, for a law of Student's t with n - 1 degrees."""
    # Normal weights on deviations have the variance (n - 1) s^2.
    normal, chi2 = stream.standard_normal((resamples, n)), stream.chisquare(n - 1, resamples)
    weights = normal / np.sqrt(n * chi2)[:, None]
    return lambda deviations: weights @ deviations


def one_sided(resampled: Array, null: float) -> float:
    """Return the p-value of "at most ``null``" against "above it"; never 0."""
    return float((1 + np.count_nonzero(resampled <= null)) / (1 + len(resampled)))


def interval(resampled: Array) -> tuple[float, float]:
    """Return the 95 % percentile interval."""
    low, high = np.quantile(resampled, [0.025, 0.975])
    return float(low), float(high)


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
