"""Draws of a stack of trials, of which each has a Generator or shares one with those beside it.

Trial k draws from ``streams[k]`` alone, so that a block of trials that share one is the same
however many are drawn. (Products with a dense column factor differ in the last digits.)
"""

from __future__ import annotations

import abc
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from matrixdp.checks import Array
from matrixdp.noise.distributions import NoiseDistribution

Streams = Sequence[np.random.Generator]


def normals(streams: Streams, shape: Sequence[int], out: Array | None = None) -> Array:
    """Return i.i.d. standard normals, shape (trials, *shape), in ``out`` if it is there."""
    stack = np.empty((len(streams), *shape)) if out is None else out
    start = 0
    for stream, count in _blocks(streams):
        # One call fills all trials of a block with the numbers that they would draw in turn.
        stream.standard_normal(out=stack[start : start + count])
        start += count
    return stack


def wishart_factors(streams: Streams, size: int, freedom: int) -> Array:
    """Return lower triangular L, (trials, m, m), whose L L^T have the Wishart law W_m(freedom, I).

    Their entries are independent: standard normal below the diagonal, and squares on it that are
    chi-square with freedom, freedom - 1, ..., freedom - m + 1 degrees (Bartlett 1933).

    Args:
        streams: one Generator per trial; at least one.
        size: number m of rows.
        freedom: degrees of freedom, at least m.
    """
    below, diagonal = np.tril_indices(size, -1), np.arange(size)
    factors = np.zeros((len(streams), size, size))
    factors[:, *below] = normals(streams, (len(below[0]),))
    squares = draw_blocks(
        streams, lambda stream, count: stream.chisquare(freedom - diagonal, (count, size))
    )
    factors[:, diagonal, diagonal] = np.sqrt(squares)
    return factors


def draw_blocks(streams: Streams, draw: Callable[[np.random.Generator, int], Array]) -> Array:
    """Return the draws of all trials, shape (trials, ...).

    Args:
        streams: one Generator per trial; at least one.
        draw: returns as many draws of a Generator as it is told, shape (count, ...).
    """
    return np.concatenate([draw(stream, count) for stream, count in _blocks(streams)])


def _blocks(streams: Streams) -> list[tuple[np.random.Generator, int]]:
    """Return each Generator that trials beside each other share, and how many they are."""
    return [(stream, len([*block])) for stream, block in itertools.groupby(streams)]


class Stacked(NoiseDistribution):
    """Noise of which a stack is drawn faster than its trials one after another."""

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        """Return independent draws, shape (count, m, n)."""
        return self.trials([generator] * count)

    def trials(self, streams: Streams) -> Array:
        """Return one draw per stream, shape (trials, m, n)."""
        stack = np.empty((len(streams), *self.shape))
        self._draw(streams, stack)
        return stack

    @abc.abstractmethod
    def _draw(self, streams: Streams, stack: Array) -> None:
        """Draw one trial per stream into an array (trials, m, n)."""
