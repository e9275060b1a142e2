"""Tables that are put together from the files of a folder, so that adding is one new file."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any

from matrixdp import checks


def collect(package: ModuleType, table: str) -> dict[str, Any]:
    """Return the merged dictionaries called ``table`` of all modules of ``package``."""
    found: dict[str, Any] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        found |= getattr(importlib.import_module(f"{package.__name__}.{module}"), table, {})
    return found


def find(package: ModuleType, table: str, **named: str) -> Any:
    """Return one entry of the dictionaries called ``table``: only files that name it are imported.

    Raises:
        InputError: no file has it; the message lists what there is.
    """
    ((_, name),) = named.items()
    for file in sorted(
        file for folder in package.__path__ for file in Path(folder).glob("[!_]*.py")
    ):
        if f'"{name}"' in file.read_text(encoding="utf-8"):
            module = importlib.import_module(f"{package.__name__}.{file.stem}")
            if name in (entries := getattr(module, table, {})):
                return entries[name]
    known = collect(package, table)
    return known[checks.choice(known, **named)]
