"""Entries of :mod:`matrixdp.mechanisms.adassp`."""

from __future__ import annotations

from functools import partial

from matrixdp.mechanisms.adassp import AdaSSP, PrivatelyClippedAdaSSP
from matrixdp.mechanisms.clipped import PUBLIC
from reproduction.mechanisms.base import MechanismEntry

MECHANISMS = {
    "adassp": MechanismEntry(AdaSSP),
    "adassp_public": MechanismEntry(partial(AdaSSP, PUBLIC)),
    "adassp_private": MechanismEntry(PrivatelyClippedAdaSSP),
    "adassp_clipped": MechanismEntry(
        AdaSSP,
        parameter="squared_radius_fraction",
        values="squared_radius_fractions",
        stream="radius",
    ),
}
