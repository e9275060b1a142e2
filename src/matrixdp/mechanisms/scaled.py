"""Mechanisms on records in units of their bounds, so that the units of columns do not matter.

In a box of age [0, 120] and income [0, 200000], income makes almost all of the l2 sensitivity.
Isotropic noise of that size hides every age. In units of the bounds all columns have the same
range. Scaling the release back is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import AdditiveMechanism, Mechanism
from matrixdp.noise import distributions
from matrixdp.noise.distributions import GaussianDistribution, NoiseDistribution, Streams
from matrixdp.privacy.domain import Box
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery


@dataclass(frozen=True, eq=False)
class _ScaledDistribution(NoiseDistribution):
    """Noise of the distribution ``distribution``, times ``sizes``, which broadcast to its shape."""

    distribution: Any
    sizes: Array

    def _draw(self, streams: Streams, stack: Array) -> None:
        self.distribution.sample(streams, stack)
        stack *= self.sizes

    @property
    def identical_columns(self) -> bool:
        """Whether the columns of ``distribution`` are alike, and all have the same sizes."""
        return self.distribution.identical_columns and self.sizes.shape[-1] == 1

    @property
    def factors(self) -> tuple[ArrayLike | None, ArrayLike | None]:
        """The factors of ``distribution``."""
        return self.distribution.factors

    def largest(self, z: Array) -> Array:
        """Return bounds (k,) on the whitened entries of noise with |Z| <= z entrywise, (m, n)."""
        return self.distribution.largest(z / self.sizes)

    def whiten(self, z: Array) -> Array:
        """Return Z over the sizes, whitened."""
        return self.distribution.whiten(z / self.sizes)

    def colour(self, white: Array) -> Array:
        """Return noise of ``distribution`` times the sizes."""
        return self.distribution.colour(white) * self.sizes

    def white_noise(self, streams: Streams) -> Array:
        """Return the white noise of ``distribution``."""
        return np.asarray(self.distribution.white_noise(streams))


@dataclass(frozen=True, eq=False)
class ScaledNormal(_ScaledDistribution, GaussianDistribution):
    """Gaussian noise times sizes."""

    stream = "ScaledNormal"


@dataclass(frozen=True, eq=False)
class ScaledLaplace(_ScaledDistribution, distributions.LaplaceNoise):  # type: ignore[override]
    """Laplace noise times sizes; ``scale`` is that of ``distribution``."""

    stream = "ScaledLaplace"

    @property
    def gamma_shape(self) -> float:
        """Shape parameter of the size's gamma distribution, that of ``distribution``."""
        return self.distribution.gamma_shape

    def norm(self, z: Array) -> Array:
        """Return the norm of Z over the sizes, in the norm of ``distribution``."""
        return self.distribution.norm(z / self.sizes)


@dataclass(frozen=True)
class Scaled(Mechanism):
    """A mechanism that adds noise, calibrated on records in units of their public box.

    The unit of a column is half of its range; for second moments it is the largest absolute value.
    The neighbouring relation is unchanged, as scaling maps a record of zeros to itself.

    >>> query = mdp.SecondMomentQuery(mdp.Box((0, 0), (120, 200_000)), n_records=400)
    >>> f"{mdp.Scaled(mdp.GOE()).calibrate(query, epsilon=1, delta=1e-6).mu:.4f}"
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
        release = self.mechanism.calibrate(in_units(query), epsilon=epsilon, delta=delta)
        if not isinstance(release, AdditiveMechanism):
            raise InputError(
                f"mechanism is {self.mechanism}; only one that adds noise can be scaled"
            )
        return scaled_back(release, query)


def units(query: Query) -> Array:
    """Return the unit of each column, (m,); sums of values present have half ranges already."""
    domain = query.domain
    if isinstance(query, PresentMeanQuery):
        return np.ones(query.columns)
    if isinstance(domain, Box) and not isinstance(query, SecondMomentQuery):
        return domain.widths / 2
    return domain.magnitudes


def in_units(query: Query) -> Query:
    """Return the query on records in units of their box."""
    if not isinstance(query.domain, Box):
        raise InputError("a ball bounds the records, whose columns have one unit already")
    if isinstance(query, PresentMeanQuery):
        raise InputError("sums of values present are in units of their bounds already")
    sides = (np.divide(side, units(query)) for side in (query.domain.lower, query.domain.upper))
    return replace(query, domain=Box(*(tuple(side.tolist()) for side in sides)))


def scaled_back(release: AdditiveMechanism, query: Query) -> AdditiveMechanism:
    """Return a release of ``in_units(query)`` as one of the query itself."""
    sizes = units(query)[:, None]
    if isinstance(query, SecondMomentQuery):
        sizes = sizes * sizes.T
    distribution = release.noise
    # Colouring ones gives the standard deviations of the entries, up to a common factor.
    spread = distribution.colour(np.ones_like(distribution.whiten(np.zeros(distribution.shape))))  # type: ignore[attr-defined]
    ratio = np.sqrt(np.mean((spread * sizes) ** 2) / np.mean(spread**2))
    noise: GaussianDistribution | distributions.LaplaceNoise
    if isinstance(distribution, distributions.LaplaceNoise):
        noise = ScaledLaplace(distribution.shape, distribution.scale, distribution, sizes)
    elif isinstance(distribution, GaussianDistribution):
        noise = ScaledNormal(distribution.shape, distribution, sizes)
    else:
        raise InputError(f"noise of {type(distribution).__name__} cannot be scaled")
    std = float(release.noise_std * ratio)
    return replace(release, query=query, noise=noise, noise_std=std)
