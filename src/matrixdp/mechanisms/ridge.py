"""The ridge of a regression on noisy second moments, by a public rule."""

from __future__ import annotations

import numpy as np

from matrixdp.checks import Array


def moments_ridge(noise_std: float, features: int) -> float:
    """Return 2 s sqrt(m), for second moments X X^T / n and in their unit.

    Here s is the standard deviation on the diagonal of noise of the Gaussian orthogonal ensemble.
    Its spectral norm is about sqrt(2) s sqrt(m), so that the ridge makes the noisy matrix positive
    definite with a margin. Other noise is treated as that with the same root mean square,
    ``noise_std``.
    """
    diagonal = noise_std * np.sqrt(2 * features / (features + 1))
    return float(2 * diagonal * np.sqrt(features))


def lifted(moments: Array, ridge: float | Array) -> Array:
    """Return matrices (..., m, m) plus their ridge (...) times the identity."""
    return moments + np.asarray(ridge)[..., None, None] * np.eye(moments.shape[-1])
