"""Mechanisms, one family a file, collected from each file's ``MECHANISMS``."""

from __future__ import annotations

import sys

from reproduction import discovery
from reproduction.mechanisms.base import MechanismEntry


def registry() -> dict[str, MechanismEntry]:
    """Return all mechanisms by their names in config.yaml."""
    return discovery.collect(sys.modules[__name__], "MECHANISMS")


def find(name: str) -> MechanismEntry:
    """Return one mechanism by its name, without importing the other families."""
    entry: MechanismEntry = discovery.find(sys.modules[__name__], "MECHANISMS", mechanism=name)
    return entry
