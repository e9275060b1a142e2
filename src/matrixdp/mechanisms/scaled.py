"""Mechanisms on records in units of their bounds, so that the units of columns do not matter.

In a box of age [0, 120] and income [0, 200000], income makes almost all of the l2 sensitivity.
Isotropic noise of that size hides every age. In units of the bounds all columns have the same
range. Scaling the release back is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise.value import Noise
from matrixdp.privacy.domain import Box
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery


@dataclass(frozen=True)
class MinMaxScaled(Mechanism):
    """A mechanism that adds noise, calibrated on records in units of their public box.

    The unit of a column is half of its range; for second moments it is the largest absolute value.
    The neighbouring relation is unchanged, as scaling maps a record of zeros to itself.

    >>> query = mdp.SecondMomentQuery(mdp.Box((0, 0), (120, 200_000)), n_records=400)
    >>> f"{mdp.MinMaxScaled(mdp.Gaussian()).calibrate(query, epsilon=1, delta=1e-6).mu:.4f}"
    '0.2367'
    """

    mechanism: Mechanism

    @property
    def queries(self):  # type: ignore[no-untyped-def]
        """Types of the queries that the inner mechanism serves."""
        return self.mechanism.queries

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveMechanism:
        """Return the release in the query's own units; raises as the mechanism does.

        Raises:
            InputError: the mechanism does not add noise, or a ball bounds the records.
        """
        if not isinstance(query.domain, Box):
            raise InputError("a ball bounds the records, whose columns have one unit already")
        if isinstance(query, PresentMeanQuery):
            raise InputError("sums of values present are in units of their bounds already")
        sizes = units(query)
        sides = (np.divide(side, sizes) for side in (query.domain.lower, query.domain.upper))
        scaled = replace(query, domain=Box(*(tuple(side.tolist()) for side in sides)))
        release = self.mechanism.calibrate(scaled, epsilon=epsilon, delta=delta)
        if not isinstance(release, AdditiveMechanism) or not isinstance(release.noise, Noise):
            raise InputError(
                f"mechanism is {self.mechanism}; only one that adds noise can be scaled"
            )
        outer = np.outer(sizes, sizes) if isinstance(query, SecondMomentQuery) else sizes[:, None]
        noise = release.noise.times(outer)
        return replace(release, query=query, noise=noise, noise_std=noise.deviation)


def units(query: Query) -> Array:
    """Return the unit of each column, (m,); sums of values present are in half ranges, so 1."""
    domain = query.domain
    if isinstance(query, PresentMeanQuery):
        return np.ones(query.columns)
    if isinstance(domain, Box) and not isinstance(query, SecondMomentQuery):
        return domain.widths / 2
    return domain.magnitudes
