"""What a job's result depends on in the source: read from the text, nothing is imported.

Snakemake calls this while it parses, so it must be quick. A digest covers a file, all that it
imports from this package, the YAML files beside the package that these read, and the versions of
the packages that they use. Comments, docstrings and layout do not count: touching or reformatting a
file reruns nothing. Of a file with a table of entries (mechanisms, schemes, figures, ...) an entry
alone can be asked for: it depends on the statements that it uses, so that another entry in the same
file changes nothing.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from matrixdp.checks import InputError
from matrixdp.files import write_text

PACKAGE = Path(__file__).parent

#: Kept between parses, where Snakemake keeps what it knows: facts by the content they are from.
CACHE = Path(".snakemake", "matrixdp-sources.json")

#: Module-level dictionaries whose entries are found by their literal keys.
TABLES = (
    *("MECHANISMS", "THEORY", "TASKS", "TRAININGS", "EXTRACTORS", "SCHEMES"),
    *("FIGURES", "TABLES"),
)

#: Words for readers, in the digests of what shows them.
WORDS = {"catalogue.yaml", "readings.yaml"}

#: Modules and files that are in no digest: what a job gets from them is in its parameters itself.
BY_VALUE = {"config.py", "dependence.py", "sources.py"}
BY_VALUE |= {"datasets.yaml", "errata.yaml", "config.schema.yaml"}

#: Packages that change no result: bars of progress, limits of threads, readers of settings.
HARMLESS = {"tqdm", "threadpoolctl", "yaml", "jsonschema"} | sys.stdlib_module_names

#: Where a package is not called as it is imported.
DISTRIBUTIONS = {"PIL": "pillow", "sklearn": "scikit-learn"}

#: Imports under this condition are for readers of types alone.
TYPES_ONLY = "TYPE_CHECKING"


#: A file and the names that are used of it; None: all of it.
_Use = tuple[Path, tuple[str, ...] | None]


@dataclass(frozen=True)
class Entry:
    """An entry of a table: where it is, and the literal values of its keywords."""

    file: Path
    table: str
    name: str
    words: Mapping[str, Any] = field(hash=False, default_factory=dict)

    @property
    def axes(self) -> tuple[str, ...]:
        """Over which axes a mechanism is run."""
        return tuple(self.words.get("axes", ()))


def _entries(folder: str, table: str, files: str = "*.py") -> dict[str, Entry]:
    return {
        name: Entry(file, table, name, entry["words"])
        for file in sorted((PACKAGE / folder).glob(files))
        for name, entry in _facts(file)["tables"].get(table, {}).items()
    }


def _all(folder: str, table: str) -> functools._lru_cache_wrapper[dict[str, Entry]]:
    """Return what returns the entries of the tables of that name in a folder's files, by name."""
    return functools.cache(functools.partial(_entries, folder, table))


mechanisms = _all("mechanisms", "MECHANISMS")
theory = _all("theory", "THEORY")
figures = _all("report/figures", "FIGURES")
tables = _all("report/tables", "TABLES")
tasks = _all("experiments/tasks", "TASKS")
trainings = _all("experiments/training", "TRAININGS")


@functools.cache
def extractors() -> dict[str, Entry]:
    """Return the extractors of neural experiments on features by name, from ``EXTRACTORS``."""
    return _entries("experiments/training", "EXTRACTORS")


def kind(training: str) -> str:
    """Return what a neural experiment keeps private, ``gradients`` or ``features``.

    Training and schemes of either kind are in files of that name.
    """
    return trainings()[training].file.stem


@functools.cache
def schemes(training: str) -> dict[str, Entry]:
    """Return every scheme that a neural experiment can run, by name."""
    return _entries("experiments/schemes", "SCHEMES", f"{kind(training)}.py")


def inside(folder: str) -> list[Path]:
    """Return all files in a folder of the package."""
    found = sorted((PACKAGE / folder).rglob("*.*"))
    return [file for file in found if file.is_file() and "__pycache__" not in file.parts]


