"""Mechanisms, one family a file, collected from each file's ``MECHANISMS``."""

from __future__ import annotations

import sys

from reproduction import discovery
from reproduction.mechanisms.base import Entry


def registry() -> dict[str, Entry]:
    """Return all mechanisms by their names in config.yaml."""
    return discovery.collect(sys.modules[__name__], "MECHANISMS")


def find(name: str) -> Entry:
    """Return one mechanism by its name, without importing the other families."""
    entry: Entry = discovery.find(sys.modules[__name__], "MECHANISMS", mechanism=name)
    return entry
