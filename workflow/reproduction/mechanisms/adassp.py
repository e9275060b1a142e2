"""Entries of :mod:`matrixdp.mechanisms.adassp`."""

from __future__ import annotations

from functools import partial

from matrixdp.mechanisms.adassp import AdaSSP, PrivatelyClippedAdaSSP
from matrixdp.mechanisms.clipped import PUBLIC
from reproduction.mechanisms.base import Entry

MECHANISMS = {
    "adassp": Entry(AdaSSP),
    "adassp_public": Entry(partial(AdaSSP, PUBLIC)),
    "adassp_private": Entry(PrivatelyClippedAdaSSP),
    "adassp_clipped": Entry(
        lambda radius: AdaSSP(radius), axis="radius", values="squared_radius_fractions"
    ),
}
