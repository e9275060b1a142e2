"""The files of study and library that a module needs, from its import statements.

Entries of registries are imported by name and appear in no import statement. The caller adds their
modules (see :mod:`reproduction.discovery`).
"""

from __future__ import annotations

import functools
from pathlib import Path

import grimp

from reproduction.audits import AUDITS

PACKAGE = Path(__file__).parent

#: The folders that hold the packages.
HOMES = {"matrixdp": PACKAGE.parents[1] / "src", "reproduction": PACKAGE.parent}

#: Files other than code that a module reads, in the folder above the package.
TEXTS = {
    "catalogue": ["catalogue.yaml"],
    "experiments.readings": ["readings.yaml"],
    "report.article.build": ["article/*", "references.bib"],
    "report.citations": ["references.bib"],
    "report.claims.definitions": ["claims.yaml"],
    "report.numbers": ["numbers.yaml"],
    "report.sentences": ["texts/*"],
    "report.page": ["reproduction/report/page/*.*", "reproduction/report/page/texts/*"],
}

#: The module that every command starts with; it chooses the verb's own by name.
MAIN = "__main__"

#: Versions of all other packages, on which every module depends.
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
    needed = _all_needed(MAIN, *modules)
    texts = [text for name in needed for text in TEXTS.get(_below(name), ())]
    beside = (file for text in [LOCK, *texts] for file in PACKAGE.parent.glob(text))
    return tuple(sorted({*map(_file, needed), *(file for file in beside if file.is_file())}))


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
    return needed


@functools.cache
def _needed(module: str) -> frozenset[str]:
    """Return a module with all its imports and the packages around them."""
    graph, pending, needed = _graph(), {module}, set[str]()
    while pending:
        name = pending.pop()
        needed.add(name)
        above = {name.rpartition(".")[0]} - {""}
        pending |= (graph.find_modules_directly_imported_by(name) | above) - needed
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
