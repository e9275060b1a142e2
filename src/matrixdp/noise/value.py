"""Noise as one value: independent numbers of unit scale, times a size per entry, in a basis."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.equality import ByValue
from matrixdp.noise import safe

#: Variance of a number of unit scale.
VARIANCE = {safe.NORMAL: 1.0, safe.LAPLACE: 2.0}

#: Numbers per block of draws: 256 kB, which stays in the second-level cache.
_BLOCK = 1 << 15


@dataclass(frozen=True, eq=False)
class Noise(ByValue):
    """Noise W (S o N), or symmetric noise W (S o N) W^T, of independent numbers N.

    Args:
        law: that of the numbers, ``safe.NORMAL`` or ``safe.LAPLACE``.
        size: S, the sizes of the entries, above 0: (m, n), or (m, 1) where columns are alike. Those
            of symmetric noise are (m, m) and symmetric.
        shape: (m, n).
        symmetric: whether N is symmetric, with independent numbers on and above its diagonal.
        basis: W, an orthonormal basis (m, m), one direction per column; None is the standard one.

    Raises:
        InputError: a size is not above 0, or a shape does not fit.
    """

    law: str
    size: Array
    shape: tuple[int, int]
    symmetric: bool = False
    basis: Array | None = None

    def __post_init__(self) -> None:
        checks.choice(tuple(VARIANCE), law=self.law)
        rows, columns = self.shape
        size = checks.array(shape=(), size=self.size)
        shapes = [(rows, columns)] if self.symmetric else [(rows, columns), (rows, 1)]
        if size.shape not in shapes or (self.symmetric and not np.array_equal(size, size.T)):
            kind = "symmetric and " * self.symmetric
            raise InputError(
                f"size has shape {size.shape} for noise of shape {self.shape}; it must be {kind}"
                f"of shape {' or '.join(map(str, shapes))}"
            )
        if not (size > 0).all():
            raise InputError(f"size holds {size.min()}; every size must be above 0")
        fields: dict[str, Array] = {"size": size}
        if self.basis is not None:
            if self.law != safe.NORMAL:
                raise InputError(f"noise of law {self.law} has no basis; leave it out")
            basis = checks.orthonormal(directions=self.basis)
            fields["basis"] = checks.array(shape=(rows, rows), directions=basis)
        for name, values in fields.items():
            # What was calibrated stays as it is.
            values = np.array(values)
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def of(cls, law: str, size: float, shape: tuple[int, int], symmetric: bool = False) -> Noise:
        """Return noise of one size in the standard basis."""
        return cls(law, np.full(shape if symmetric else (shape[0], 1), size), shape, symmetric)

    @property
    def count(self) -> int:
        """How many numbers are independent."""
        rows, columns = self.shape
        return rows * (rows + 1) // 2 if self.symmetric else rows * columns

    @property
    def identical_columns(self) -> bool:
        """Whether columns are independent and identically distributed, for any number of them."""
        return not self.symmetric and self.size.shape[1] == 1

    def whiten(self, z: Array) -> Array:
        """Map noise (..., m, n') to its independent numbers (..., k).

        The number of columns n' may be below that of ``shape`` if ``identical_columns``.
        """
        if self.basis is not None:
            z = self.basis.T @ z
            z = z @ self.basis if self.symmetric else z
        return self._flat(z / self.size)

    def colour(self, white: Array) -> Array:
        """Map independent numbers (..., k) to noise (..., m, n): the inverse of :meth:`whiten`."""
        if self.symmetric:
            rows, columns = upper(self.shape[0])
            z = np.empty((*white.shape[:-1], *self.shape))
            z[..., rows, columns] = white * self.size[rows, columns]
            mirror_upper(z)
        else:
            z = self.size * white.reshape(*white.shape[:-1], *self.shape)
        if self.basis is None:
            return z
        z = self.basis @ z
        # A product of matrices is symmetric to rounding alone.
        return mirror_upper(z @ self.basis.T) if self.symmetric else np.asarray(z)

    def largest(self, z: Array) -> Array:
        """Return bounds (k,) on the whitened entries of noise with |Z| <= z entrywise, (m, n)."""
        if self.basis is not None:
            absolute = np.abs(self.basis)
            z = absolute.T @ z
            z = z @ absolute if self.symmetric else z
        return self._flat(z / self.size)

    def _flat(self, z: Array) -> Array:
        """Return the independent entries (..., k): those on and above a symmetric diagonal."""
        if self.symmetric:
            return z[..., *upper(self.shape[0])]
        return z.reshape(*z.shape[:-2], -1)

    @property
    def variances(self) -> Array:
        """Variance of each entry, (m, n), or (m, 1) where columns are alike."""
        # Noise beyond 1e154 has a variance beyond float64, and intervals without end.
        with np.errstate(over="ignore"):
            spread = VARIANCE[self.law] * self.size**2
            if self.basis is None:
                return spread
            squares = np.square(self.basis)
            if not self.symmetric:
                return np.asarray(squares @ spread)
            # Entry (i, j) is the sum over p of c_p N_pp and over p < q of (w_ip w_jq + w_iq w_jp)
            # N_pq, with c_p = w_ip w_jp. The squares of the latter have the cross term c_p c_q.
            products = self.basis[:, None] * self.basis
            off_diagonal = spread - np.diag(np.diag(spread))
            crossed = ((products @ off_diagonal) * products).sum(axis=-1)
            return np.asarray(squares @ spread @ squares.T + crossed)

    @property
    def deviation(self) -> float:
        """Root mean square of the standard deviations of all entries."""
        return float(np.sqrt(self.variances.mean()))

    def times(self, units: float | Array) -> Noise:
        """Return the noise times a number, or each entry times its unit, (m, 1) or (m, m).

        Raises:
            InputError: the noise has a basis, and entries different units.
        """
        if self.basis is not None and np.ndim(units):
            raise InputError("noise along directions has no units by column")
        return Noise(self.law, self.size * units, self.shape, self.symmetric, self.basis)

    def of_numbers(self, numbers: Array) -> Array:
        """Return the noise of numbers (..., m, n); symmetric noise takes the upper ones of them."""
        return self.colour(self._flat(numbers))

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        """Return independent draws, shape (count, m, n)."""
        return self.of_numbers(unit_numbers(self.law, generator, (count, *self.shape)))


def unit_numbers(law: str, generator: np.random.Generator, size: tuple[int, ...]) -> Array:
    """Return independent numbers of a law of ``VARIANCE``, of the shape ``size``."""
    if law == safe.NORMAL:
        return generator.standard_normal(size)
    z = np.empty(size)
    numbers = math.prod(size[1:])
    draws, length = z.reshape(len(z), numbers), -(-numbers // 8)
    step = max(1, _BLOCK // max(1, numbers))
    for start in range(0, len(draws), step):
        block = draws[start : start + step]
        signs: list[bytes] = []
        # Of each draw the numbers, then their signs, however many there are.
        for draw in block:
            generator.standard_exponential(out=draw)
            signs.append(generator.bytes(length))
        bits = np.frombuffer(b"".join(signs), dtype=np.uint8).reshape(len(block), length)
        block *= 1 - 2 * np.unpackbits(bits, axis=1, count=numbers).view(np.int8)
    return z


def mirror_upper(stack: Array) -> Array:
    """Copy the upper triangle of each square matrix of a stack to the lower, in place."""
    row, column = _below(stack.shape[-1])
    stack[..., row, column] = stack[..., column, row]
    return stack


@functools.lru_cache(maxsize=64)
def _below(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the lower triangle without the diagonal; only for reading."""
    return np.tril_indices(size, -1)


@functools.lru_cache(maxsize=64)
def upper(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return rows and columns of the upper triangle with the diagonal; only for reading."""
    return np.triu_indices(size)
