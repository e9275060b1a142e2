"""Mechanisms, one family a file; every file's ``MECHANISMS`` is found here."""

from __future__ import annotations

import importlib
import pkgutil

from matrixdp.mechanisms.base import Entry


def registry() -> dict[str, Entry]:
    """Return every mechanism by the name that config.yaml calls it."""
    found: dict[str, Entry] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
        found |= getattr(importlib.import_module(f"{__name__}.{module}"), "MECHANISMS", {})
    return found
