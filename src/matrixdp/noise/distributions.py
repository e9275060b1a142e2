"""Noise distributions as values, sampled as stacks with one trial per Generator.

Every ``sample`` takes ``streams``, one independent Generator per trial, and returns an array whose
first axis is the trial. Trial k draws from ``streams[k]`` alone and so does not depend on the other
trials. (Products with a dense column factor differ in the last digits.) ``out``, C-contiguous
float64 of the result's shape, saves the allocation; anything else raises InputError.

For audits, a distribution also offers whitening of its noise (:class:`GaussianDistribution`), or
the norm on which its density depends (:class:`NormDistribution`). What can be whitened is made from
white noise alone: ``sample`` is ``colour`` of ``white_noise``, of the same streams. The noise is
idealised: float64 samples are open to attacks on their rounding (Mironov, CCS 2012).
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError

Streams = Sequence[np.random.Generator]

#: Numbers per block of draws: 256 kB, which stays in the second-level cache.
BLOCK = 1 << 15

#: Rows per product with a dense n x n factor; fewer rows would read the factor too often.
GEMM_ROWS = 1 << 10


def normals(streams: Streams, shape: Sequence[int], out: Array | None = None) -> Array:
    """Return i.i.d. standard normals, shape (trials, *shape)."""
    stack = stacked(streams, shape, out)
    if len(streams) and streams.count(streams[0]) == len(streams):
        # One stream for all trials fills them in one call with the same numbers.
        streams[0].standard_normal(out=stack)
        return stack
    for stream, trial in zip(streams, stack, strict=True):
        stream.standard_normal(out=trial)
    return stack


@dataclass(frozen=True, eq=False)
class NoiseDistribution(abc.ABC):
    """Distribution of noise that does not depend on the value; one trial has the shape (m, n)."""

    shape: tuple[int, int]

    def sample(self, streams: Streams, out: Array | None = None) -> Array:
        """Return one draw per stream, shape (trials, m, n)."""
        stack = stacked(streams, self.shape, out)
        self._draw(streams, stack)
        return stack

    @abc.abstractmethod
    def _draw(self, streams: Streams, stack: Array) -> None:
        """Draw one trial per stream into an array (trials, m, n)."""

    @property
    def stream(self) -> str:
        """Name of the distribution in keys of random streams.

        Each of ours is written, so that a class may be renamed; by default it is the class's name.
        """
        return type(self).__name__

    @property
    def identical_columns(self) -> bool:
        """Whether columns are independent and identically distributed, for any number of them."""
        return False

    @property
    def factors(self) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Left and right factor, (A, B) of A N B^T with independent entries N; None: identity."""
        return None, None


