"""The works behind a run's mechanisms, schemes and data sets, as BibTeX.

Each work stands once, in workflow/references.bib; workflow/catalogue/citations.yaml
says what comes from which. What has no entry there has a note that says so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reproduction import catalogue
from reproduction.files import read_yaml, write_text
from reproduction.report import inputs
from reproduction.report.inputs import Files
from reproduction.report.markup import escape

FILE = Path(__file__).parents[2] / "references.bib"

#: The file with the authors of this project.
PROJECT = "CITATION.cff"
_PROJECT_FILE = FILE.parents[1] / PROJECT

#: A work in a bibliography, by its key.
_WORK = re.compile(r"^@\w+\{([\w-]+),\n.*?^\}\n", re.MULTILINE | re.DOTALL)


def read_project() -> dict[str, Any]:
    """Return title, authors, version, date, address and archives, as CITATION.cff has them.

    ``papers`` are the works that it refers to: title, authors, year, identifiers and the address
    of the authors' code.
    """
    citation = read_yaml(_PROJECT_FILE)
    identifiers = [entry["value"] for entry in citation.get("identifiers", ())]
    return {
        "title": citation["title"],
        "authors": [
            {
                "name": _name(author),
                "orcid": author.get("orcid", ""),
                "email": author.get("email", ""),
            }
            for author in citation["authors"]
        ],
        "version": str(citation["version"]),
        "date": str(citation.get("date-released", "")),
        "license": citation["license"],
        "address": citation.get("repository-code", ""),
        "archives": [*filter(None, [citation.get("doi")]), *identifiers],
        "papers": [
            {
                "title": work["title"],
                "authors": [_name(author) for author in work["authors"]],
                "year": work["year"],
                "identifiers": [entry["value"] for entry in work["identifiers"]],
                "code": work.get("repository-code", ""),
            }
            for work in citation.get("references", ())
        ],
    }


def _name(author: Mapping[str, str]) -> str:
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def works() -> dict[str, str]:
    """Return the entries of the bibliography by key."""
    text = FILE.read_text(encoding="utf-8")
    return {match[1]: match[0] for match in _WORK.finditer(text)}


def write_citations(files: Files, out: str | os.PathLike) -> None:
    """Write the works that a run rests on: the papers', its rows', its data sets', and the project.

    Args:
        files: summaries, the provenance of their data sets, and the project's ``CITATION.cff``.
        out: the BibTeX file.

    Raises:
        InputError: an input is damaged.
    """
    keys = dict.fromkeys(["mvg", "mvg-full", "imgm"])
    notes: dict[str, Mapping[str, str]] = {}
    for name in files:
        folder, _, run = name.partition("/")
        if folder == "summary":
            rows = inputs.read_input(name, files)
            for row in dict.fromkeys(rows["mechanism"][rows["n_trials"].gt(0)]):
                references = cited_works(row, run)
                keys |= dict.fromkeys(references or ())
                if references is None:
                    notes[row] = {"title": row, "note": "no reference known"}
    for path in inputs.data_sets(files):
        facts = inputs.provenance(path)
        references = catalogue.section("cite")["datasets"].get(facts["name"])
        keys |= dict.fromkeys(references or ())
        if references is None and facts.get("citation"):
            doi = facts.get("doi") or ""
            notes[facts["name"]] = {"title": facts["title"], "note": facts["citation"], "doi": doi}
    entries = [entry for key, entry in works().items() if key in keys]
    entries += [_bibtex(name, fields) for name, fields in notes.items()]
    if PROJECT in files:
        entries.append(_project(read_yaml(files[PROJECT])))
    write_text(out, "\n".join(entries))


def cited_works(name: str, run: str) -> list[str] | None:
    """Return the keys of the works behind a row of an experiment; None where nobody entered any.

    Baselines come from none.
    """
    if name in catalogue.BASELINES:
        return []
    cite = catalogue.section("cite")
    perturbation = catalogue.experiment(run).perturbation
    return cite.get(perturbation, {}).get(name, cite["mechanisms"].get(name))


def _project(citation: Mapping[str, Any]) -> str:
    authors = [
        author.get("name") or f"{author['family-names']}, {author['given-names']}"
        for author in citation["authors"]
    ]
    fields = {
        "author": " and ".join(
            # Braces keep a firm's name in one piece.
            name if ", " in name else f"{{{name}}}"
            for name in authors
        ),
        "title": citation["title"],
        "note": f"Version {citation['version']}",
    }
    return _bibtex("matrixdp", fields)


def _bibtex(key: str, fields: Mapping[str, str]) -> str:
    plain = re.sub(r"[^\w-]+", "_", key).strip("_")
    texts = {
        # A second brace keeps the capitals of a title.
        name: f"{{{escape(text)}}}" if name == "title" else escape(text) if name == "note" else text
        for name, text in fields.items()
    }
    lines = [f"  {name} = {{{text}}}," for name, text in texts.items() if text]
    return "\n".join([f"@misc{{{plain},", *lines, "}", ""])
