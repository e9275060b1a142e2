"""A mechanism that is not private: it states its own density, and a false epsilon."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from matrix_noise.staircase import Staircase, StaircaseNoise, best_gamma, spread


@dataclass(frozen=True, eq=False)
class EntryNoise(StaircaseNoise):
    """Staircase noise in one dimension on each entry: every entry may lose epsilon."""

    @property
    def dimension(self) -> int:
        """Number of entries that share a norm."""
        return 1

    def sample(self, generator, count):
        """Return independent draws, shape (count, m, n)."""
        rows, columns = self.shape
        size = (count, rows * (rows + 1) // 2, 1) if self.symmetric else (count, rows, columns)
        steps = np.searchsorted(self._cumulated, generator.random(size), side="right")
        radius = self.size * (np.minimum(steps, len(self._cumulated) - 1) + self.gamma)
        return spread(radius * generator.uniform(-1, 1, size), self.shape, self.symmetric)

    def log_density(self, noise):
        """Return the log density (k,) of noise (k, m, n), up to a constant."""
        entries = noise
        if self.symmetric:
            rows, columns = np.triu_indices(self.shape[0])
            entries = noise[:, rows, columns, None]
        steps = np.maximum(np.ceil(np.abs(entries) / self.size - self.gamma), 0)
        return -self.epsilon * steps.sum(axis=(1, 2))


class StaircaseByEntry(Staircase):
    """The l1 sensitivity in the staircase of one dimension, for each entry of its own."""

    def calibrate(self, query, *, epsilon, delta=0.0):
        """Return a release that is not private."""
        right = super().calibrate(query, epsilon=epsilon, delta=delta)
        noise = right.noise
        wrong = EntryNoise(
            noise.shape, epsilon, noise.size, best_gamma(epsilon, 1), noise.symmetric
        )
        return replace(right, noise=wrong)
