"""Mechanisms on records in units of their bounds, so that the units of columns do not matter.

In a box of age [0, 120] and income [0, 200000], income makes almost all of the l2 sensitivity.
Isotropic noise of that size hides every age. In units of the bounds all columns have the same
range. Scaling the release back is post-processing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.noise.value import Noise
from matrixdp.privacy.domain import Box
from matrixdp.privacy.ratios import RatioQuery
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
        if isinstance(query, RatioQuery):
            raise InputError("sums beside counts are in units of their bounds already")
        return _in_units(self.mechanism, query, units, epsilon=epsilon, delta=delta)


@dataclass(frozen=True)
class WeightedConstant(Mechanism):
    """A mechanism that adds noise to second moments of (x, w), in place of those of (x, 1).

    The constant stands before the last column, see :mod:`matrixdp.mechanisms.moments`. Noise of x x
    is that of the mechanism with a constant of w, and noise of the mean 1 / w of it, as the moments
    are scaled back. A larger w thus gives less noise to means, and more to all else. Let m columns
    x lie in [-1, 1]. A replaced record changes z z^T, z = (x, w), by a squared Frobenius norm of
    2 (m + w^2)^2 - 2 min (z . z')^2, which is about 2 (m + w^2)^2 for w^2 up to m.

    >>> query = mdp.SecondMomentQuery(mdp.Box.cube(4, -1, 1), n_records=400)
    >>> mechanism = WeightedConstant(mdp.AnalyzeGauss(), 2.0)
    >>> size = mechanism.calibrate(query, epsilon=1, delta=1e-6).noise.size
    >>> bool(np.isclose(size[0, 1], 2 * size[0, -2]))
    True
    """

    mechanism: Mechanism
    weight: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", checks.positive(weight=self.weight))

    @property
    def queries(self):  # type: ignore[no-untyped-def]
        """Second moments alone have a constant."""
        return self.mechanism.queries & {SecondMomentQuery}

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveMechanism:
        """Return the release of the moments of (x, 1); raises as the mechanism does.

        Raises:
            InputError: the mechanism does not add noise, a ball bounds the records, or they have
                one column.
        """
        if type(query) not in self.queries:
            self._require(query)
        if query.features < 2:
            raise InputError("the records have one column, and the constant is another; add one")
        return _in_units(self.mechanism, query, self._units, epsilon=epsilon, delta=delta)

    def _units(self, query: Query) -> Array:
        sizes = np.ones(query.features)
        sizes[CONSTANT] /= self.weight
        return sizes


def unscaled(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism inside any scaling."""
    if isinstance(mechanism, MinMaxScaled | WeightedConstant):
        return mechanism.mechanism
    return mechanism


def _in_units(
    mechanism: Mechanism,
    query: Query,
    units_of: Callable[[Query], Array],
    *,
    epsilon: float,
    delta: float,
) -> AdditiveMechanism:
    """Return the release of a mechanism on records over a unit per column, scaled back."""
    if not isinstance(query.domain, Box):
        raise InputError("a ball bounds the records, whose columns have one unit already")
    sizes = units_of(query)
    sides = (np.divide(side, sizes) for side in (query.domain.lower, query.domain.upper))
    scaled = replace(query, domain=Box(*(tuple(side.tolist()) for side in sides)))
    release = mechanism.calibrate(scaled, epsilon=epsilon, delta=delta)
    if not isinstance(release, AdditiveMechanism) or not isinstance(release.noise, Noise):
        raise InputError(f"mechanism is {mechanism}; only one that adds noise can be scaled")
    outer = np.outer(sizes, sizes) if isinstance(query, SecondMomentQuery) else sizes[:, None]
    noise = release.noise.times(outer)
    return replace(release, query=query, noise=noise, noise_std=noise.deviation)


def units(query: Query) -> Array:
    """Return the unit of each column, (m,); sums beside counts are in half ranges, so 1."""
    domain = query.domain
    if isinstance(query, RatioQuery):
        return np.ones(max(query.columns, 1))
    if isinstance(domain, Box) and not isinstance(query, SecondMomentQuery):
        return domain.widths / 2
    return domain.magnitudes
