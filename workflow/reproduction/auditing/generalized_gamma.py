"""The audit of generalized gamma noise, by its exact curve."""

from __future__ import annotations

import numpy as np

from matrixdp import library
from matrixdp.auditing.additive import AdditiveAudit
from matrixdp.auditing.audit import ROUNDING
from matrixdp.mechanisms import proofs
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.generalized_gamma import (
    GammaRelease,
    GeneralizedGamma,
    SymmetricGeneralizedGamma,
)
from reproduction.privacy import generalized_gamma


def length(query: Query, noise: GeneralizedGamma) -> float:
    """Return an upper bound on the length of a change over the scale, or NaN.

    The noise is log-concave, so that a shorter change along the same line has no larger delta.
    """
    if not proofs.owned(query, noise) or (query.group > 1 and isinstance(query, RecordsQuery)):
        return proofs.UNPROVEN
    if isinstance(noise, SymmetricGeneralizedGamma):
        return (
            query.triangle_l2_sensitivity / noise.scale
            if isinstance(query, SecondMomentQuery)
            else proofs.UNPROVEN
        )
    alone = isinstance(query, RecordsQuery | MeanQuery)
    return query.l2_sensitivity / noise.scale if alone else proofs.UNPROVEN


class GeneralizedGammaAudit(AdditiveAudit):
    """An audit by the exact curve at the length of the worst change; otherwise as for a norm."""

    def __init__(self, release: GammaRelease, stream: np.random.Generator) -> None:
        super().__init__(release, stream)
        self.tool, noise = "exact curve", release.noise
        # The size of a change is (length / scale)^power.
        unit = self._pair.size ** (-1 / noise.power)
        args = noise.power, noise.dimension
        self.proven = False
        if not release.delta:
            # The loss of a power above 1 has no bound.
            self.attained = 1 / unit if noise.power == 1 else float("inf")
            self.bound = max(self.attained, release.epsilon_delivered)
            self.noise_inflation = float("nan")
            return
        self.attained = generalized_gamma.epsilon(release.delta, unit, *args)
        self.bound = max(self.attained, release.epsilon_delivered)
        self.noise_inflation = unit / generalized_gamma.scale(release.epsilon, release.delta, *args)
        proven = length(release.query, noise)
        if library.plain(release) and proven > 0:
            longest = generalized_gamma.epsilon(release.delta, 1 / proven, *args)
            self.proven = longest <= release.epsilon * (1 + ROUNDING)
