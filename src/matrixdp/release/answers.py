"""Answers from noisy values: post-processing, which costs no privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.moments import MeanCovariance, centred, regression
from matrixdp.mechanisms.ridge import moments_ridge

#: Queries that need the mean too: second moments of records with a constant 1 contain it.
WITH_CONSTANT = ("covariance", "components", "regression")

#: Names that stand beside those of columns in an answer, its intervals or its errors, by query.
HEADERS = {
    "covariance": ("mean",),
    "components": ("eigenvalue", "share"),
    "regression": ("intercept",),
}

#: How many times the ridge of the noise the smallest eigenvalue of x is where none is needed. It
#: was chosen after a look at 30 rows of diabetes, wine, breast cancer and lines.
AMPLE = 6.0

#: Keys of means and covariances as the noise left them, in details; and what is said of numbers
#: beyond their bounds.
UNCLIPPED, RAW = "unclipped_mean", "raw_covariance"
_NEAREST = (
    "a mean that noise takes beyond its bounds is put at the nearest bound, and the details have "
    "it as the noise left it"
)
_POSSIBLE = (
    f"{_NEAREST}; a covariance is the nearest that has no negative eigenvalue, a variance that is "
    "beyond what the bounds allow is that, with its column's covariances in proportion, and "
    f"{RAW} in the details has all of them as the noise left them"
)
_AS_IT_IS = "a number that noise takes beyond what the bounds allow stays there"
BEYOND = {
    "mean": _NEAREST,
    "covariance": _POSSIBLE,
    "records": _AS_IT_IS,
    "second_moments": _AS_IT_IS,
}


def components(covariance: Array) -> Array:
    """Return the eigenvectors (m, m) in rows, the one of the largest eigenvalue first.

    The sign of an eigenvector is free; here the sum of its entries is not negative.
    """
    vectors: Array = np.linalg.eigh(covariance)[1][:, ::-1].T
    return vectors * np.where(vectors.sum(axis=1) < 0, -1, 1)[:, None]


@dataclass(frozen=True)
class Output:
    """Query, units and options of an answer.

    Attributes:
        query: name of the query: records, mean, second_moments, covariance, components or
            regression.
        middle, half: middle and half range of the columns, (m,) each, those of a regression in the
            order (x, y); the middle is 0 for second moments.
        number: number of components, 1 to m.
        penalty: factor of the squared coefficients beside the mean squared error, that is,
            scikit-learn's alpha over the number of records.
        intercept: whether the line has an intercept; otherwise it goes through the unscaled origin.
        low, high: what means can be, in half ranges: numbers, or arrays (m,).
    """

    query: str
    middle: Array
    half: Array
    number: int = 1
    penalty: float = 0.0
    intercept: bool = True
    low: float | Array = -1.0
    high: float | Array = 1.0

    def means(self, private: Array) -> Array:
        """Return means (..., m) in the columns' units, of noisy ones in half ranges, clipped."""
        means: Array = np.clip(private, self.low, self.high) * self.half + self.middle
        return means

    def raw(self, names: Sequence[str], covariance: Array) -> dict[str, Any]:
        """Return a covariance (m, m) in half ranges, in the columns' units, as details state it."""
        rows = covariance * np.outer(self.half, self.half)
        return {RAW: {name: table(names, row) for name, row in zip(names, rows, strict=True)}}

    def unclipped(self, names: Sequence[str], private: Array) -> dict[str, dict[str, float]]:
        """Return what :meth:`means` clips of noisy means (m,), as details state it."""
        raw = private * self.half + self.middle
        beyond = (private < self.low) | (private > self.high)
        table = {name: float(raw[k]) for k, name in enumerate(names) if beyond[k]}
        return {UNCLIPPED: table} if table else {}

    @property
    def penalties(self) -> Array:
        """The penalty on each column x in half ranges, (m - 1,)."""
        sizes: Array = self.penalty / self.half[:-1] ** 2
        return sizes

    def ridge(self, estimate: MeanCovariance, noise_std: float | Array) -> Array:
        """Return the ridge on each column x in half ranges, (..., m - 1).

        It is the penalty, and that of the noise where the smallest eigenvalue of the released
        moments of x is below ``AMPLE`` times it. Only released numbers decide.

        Args:
            estimate: result of :meth:`about_origin`.
            noise_std: standard deviation of its noise, (...).
        """
        added = moments_ridge(1.0, len(self.half) - 1) * np.asarray(noise_std)
        smallest = np.linalg.eigvalsh(estimate.covariance[..., :-1, :-1])[..., 0]
        needed = smallest * estimate.weight < AMPLE * added
        ridge: Array = self.penalties + np.where(needed, added, 0.0)[..., None]
        return ridge

    def about_origin(self, estimate: MeanCovariance) -> MeanCovariance:
        """Return the moments that a line is fitted to: without an intercept about the origin."""
        if self.intercept:
            return estimate
        mean = estimate.mean + self.middle / self.half
        added = mean[..., :, None] * mean[..., None, :]
        return estimate._replace(covariance=estimate.covariance + added)

    def in_units(self, slopes: Array, shift: Array) -> tuple[Array, Array]:
        """Return coefficients (..., m - 1) and intercept (...), from those in half ranges."""
        coefficients: Array = slopes * self.half[-1] / self.half[:-1]
        offset = self.middle[-1] + self.half[-1] * shift - coefficients @ self.middle[:-1]
        return coefficients, offset if self.intercept else 0 * offset


