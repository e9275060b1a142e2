"""Noise of the papers' mechanisms: matrix-variate normal, and densities of a norm.

Where the library is to certify a release, its noise has a bound for all neighbours: ``largest_mu``
or ``largest_size``, from the library's sensitivities and the numbers of the noise.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.proofs import UNPROVEN
from matrixdp.noise.distributions import (
    GaussianDistribution,
    NormDistribution,
)
from matrixdp.privacy.sensitivity import Query, RecordsQuery, SecondMomentQuery
from reproduction.stacks import Stacked, Streams, normals

#: Numbers per block of draws: 256 kB, which stays in the second-level cache.
BLOCK = 1 << 15

#: Rows per product with a dense n x n factor; fewer rows would read the factor too often.
GEMM_ROWS = 1 << 10

#: Least ratio of the singular values of a factor. Below it, rounding errors of the factor show in
#: what noise it leaves to a direction.
LEAST_RATIO = 1e-7


@dataclass(frozen=True, eq=False)
class MatrixNormal(Stacked, GaussianDistribution):
    """Matrix-variate normal Z = A N B^T with N i.i.d. standard normal (MVG, section 6).

    vec(Z) ~ N(0, Psi (x) Sigma) with row covariance Sigma = A A^T and column covariance
    Psi = B B^T. Neither is formed; no n x n matrix is, unless B is one.

    Args:
        row_factor: A: None (identity), a number, a diagonal (m,) or a matrix (m, m). With one per
            trial, diagonals have shape (trials, m, 1), matrices (trials, m, m).
        column_factor: B, the same with n in place of m.
    """

    row_factor: ArrayLike | None = None
    column_factor: ArrayLike | None = None
    stream = "MatrixNormal"

    def _draw(self, streams: Streams, stack: Array) -> None:
        self._fill(stack, lambda block: normals(streams[block], self.shape, stack[block]))

    def of_numbers(self, numbers: Array) -> Array:
        """Return the noise of standard normal numbers (trials, m, n)."""
        stack = np.array(numbers)
        self._fill(stack, stack.__getitem__)
        return stack

    def _fill(self, stack: Array, draw: Callable[[slice], Array]) -> None:
        """Fill an array (trials, m, n), block by block, of which ``draw`` gives normal numbers."""
        rows, columns = self.shape
        left = _factor(len(stack), rows, "row_factor", self.row_factor)
        right = _factor(len(stack), columns, "column_factor", self.column_factor)
        right = None if right is None else np.swapaxes(right, 1, 2)
        one_product = right is not None and len(right) == 1 and _dense(right)
        # Blocks of trials with about ``BLOCK`` numbers, or with enough rows for one product.
        step = max(1, BLOCK // (rows * columns), GEMM_ROWS // rows if one_product else 1)
        for start in range(0, len(stack), step):
            block = slice(start, start + step)
            noise = draw(block)
            if right is not None and _dense(right):
                flat = (1, -1, columns) if one_product else noise.shape
                noise[...] = (noise.reshape(flat) @ _part(right, block)).reshape(noise.shape)
            elif right is not None:
                noise *= _part(right, block)
            if left is not None and _dense(left):
                noise[...] = _part(left, block) @ noise
            elif left is not None:
                noise *= _part(left, block)

    @property
    def identical_columns(self) -> bool:
        """Whether there is no column factor."""
        return self.column_factor is None

    @property
    def factors(self) -> tuple[ArrayLike | None, ArrayLike | None]:
        """A and B."""
        return self.row_factor, self.column_factor

    def whiten(self, z: Array) -> Array:
        """Return A^-1 Z B^-T, flat, for factors that are the same in all trials."""
        white = both_sides(z, self.row_factor, self.column_factor, inverse=True)
        return white.reshape(*z.shape[:-2], -1)

    def colour(self, white: Array) -> Array:
        """Return A N B^T."""
        return both_sides(white.reshape(self.shape), self.row_factor, self.column_factor)

    @property
    def deviation(self) -> float:
        """Root mean square of the entries' standard deviations."""
        rows, columns = map(_mean_square, self.factors, self.shape)
        return float(np.sqrt(rows * columns))

    def largest_mu(self, query: Query) -> float:
        """Return an upper bound on the norm of the whitened change of neighbours.

        Raises:
            LinAlgError: a factor is singular, or near it.
        """
        rows, columns = self.factors
        if not isinstance(query, SecondMomentQuery):
            return _along(query, rows) * _largest_columns(columns, query.group)
        if columns is not None and np.array_equal(np.asarray(rows), np.asarray(columns)):
            return _along(query, rows)
        return query.l2_sensitivity / (_least(rows) * _least(columns))


