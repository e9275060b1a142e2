"""Entries of :mod:`matrixdp.mechanisms.directional`."""

from __future__ import annotations

from matrixdp.mechanisms.allocation import Binary
from matrixdp.mechanisms.directional import DirectionalGaussian
from reproduction.mechanisms.base import MechanismEntry

MECHANISMS = {
    "directional_gaussian": MechanismEntry(
        lambda direction, tau=0.5: DirectionalGaussian(Binary(direction=direction, tau=tau)),
        parameter="tau",
        values="taus",
        directed=True,
    )
}
