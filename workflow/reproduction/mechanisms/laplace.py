"""Entries of :mod:`matrixdp.mechanisms.laplace`."""

from __future__ import annotations

from matrixdp.mechanisms.laplace import Laplace
from reproduction.mechanisms.base import MechanismEntry

MECHANISMS = {"laplace": MechanismEntry(Laplace)}
