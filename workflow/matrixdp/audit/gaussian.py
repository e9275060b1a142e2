"""The audit of additive Gaussian noise."""

from __future__ import annotations

import numpy as np

from matrixdp.audit import evidence, runs
from matrixdp.audit.base import TIGHT, Audit, Scale, gamma_scale, trials_of
from matrixdp.audit.neighbours import worst
from matrixdp.checks import Array
from matrixdp.distributions import GaussianDistribution
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.privacy import gaussian


class GaussianAudit(Audit):
    """An audit by the exact curve at mu, the norm of the worst whitened change.

    A likelihood ratio of Gaussians is a function of one linear statistic: the projection of the
    whitened release on the whitened change. The black box sees this statistic. Noise with
    identically distributed columns is drawn for the changed column alone
    (:mod:`matrixdp.audit.runs`).
    """

    tool = "exact curve"

    def __init__(
        self,
        release: AdditiveMechanism,
        distribution: GaussianDistribution,
        stream: np.random.Generator,
    ) -> None:
        self.release: AdditiveMechanism = release
        self._whiten, query, delta = distribution.whiten, release.query, release.delta
        self._pair = worst(query, lambda d: np.linalg.norm(distribution.whiten(d), axis=-1), stream)
        self.mu = self._pair.size
        declared = self.mu if release.mu is None or release.mu_exact else release.mu
        largest = max(self.mu, declared)
        self.attained = gaussian.epsilon(delta, self.mu)
        self.bound = gaussian.epsilon(delta, largest)
        self.kappa = gaussian.mu(release.epsilon, delta) / largest
        change = np.subtract(*runs.values(query, self._pair))
        # Number of entries that differ; for second moments all of them.
        self.cost = float(change.size)
        if self.attained >= release.epsilon * (1 - TIGHT):
            self.needed = evidence.runs_needed(release.epsilon, delta)
        # Weights of the linear functional that projects on the whitened change.
        unit = np.eye(change.size).reshape(-1, *change.shape)
        self._weights: Array = distribution.whiten(unit) @ distribution.whiten(change) / self.mu
        self._apart = float(self._weights @ change.ravel())

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the projections, which are N(c + mu, 1) and N(c, 1) under the declared noise."""

        def projected(values: Array) -> Array:
            return values.reshape(len(values), -1) @ self._weights

        second = runs.runs(self.release, self._pair, count, stream, projected)
        return second + self._apart, second

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the chi-square of all whitened entries of the full query's noise."""
        shape = self.release.query.shape
        noise = self.release.noise.sample([stream] * trials_of(shape[0] * shape[1]))
        white = self._whiten(noise)
        return gamma_scale(float((white**2).sum()) / 2, white.size / 2, root=True)
