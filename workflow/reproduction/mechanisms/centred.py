"""Entries of :mod:`matrixdp.mechanisms.centred`."""

from __future__ import annotations

from functools import partial

from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PUBLIC
from reproduction.mechanisms.base import Entry

MECHANISMS = {"centred_public": Entry(partial(Centred, PUBLIC)), "centred_private": Entry(Centred)}
