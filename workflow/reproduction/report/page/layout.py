"""The layout of the page: sections from a YAML file, with the results of a run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from matrixdp.checks import InputError
from reproduction.report import inputs
from reproduction.report.inputs import Files

#: A result is named by its path below the results' folder without the suffix. A table without
#: Markdown is for programs alone.
KINDS = {"tables": ".md", "figures": ".svg"}

#: The section of results that no other section shows; it is left out where it has none.
FURTHER = "further"


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Attributes:
        id: its anchor, and the name of its text, ``texts/<id>.md``, if there is one.
        title: its heading.
        part: its heading in the navigation.
        show: results in their order, such as ``tables/table3``; ``*`` stands for any characters.
        builtin: items that the page itself adds, such as ``provenance``; or empty.
        claims: experiments whose claims belong here; the first one's table is judged.
        open: names of the results that are unfolded.
        fold: what text and added items are folded under; empty for none.
    """

    id: str
    title: str
    part: str
    show: tuple[str, ...] = ()
    builtin: str = ""
    claims: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    fold: str = ""


@dataclass(frozen=True)
class Chapter:
    """A section with the results that exist for it, and the names of missing ones."""

    section: Section
    results: tuple[str, ...]
    missing: tuple[str, ...]


def read(path: str | os.PathLike) -> tuple[list[Section], list[str]]:
    """Return the sections in order, and the names of results to leave out.

    Results to leave out exist as files only; the page does not show them.

    Raises:
        InputError: the file is not a layout, or has a section twice.
    """
    with inputs.file_errors(path, inputs.FROM_GIT):
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        aside = list(content["aside"])
        sections = [
            Section(part=part["title"], **{**entry, **_lists(entry)})
            for part in content["parts"]
            for entry in part["sections"]
        ]
    ids = [section.id for section in sections]
    for twice in sorted({name for name in ids if ids.count(name) > 1}):
        raise InputError(f"{path} has the section {twice!r} twice; give each an id of its own")
    return sections, aside


def _lists(entry: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(entry.get(name, ())) for name in ("show", "claims", "open")}


def present(files: Files) -> list[str]:
    """Return the names of all tables and figures among the files of a run."""
    return sorted(
        name.removesuffix(suffix)
        for folder, suffix in KINDS.items()
        for name in files
        # Those in a folder of their own are drawn for telephones.
        if fnmatchcase(name, f"{folder}/*{suffix}") and name.count("/") == 1
    )


def arrange(sections: Iterable[Section], names: Iterable[str]) -> list[Chapter]:
    """Return the sections with their results; what none of them names goes to ``FURTHER``.

    The first section that names a result shows it; results of one pattern are in alphabetical
    order. Names and patterns that match no result are missing.

    Args:
        sections: in their order.
        names: of the existing results.
    """
    left = every = sorted(names)
    arrangement = []
    for section in sections:
        results: list[str] = []
        missing = []
        for pattern in section.show:
            hits = [name for name in left if fnmatchcase(name, pattern)]
            left = [name for name in left if name not in hits]
            results += hits
            if not any(fnmatchcase(name, pattern) for name in every):
                missing.append(pattern)
        arrangement.append(Chapter(section, tuple(results), tuple(missing)))
    arrangement = [
        replace(entry, results=tuple(left)) if entry.section.id == FURTHER else entry
        for entry in arrangement
    ]
    return [entry for entry in arrangement if entry.section.id != FURTHER or entry.results]
