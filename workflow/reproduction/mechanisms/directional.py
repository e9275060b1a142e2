"""Directional Gaussian noise by MVG's allocations."""

from __future__ import annotations

from dataclasses import dataclass, field

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.directional import DirectionalGaussian
from reproduction.mechanisms.allocation import Binary, FixedShares, Shares
from reproduction.mechanisms.base import MechanismEntry


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
