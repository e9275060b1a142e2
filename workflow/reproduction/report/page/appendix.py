"""The table that only the page has: the provenance of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproduction.report import inputs, summary
from reproduction.report.inputs import Files
from reproduction.report.sheet import Sheet
from reproduction.report.tables.base import Column, Table

PROVENANCE = (
    "provenance.json beside the data names the files that were read, with their checksums. The "
    "content check compares the records themselves, whatever container they came in. Matrix: "
    "features x records, as released; for networks the arrays that they are trained on."
)


def provenance(files: Files) -> tuple[Sheet, list[dict[str, Any]]]:
    """Return the data sets among the files of a run as a table, and the provenance of each.

    Raises:
        InputError: one of the files is damaged.
    """
    paths = inputs.data_sets(files)
    facts = [inputs.provenance(path) for path in paths]
    rows = [entry | {"folder": path.parent.name} for path, entry in zip(paths, facts, strict=True)]
    table = Table(
        title="Data",
        caption=PROVENANCE,
        columns=[
            Column("Data set", lambda entry: f"{entry.get('title', '')} ({entry['folder']})"),
            Column("Status", lambda entry: entry.get("status", "")),
            Column("Matrix", _shapes),
            Column("File", lambda entry: _files(entry) or "generated", page=None),
            Column("Content check", _match),
            Column("Licence", lambda entry: entry.get("licence", "")),
        ],
        groups={"": rows} if rows else {},
    )
    return table.sheet(), facts


def _files(facts: Mapping[str, Any]) -> str:
    return "; ".join(file["file"] for file in facts.get("files", ()))


def _shapes(facts: Mapping[str, Any]) -> str:
    """Return the shape of the matrix, or those of the arrays of a learning set."""
    if "arrays" not in facts:
        return " x ".join(map(str, facts.get("shape", ())))
    shapes = {name: about["shape"] for name, about in facts["arrays"].items()}
    return "; ".join(f"{name}: {' x '.join(map(str, shape))}" for name, shape in shapes.items())


def _match(facts: Mapping[str, Any]) -> str:
    if facts.get("status") == summary.SIMULATED:
        return "a stand-in"
    content = facts.get("content_sha256") or {}
    if not content.get("expected"):
        return "none"
    return "matches" if content["expected"] == content.get("found") else "differs"
