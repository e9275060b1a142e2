"""Bounds on the change of neighbours that the library proves, and the deviation of its noise.

They follow from the library's sensitivities and from the numbers of a noise distribution. What a
release declares of itself is not used, nor is a method of another author's class: such a query, or
such noise, has no bound here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import library
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.scaled import ScaledLaplace, ScaledNormal, in_units, units
from matrixdp.noise import distributions
from matrixdp.noise.distributions import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    GaussianDistribution,
    MatrixNormal,
    NoiseDistribution,
    SizedDistribution,
    SymmetricLaplace,
    SymmetricNormal,
    SymmetrisedNormal,
)
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import IdentityQuery, MeanQuery, Query, SecondMomentQuery

#: Relative tolerance of two numbers that are computed in two ways.
ROUNDING = 1e-9

#: No bound is proven.
UNPROVEN = float("nan")

#: Least ratio of the singular values of a factor. Below it, rounding errors of the factor show in
#: what noise it leaves to a direction.
LEAST_RATIO = 1e-7


def owned(query: Query, noise: NoiseDistribution | None = None) -> bool:
    """Return whether a query with its domain, and the noise, are of classes of the library.

    The noise has the shape of the query, and plain numbers and arrays in its fields: an object that
    only looks like an array may change.
    """
    if not library.plain(query):
        return False
    return noise is None or (library.plain(noise) and noise.shape == query.shape)


def mu(query: Query, noise: GaussianDistribution) -> float:
    """Return an upper bound on mu, the norm of the whitened change of neighbours.

    NaN: no bound is proven.
    """
    if not owned(query, noise):
        return UNPROVEN
    try:
        return _mu(query, noise)
    except (InputError, np.linalg.LinAlgError):
        # A singular factor leaves some direction without noise; one near it, an uncertain one.
        return UNPROVEN


def part_mu(query: Query, noise: GaussianDistribution) -> float:
    """Return an upper bound on the mu of a part of a composed release, or NaN as :func:`mu`.

    Its mean may be one of other numbers than the domain's, as of records by length: the l2
    sensitivity over the least deviation is a bound for all.
    """
    if isinstance(query, MeanQuery) and isinstance(noise, MatrixNormal) and owned(query, noise):
        return query.l2_sensitivity / _least(noise.row_factor)
    return mu(query, noise)


def _mu(query: Query, noise: GaussianDistribution) -> float:
    if isinstance(noise, ScaledNormal):
        return _mu(in_units(query), noise.distribution) if _of_units(query, noise.sizes) else np.nan
    if isinstance(noise, SymmetricNormal) and isinstance(query, SecondMomentQuery):
        return _triangle(query, noise)
    if isinstance(noise, SymmetrisedNormal) and isinstance(query, SecondMomentQuery):
        return _along(query, noise.factor)
    if isinstance(noise, MatrixNormal):
        rows, columns = noise.factors
        if not isinstance(query, SecondMomentQuery):
            return _along(query, rows) * _largest_columns(columns, query.group)
        if columns is not None and np.array_equal(np.asarray(rows), np.asarray(columns)):
            return _along(query, rows)
        return query.l2_sensitivity / (_least(rows) * _least(columns))
    return UNPROVEN


def _along(query: Query, factor: ArrayLike | None) -> float:
    """Return mu of noise with a factor A, (m,) or (m, m): that of the variances of A A^T."""
    values = np.asarray(1.0 if factor is None else factor, dtype=float)
    if values.ndim < 2:
        variances = np.broadcast_to(values**2, (query.features,))
        return query.directional_mu(variances).value
    # Not the eigenvalues of A A^T, whose rounding errors are those of the squared largest one.
    directions, sizes = _decomposed(values)
    return query.directional_mu(sizes**2, directions).value


def _decomposed(factor: Array) -> tuple[Array, Array]:
    """Return the left singular vectors of a factor, and its singular values, less their error.

    Raises:
        LinAlgError: the factor is singular, or near it.
    """
    directions, sizes, _ = np.linalg.svd(factor)
    if not sizes[-1] >= LEAST_RATIO * sizes[0] > 0:
        raise np.linalg.LinAlgError("the factor is near a singular one")
    return directions, sizes - len(sizes) * np.finfo(float).eps * sizes[0]


def _least(factor: ArrayLike | None) -> float:
    """Return the smallest singular value of a factor."""
    values = np.asarray(1.0 if factor is None else factor, dtype=float)
    return float(np.abs(values).min() if values.ndim < 2 else _decomposed(values)[1][-1])


def _largest_columns(factor: ArrayLike | None, group: int) -> float:
    """Return by how much a column factor B enlarges the whitened norm of a group's change.

    The factor is in units of sqrt(k) max |A^-1 d|, that of :func:`_along` for k columns. A change
    D = sum_j d_j e_j^T in k columns has the whitened norm |sum_j (A^-1 d_j) (B^-1 e_j)^T|. By the
    triangle inequality it is at most k max |A^-1 d| max_j |B^-1 e_j|: sqrt(k) times the largest
    column. It is also at most |A^-1 D| |B^-1|_2 <= sqrt(k) max |A^-1 d| |B^-1|_2. The smaller one
    is the bound. A diagonal B has orthogonal columns, and the spectral norm is its largest one.
    """
    values = np.asarray(1.0 if factor is None else factor, dtype=float)
    if values.ndim < 2:
        return float((1 / np.abs(values)).max())
    directions, sizes = _decomposed(values)
    # The columns of the inverse V S^-1 U^T are as long as those of S^-1 U^T.
    largest = np.linalg.norm(directions / sizes, axis=1).max()
    return float(min(np.sqrt(group) * largest, 1 / sizes[-1]))


def _triangle(query: SecondMomentQuery, noise: SymmetricNormal) -> float:
    """Return mu of independent entries on and above the diagonal.

    Let F be the Frobenius norm of a change D, U that of its upper triangle, d that of its diagonal,
    so that U^2 = (F^2 + d^2) / 2. With variances 1 / a on the diagonal and 1 / b above it, mu^2 is
    a d^2 + b (F^2 - d^2) / 2 = (2 a - b) U^2 + (b - a) F^2.
    """
    a, b = float(noise.diagonal_std) ** -2, float(noise.off_diagonal_std) ** -2
    upper, whole = query.triangle_l2_sensitivity**2, query.l2_sensitivity**2
    if b < a:
        square = a * upper
    elif b <= 2 * a * (1 + 1e-12):
        square = max(2 * a - b, 0.0) * upper + (b - a) * whole
    else:
        square = b * whole / 2
    return float(np.sqrt(square))


def _of_units(query: Query, sizes: Array) -> bool:
    """Return whether noise is scaled by the units of the query's box."""
    if not isinstance(query.domain, Box):
        return False
    unit = units(query)[:, None]
    return np.array_equal(sizes, unit * unit.T if isinstance(query, SecondMomentQuery) else unit)


