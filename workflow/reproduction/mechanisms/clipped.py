"""Entries of :mod:`matrixdp.mechanisms.clipped`."""

from __future__ import annotations

from matrixdp.mechanisms.clipped import ClippedMoments, PrivatelyClipped
from reproduction.mechanisms.base import Entry

MECHANISMS = {
    "clipped_moments": Entry(
        lambda radius: ClippedMoments(radius), axis="radius", values="squared_radius_fractions"
    ),
    "clipped_public": Entry(ClippedMoments),
    "clipped_private": Entry(PrivatelyClipped),
}
