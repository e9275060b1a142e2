"""Directional Gaussian noise by MVG's allocations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery
from reproduction.mechanisms.allocation import Binary, FixedShares, Shares
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.noise import MatrixNormal
from reproduction.stacks import Streams


@dataclass(frozen=True, eq=False)
class AllocatedGaussian(DirectionalGaussian):
    """Directional Gaussian noise whose shares are those of an allocation."""

    allocation: FixedShares = field(default_factory=Shares, kw_only=True)

    def resolved_shares(self, features: int) -> Array:
        """Return the shares of the allocation, shape (m,)."""
        if not isinstance(self.allocation, FixedShares):
            raise InputError(
                f"allocation is {self.allocation}; directional noise takes Shares or Binary"
            )
        return self.allocation.resolve(features)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release."""
        release = super().calibrate(query, epsilon=epsilon, delta=delta)
        return Averaged(**vars(release)) if isinstance(query, SecondMomentQuery) else release


@dataclass(frozen=True, kw_only=True)
class Averaged(AdditiveGaussian):
    """Second moments plus the symmetric part of A N A^T, which is drawn as that."""

    stream = "SymmetrisedNormal"

    def noise_of(self, streams: Streams) -> Array:
        """Return the symmetric parts of normal noise, one per stream."""
        assert isinstance(self.noise, Noise)
        factor, basis = np.sqrt(np.diag(self.noise.size)), self.noise.basis
        factor = factor if basis is None else basis * factor
        stack = MatrixNormal(self.noise.shape, factor, factor).trials(streams)
        stack += np.swapaxes(stack, 1, 2).copy()
        return np.asarray(stack / 2)

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        return value + self.noise_of([generator] * count)


MECHANISMS = {
    "directional_gaussian": MechanismEntry(
        lambda direction, tau=0.5: AllocatedGaussian(
            allocation=Binary(direction=direction, tau=tau)
        ),
        parameter="tau",
        values="taus",
        directed=True,
    )
}
