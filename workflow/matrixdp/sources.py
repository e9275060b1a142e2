"""What a job's result depends on in the source: read from the text, nothing is imported.

Snakemake calls this while it parses, so it must be quick. A digest covers a file and all that it
imports from this package, without comments, docstrings and layout: editing one mechanism reruns its
jobs and no others, and touching or reformatting a file reruns nothing.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """Where a mechanism is defined, and over which axes it is run."""

    file: Path
    axes: tuple[str, ...]


@dataclass(frozen=True)
class Drawing:
    """Where a figure is defined, and which tables it is drawn from."""

    file: Path
    inputs: tuple[str, ...]


@functools.cache
def mechanisms() -> dict[str, Source]:
    """Return every mechanism by name, from the ``MECHANISMS`` of the mechanisms' files."""
    found = _entries("mechanisms", "MECHANISMS").items()
    return {name: Source(file, _words(value, "axes")) for name, (file, value) in found}


@functools.cache
def theory() -> dict[str, Path]:
    """Return the file of every computation, from the ``THEORY`` of the theory's files."""
    return {name: file for name, (file, _) in _entries("theory", "THEORY").items()}


@functools.cache
def figures() -> dict[str, Drawing]:
    """Return every figure by name, from the ``FIGURES`` of the figures' files."""
    found = _entries("report/figures", "FIGURES").items()
    return {name: Drawing(file, _words(value, "inputs")) for name, (file, value) in found}


@functools.cache
def tasks() -> dict[str, Path]:
    """Return the file of every experiment's task, from the ``TASKS`` of the tasks' files."""
    return {name: file for name, (file, _) in _entries("experiments/tasks", "TASKS").items()}


@functools.cache
def trainings() -> dict[str, Path]:
    """Return the file of every neural experiment, from the ``TRAININGS`` of training's files."""
    return {name: file for name, (file, _) in _entries("experiments/training", "TRAININGS").items()}


@functools.cache
def schemes(training: str) -> dict[str, Path]:
    """Return the file of every scheme that a neural experiment can run, by name.

    Schemes for private gradients and for private features are in files of the same names as the
    two kinds of training.
    """
    kind = trainings()[training].name
    return {
        name: file for name, (file, _) in _entries("experiments/schemes", "SCHEMES", kind).items()
    }


def _entries(folder: str, table: str, files: str = "*.py") -> dict[str, tuple[Path, ast.expr]]:
    """Return file and value of each entry of the module-level dictionaries called ``table``."""
    found = {}
    for file in sorted((PACKAGE / folder).glob(files)):
        for node in _tree(file).body:
            if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)):
                continue
            if [ast.unparse(target) for target in node.targets] == [table]:
                for key, value in zip(node.value.keys, node.value.values, strict=True):
                    assert isinstance(key, ast.Constant), f"{file}: {table} has a computed key"
                    found[str(key.value)] = (file, value)
    return found


def digest(*files: str | Path) -> str:
    """Return a short hash of the files (relative to the package) and of what they import."""
    closure: set[Path] = set()
    pending = [PACKAGE / file for file in files]
    while pending:
        file = pending.pop()
        if file not in closure:
            closure.add(file)
            pending += _imports(file)
    state = hashlib.sha256()
    for file in sorted(closure):
        state.update(f"{file.relative_to(PACKAGE)}\n{_meaning(file)}\n".encode())
    return state.hexdigest()[:12]


def _words(entry: ast.expr, name: str) -> tuple[str, ...]:
    """Return the literal words that a call is given as the keyword ``name``, or none."""
    keywords = entry.keywords if isinstance(entry, ast.Call) else []
    for keyword in keywords:
        if keyword.arg == name:
            return tuple(ast.literal_eval(keyword.value))
    return ()


@functools.cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), filename=str(file))


@functools.cache
def _meaning(file: Path) -> str:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
            and isinstance(node.body[0].value, ast.Constant)
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


@functools.cache
def _imports(file: Path) -> list[Path]:
    """Return the package's files that ``file`` imports anywhere in its text."""
    names = set()
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    found = []
    for name in sorted(names):
        head, *parts = name.split(".")
        if head == PACKAGE.name:
            base = PACKAGE.joinpath(*parts)
            found += [f for f in (base.with_suffix(".py"), base / "__init__.py") if f.is_file()]
    return found
