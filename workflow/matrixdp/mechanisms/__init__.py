"""Mechanisms, one family a file; every file's ``MECHANISMS`` is found here."""

from __future__ import annotations

import sys

from matrixdp import discovery
from matrixdp.mechanisms.base import Entry


def registry() -> dict[str, Entry]:
    """Return every mechanism by the name that config.yaml calls it."""
    return discovery.collect(sys.modules[__name__], "MECHANISMS")


def find(name: str) -> Entry:
    """Return one mechanism by its name, without importing the other families."""
    entry: Entry = discovery.find(sys.modules[__name__], "MECHANISMS", mechanism=name)
    return entry
