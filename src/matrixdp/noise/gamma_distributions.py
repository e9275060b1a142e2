"""Generalized gamma noise: distributions between the l2 K-norm noise and the Gaussian."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.noise.distributions import (
    BLOCK,
    SizedDistribution,
    Streams,
    mirror_upper,
    normals,
    scale_columns,
)


@dataclass(frozen=True, eq=False)
class GeneralizedGamma(SizedDistribution):
    """Independent columns of density proportional to exp(-(|z| / scale)^power).

    A column's direction is uniform, and its radius scale Q^(1 / power) with Q of Gamma(m / power).
    The power is at least 1; 2 is Gaussian noise, 1 that of
    :class:`~matrixdp.noise.distributions.ColumnL2Exponential`.
    """

    power: float
    identical_columns = True
    stream = "GeneralizedGamma"

    @property
    def dimension(self) -> int:
        """Number of entries that share one radius."""
        return self.shape[0]

    @property
    def gamma_shape(self) -> float:
        """Shape parameter of the size's gamma distribution: number of entries over the power."""
        return super().gamma_shape / self.power

    def _draw(self, streams: Streams, stack: Array) -> None:
        rows, columns = self.shape
        step = max(1, BLOCK // (rows * columns))
        for start in range(0, len(streams), step):
            block = slice(start, start + step)
            noise, radius = stack[block], np.empty((len(stack[block]), columns))
            for stream, trial, row in zip(streams[block], noise, radius, strict=True):
                stream.standard_normal(out=trial)
                stream.standard_gamma(self.dimension / self.power, out=row)
            radius **= 1 / self.power
            scale_columns(noise, self.scale * radius)

    def size(self, z: Array) -> Array:
        """Return sum_j (|z_j| / scale)^power."""
        return (((z / self.scale) ** 2).sum(axis=-2) ** (self.power / 2)).sum(axis=-1)


class SymmetricGeneralizedGamma(GeneralizedGamma):
    """Symmetric matrices; the upper triangle with the diagonal is one generalized gamma column."""

    identical_columns = False
    stream = "SymmetricGeneralizedGamma"

    @property
    def dimension(self) -> int:
        """Number of entries of the upper triangle with the diagonal."""
        return self.shape[0] * (self.shape[0] + 1) // 2

    @property
    def gamma_shape(self) -> float:
        """Number of entries of the upper triangle over the power."""
        return self.dimension / self.power

    def _draw(self, streams: Streams, stack: Array) -> None:
        normals(streams, self.shape, stack)
        stack *= np.triu(np.ones(self.shape))
        radius = np.array([stream.standard_gamma(self.gamma_shape) for stream in streams])
        radius **= 1 / self.power
        stack *= (self.scale * radius / np.linalg.norm(stack, axis=(1, 2)))[:, None, None]
        mirror_upper(stack)

    def size(self, z: Array) -> Array:
        """Return (|upper triangle| / scale)^power."""
        return ((np.triu(z) / self.scale) ** 2).sum(axis=(-2, -1)) ** (self.power / 2)
