"""The private mean of a regression's target: a constant prediction, as a baseline.

It needs little noise, and a useful regression must predict better at the same budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import Mechanism
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.mechanisms.programs import Ask, Program, Records, Step
from matrixdp.noise.distributions import MatrixNormal
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import NormalEquations, Query
from reproduction.mechanisms.base import MechanismEntry


class InterceptEquations(NormalEquations):
    """Normal equations of records (x, 1, y), with a constant 1 before the target."""

    name = "intercept_equations"

    @property
    def l2_mean(self) -> float:
        """L2 sensitivity of the mean of y."""
        domain = self.domain
        if self.adjacency != "replace":
            return float(domain.magnitudes[-1]) / self.n_records
        wide = domain.widths[-1] if isinstance(domain, Box) else 2 * domain.radius
        return float(wide) / self.n_records

    @property
    def measures(self) -> dict[str, tuple[float, Callable[[Array], Array]]]:
        """Declared sensitivities and their norms of changes, which audits attack."""
        return {"mean of y": (self.l2_mean, lambda d: np.abs(d[..., CONSTANT, self.target]))}


@dataclass(frozen=True, kw_only=True)
class TargetMean(Program):
    """Second moments that contain the noisy mean of y, and the identity in place of x.

    A regression on them is a constant: the noisy mean, clipped to its public bounds. ``mean_std``
    is the standard deviation of its noise.
    """

    query: InterceptEquations
    mean_std: float
    output_type = "second_moments"
    stream = "TargetMean"
    audited_by = "reproduction.auditing.target_mean:audit_target_mean"

    def run(self, records: Records, ask: Ask) -> Array:
        """Return the noisy mean (...), within its bounds."""
        domain, last = self.query.domain, self.query.features - 1
        lower, upper = -domain.magnitudes[last], domain.magnitudes[last]
        if isinstance(domain, Box):
            lower, upper = domain.lower[last], domain.upper[last]
        exact = records.value(self.query)[..., CONSTANT, last]
        part = Step(MatrixNormal((1, 1), self.mean_std), self.query.l2_mean / self.mean_std)
        return np.clip(ask(part, exact[..., None, None])[..., 0, 0], lower, upper)

    def released(self, outcome: Array) -> Array:
        """Return second moments (..., m, m) with the mean in its place."""
        last = self.query.features - 1
        released = np.tile(np.eye(self.query.features), (*outcome.shape, 1, 1))
        released[..., CONSTANT, last] = released[..., last, CONSTANT] = outcome
        released[..., last, last] = outcome**2
        return released


@dataclass(frozen=True)
class PrivateTargetMean(Mechanism):
    """Gaussian noise on the mean of the target, calibrated exactly."""

    queries = frozenset({InterceptEquations})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> TargetMean:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, InterceptEquations)
        mu = gaussian.mu(*budget)
        return TargetMean.from_mu(mu, budget, query=query, mean_std=query.l2_mean / mu)


MECHANISMS = {"target_mean": MechanismEntry(PrivateTargetMean)}
