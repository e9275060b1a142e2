"""What is computed from noisy second moments alone, so that it costs no privacy."""

from __future__ import annotations

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.ridge import moments_ridge


def components(moments: Array) -> Array:
    """Return the eigenvectors (m, m) in rows, the one of the largest eigenvalue first.

    The sign of each, which an eigenvector does not have, makes its entries' sum positive.
    """
    vectors: Array = np.linalg.eigh(moments)[1][:, ::-1].T
    return vectors * np.where(vectors.sum(axis=1) < 0, -1, 1)[:, None]


def line(moments: Array, noise_std: float, middle: Array, half: Array) -> tuple[Array, float]:
    """Return coefficients (m - 1,) and intercept of a regression, in the records' own units.

    Args:
        moments: of records (x, 1, y), with x and y in half ranges around their middle.
        noise_std: of the noise in them, which asks for a ridge on x.
        middle, half: of the columns (x, y), (m,) each.
    """
    features = len(half) - 1
    known = moments[:-1, :-1] + np.diag([moments_ridge(noise_std, features)] * features + [0.0])
    # What is known without the data costs nothing to put right.
    known[-1, -1] = 1
    weights = np.linalg.lstsq(known, moments[:-1, -1], rcond=None)[0] * half[-1]
    coefficients: Array = weights[:-1] / half[:-1]
    return coefficients, float(middle[-1] + weights[-1] - middle[:-1] @ coefficients)
