"""Mechanisms, one family a file; every file's ``MECHANISMS`` is found here."""

from __future__ import annotations

import sys

from matrixdp.discovery import collect
from matrixdp.mechanisms.base import Entry


def registry() -> dict[str, Entry]:
    """Return every mechanism by the name that config.yaml calls it."""
    return collect(sys.modules[__name__], "MECHANISMS")
