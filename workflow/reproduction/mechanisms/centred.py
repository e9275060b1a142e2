"""Entries of :mod:`matrixdp.mechanisms.centred`."""

from __future__ import annotations

from functools import partial

from matrixdp.mechanisms.centred import Centred
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.clipped import PUBLIC

MECHANISMS = {
    "centred_public": MechanismEntry(partial(Centred, PUBLIC)),
    "centred_private": MechanismEntry(Centred),
}
