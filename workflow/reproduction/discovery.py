"""Registries, merged from the files of a folder: one new file adds an entry.

``entries`` reads the files as text: literal keys, and literal values of keywords. Planning needs
no more, takes half a second less, and a file that cannot be imported stops only the runs that name
what it has. ``collect`` and ``find`` import the files.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from matrixdp import checks
from reproduction import plugins

PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class FileEntry:
    """An entry of a table: its file, and the literal values of keywords.

    ``distribution`` is the name and version of another package that has it, of which no file is
    known; empty for the study's.
    """

    file: Path
    words: Mapping[str, Any] = field(hash=False, default_factory=dict)
    distribution: str = ""

    @property
    def module(self) -> str:
        """Its module, as in :func:`reproduction.imports.files`; of another package, the library."""
        if self.distribution:
            return "matrixdp"
        return ".".join(self.file.relative_to(PACKAGE).with_suffix("").parts)

    @property
    def directed(self) -> bool:
        """Whether a mechanism is run in every direction."""
        return bool(self.words.get("directed", False))

    @property
    def parameter(self) -> str:
        """The parameter of a mechanism that a grid varies; empty for none."""
        return str(self.words.get("parameter", ""))

    @property
    def untuned(self) -> str:
        """The key of config.yaml with the value of the grid that nobody tunes."""
        return f"{self.parameter}_untuned"

    @property
    def values(self) -> str:
        """The key of config.yaml with the values of the grid; empty for none."""
        return str(self.words.get("values", ""))


def collect(package: ModuleType, table: str) -> dict[str, Any]:
    """Return the merged dictionaries called ``table`` of all modules of ``package``."""
    return {
        name: find_entry(package, table, name=name) for name in entries(package.__path__[0], table)
    }


def find_entry(package: ModuleType, table: str, /, **argument: str) -> Any:
    """Return one entry of the dictionaries called ``table``, importing only its file.

    Args:
        package: the package whose modules are searched.
        table: the name of the dictionaries.
        argument: the name of the entry, as one keyword, which messages use.

    Raises:
        InputError: no file has the entry (the message lists all entries), or its file fails.
    """
    index = entries(package.__path__[0], table)
    name = checks.choice(index, **argument)
    try:
        module = importlib.import_module(f"reproduction.{index[name].module}")
    except checks.InputError:
        raise
    except Exception as error:
        raise checks.InputError(
            f"{index[name].file.name}, which has {name}, cannot be imported "
            f"({type(error).__name__}: {error}); correct it"
        ) from error
    return getattr(module, table)[name]


@functools.cache
def entries(folder: str, table: str, files: str = "[!_]*.py") -> dict[str, FileEntry]:
    """Return the entries of the dictionaries called ``table`` in a folder's files, by name.

    Raises:
        InputError: two entries have the same name, or a table is no literal dictionary.
    """
    index: dict[str, FileEntry] = {}
    for file in sorted((PACKAGE / folder).glob(files)):
        for name, words in _literals(file, table):
            if name in index:
                places = " and ".join(dict.fromkeys([index[name].file.name, file.name]))
                raise checks.InputError(
                    f"{table} in {folder} has {name!r} twice, in {places}; rename one of the two"
                )
            index[name] = FileEntry(file, words)
    return index


@functools.cache
def mechanisms() -> dict[str, FileEntry]:
    """Return all mechanisms by name: the study's, then those of other packages.

    Raises:
        InputError: two have the same name, or a package names one as :mod:`reproduction.plugins`
            does not allow.
    """
    index = dict(entries("mechanisms", "MECHANISMS"))
    for name, point in sorted(plugins.points().items()):
        distribution = plugins.distribution(point)
        if name in index:
            raise checks.InputError(
                f"{distribution} names a mechanism {name!r}, as {index[name].file.name} does; "
                "rename one of the two, or uninstall the package"
            )
        index[name] = FileEntry(Path(), distribution=distribution)
    return index


theory = functools.partial(entries, "theory", "THEORY")
tasks = functools.partial(entries, "experiments/tasks", "TASKS")
trainings = functools.partial(entries, "experiments/training", "TRAININGS")
extractors = functools.partial(entries, "experiments/training", "EXTRACTORS")


def perturbation(training: str) -> str:
    """Return what a neural experiment's noise is added to, ``gradients`` or ``features``.

    Its training and its schemes are in files of this name.
    """
    return trainings()[training].file.stem


def schemes(training: str) -> dict[str, FileEntry]:
    """Return every scheme that a neural experiment can run, by name."""
    return entries("experiments/schemes", "SCHEMES", f"{perturbation(training)}.py")


def _literals(file: Path, table: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the keys of a table and the literal keywords of each entry; none without the table.

    Raises:
        InputError: the table is no dictionary of literal keys, or is changed after it.
    """
    text = file.read_text(encoding="utf-8")
    if f"\n{table}" not in text:
        return []
    tree = ast.parse(text, filename=str(file))
    mentions = [node for node in ast.walk(tree) if getattr(node, "id", "") == table]
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(id=name)], ast.Dict(keys, values)) if name == table:
                names = [str(key.value) for key in keys if isinstance(key, ast.Constant)]
                if len(names) == len(values) and len(mentions) == 1:
                    return [*zip(names, map(_keywords, values), strict=True)]
    raise checks.InputError(
        f"{table} in {file.name} is no literal dictionary, which is read without running "
        f'the file; write {table} = {{"name": ...}} with every name in it, and no loop'
    )


def _keywords(entry: ast.expr) -> dict[str, Any]:
    words = {}
    for keyword in entry.keywords if isinstance(entry, ast.Call) else []:
        with contextlib.suppress(ValueError):
            words[str(keyword.arg)] = ast.literal_eval(keyword.value)
    return words