def line(output: Output, estimate: MeanCovariance, noise_std: float | Array) -> tuple[Array, Array]:
    """Return coefficients (..., m - 1) and intercept (...) of a regression, in records' units.

    Args:
        output: units and options of the regression.
        estimate: mean and covariance of (x, y), in half ranges around the middle.
        noise_std: standard deviation of their noise, which sets a ridge on x, (...).
    """
    estimate = output.about_origin(estimate)
    ridge = output.ridge(estimate, noise_std)[..., None, :]
    return output.in_units(*regression(estimate, ridge))


def possible(covariance: Array) -> Array:
    """Return a covariance (m, m) in half ranges with variances of at most 1.

    Records within their bounds have no larger ones. Rows and columns are scaled, so that
    correlations stay, and no eigenvalue becomes negative.
    """
    factor = 1 / np.sqrt(np.maximum(np.diagonal(covariance), 1.0))
    return covariance * np.outer(factor, factor)


def spectrum(covariance: Array) -> tuple[Array, Array]:
    """Return eigenvalues (m,) and their shares of the total (m,), the largest first.

    Shares of a covariance without variance are 0.
    """
    values = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0)
    return values, values / (values.sum() or 1)


def answer(output: Output, private: Array, noise_std: float, *, weighted: bool = False) -> Array:
    """Return the answer that a noisy value gives, (rows, columns), in the columns' own units.

    Means are clipped to what they can be. A covariance (m, 1 + m) starts with their column.
    Components (``number``, 2 + m) are of columns in half ranges. Each row starts with the
    eigenvalue and its share of the total variance.

    Args:
        output: query, units and options of the answer.
        private: noisy value on records in half ranges around the middle, (n, m) for records,
            (1, m) for a mean, otherwise second moments.
        noise_std: standard deviation of its noise.
        weighted: whether a ball, and no box, bounds the records.
    """
    if output.query == "mean":
        return output.means(private)
    if output.query == "records":
        return private * output.half + output.middle
    if output.query == "second_moments":
        return private * np.outer(output.half, output.half)
    return about_mean(output, centred(private, weighted=weighted), noise_std)


def about_mean(output: Output, estimate: MeanCovariance, noise_std: float) -> Array:
    """Return the answer that a mean and covariance in half ranges give; see :func:`answer`."""
    half = output.half
    if output.query == "covariance":
        mean, covariance = output.means(estimate.mean), possible(estimate.covariance)
        return np.column_stack([mean, covariance * np.outer(half, half)])
    if output.query == "components":
        covariance = possible(estimate.covariance)
        return np.column_stack([*spectrum(covariance), components(covariance)])[: output.number]
    return np.append(*line(output, estimate, noise_std))[None]


def table(names: Sequence[str], values: Array) -> dict[str, Any]:
    """Return values (m, ...) by the names of their columns, as files in JSON have them."""
    return dict(zip(names, values.tolist(), strict=True))
