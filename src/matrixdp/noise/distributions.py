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
from numpy.typing import NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError

Streams = Sequence[np.random.Generator]


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
    def identical_columns(self) -> bool:
        """Whether columns are independent and identically distributed, for any number of them."""
        return False


class GaussianDistribution(NoiseDistribution):
    """Gaussian noise of mean 0: coloured white noise."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        for white, trial in zip(self.white_noise(streams), stack, strict=True):
            trial[...] = self.colour(white)

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
