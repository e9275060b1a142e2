"""Noise on second moments with the density exp(-|Z| / scale), |Z| the Frobenius norm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery


@dataclass(frozen=True, eq=False)
class FrobeniusNoise(NoiseDistribution):
    """Symmetric noise: a direction, and a radius of the gamma distribution."""

    scale: float

    def sample(self, generator, count):
        """Return independent draws, shape (count, m, n)."""
        rows, columns = np.triu_indices(self.shape[0])
        entries = generator.standard_normal((count, len(rows)))
        radius = self.scale * generator.standard_gamma(len(rows), count)
        entries *= (radius / np.linalg.norm(entries, axis=1))[:, None]
        entries[:, rows != columns] /= np.sqrt(2)
        noise = np.empty((count, *self.shape))
        noise[:, rows, columns] = noise[:, columns, rows] = entries
        return noise


@dataclass(frozen=True)
class Frobenius(Mechanism):
    """Noise of scale l2 / epsilon: epsilon-DP, as a change of l2 moves the exponent by epsilon."""

    queries = frozenset({SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float = 0.0) -> AdditiveMechanism:
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0."""
        self._require(query)
        scale = query.l2_sensitivity / checks.positive(epsilon=epsilon)
        entries = query.features * (query.features + 1) / 2
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=epsilon,
            noise_std=scale * np.sqrt(entries * (entries + 1)) / query.features,
            noise=FrobeniusNoise(query.shape, scale),
        )
