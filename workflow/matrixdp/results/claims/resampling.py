"""Bootstrap of means over trials, and Holm's correction."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from matrixdp.checks import Array, InputError

RESAMPLES = 10_000

Name = TypeVar("Name", bound=Hashable)


def bootstrap_means(
    values: Mapping[str, Mapping[Name, ArrayLike]],
    stream: np.random.Generator,
    resamples: int = RESAMPLES,
) -> dict[Name, Array]:
    """Return the resampled means of every row, each of shape (resamples,).

    Args:
        values: group -> row -> one value per trial. Rows of a group share their trials and are
            resampled together (paired); groups are resampled independently (two-sample).
        stream: where the resamples come from.
        resamples: how many.

    Returns:
        Means by row, spread by sqrt(n / (n - 1)) about the mean of the trials, which makes their
        variance that of a mean of n trials, not of n - 1.

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
        drawn = stream.integers(n, size=(resamples, n), dtype=np.int32)
        stretch = np.sqrt(n / (n - 1))
        for name, row in arrays.items():
            centre = row.mean()
            means[name] = centre + stretch * ((row - centre)[drawn].mean(axis=1))
    return means


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
