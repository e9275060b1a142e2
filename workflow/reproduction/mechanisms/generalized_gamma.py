"""Spherical generalized gamma noise: less than Gaussian noise at the same guarantee.

The family contains the l2 K-norm noise (power 1) and the Gaussian (power 2); see
:mod:`reproduction.privacy.generalized_gamma`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise.distributions import SizedDistribution
from matrixdp.noise.value import mirror_upper
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.noise import BLOCK, scale_columns
from reproduction.privacy import generalized_gamma
from reproduction.stacks import Stacked, Streams, draw_blocks, normals

#: Candidates of the power, from which the calibration chooses.
POWERS = tuple(np.linspace(1, 2, 9).tolist())


@dataclass(frozen=True, eq=False)
class GeneralizedGamma(Stacked, SizedDistribution):
    """Independent columns of density proportional to exp(-(|z| / scale)^power).

    A column's direction is uniform, and its radius scale Q^(1 / power) with Q of Gamma(m / power).
    The power is at least 1; 2 is Gaussian noise, 1 that of
    :class:`~reproduction.mechanisms.noise.ColumnL2Exponential`.
    """

    power: float
    identical_columns = True
    stream = "GeneralizedGamma"

    @property
    def dimension(self) -> int:
        """Number of entries that share one radius."""
        return self.shape[0]

    @property
    def deviation(self) -> float:
        """Standard deviation of an entry."""
        return float(generalized_gamma.deviation(self.scale, self.power, self.dimension))

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
        radius = draw_blocks(
            streams, lambda stream, count: stream.standard_gamma(self.gamma_shape, count)
        )
        radius **= 1 / self.power
        stack *= (self.scale * radius / np.linalg.norm(stack, axis=(1, 2)))[:, None, None]
        mirror_upper(stack)

    def size(self, z: Array) -> Array:
        """Return (|upper triangle| / scale)^power."""
        return ((np.triu(z) / self.scale) ** 2).sum(axis=(-2, -1)) ** (self.power / 2)


@dataclass(frozen=True, kw_only=True)
class GammaRelease(AdditiveMechanism):
    """Value plus generalized gamma noise."""

    noise: GeneralizedGamma


@dataclass(frozen=True)
class SphericalGamma(Mechanism):
    """Generalized gamma noise on each column of a matrix, or the upper triangle of second moments.

    One record changes one column; the other columns get independent noise of the same distribution.

    Args:
        power: power of the norm in the exponent, at least 1; None takes the one of ``POWERS`` with
            the least variance, by public numbers alone.
    """

    power: float | None = 1.25
    queries = frozenset({RecordsQuery, MeanQuery, SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> GammaRelease:
        """Return the (epsilon, delta)-DP release."""
        epsilon, delta = self._budget(query, epsilon, delta)
        symmetric = isinstance(query, SecondMomentQuery)
        m = query.features
        dimension = m * (m + 1) // 2 if symmetric else m
        powers = np.array(POWERS if self.power is None else [self.power])
        units = generalized_gamma.scale(epsilon, delta, powers, dimension)
        deviations = generalized_gamma.deviation(units, powers, dimension)
        best = int(np.argmin(deviations))
        shift, attained = query.l2_sensitivity, query.l2_tight
        if isinstance(query, SecondMomentQuery):
            shift, attained = query.triangle_l2_sensitivity, query.triangle_l2_tight
        distribution = SymmetricGeneralizedGamma if symmetric else GeneralizedGamma
        return GammaRelease(
            query=query,
            epsilon=epsilon,
            delta=delta,
            epsilon_delivered=epsilon,
            tight=attained,
            noise_std=float(shift * deviations[best]),
            noise=distribution(query.shape, float(shift * units[best]), float(powers[best])),
        )


MECHANISMS = {
    "generalized_gamma": MechanismEntry(SphericalGamma),
    "generalized_gamma_best": MechanismEntry(partial(SphericalGamma, None)),
}
