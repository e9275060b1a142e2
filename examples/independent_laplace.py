# A mechanism: a frozen dataclass that calibrates, and its name in MECHANISMS.
# Copy to workflow/reproduction/mechanisms
# Add to config.yaml:
#     experiments:
#       first_pc:
#         mechanisms: [independent_laplace]
# Run: snakemake table4 results/figures/curves_first_pc.svg results/tables/audit.md
"""Laplace noise on all entries of second moments (Dwork, McSherry, Nissim & Smith, TCC 2006)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry


@dataclass(frozen=True)
class IndependentLaplace(Mechanism):
    """Independent Laplace noise of scale l1 / epsilon on each of the m^2 entries: epsilon-DP."""

    queries = frozenset({SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float = 0.0) -> AdditiveMechanism:
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0."""
        self._require(query)
        scale = query.l1_sensitivity / checks.positive(epsilon=epsilon)
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=epsilon,
            noise_std=float(np.sqrt(2) * scale),
            noise=Noise.of(safe.LAPLACE, scale, query.shape),
        )


MECHANISMS = {"independent_laplace": MechanismEntry(IndependentLaplace)}
