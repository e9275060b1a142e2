"""Variances of noise, and the widths of intervals that it implies, entry by entry.

They follow from the calibration alone. They do not cover the effects of clipping, or of sampling
the records. Widths hold for all entries simultaneously by a union bound.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import lambertw, ndtri

from matrixdp.checks import Array, InputError
from matrixdp.noise import safe
from matrixdp.noise.distributions import GaussianDistribution, LaplaceNoise, MatrixNormal


# Noise beyond 1e154 has a variance beyond float64, and an interval without end.
@np.errstate(over="ignore")
def variances(distribution: GaussianDistribution | LaplaceNoise, *, symmetric: bool) -> Array:
    """Return the variance of each entry of the noise, (m, m), or (m, 1) where columns are alike.

    It is an upper bound for symmetric noise with dense factors, where both copies of an entry
    depend on each other.

    Args:
        distribution: distribution of the noise.
        symmetric: whether the release averages both copies of an entry.

    Raises:
        InputError: the factors are dense, and the distribution is not a matrix-variate normal.
    """
    dense = any(np.ndim(factor) == 2 for factor in distribution.factors if factor is not None)
    if distribution.identical_columns and not symmetric:
        # All columns have the same variances.
        distribution = _narrow(distribution)
    if dense:
        spread = _dense(distribution)
    else:
        deviations = distribution.colour(
            np.ones_like(distribution.whiten(np.zeros(distribution.shape)))
        )
        spread = deviations**2 * (2 if isinstance(distribution, LaplaceNoise) else 1)
    if not symmetric:
        return spread
    if dense:
        # An upper bound for any correlation of the two copies.
        return np.asarray((np.sqrt(spread) + np.sqrt(spread.T)) ** 2 / 4)
    if copies(distribution):
        spread = (spread + spread.T) / (4 - 2 * np.eye(len(spread)))
    return spread


def _narrow(distribution: Any) -> Any:
    """Return the distribution of one column, where columns are alike."""
    inner = (
        {"distribution": _narrow(distribution.distribution)}
        if hasattr(distribution, "distribution")
        else {}
    )
    return replace(distribution, shape=(distribution.shape[0], 1), **inner)


def copies(distribution: GaussianDistribution | LaplaceNoise) -> bool:
    """Return whether the two copies of a symmetric entry have separate noise."""
    return (
        distribution.whiten(np.zeros(distribution.shape)).size
        == distribution.shape[0] * distribution.shape[1]
    )


def _dense(distribution: GaussianDistribution | LaplaceNoise) -> Array:
    if not isinstance(distribution, MatrixNormal):
        raise InputError(
            f"there are no variances for noise of {type(distribution).__name__} along directions"
        )
    rows, columns = (
        np.ones(size) if factor is None else _squares(np.asarray(factor, float), size)
        for factor, size in zip(distribution.factors, distribution.shape, strict=True)
    )
    return np.outer(rows, columns)


def _squares(factor: Array, size: int) -> Array:
    """Return the squared norm of each row of a factor (size,)."""
    return (factor**2).sum(axis=1) if factor.ndim == 2 else np.broadcast_to(factor**2, (size,))


def widths(
    distribution: GaussianDistribution | LaplaceNoise,
    level: float,
    *,
    symmetric: bool,
    rounding_factor: float = 1.0,
) -> Array:
    """Return bounds on the noise of each entry that hold together with probability ``level``.

    They include the rounding of safe noise.

    Args:
        distribution: distribution of the noise.
        level: probability between 0 and 1.
        symmetric: as in :func:`variances`.
        rounding_factor: factor of safe noise, see
            `matrixdp.mechanisms.base.AdditiveMechanism.rounding_factor`.

    Returns:
        Bounds (m, m) for a symmetric release, otherwise (m, n), a view where columns are alike.
    """
    deviations = np.sqrt(variances(distribution, symmetric=symmetric))
    size = distribution.shape[0]
    entries = size * (size + 1) // 2 if symmetric else size * distribution.shape[1]
    chance = (1 - level) / entries
    if not isinstance(distribution, LaplaceNoise):
        quantiles = np.full(deviations.shape, -ndtri(chance / 2))
    else:
        quantiles = np.full(deviations.shape, -np.log(chance) / np.sqrt(2))
        if symmetric and copies(distribution):
            # The mean of two numbers of scale 1 is beyond t with probability (1 + t) e^(-2t); its
            # variance is 1.
            mean = -1 - lambertw(-2 * chance * np.exp(-2), -1).real / 2
            quantiles[~np.eye(size, dtype=bool)] = mean
    # The value is rounded to a step, and so is the noise.
    moved = rounding_factor * (quantiles * deviations + 2 * safe.STEP * deviations)
    return np.broadcast_to(moved, distribution.shape)
