"""The works behind a run's mechanisms, schemes and data sets, as BibTeX.

Each work stands once, in workflow/references.yaml; the section ``cite`` of workflow/catalogue.yaml
says what comes from which. What has no entry there has a note on what it is, and no reference.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reproduction import catalogue, discovery
from reproduction.files import read_yaml, write_text
from reproduction.report import inputs
from reproduction.report.inputs import Files
from reproduction.report.markup import escape

FILE = Path(__file__).parents[2] / "references.yaml"

#: The file with the authors of this project.
PROJECT = "CITATION.cff"

#: A venue that names a preprint, alone or after the conference.
_PREPRINT = re.compile(r"(?:^|, )arXiv:([\d.]+)$")
_TEXTS = ("title", "booktitle", "journal", "publisher", "note")
_TYPES = {"proceedings": ("inproceedings", "booktitle"), "periodical": ("article", "journal")}


def write(files: Files, out: str | os.PathLike) -> None:
    """Write the works that a run rests on: the papers', its rows', its data sets', and the project.

    Args:
        files: summaries, the provenance of their data sets, and the project's ``CITATION.cff``.
        out: the BibTeX file.

    Raises:
        InputError: an input is damaged.
    """
    works = read_yaml(FILE)
    keys = dict.fromkeys(["mvg", "mvg-full", "imgm"])
    notes: dict[str, Mapping[str, str]] = {}
    for name in files:
        folder, _, run = name.partition("/")
        if folder == "summary":
            rows = inputs.read(name, files)
            for row in dict.fromkeys(rows["mechanism"][rows["n_trials"].gt(0)]):
                found = of_mechanism(row, run)
                keys |= dict.fromkeys(found or ())
                if found is None:
                    notes[row] = {"title": row, "note": _about(row)}
    for path in inputs.data_sets(files):
        facts = inputs.provenance(path)
        found = catalogue.section("cite")["datasets"].get(facts["name"])
        keys |= dict.fromkeys(found or ())
        if found is None and facts.get("citation"):
            doi = facts.get("doi") or ""
            notes[facts["name"]] = {"title": facts["title"], "note": facts["citation"], "doi": doi}
    entries = [_entry(key, works[key]) for key in keys]
    entries += [_bibtex("misc", name, fields) for name, fields in notes.items()]
    if PROJECT in files:
        entries.append(_project(read_yaml(files[PROJECT])))
    write_text(out, "\n".join(entries))


def of_mechanism(name: str, run: str) -> list[str] | None:
    """Return the keys of the works behind a row of an experiment; None where nobody entered any.

    Baselines come from none.
    """
    if name in catalogue.BASELINES:
        return []
    cite = catalogue.section("cite")
    perturbation = catalogue.experiment(run).perturbation
    return cite.get(perturbation, {}).get(name, cite["mechanisms"].get(name))


def _about(name: str) -> str:
    """Return what a mechanism without an entry says of itself: the first line of its class."""
    entry = discovery.mechanisms().get(name)
    if entry is None or not entry.file.is_file():
        return "no reference known"
    module = ast.parse(entry.file.read_text(encoding="utf-8"))
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    used = (
        classes[part.id]
        for place in ast.walk(module)
        if isinstance(place, ast.Dict)
        for key, value in zip(place.keys, place.values, strict=True)
        if getattr(key, "value", None) == name
        for part in ast.walk(value)
        if isinstance(part, ast.Name) and part.id in classes
    )
    text = ast.get_docstring(next(used, module)) or "no reference known"
    return text.partition("\n")[0].rstrip(".")


def _entry(key: str, work: Mapping[str, Any]) -> str:
    parent, serial = work.get("parent", {}), work.get("serial-number", {})
    venue = str(parent.get("title", ""))
    preprint = _PREPRINT.search(venue)
    venue = _PREPRINT.sub("", venue)
    kind, place = _TYPES[parent["type"]] if venue else ("misc", "howpublished")
    fields = {
        "author": " and ".join(map(_person, work["author"])),
        "title": work["title"],
        place: venue,
        "volume": parent.get("volume", ""),
        "number": parent.get("issue", ""),
        "pages": str(work.get("page-range", "")).replace("-", "--"),
        "publisher": work.get("publisher", ""),
        "year": work["date"],
        "doi": serial.get("doi", ""),
        "eprint": preprint[1] if preprint else "",
        "archiveprefix": "arXiv" if preprint else "",
        "url": work.get("url", ""),
    }
    return _bibtex(kind, key, fields)


def _person(name: str) -> str:
    """Return an author; braces keep a firm's name in one piece."""
    return name if ", " in name else f"{{{name}}}"


def _project(citation: Mapping[str, Any]) -> str:
    authors = [
        author.get("name") or f"{author['family-names']}, {author['given-names']}"
        for author in citation["authors"]
    ]
    fields = {
        "author": " and ".join(map(_person, authors)),
        "title": citation["title"],
        "note": f"Version {citation['version']}",
    }
    return _bibtex("misc", "matrixdp", fields)


def _bibtex(kind: str, key: str, fields: Mapping[str, Any]) -> str:
    plain = re.sub(r"[^\w-]+", "_", key).strip("_")
    return "\n".join([f"@{kind}{{{plain},", *_lines(fields), "}", ""])


def _lines(fields: Mapping[str, Any]) -> Iterator[str]:
    for name, value in fields.items():
        text = escape(str(value)) if name in _TEXTS else str(value)
        if text:
            # A second brace keeps the capitals of a title.
            yield f"  {name} = {{{{{text}}}}}," if name == "title" else f"  {name} = {{{text}}},"
