"""The ridge that a regression on noisy second moments asks for, by a public rule."""

from __future__ import annotations

import numpy as np

from matrixdp.checks import Array


def moments_ridge(noise_std: float, features: int) -> float:
    """Return 2 s sqrt(m), for second moments X X^T / n and in their unit.

    s is the standard deviation on the diagonal of noise of the Gaussian orthogonal ensemble, whose
    spectral norm is about sqrt(2) s sqrt(m): the ridge lifts the noisy matrix above 0 with room to
    spare. Noise of another shape counts as that of the same root mean square, ``noise_std``.
    """
    diagonal = noise_std * np.sqrt(2 * features / (features + 1))
    return float(2 * diagonal * np.sqrt(features))


def lifted(moments: Array, ridge: Array) -> Array:
    """Return each matrix of a stack (trials, m, m) plus its multiple (trials,) of the identity."""
    return moments + ridge[:, None, None] * np.eye(moments.shape[-1])
