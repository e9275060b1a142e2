"""Laplace, K-norm and generalized gamma draws as standard normals.

A noise distribution of the library has a direction that is uniform on the unit sphere of its norm,
and a radius of known distribution. The radius is replaced by that of a standard normal vector at
the same probability. What results is white noise if the draws follow their distribution, and
:mod:`matrixdp.auditing.whiteness` tests it.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from matrixdp.checks import Array
from matrixdp.noise.distributions import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    LaplaceNoise,
    SizedDistribution,
)
from matrixdp.noise.gamma_distributions import GeneralizedGamma, SymmetricGeneralizedGamma


def normalised(noise: SizedDistribution, draws: Array) -> Array | None:
    """Return draws (T, m, n) as standard normals (T, d); None for another norm than the library's.

    A subclass of another author counts if it keeps the norm of its base.
    """
    if isinstance(noise, LaplaceNoise):
        return normals_of(np.stack([np.ravel(noise.whiten(one)) for one in draws]))
    keeps = [
        noise_class
        for noise_class in (FrobeniusExponential, ColumnL2Exponential, ColumnLinfExponential)
        if isinstance(noise, noise_class) and type(noise).norm is noise_class.norm
    ]
    m, count = noise.shape[0], len(draws)
    if isinstance(noise, GeneralizedGamma):
        kinds = (SymmetricGeneralizedGamma, GeneralizedGamma)
        if type(noise).size not in [noise_class.size for noise_class in kinds]:
            return None
        rows = np.swapaxes(draws, 1, 2)
        if isinstance(noise, SymmetricGeneralizedGamma):
            rows = draws[:, None, *np.triu_indices(m)]
        length = np.linalg.norm(rows, axis=-1, keepdims=True)
        size = (length / noise.scale) ** noise.power
        shape = noise.dimension / noise.power
    elif not keeps:
        return None
    elif isinstance(noise, ColumnLinfExponential):
        rows = np.swapaxes(draws, 1, 2) / np.asarray(noise.weights, dtype=float)
        length = np.abs(rows).max(axis=-1, keepdims=True)
        share = special.gammainc(m, length / noise.scale) ** (1 / m)
        points = (1 + rows / length * share) / 2
        return np.asarray(special.ndtri(np.clip(points, 1e-16, 1 - 1e-16)).reshape(count, -1))
    else:
        whole = isinstance(noise, FrobeniusExponential)
        rows = draws.reshape(count, 1, -1) if whole else np.swapaxes(draws, 1, 2)
        length = np.linalg.norm(rows, axis=-1, keepdims=True)
        size, shape = length / noise.scale, float(rows.shape[-1])
    radius = _chi(rows.shape[-1], shape, size)
    return np.asarray((rows / length * radius).reshape(count, -1))


def normals_of(white: Array) -> Array:
    """Return Laplace numbers of scale 1 as standard normals."""
    return np.asarray(-np.sign(white) * special.ndtri(np.exp(-np.abs(white)) / 2))


def _chi(dimension: int, shape: float, size: Array) -> Array:
    """Return the lengths of normal vectors at the probabilities of Gamma(shape) numbers."""
    half = dimension / 2
    below, above = special.gammainc(shape, size), special.gammaincc(shape, size)
    lower = special.gammaincinv(half, np.clip(below, 1e-300, 0.5))
    upper = special.gammainccinv(half, np.clip(above, 1e-300, 0.5))
    return np.asarray(np.sqrt(2 * np.where(below < 0.5, lower, upper)))