class GaussianDistribution(NoiseDistribution):
    """Gaussian noise of mean 0: coloured white noise."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        for white, trial in zip(self.white_noise(streams), stack, strict=True):
            trial[...] = self.colour(white)

    def largest(self, z: Array) -> Array:
        """Return bounds (k,) on the whitened entries of noise with |Z| <= z entrywise, (m, n)."""
        return self.whiten(z)

    @abc.abstractmethod
    def whiten(self, z: Array) -> Array:
        """Map noise (..., m, n') to independent standard normals (..., k).

        The number of columns n' may be below that of ``shape`` if ``identical_columns``.
        """

    @abc.abstractmethod
    def colour(self, white: Array) -> Array:
        """Map independent standard normals (k,) to noise (m, n): the inverse of :meth:`whiten`."""

    def white_noise(self, streams: Streams) -> Array:
        """Return the standard normals (trials, k) of which ``sample`` is ``colour``."""
        return normals(streams, self.whiten(np.zeros(self.shape)).shape)


@dataclass(frozen=True, eq=False)
class SizedDistribution(NoiseDistribution):
    """Noise of density proportional to exp(-size), where ``size`` is a function of the noise.

    ``scale`` is above 0.
    """

    scale: float

    def __post_init__(self) -> None:
        checks.positive(scale=self.scale)

    @abc.abstractmethod
    def size(self, z: Array) -> Array:
        """Return the size of noise, (..., m, n') -> (...)."""

    @property
    def gamma_shape(self) -> float:
        """Shape parameter of the size's gamma distribution: the number of independent entries."""
        return float(self.shape[0] * self.shape[1])

    @property
    def deviation(self) -> float:
        """Standard deviation of an entry, or NaN: :mod:`matrixdp.mechanisms.proofs` computes it."""
        return float("nan")


class NormDistribution(SizedDistribution):
    """Noise of density proportional to exp(-norm / scale), sampled one trial at a time."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        for stream, trial in zip(streams, stack, strict=True):
            self._fill(stream, trial)

    @abc.abstractmethod
    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        """Draw one trial into an array (m, n)."""

    @abc.abstractmethod
    def norm(self, z: Array) -> Array:
        """Return the norm of noise, (..., m, n') -> (...)."""

    def size(self, z: Array) -> Array:
        """Return the norm over the scale, (..., m, n') -> (...)."""
        return self.norm(z) / self.scale


@dataclass(frozen=True, eq=False)
class MatrixNormal(GaussianDistribution):
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
        rows, columns = self.shape
        left = _factor(len(streams), rows, "row_factor", self.row_factor)
        right = _factor(len(streams), columns, "column_factor", self.column_factor)
        right = None if right is None else np.swapaxes(right, 1, 2)
        one_product = right is not None and len(right) == 1 and _dense(right)
        # Blocks of trials with about ``BLOCK`` numbers, or with enough rows for one product.
        step = max(1, BLOCK // (rows * columns), GEMM_ROWS // rows if one_product else 1)
        for start in range(0, len(streams), step):
            block = slice(start, start + step)
            noise = normals(streams[block], self.shape, stack[block])
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

    def largest(self, z: Array) -> Array:
        """Return |A^-1| z |B^-T|, flat."""
        return both_sides(z, *self.factors, inverse=True, sizes=True).ravel()

    def whiten(self, z: Array) -> Array:
        """Return A^-1 Z B^-T, flat, for factors that are the same in all trials."""
        white = both_sides(z, self.row_factor, self.column_factor, inverse=True)
        return white.reshape(*z.shape[:-2], -1)

    def colour(self, white: Array) -> Array:
        """Return A N B^T."""
        return both_sides(white.reshape(self.shape), self.row_factor, self.column_factor)

    def white_noise(self, streams: Streams) -> Array:
        """Return the entries of N (trials, k)."""
        return normals(streams, self.shape).reshape(len(streams), -1)


class FrobeniusExponential(NormDistribution):
    """Matrices of density proportional to exp(-|Z|_F / scale).

    The radius follows Gamma(mn), because a shell at radius r has volume r^(mn - 1) dr.
    """

    stream = "FrobeniusExponential"

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        stream.standard_normal(out=trial)
        trial *= self.scale * stream.standard_gamma(trial.size) / np.linalg.norm(trial)

    def norm(self, z: Array) -> Array:
        """Return |Z|_F."""
        return np.sqrt((z**2).sum(axis=(-2, -1)))


class ColumnL2Exponential(NormDistribution):
    """Matrices of density proportional to exp(-sum_j |z_j|_2 / scale).

    Columns z_j are independent: radius Gamma(m), direction uniform on the sphere.
    """

    identical_columns = True
    stream = "ColumnL2Exponential"

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        stream.standard_normal(out=trial)
        scale_columns(trial, self.scale * stream.standard_gamma(self.shape[0], size=self.shape[1]))

    def norm(self, z: Array) -> Array:
        """Return sum_j |z_j|_2."""
        return np.sqrt((z**2).sum(axis=-2)).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class ColumnLinfExponential(NormDistribution):
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

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        rows, columns = self.shape
        stream.random(out=trial)
        trial -= 0.5
        trial *= 2 * self.scale * stream.standard_gamma(rows + 1, size=columns)
        trial *= self._sides

    def norm(self, z: Array) -> Array:
        """Return sum_j max_i |z_ij| / w_i."""
        return (np.abs(z) / self._sides).max(axis=-2).sum(axis=-1)


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
    z: Array,
    left: ArrayLike | None,
    right: ArrayLike | None,
    inverse: bool = False,
    sizes: bool = False,
) -> Array:
    """Return A Z B^T, or with ``inverse`` A^-1 Z B^-T, for factors of :class:`MatrixNormal`.

    With ``sizes``, the entries of the factors or their inverses are replaced by absolute values.
    """
    for factor in (left, right):
        values = np.asarray(1.0 if factor is None else factor, dtype=float)
        if values.ndim == 2:
            values = np.linalg.inv(values) if inverse else values
            z = (np.abs(values) if sizes else values) @ z
        else:
            values = values[:, None] if values.ndim else values
            values = np.abs(values) if sizes else values
            z = z / values if inverse else z * values
        z = np.swapaxes(z, -1, -2)
    return z


def _dense(factor: Array) -> bool:
    return min(factor.shape[1:]) > 1


def _part(factor: Array, block: slice) -> Array:
    return factor if len(factor) == 1 else factor[block]


def stacked(streams: Streams, shape: Sequence[int], out: Array | None) -> Array:
    """Return ``out`` if it has the right shape and type, or a new array for one draw per stream."""
    size = (len(streams), *shape)
    if out is None:
        return np.empty(size)
    if out.shape != size or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise InputError(
            f"out is {out.dtype} of shape {out.shape}; it must be C-contiguous float64 of {size}"
        )
    return out


def scale_columns(noise: Array, lengths: Array) -> None:
    """Scale the columns of an array (..., m, n) to these lengths (..., n), in place."""
    lengths = lengths / np.sqrt(np.einsum("...ij,...ij->...j", noise, noise))
    noise *= lengths[..., None, :]


def mirror_upper(stack: Array) -> Array:
    """Copy the upper triangle of each square matrix of a stack to the lower, in place."""
    row, column = _below(stack.shape[-1])
    stack[..., row, column] = stack[..., column, row]
    return stack


@functools.lru_cache(maxsize=64)
def _below(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the lower triangle without the diagonal; only for reading."""
    return np.tril_indices(size, -1)


def laplaces(streams: Streams, count: int) -> Array:
    """Return independent numbers of density exp(-|z|) / 2, shape (trials, count)."""
    stack = np.empty((len(streams), count))
    for stream, numbers in zip(streams, stack, strict=True):
        stream.standard_exponential(out=numbers)
        numbers *= _signs(stream, count)
    return stack


def _signs(stream: np.random.Generator, count: int) -> NDArray[np.int8]:
    """Return fair signs, -1 or 1, from one random bit each."""
    random = np.frombuffer(stream.bytes(-(-count // 8)), dtype=np.uint8)
    return 1 - 2 * np.unpackbits(random, count=count).view(np.int8)
