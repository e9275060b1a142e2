"""Entries of :mod:`matrixdp.mechanisms.centred`."""

from __future__ import annotations

from functools import partial

from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PUBLIC
from reproduction.mechanisms.base import MechanismEntry

MECHANISMS = {
    "centred_public": MechanismEntry(partial(Centred, PUBLIC)),
    "centred_private": MechanismEntry(Centred),
}
