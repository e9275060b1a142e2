"""The code of a job: the files of study and library that a module needs, by its import statements.

Entries of registries are imported by name and appear in no import statement. The caller adds their
modules (see :mod:`reproduction.discovery`).
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Container
from pathlib import Path
from typing import Any

import grimp

from reproduction.audits import AUDITS
from reproduction.files import read_yaml

PACKAGE = Path(__file__).parent

#: The folders that hold the packages.
HOMES = {"matrixdp": PACKAGE.parents[1] / "src", "reproduction": PACKAGE.parent}

#: Files other than code that a module reads, in the folder above the package.
TEXTS = {
    "catalogue": ["catalogue/*"],
    "report.article.build": ["article/*", "references.bib"],
    "report.citations": ["references.bib"],
    "report.figures.style": ["reproduction/report/figures/*.mplstyle"],
    "report.claims.definitions": ["claims.yaml"],
    "report.numbers": ["numbers.yaml"],
    "report.sentences": ["texts/*"],
    "report.page": [
        "reproduction/report/page/*.*",
        "reproduction/report/page/texts/*",
        "readings.yaml",
    ],
}

#: Such files of which a module uses all but the values of some keys, which are words for people.
VALUES = {"experiments.readings": {"readings.yaml": ("title", "about")}}

#: What every command starts with; it chooses the verb's own module by name.
START = ("__main__", "verbs")

#: Modules that change no result: words of help, and what finds mechanisms of other packages, which
#: counts where one of these is run.
APART = frozenset({"reproduction.cli", "reproduction.plugins"})

#: Versions of all other packages that run, on which every module depends.
LOCK = "requirements.lock"


@functools.cache
def files(*modules: str) -> tuple[Path, ...]:
    """Return the files of modules, of all modules that they import, and the texts that these read.

    Args:
        modules: names without ``reproduction.``, such as ``cli.trials``; of the library in full,
            and ``matrixdp`` for all of it, any of which another package may use.

    Raises:
        grimp.exceptions.ModuleNotPresent: there is no such module.
    """
    return tuple(sorted(_words_apart(*modules)))


@functools.cache
def digests(*modules: str) -> tuple[str, ...]:
    """Return for each of :func:`files` its path in the project and a short hash of its content."""
    lines = []
    for file, words in sorted(_words_apart(*modules).items()):
        name = file.relative_to(PACKAGE.parents[1]).as_posix()
        without = f" without {' and '.join(words)}" if words else ""
        lines.append(f"{name}{without} {_digest(file, words)}")
    return tuple(lines)


def _words_apart(*modules: str) -> dict[Path, tuple[str, ...]]:
    """Return by file of modules the keys of it that do not count; none of most files."""
    needed = _all_needed(*START, *modules)
    below = {*map(_below, needed)}
    texts = [text for name in below for text in TEXTS.get(name, ())]
    beside = (file for text in [LOCK, *texts] for file in PACKAGE.parent.glob(text))
    values = {
        PACKAGE.parent / text: words
        for name in below
        for text, words in VALUES.get(name, {}).items()
    }
    files = [*map(_file, needed), *(file for file in beside if file.is_file())]
    return values | dict.fromkeys(files, ())


@functools.cache
def _digest(file: Path, words: tuple[str, ...]) -> str:
    content = json.dumps(_without(read_yaml(file), words)).encode() if words else file.read_bytes()
    return hashlib.sha256(content).hexdigest()[:12]


def _without(content: Any, words: Container[str]) -> Any:
    """Return mappings in mappings without some keys."""
    if not isinstance(content, dict):
        return content
    return {key: _without(value, words) for key, value in content.items() if key not in words}


def audits(*modules: str) -> list[str]:
    """Return the modules that audit the releases of mechanisms in these modules or their imports.

    Names are as in :func:`files`.
    """
    own = {_below(name) for name in _all_needed(*modules)}
    return sorted(
        {
            f"auditing.{audit.partition(':')[0]}"
            for kind, audit in AUDITS.items()
            if f"mechanisms.{kind.partition(':')[0]}" in own
        }
    )


def _all_needed(*modules: str) -> set[str]:
    full = (name if name.startswith("matrixdp") else f"{PACKAGE.name}.{name}" for name in modules)
    needed = {name for module in full for name in _needed(module)}
    if "matrixdp" in modules:
        needed |= {name for name in _graph().modules if name.startswith("matrixdp")}
        needed.add(f"{PACKAGE.name}.plugins")
    return needed


@functools.cache
def _needed(module: str) -> frozenset[str]:
    """Return a module with all its imports and the packages around them."""
    graph, pending, needed = _graph(), {module}, set[str]()
    while pending:
        name = pending.pop()
        needed.add(name)
        above = {name.rpartition(".")[0]} - {""}
        pending |= (graph.find_modules_directly_imported_by(name) | above) - needed - APART
    return frozenset(needed)


def _below(module: str) -> str:
    """Return the name of a module in the study; empty for one of the library."""
    package, _, name = module.partition(".")
    return name if package == PACKAGE.name else ""


@functools.cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*HOMES, exclude_type_checking_imports=True, cache_dir=None)


def _file(module: str) -> Path:
    base = HOMES[module.partition(".")[0]].joinpath(*module.split("."))
    package = base / "__init__.py"
    return package if package.is_file() else base.with_suffix(".py")
