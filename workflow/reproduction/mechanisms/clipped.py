"""Entries of :mod:`matrixdp.mechanisms.clipped`."""

from __future__ import annotations

from matrixdp.mechanisms.clipped import ClippedMoments, PrivatelyClipped
from reproduction.mechanisms.base import MechanismEntry

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
