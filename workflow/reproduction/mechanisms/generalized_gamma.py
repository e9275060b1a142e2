"""Spherical generalized gamma noise: less than Gaussian noise at the same guarantee.

The family contains the l2 K-norm noise (power 1) and the Gaussian (power 2); see
:mod:`matrixdp.privacy.generalized_gamma`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from matrixdp.mechanisms.base import AdditiveMechanism, Mechanism
from matrixdp.noise.gamma_distributions import GeneralizedGamma, SymmetricGeneralizedGamma
from matrixdp.privacy import generalized_gamma
from matrixdp.privacy.sensitivity import IdentityQuery, MeanQuery, Query, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry

#: Candidates of the power, from which the calibration chooses.
POWERS = tuple(np.linspace(1, 2, 9).tolist())


@dataclass(frozen=True)
class SphericalGamma(Mechanism):
    """Generalized gamma noise on each column of a matrix, or the upper triangle of second moments.

    One record changes one column; the other columns get independent noise of the same distribution.

    Args:
        power: power of the norm in the exponent, at least 1; None takes the one of ``POWERS`` with
            the least variance, by public numbers alone.
    """

    power: float | None = 1.25
    queries = frozenset({IdentityQuery, MeanQuery, SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveMechanism:
        """Return the (epsilon, delta)-DP release."""
        epsilon, delta = self._budget(query, epsilon, delta)
        symmetric = isinstance(query, SecondMomentQuery)
        m = query.features
        dimension = m * (m + 1) // 2 if symmetric else m
        powers = np.array(POWERS if self.power is None else [self.power])
        units = generalized_gamma.scale(epsilon, delta, powers, dimension)
        deviations = generalized_gamma.deviation(units, powers, dimension)
        best = int(np.argmin(deviations))
        shift, attained = query.l2_sensitivity, query.l2_exact
        if isinstance(query, SecondMomentQuery):
            shift, attained = query.triangle_l2_sensitivity, query.triangle_l2_exact
        distribution = SymmetricGeneralizedGamma if symmetric else GeneralizedGamma
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            delta=delta,
            epsilon_delivered=epsilon,
            epsilon_exact=attained,
            noise_std=float(shift * deviations[best]),
            noise=distribution(query.shape, float(shift * units[best]), float(powers[best])),
        )


MECHANISMS = {
    "generalized_gamma": MechanismEntry(SphericalGamma),
    "generalized_gamma_best": MechanismEntry(partial(SphericalGamma, None)),
}
