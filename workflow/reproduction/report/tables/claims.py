"""The ledger of the papers' claims, as a table for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reproduction.report import findings
from reproduction.report.inputs import Run
from reproduction.report.tables.base import Column, Table, lines

PAPERS = {
    "MVG": "MVG (Chanyaswad et al., full version, arXiv 1802.10077)",
    "IMGM": "IMGM (Yang et al., arXiv 2104.14808)",
}

CAPTION = (
    "Orderings are tested on differences of trials, theorems in numbers. What decides, and what "
    "controls show, stands beside the verdict. The CSV file has notes, effects, p-values, what the "
    "trials could show, and in how many readings a claim holds. To check one by its own trials: "
    "make claim ID=M16."
)


def build(run: Run) -> Table:
    """Return the ledger of claims by paper."""
    frame = run["claims"]
    return Table(
        title="Claims",
        caption=CAPTION,
        frame=frame,
        columns=COLUMNS,
        groups=lines(frame, "paper", title=PAPERS.__getitem__),
    )


def _claim(row: Mapping[str, Any]) -> str:
    return f"{row['claim']} ({', '.join(findings.place(row))})"


COLUMNS = (
    Column("", "id"),
    Column("Claim", _claim),
    Column("Verdict", findings.text),
    Column("Why", lambda row: "; ".join(findings.clauses(row))),
    Column("Evidence", "evidence"),
)
