"""What a person reads from a noisy value: post-processing, which costs no privacy."""

from __future__ import annotations

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.moments import Centred, centred, regression
from matrixdp.mechanisms.ridge import moments_ridge

#: Queries on second moments of records with a constant, from which their mean follows.
WITH_CONSTANT = ("first_component", "regression")


def components(covariance: Array) -> Array:
    """Return the eigenvectors (m, m) in rows, the one of the largest eigenvalue first.

    An eigenvector has no sign; here the sum of its entries is not negative.
    """
    vectors: Array = np.linalg.eigh(covariance)[1][:, ::-1].T
    return vectors * np.where(vectors.sum(axis=1) < 0, -1, 1)[:, None]


def line(estimate: Centred, noise_std: float, middle: Array, half: Array) -> tuple[Array, float]:
    """Return coefficients (m - 1,) and intercept of a regression, in the records' own units.

    Args:
        estimate: mean and covariance of (x, y), in half ranges around the middle.
        noise_std: of the noise in them, which asks for a ridge on x.
        middle, half: of the columns (x, y), (m,) each.
    """
    ridge = moments_ridge(noise_std, len(half) - 1)
    slopes, intercept = regression(estimate, ridge)
    coefficients: Array = slopes * half[-1] / half[:-1]
    own = middle[-1] + half[-1] * float(intercept) - middle[:-1] @ coefficients
    return coefficients, float(own)


def answer(
    query: str,
    private: Array,
    noise_std: float,
    middle: Array,
    half: Array,
    *,
    weighted: bool = False,
) -> Array:
    """Return what a noisy value says, (rows, columns), in the columns' own units.

    Components are those of columns in half ranges.

    Args:
        query: what is asked for: records, mean, second_moments, first_component or regression.
        private: the noisy value on records in half ranges around the middle, (n, m) for records,
            (1, m) for a mean, otherwise second moments.
        noise_std: of its noise.
        middle, half: of the columns, (m,) each; of second moments the middle is 0.
        weighted: whether a ball, and no box, bounds the records.
    """
    if query in ("records", "mean"):
        return private * half + middle
    if query == "second_moments":
        return private * np.outer(half, half)
    estimate = centred(private, weighted=weighted)
    if query == "first_component":
        return components(estimate.covariance)[:1]
    coefficients, intercept = line(estimate, noise_std, middle, half)
    return np.append(coefficients, intercept)[None]
