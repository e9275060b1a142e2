"""Tables that are put together from the files of a folder, so that adding is one new file."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def collect(package: ModuleType, table: str) -> dict[str, Any]:
    """Return the merged dictionaries called ``table`` of all modules of ``package``."""
    found: dict[str, Any] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        found |= getattr(importlib.import_module(f"{package.__name__}.{module}"), table, {})
    return found