class _Blockwise(NormDistribution):
    """Noise of a norm, of which one draw takes its numbers after another, and a block its sizes."""

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        """Return independent draws, shape (count, m, n)."""
        stack = np.empty((count, *self.shape))
        step = max(1, BLOCK // (self.shape[0] * self.shape[1]))
        for start in range(0, count, step):
            self._fill(generator, stack[start : start + step])
        return stack

    @abc.abstractmethod
    def _fill(self, generator: np.random.Generator, block: Array) -> None:
        """Make draws in an array (k, m, n)."""


class FrobeniusExponential(_Blockwise):
    """Matrices of density proportional to exp(-|Z|_F / scale).

    The radius follows Gamma(mn), because a shell at radius r has volume r^(mn - 1) dr.
    """

    stream = "FrobeniusExponential"

    def _fill(self, generator: np.random.Generator, block: Array) -> None:
        radii = np.empty((len(block), 1, 1))
        for draw, radius in zip(block, radii, strict=True):
            generator.standard_normal(out=draw)
            generator.standard_gamma(draw.size, out=radius)
        flat = block.reshape(len(block), -1)
        # Each draw's sum of squares is a product of vectors.
        block *= self.scale * radii / np.sqrt(flat[:, None] @ flat[:, :, None])

    def norm(self, z: Array) -> Array:
        """Return |Z|_F."""
        return np.sqrt((z**2).sum(axis=(-2, -1)))

    @property
    def deviation(self) -> float:
        """Standard deviation of an entry: a Gamma(k) radius has second moment k (k + 1)."""
        return float(self.scale * np.sqrt(self.shape[0] * self.shape[1] + 1))

    def largest_size(self, query: Query) -> float:
        """Return an upper bound on the size of a change."""
        return query.l2_sensitivity / self.scale


class ColumnL2Exponential(_Blockwise):
    """Matrices of density proportional to exp(-sum_j |z_j|_2 / scale).

    Columns z_j are independent: radius Gamma(m), direction uniform on the sphere.
    """

    identical_columns = True
    stream = "ColumnL2Exponential"

    def _fill(self, generator: np.random.Generator, block: Array) -> None:
        rows, columns = self.shape
        radii = np.empty((len(block), columns))
        for draw, row in zip(block, radii, strict=True):
            generator.standard_normal(out=draw)
            generator.standard_gamma(rows, out=row)
        scale_columns(block, self.scale * radii)

    def norm(self, z: Array) -> Array:
        """Return sum_j |z_j|_2."""
        return np.sqrt((z**2).sum(axis=-2)).sum(axis=-1)

    @property
    def deviation(self) -> float:
        """Standard deviation of an entry."""
        return float(self.scale * np.sqrt(self.shape[0] + 1))

    def largest_size(self, query: Query) -> float:
        """Return an upper bound on the size of a change, NaN for second moments."""
        if isinstance(query, SecondMomentQuery):
            return UNPROVEN
        return _columns(query) * query.l2_sensitivity / self.scale


@dataclass(frozen=True, eq=False)
class ColumnLinfExponential(_Blockwise):
    """Matrices of density proportional to exp(-sum_j max_i |z_ij| / (w_i scale)).

    Columns are independent: a uniform point of the box prod_i [-w_i, w_i] times a Gamma(m + 1)
    number (Hardt & Talwar, STOC 2010, section 4). The weights w have shape (m,).
    """

    weights: ArrayLike
    identical_columns = True
    stream = "ColumnLinfExponential"

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.array(shape=self.shape[:1], weights=self.weights)

    @property
    def _sides(self) -> Array:
        return np.asarray(self.weights, dtype=float)[:, None]

    def _fill(self, generator: np.random.Generator, block: Array) -> None:
        rows, columns = self.shape
        radii = np.empty((len(block), 1, columns))
        for draw, row in zip(block, radii[:, 0], strict=True):
            generator.random(out=draw)
            generator.standard_gamma(rows + 1, out=row)
        block -= 0.5
        block *= 2 * self.scale * radii
        block *= self._sides

    def norm(self, z: Array) -> Array:
        """Return sum_j max_i |z_ij| / w_i."""
        return (np.abs(z) / self._sides).max(axis=-2).sum(axis=-1)

    @property
    def deviation(self) -> float:
        """Root mean square of the entries' standard deviations."""
        m, squares = self.shape[0], np.mean(np.square(self.weights))
        return float(self.scale * np.sqrt((m + 1) * (m + 2) / 3 * squares))

    def largest_size(self, query: Query) -> float:
        """Return an upper bound on the size of a change, NaN for second moments."""
        if isinstance(query, SecondMomentQuery):
            return UNPROVEN
        shares = query.half_widths / np.asarray(self.weights, dtype=float)
        return _columns(query) * float(shares.max()) / self.scale


def _factor(trials: int, size: int, name: str, value: ArrayLike | None) -> Array | None:
    """Return diagonals (T or 1, size or 1, 1) or matrices (T or 1, size, size)."""
    if value is None:
        return None
    values = checks.array(shape=(), **{name: value})
    if values.shape in ((), (size,), (trials, size, 1)):
        return values.reshape(len(values) if values.ndim == 3 else 1, -1, 1)
    if values.shape in ((size, size), (trials, size, size)):
        return values.reshape(-1, size, size)
    raise InputError(
        f"{name} has shape {values.shape}; it must be a number, ({size},), ({size}, {size}), or "
        f"one per trial: ({trials}, {size}, 1) or ({trials}, {size}, {size})"
    )


def both_sides(
    z: Array, left: ArrayLike | None, right: ArrayLike | None, inverse: bool = False
) -> Array:
    """Return A Z B^T, or with ``inverse`` A^-1 Z B^-T, for factors of :class:`MatrixNormal`."""
    for factor in (left, right):
        values = np.asarray(1.0 if factor is None else factor, dtype=float)
        if values.ndim == 2:
            values = np.linalg.inv(values) if inverse else values
            z = values @ z
        else:
            values = values[:, None] if values.ndim else values
            z = z / values if inverse else z * values
        z = np.swapaxes(z, -1, -2)
    return z


def _dense(factor: Array) -> bool:
    return min(factor.shape[1:]) > 1


def _part(factor: Array, block: slice) -> Array:
    return factor if len(factor) == 1 else factor[block]


def scale_columns(noise: Array, lengths: Array) -> None:
    """Scale the columns of an array (..., m, n) to these lengths (..., n), in place."""
    lengths = lengths / np.sqrt(np.einsum("...ij,...ij->...j", noise, noise))
    noise *= lengths[..., None, :]


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


def _columns(query: Query) -> float:
    """Return the most that several changed columns add: a sum of k norms is sqrt(k) in l2."""
    return float(np.sqrt(query.group)) if isinstance(query, RecordsQuery) else 1.0


def _mean_square(factor: ArrayLike | None, size: int) -> float:
    """Return the mean variance of the entries of A N for a factor A (size, size)."""
    values = np.asarray(1.0 if factor is None else factor, dtype=float)
    squares = (values**2).sum(axis=1) if values.ndim == 2 else values**2
    return float(np.mean(squares))