def size(query: Query, noise: NoiseDistribution) -> float:
    """Return an upper bound on the size of a change, where the noise has density exp(-size).

    It is the epsilon of pure differential privacy. NaN: no bound is proven.
    """
    if not owned(query, noise):
        return UNPROVEN
    if isinstance(noise, ScaledLaplace):
        return (
            size(in_units(query), noise.distribution) if _of_units(query, noise.sizes) else np.nan
        )
    # Columns of one person that change; a sum of k norms is at most sqrt(k) times that of squares.
    group = np.sqrt(query.group) if isinstance(query, IdentityQuery) else 1.0
    if isinstance(noise, SymmetricLaplace):
        return (
            query.triangle_l1_sensitivity / noise.scale
            if isinstance(query, SecondMomentQuery)
            else UNPROVEN
        )
    if isinstance(noise, distributions.LaplaceNoise):
        return query.l1_sensitivity / noise.scale
    if isinstance(noise, FrobeniusExponential):
        return query.l2_sensitivity / noise.scale
    if isinstance(query, SecondMomentQuery):
        return UNPROVEN
    if isinstance(noise, ColumnL2Exponential):
        return float(group * query.l2_sensitivity / noise.scale)
    if isinstance(noise, ColumnLinfExponential):
        shares = query.sides / np.asarray(noise.weights, dtype=float)
        return float(group * shares.max() / noise.scale)
    return UNPROVEN


def deviation(noise: NoiseDistribution) -> float:
    """Return the root mean square of the entries' standard deviations, or NaN for other noise."""
    if not library.plain(noise):
        return UNPROVEN
    if isinstance(noise, SizedDistribution) and not np.isnan(noise.deviation):
        return noise.deviation
    if isinstance(noise, distributions.LaplaceNoise) and not isinstance(noise, ScaledLaplace):
        return float(np.sqrt(2) * noise.scale)
    m, n = noise.shape
    # A Gamma(k) radius has second moment k (k + 1); the rest are moments of the directions.
    if isinstance(noise, FrobeniusExponential):
        return float(noise.scale * np.sqrt(m * n + 1))
    if isinstance(noise, ColumnL2Exponential):
        return float(noise.scale * np.sqrt(m + 1))
    if isinstance(noise, ColumnLinfExponential):
        squares = np.mean(np.square(noise.weights))
        return float(noise.scale * np.sqrt((m + 1) * (m + 2) / 3 * squares))
    spread = _variances(noise)
    return UNPROVEN if spread is None else float(np.sqrt(spread.mean()))


def _variances(noise: NoiseDistribution) -> Array | None:
    """Return the variances of the entries (m, n), or None."""
    if isinstance(noise, ScaledNormal | ScaledLaplace):
        if isinstance(noise.distribution, distributions.LaplaceNoise):
            return np.broadcast_to(2 * noise.distribution.scale**2 * noise.sizes**2, noise.shape)
        spread = _variances(noise.distribution)
        return None if spread is None else spread * noise.sizes**2
    if isinstance(noise, SymmetricNormal):
        return np.asarray(noise.deviations**2)
    if isinstance(noise, MatrixNormal):
        rows, columns = (
            np.diag(_covariance(factor, size))
            for factor, size in zip(noise.factors, noise.shape, strict=True)
        )
        return np.outer(rows, columns)
    if isinstance(noise, SymmetrisedNormal):
        covariance = _covariance(noise.factor, noise.shape[0])
        squares = np.outer(np.diag(covariance), np.diag(covariance))
        return (squares + covariance**2) / 2
    return None


def _covariance(factor: ArrayLike | None, size: int) -> Array:
    values = np.asarray(1.0 if factor is None else factor, dtype=float)
    if values.ndim < 2:
        return np.diag(np.broadcast_to(values**2, (size,)))
    return values @ values.T