@functools.cache
def digest(*parts: str | Path | Entry | tuple[str, str], shows: bool = False) -> str:
    """Return a short hash of files (relative to the package) or entries, and what they rest on.

    Args:
        parts: files that a job runs or reads, entries of tables in them, and functions, each as
            file and name.
        shows: whether the job shows words of the catalogue and of readings.
    """
    by_value = BY_VALUE if shows else BY_VALUE | WORDS
    # Of each file the statements that count, by number; other files than Python's have none.
    chosen: dict[Path, set[int]] = {}
    pending: list[_Use] = []
    done: set[_Use] = set()
    said = set()
    for part in parts:
        if isinstance(part, Entry):
            entry = _facts(part.file)["tables"][part.table][part.name]
            said.add(f"{part.table} {part.name} {entry['meaning']}")
            pending.append((part.file, tuple(entry["uses"])))
        elif isinstance(part, tuple):
            pending.append((PACKAGE / part[0], part[1:]))
        else:
            pending.append((PACKAGE / part, None))
    while pending:
        use = pending.pop()
        done.add(use)
        numbers, uses, packages, texts = _needs(*use)
        chosen.setdefault(use[0], set()).update(numbers)
        said |= {f"{name} {_version(name)}" for name in packages}
        pending += uses - done
        pending += {(file, None) for file in texts if file.name not in by_value} - done
    for file, counted in chosen.items():
        facts = _facts(file)
        meanings = [facts["statements"][index]["meaning"] for index in sorted(counted)]
        said.add(f"{os.path.relpath(file, PACKAGE)} {facts['meaning']} {' '.join(meanings)}")
    return hashlib.sha256("\n".join(sorted(said)).encode()).hexdigest()[:12]


@functools.cache
def _needs(
    file: Path, names: tuple[str, ...] | None
) -> tuple[frozenset[int], frozenset[_Use], frozenset[str], frozenset[Path]]:
    """Return what names of a file (None: all of it) rest on there, and directly elsewhere.

    Returns:
        The numbers of its statements; what they use of other files; the packages; and the
        YAML files.
    """
    statements = _facts(file)["statements"]
    numbers = range(len(statements)) if names is None else _reached(file, frozenset(names))
    found = [statements[number] for number in numbers]
    beside = {PACKAGE.parent / name for one in found for name in one["yaml"]}
    return (
        frozenset(numbers),
        frozenset(use for one in found for name in one["imports"] for use in _found(name)),
        frozenset(name for one in found for name in one["packages"]),
        frozenset(text for text in beside if text.is_file()),
    )


def stamp(value: object) -> str:
    """Return a short hash of what YAML can hold, for a parameter that would be long."""
    return _hash(json.dumps(value, sort_keys=True, default=str).encode())[:12]


def remember() -> None:
    """Keep what has been read from the sources, so that the next parse need not read it again."""
    if _known.new and CACHE.parent.is_dir():
        # What another target reads is worth keeping too, but not what old versions were.
        many = len(_known.facts) > 2 * len(_known.used) + 500
        kept = {key: _known.facts[key] for key in _known.used} if many else _known.facts
        with contextlib.suppress(InputError):
            write_text(CACHE, json.dumps(kept))


@functools.cache
def _reached(file: Path, names: frozenset[str]) -> frozenset[int]:
    """Return the numbers of the statements of a file that its names rest on."""
    reached: set[int] = set()
    pending = set(names)
    statements = list(enumerate(_facts(file)["statements"]))
    while True:
        # A statement that defines no name does something else that may count.
        more = {
            index
            for index, statement in statements
            if not statement["defines"] or not pending.isdisjoint(statement["defines"])
        } - reached
        if not more:
            return frozenset(reached)
        reached |= more
        pending.update(*(statement["uses"] for index, statement in statements if index in more))


@functools.cache
def _found(imported: str) -> list[tuple[Path, tuple[str, ...] | None]]:
    """Return the files of this package that an import runs, each with the names that it takes.

    All of a module counts that is imported itself; of the packages above it what their files do
    beside defining names.

    Args:
        imported: ``matrixdp.package.module``, or with a name of it, as after ``from``.
    """
    parts = imported.split(".")[1:]
    found: list[tuple[Path, tuple[str, ...] | None]] = []
    for depth in range(1, len(parts) + 1):
        base, last = PACKAGE.joinpath(*parts[:depth]), depth == len(parts)
        module, package = base.with_suffix(".py"), base / "__init__.py"
        if module.is_file() or package.is_file():
            file = module if module.is_file() else package
            found.append((file, None if last else ()))
        elif found and last:
            file, name = found.pop()[0], parts[-1]
            defined = {one for each in _facts(file)["statements"] for one in each["defines"]}
            found.append((file, (name,) if name in defined else None))
    return [(file, names) for file, names in found if file.name not in BY_VALUE]


