"""Draws of a stack of trials, each from a Generator of its own.

Trial k draws from ``streams[k]`` alone, so that it is the same however many are drawn. (Products
with a dense column factor differ in the last digits.)
"""

from __future__ import annotations

import abc
from collections.abc import Sequence

import numpy as np

from matrixdp.checks import Array
from matrixdp.noise.distributions import NoiseDistribution

Streams = Sequence[np.random.Generator]


def normals(streams: Streams, shape: Sequence[int], out: Array | None = None) -> Array:
    """Return i.i.d. standard normals, shape (trials, *shape), in ``out`` if it is there."""
    stack = np.empty((len(streams), *shape)) if out is None else out
    if len(streams) and streams.count(streams[0]) == len(streams):
        # One stream for all trials fills them in one call with the same numbers.
        streams[0].standard_normal(out=stack)
        return stack
    for stream, trial in zip(streams, stack, strict=True):
        stream.standard_normal(out=trial)
    return stack


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
