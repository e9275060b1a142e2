"""The audit of additive Gaussian noise."""

from __future__ import annotations

import numpy as np

from matrixdp import library
from matrixdp.auditing import draws, evidence
from matrixdp.auditing.audit import ROUNDING, TIGHT, Audit, Scale, gamma_scale, size_of, trials_of
from matrixdp.auditing.neighbours import worst
from matrixdp.checks import Array
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise.distributions import GaussianDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.status import REFUTED

#: The verdict on Gaussian noise for a claim with delta 0.
PURE = f"{REFUTED}: Gaussian noise has no pure guarantee"


def epsilon_of(delta: float, mu: float) -> float:
    """Return the epsilon of Gaussian noise at ``delta``: infinite where delta is 0 or mu infinite.

    Without a change there is no loss.
    """
    if mu == 0:
        return 0.0
    return float(gaussian_dp.epsilon(delta, mu)) if delta > 0 and np.isfinite(mu) else float("inf")


def waste_of(release: CalibratedMechanism, mu: float) -> float:
    """Return by how much Gaussian noise with this mu could shrink; NaN without a guarantee."""
    pure = not release.delta > 0
    return float("nan") if pure else float(gaussian_dp.mu(release.epsilon, release.delta) / mu)


class GaussianAudit(Audit):
    """An audit by the exact curve at mu, the norm of the worst whitened change.

    The noise is of a class of the library, whose samples are coloured white noise
    (``tests/matrixdp/noise/test_value.py``). The supremum over neighbours is then proven
    where :func:`matrixdp.mechanisms.proofs.mu` bounds it.

    A likelihood ratio of Gaussians is a function of one linear statistic: the projection of the
    whitened release on the whitened change. The black box sees this statistic. Noise with
    identically distributed columns is drawn for the changed column alone
    (:mod:`matrixdp.auditing.draws`).
    """

    tool = "exact curve"

    def __init__(
        self,
        release: AdditiveMechanism,
        distribution: Noise | GaussianDistribution,
        stream: np.random.Generator,
    ) -> None:
        self.release: AdditiveMechanism = release
        self._distribution = distribution
        self._whiten, query, delta = distribution.whiten, release.query, release.delta
        self._pair = worst(query, size_of(distribution), stream)
        self.mu = self._pair.size
        declared = self.mu if release.mu is None or release.tight else release.mu
        largest = max(self.mu, declared)
        if not delta:
            self.attained = self.bound = float("inf")
        else:
            self.attained = gaussian_dp.epsilon(delta, self.mu)
            self.bound = epsilon_of(delta, largest)
        self.noise_inflation = waste_of(release, largest)
        change = np.subtract(*draws.values(query, self._pair))
        # Number of entries that differ; for second moments all of them.
        self.cost = float(change.size)
        if delta and self.attained >= release.epsilon * (1 - TIGHT):
            self.needed = evidence.runs_needed(release.epsilon, delta)
        # Weights of the linear functional that projects on the whitened change.
        unit = np.eye(change.size).reshape(-1, *change.shape)
        self._weights: Array = distribution.whiten(unit) @ distribution.whiten(change) / self.mu
        self._apart = float(self._weights @ change.ravel())
        proven = proofs.mu(query, distribution)
        self.proven = library.plain(release) and bool(
            epsilon_of(delta, proven) <= release.epsilon * (1 + ROUNDING)
        )

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the projections, which are N(c + mu, 1) and N(c, 1) under the declared noise."""

        def projected(values: Array) -> Array:
            return values.reshape(len(values), -1) @ self._weights

        second = draws.runs(self.release, self._pair, count, stream, projected)
        return second + self._apart, second

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the chi-square of all whitened entries of the full query's noise."""
        shape = self.release.query.shape
        trials = trials_of(shape[0] * shape[1])
        noise = self.release.noise.sample(stream, trials)
        white = self._whiten(noise)
        return gamma_scale(float((white**2).sum()) / 2, white.size / 2, root=True)
