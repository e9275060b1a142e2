"""Mean, covariance and regression from one noisy release of second moments.

The records are z = (x, 1, y): a constant stands before the last column y, so that their second
moments hold the means too. Everything here is post-processing and costs no further privacy.

The constant costs some noise. Let m columns x be without the constant, in a box scaled to [-1, 1].
Neighbours then differ by D = [[x x^T - x' x'^T, x - x'], [x^T - x'^T, 0]] / n. The entry of the
constant with itself is 1 and public: no noisy copy of it is used. Every such pair is also a pair of
records of [-1, 1]^(m + 1), for which the second-moment query is calibrated. The sensitivities of
that query are therefore upper bounds:

- Replacement: |D|_F^2 n^2 = |z|^4 + |z'|^4 - 2 (z . z')^2 is at most 2 (m + 1)^2 - 2 min (z . z')^2
  over sign vectors, where z . z' is 0 for odd m and 1 or -1 for even m. The supremum over the cube
  is the same: nothing is lost.
- Zero-out: x' = 0 gives sqrt((m + 1)^2 - 1), and the query charges m + 1: a factor of 1.06 for
  m = 2, 1.01 for m = 6.

The noise is larger by about 1 / m than that of second moments without a constant.

Where the number of records is private, the released entry of the constant is their share of the
stated number, by which the others are divided. Records that a ball shortens together with their
constant have a mean weight there in the same way: the square of the factor of each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from matrixdp.checks import Array
from matrixdp.noise.value import mirror_upper

#: Index of the constant among the columns.
CONSTANT = -2

#: Lower bound that replaces smaller noisy mean weights.
LEAST = 1e-6


class MeanCovariance(NamedTuple):
    """Mean (..., m) and covariance (..., m, m) of records, and their mean weight (...)."""

    mean: Array
    covariance: Array
    weight: Array


def with_constant(rows: Array) -> Array:
    """Return records (..., n, m) with a constant 1 before the last column, (..., n, m + 1)."""
    return np.insert(rows, rows.shape[-1] - 1, 1.0, axis=-1)


def centred(moments: Array, *, weighted: bool = False) -> MeanCovariance:
    """Return the mean and the covariance about it, projected to positive semi-definite.

    The arguments are those of :func:`unprojected`.
    """
    raw = unprojected(moments, weighted=weighted)
    return raw._replace(covariance=positive(raw.covariance))


def unprojected(moments: Array, *, weighted: bool = False) -> MeanCovariance:
    """Return the mean and the covariance about it, as the noise leaves them.

    Args:
        moments: noisy second moments of records with the constant, symmetric, (..., m + 1, m + 1).
        weighted: whether the mean weight of the constant is read from its entry; otherwise it is 1.
    """
    size = moments.shape[-1]
    columns = np.delete(np.arange(size), CONSTANT)
    corner = moments[..., CONSTANT, CONSTANT]
    weight = np.maximum(corner, LEAST) if weighted else np.ones_like(corner)
    mean = moments[..., CONSTANT, columns] / weight[..., None]
    second = moments[..., columns[:, None], columns] / weight[..., None, None]
    return MeanCovariance(mean, second - mean[..., :, None] * mean[..., None, :], weight)


def positive(matrices: Array) -> Array:
    """Return the nearest positive semi-definite matrices in the Frobenius norm, (..., m, m).

    Each equals its transpose to the last bit, which a product of matrices does not.
    """
    values, vectors = np.linalg.eigh(matrices)
    scaled = vectors * np.maximum(values, 0)[..., None, :]
    return mirror_upper(scaled @ np.swapaxes(vectors, -1, -2))


def regression(estimate: MeanCovariance, ridge: float | Array) -> tuple[Array, Array]:
    """Return coefficients (..., m - 1) and intercept (...) of the last column on the others.

    Args:
        estimate: result of :func:`centred`.
        ridge: number, or one for each explaining column (m - 1,), that is added to their second
            moments; the intercept is not shrunk.
    """
    mean, covariance, weight = estimate
    features = covariance.shape[-1] - 1
    penalty = ridge / weight[..., None, None]
    block = covariance[..., :-1, :-1] + penalty * np.eye(features)
    # A pseudo-inverse, because columns may be linearly dependent.
    inverse = np.linalg.pinv(block, hermitian=True)
    coefficients: Array = (inverse @ covariance[..., :-1, -1, None])[..., 0]
    intercept: Array = mean[..., -1] - (mean[..., :-1] * coefficients).sum(axis=-1)
    return coefficients, intercept
