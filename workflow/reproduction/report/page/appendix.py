"""Tables that only the page has: cells that were not run, and the provenance of the data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report import inputs, markup, summary
from reproduction.report.inputs import Files
from reproduction.report.tables.base import Column, Table

GAPS = (
    "Cells that were left out. Where several epsilons share a reason, its numbers are those of the "
    "smallest."
)
PROVENANCE = (
    "The files that were read and their checksums. The content check compares the records "
    "themselves, whatever container they came in. Matrix: features x records, as released; for "
    "networks the arrays that they are trained on."
)


def gaps(summaries: Iterable[pd.DataFrame]) -> Table:
    """Return the cells that were not run and why, one row per mechanism and kind of reason."""
    rows = []
    for results in summaries:
        noted = results[results["mean"].isna() & results["note"].ne("")]
        kind = noted["note"].str.split(":", n=1).str[0]
        for (experiment, mechanism, _), cells in noted.groupby(["experiment", "mechanism", kind]):
            at = sorted({*cells["epsilon"]} - {""}, key=float)
            # The reason's numbers are those of the smallest epsilon.
            first = cells[cells["epsilon"].eq(at[0])] if at else cells
            row = {"experiment": catalogue.experiment(experiment).name, "mechanism": mechanism}
            row |= {"epsilon": ", ".join(at) or "all", "note": first["note"].iloc[0]}
            rows.append(row)
    return Table(
        title="Not run",
        caption=GAPS,
        columns=[
            Column("Experiment", "experiment"),
            Column("Mechanism", markup.mechanism),
            Column("epsilon", "epsilon"),
            Column("Reason", "note"),
        ],
        groups={"": rows} if rows else {},
    )


def provenance(files: Files) -> tuple[Table, list[dict[str, Any]]]:
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
            Column("File, SHA-256", lambda entry: _files(entry) or "generated"),
            Column("Content check", _match),
            Column("Licence", lambda entry: entry.get("licence", "")),
        ],
        groups={"": rows} if rows else {},
    )
    return table, facts


def _files(facts: Mapping[str, Any]) -> str:
    files = facts.get("files", ())
    return "; ".join(f"{file['file']} {file.get('sha256', '')}".strip() for file in files)


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
