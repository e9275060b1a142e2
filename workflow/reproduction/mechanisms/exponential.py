"""The exponential mechanism (McSherry & Talwar, FOCS 2007) on matrices and on directions.

On real matrices Y with the score -norm(Y - f(X)), it adds K-norm noise (Hardt & Talwar, STOC 2010).
On unit vectors v with the score v^T X X^T v, it is PPCA.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism, Mechanism
from matrixdp.noise.distributions import NormDistribution
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery, SecondMomentQuery
from reproduction.bingham import Bingham
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
)
from reproduction.stacks import Streams

#: Norms of a change D of the matrix, whose columns d are records: |D|_F, the sum over records of
#: |d|_2, and the sum of max_i |d_i| / w_i. Here w_i is the largest change of feature i.
NORMS = ("frobenius", "record_l2", "record_linf")


@dataclass(frozen=True)
class KNorm(Mechanism):
    """Noise of density proportional to exp(-epsilon |Z| / sensitivity) in a norm: epsilon-DP.

    One record changes, so that a norm summed over records has the sensitivity of a single record:
    its noise does not grow with n. In the Frobenius norm all entries share one heavy-tailed radius.
    The unit ball of ``record_linf`` is the convex hull of the possible changes in a box. In a ball
    of diameter w every |d_i| is at most w, so that the noise is private there too.

    Args:
        norm: ``frobenius``, ``record_l2`` or ``record_linf``.
        factor_two: divide epsilon by 2, as the general exponential mechanism must where the
            normaliser depends on the data. Here the normaliser is constant, which wastes half of
            epsilon.
    """

    norm: str
    factor_two: bool = False
    queries = frozenset({RecordsQuery, MeanQuery})

    def __post_init__(self) -> None:
        checks.choice(NORMS, norm=self.norm)

    def calibrate(self, query: Query, *, epsilon: float, delta: float = 0.0) -> AdditiveMechanism:
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0."""
        self._require(query)
        epsilon = checks.positive(epsilon=epsilon)
        spent = epsilon / 2 if self.factor_two else epsilon
        m, n = query.shape
        # A Gamma(k) radius has second moment k (k + 1); the rest are moments of the directions.
        if self.norm == "record_linf":
            weights = query.half_widths
            std = np.sqrt((m + 1) * (m + 2) / 3 * np.mean(weights**2)) / spent
            noise: NormDistribution = ColumnLinfExponential(query.shape, 1 / spent, weights)
        elif self.norm == "record_l2":
            std = query.l2_sensitivity * np.sqrt(m + 1) / spent
            noise = ColumnL2Exponential(query.shape, query.l2_sensitivity / spent)
        else:
            std = query.l2_sensitivity * np.sqrt(m * n + 1) / spent
            noise = FrobeniusExponential(query.shape, query.l2_sensitivity / spent)
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=spent,
            tight=True,
            noise_std=float(std),
            noise=noise,
        )


@dataclass(frozen=True)
class PPCA(Mechanism):
    """The first principal direction, epsilon-DP (Chaudhuri, Sarwate & Sinha, JMLR 2013).

    The release is a unit vector v of density proportional to exp(kappa v^T S v), S = X X^T / n.
    This Bingham distribution is sampled exactly, not by a Markov chain; v and -v are equally
    likely.

    Let R be the largest norm of a record. A neighbour changes n v^T S v by (v . x)^2 - (v . x')^2.
    If a record is replaced, this lies in [-R^2, R^2], and so does n / kappa times the change of the
    log normaliser. Hence kappa = n epsilon / (2 R^2), the paper's value. If a record is zeroed out,
    the change lies in [0, R^2] up to its sign, and the normaliser moves the same way. Then kappa =
    n epsilon / R^2 is already epsilon-DP. Boxes and balls differ in R alone.
    """

    queries = frozenset({SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float = 0.0) -> PrincipalDirection:
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0."""
        self._require(query)
        epsilon = checks.positive(epsilon=epsilon)
        sides = 2 if query.adjacency == "replace" else 1
        kappa = query.n_records * epsilon / (sides * query.domain.radius**2)
        return PrincipalDirection(
            query=query, epsilon=epsilon, epsilon_delivered=epsilon, kappa=kappa
        )


@dataclass(frozen=True, kw_only=True)
class PrincipalDirection(CalibratedMechanism):
    """A random direction v of density proportional to exp(kappa v^T S v)."""

    kappa: float
    output_type = "direction"
    stream = "PrincipalDirection"

    def trials(self, value: Array, streams: Streams) -> Array:
        """Return one direction per stream."""
        form = self.kappa / 2 * (value + np.swapaxes(value, -1, -2))
        return Bingham(form).sample(streams)

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        return self.trials(value, [generator] * count)


MECHANISMS = {
    "knorm_frob": MechanismEntry(partial(KNorm, "frobenius")),
    "knorm_l2": MechanismEntry(partial(KNorm, "record_l2")),
    "knorm_linf": MechanismEntry(partial(KNorm, "record_linf")),
    "ppca": MechanismEntry(PPCA),
}