@functools.cache
def _version(package: str) -> str:
    try:
        return importlib.metadata.version(DISTRIBUTIONS.get(package, package))
    except importlib.metadata.PackageNotFoundError:
        return "absent"


class _Known:
    """Facts by the content that they are from."""

    def __init__(self) -> None:
        self.facts: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(OSError, ValueError):
            self.facts = json.loads(CACHE.read_text(encoding="utf-8"))
        self.used: set[str] = set()
        self.new = False
        own = Path(__file__).read_bytes()
        self.salt = hashlib.sha256(own + sys.version.encode()).digest()

    def of(self, file: Path) -> dict[str, Any]:
        """Return the facts of a file, read before or now; one that is not there is empty."""
        content = file.read_bytes() if file.is_file() else b""
        key = hashlib.sha256(self.salt + file.suffix.encode() + content).hexdigest()
        if key not in self.facts:
            self.facts[key] = _read(file, content)
            self.new = True
        self.used.add(key)
        return self.facts[key]


_known = _Known()


@functools.cache
def _facts(file: Path) -> dict[str, Any]:
    return _known.of(file)


def _read(file: Path, content: bytes) -> dict[str, Any]:
    """Return the statements, tables and meaning of a file; other files than Python's have none."""
    if file.suffix == ".yaml":
        content = json.dumps(_yaml(content), sort_keys=True, default=str).encode()
    if file.suffix != ".py":
        return {"statements": [], "tables": {}, "meaning": _hash(content)}
    statements: list[dict[str, Any]] = []
    tables: dict[str, Any] = {}
    for node in ast.parse(content, filename=str(file)).body:
        if _is_text(node) or (isinstance(node, ast.If) and ast.unparse(node.test) == TYPES_ONLY):
            continue
        statements.append(_statement(node))
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict):
            names = statements[-1]["defines"]
            tables |= {name: _table(file, node.value) for name in names if name in TABLES}
    return {"statements": statements, "tables": tables, "meaning": ""}


def _statement(node: ast.stmt) -> dict[str, Any]:
    """Return what a statement defines, uses, imports and means, without docstrings."""
    uses, imports, packages, texts = set(), set(), set(), set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            uses.add(part.id)
        elif isinstance(part, ast.Constant) and str(part.value).endswith(".yaml"):
            texts.add(str(part.value))
        elif isinstance(part, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            part.body = [one for one in part.body if not _is_text(one)] or [ast.Pass()]
        elif isinstance(part, ast.Import | ast.ImportFrom):
            module = getattr(part, "module", None)
            names = [f"{module}.{alias.name}" if module else alias.name for alias in part.names]
            for name in names:
                package = name.partition(".")[0]
                if package == PACKAGE.name:
                    imports.add(name)
                elif package not in HARMLESS:
                    packages.add(package)
    return {
        "defines": _defined(node),
        "uses": sorted(uses),
        "imports": sorted(imports),
        "packages": sorted(packages),
        "yaml": sorted(texts),
        "meaning": _hash(ast.dump(node).encode()),
    }


def _defined(node: ast.stmt) -> list[str]:
    """Return the names that a statement defines at module level; none if it does more than that."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return [node.name]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        parts = [part for target in targets if target for part in getattr(target, "elts", [target])]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        return names if len(names) == len(parts) else []
    return []


def _table(file: Path, value: ast.Dict) -> dict[str, Any]:
    """Return words, names and meaning of each entry of a table."""
    found = {}
    for key, entry in zip(value.keys, value.values, strict=True):
        assert isinstance(key, ast.Constant), f"{file}: a table has a computed key"
        words = {}
        for keyword in entry.keywords if isinstance(entry, ast.Call) else []:
            with contextlib.suppress(ValueError):
                words[keyword.arg] = ast.literal_eval(keyword.value)
        found[str(key.value)] = {
            "words": words,
            "uses": sorted({part.id for part in ast.walk(entry) if isinstance(part, ast.Name)}),
            "meaning": _hash(ast.dump(entry).encode()),
        }
    return found


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _yaml(content: bytes) -> object:
    import yaml

    return yaml.load(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
