"""Registries, merged from the files of a folder: one new file adds an entry.

``collect`` and ``find`` import the files. The workflow's planning needs only names and inputs.
``entries`` reads these from the text of the files, without imports: the keys, and the literal
values of keywords.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from matrixdp import checks

PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Entry:
    """An entry of a table: its file, the name of the table, and the literal values of keywords."""

    file: Path
    table: str
    words: Mapping[str, Any] = field(hash=False, default_factory=dict)

    @property
    def axes(self) -> tuple[str, ...]:
        """The axes over which a mechanism is run."""
        return tuple(self.words.get("axes", ()))


def collect(package: ModuleType, table: str) -> dict[str, Any]:
    """Return the merged dictionaries called ``table`` of all modules of ``package``."""
    merged: dict[str, Any] = {}
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        merged |= getattr(importlib.import_module(f"{package.__name__}.{module}"), table, {})
    return merged


def find(package: ModuleType, table: str, **argument: str) -> Any:
    """Return one entry of the dictionaries called ``table``, importing only files that contain it.

    Args:
        package: the package whose modules are searched.
        table: the name of the dictionaries.
        argument: the name of the entry, as one keyword, which messages use.

    Raises:
        InputError: no file has the entry; the message lists all entries.
    """
    ((_, name),) = argument.items()
    for file in sorted(
        file for folder in package.__path__ for file in Path(folder).glob("[!_]*.py")
    ):
        if f'"{name}"' in file.read_text(encoding="utf-8"):
            module = importlib.import_module(f"{package.__name__}.{file.stem}")
            if name in (entries := getattr(module, table, {})):
                return entries[name]
    merged = collect(package, table)
    return merged[checks.choice(merged, **argument)]


@functools.cache
def entries(folder: str, table: str, files: str = "[!_]*.py") -> dict[str, Entry]:
    """Return the entries of the dictionaries called ``table`` in a folder's files, by name."""
    return {
        name: Entry(file, table, words)
        for file in sorted((PACKAGE / folder).glob(files))
        for name, words in _literals(file, table)
    }


mechanisms = functools.partial(entries, "mechanisms", "MECHANISMS")
theory = functools.partial(entries, "theory", "THEORY")
figures = functools.partial(entries, "report/figures", "FIGURES")
tables = functools.partial(entries, "report/tables", "TABLES")
tasks = functools.partial(entries, "experiments/tasks", "TASKS")
trainings = functools.partial(entries, "experiments/training", "TRAININGS")
extractors = functools.partial(entries, "experiments/training", "EXTRACTORS")


def kind(training: str) -> str:
    """Return the private quantity of a neural experiment, ``gradients`` or ``features``.

    The training and the schemes of a kind are in files with this name.
    """
    return trainings()[training].file.stem


def schemes(training: str) -> dict[str, Entry]:
    """Return every scheme that a neural experiment can run, by name."""
    return entries("experiments/schemes", "SCHEMES", f"{kind(training)}.py")


def _literals(file: Path, table: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the keys of a table and the literal keywords of each entry; none without the table."""
    text = file.read_text(encoding="utf-8")
    if f"\n{table}" not in text:
        return []
    for node in ast.parse(text, filename=str(file)).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if table in names and isinstance(value := getattr(node, "value", None), ast.Dict):
            pairs = zip(value.keys, value.values, strict=True)
            return [(str(ast.literal_eval(key)), _keywords(entry)) for key, entry in pairs if key]
    return []


def _keywords(entry: ast.expr) -> dict[str, Any]:
    words = {}
    for keyword in entry.keywords if isinstance(entry, ast.Call) else []:
        with contextlib.suppress(ValueError):
            words[str(keyword.arg)] = ast.literal_eval(keyword.value)
    return words
