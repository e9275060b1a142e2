"""The files of study and library that a module needs, from its import statements.

Entries of registries are imported by name and appear in no import statement. ``COLLECTIONS`` stand
for all of their modules. The caller adds the modules of other entries (see
:mod:`reproduction.discovery`).
"""

from __future__ import annotations

import functools
from pathlib import Path

import grimp

PACKAGE = Path(__file__).parent

#: The folders that hold the packages.
HOMES = {"matrixdp": PACKAGE.parents[1] / "src", "reproduction": PACKAGE.parent}

#: Files other than code that a module reads, in the folder above the package.
TEXTS = {
    "catalogue": ["catalogue.yaml"],
    "experiments.readings": ["readings.yaml"],
    "data.simulate": ["reproduction/data/standins/*.yaml"],
    "report.article.build": ["article/*"],
    "report.claims.ledger": ["claims.yaml"],
    "report.page": ["reproduction/report/page/*.*", "reproduction/report/page/texts/*"],
}

#: Packages that import all of their modules to look an entry up.
COLLECTIONS = ("experiments.schemes", "experiments.tasks", "report.figures", "report.tables")

#: Versions of all other packages, on which every module depends.
LOCK = "requirements.lock"


@functools.cache
def files(*modules: str) -> tuple[Path, ...]:
    """Return the files of modules, of all modules that they import, and the texts that these read.

    Args:
        modules: names without ``reproduction.``, such as ``cli.trials``.

    Raises:
        grimp.exceptions.ModuleNotPresent: there is no such module.
    """
    needed: set[str] = set()
    for module in modules:
        needed |= _needed(f"{PACKAGE.name}.{module}")
    texts = [text for name in needed for text in TEXTS.get(_below(name), ())]
    beside = (file for text in [LOCK, *texts] for file in PACKAGE.parent.glob(text))
    return tuple(sorted({*map(_file, needed), *(file for file in beside if file.is_file())}))


def module(file: Path) -> str:
    """Return the name of the module in a file of the study, without ``reproduction.``."""
    return ".".join(file.relative_to(PACKAGE).with_suffix("").parts)


@functools.cache
def _needed(module: str) -> frozenset[str]:
    """Return a module with all its imports, the packages around them, and collections as wholes."""
    graph, pending, needed = _graph(), {module}, set[str]()
    while pending:
        name = pending.pop()
        needed.add(name)
        above = {name.rpartition(".")[0]} - {""}
        collection = _below(name) in COLLECTIONS
        below = graph.find_children(name) if collection else set()
        pending |= (graph.find_modules_directly_imported_by(name) | above | below) - needed
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
