"""Errors in the papers and in other packages, each with the number of this run that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction.report import inputs
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.tables.base import Column, Table, lines

COLUMNS = ("id", "place", "printed", "right", "consequence", "statistic", "value")
NEEDED = {*COLUMNS[:5]}
PAPERS = {"MVG": "MVG paper", "IMGM": "IMGM paper"}
GROUPS = PAPERS | dict.fromkeys(("R1SMG", "Wishart", "DP", "AdaSSP"), "Other papers")

NO_NUMBER, NOT_RUN = "none", "not run"


CAPTION = (
    "What is wrong, ambiguous or stated too loosely in print. A number of this run shows what "
    "matters for a guarantee or a result. Most of it is harmless; what costs privacy is called not "
    "private. Errors of other papers and packages stand apart and are not counted."
)


def build(run: Run) -> Table:
    """Return one row per erratum, with ``statistic`` and ``value`` of this run.

    Raises:
        InputError: an entry has the wrong form, or names a missing check or number. The message
            gives its id.
    """
    numbers = run.get("theory/exact")
    rows = []
    for entry in run["errata"]:
        _check(entry)
        fields = {name: " ".join(str(entry[name]).split()) for name in COLUMNS[:5]}
        rows.append(fields | _evidence(entry, numbers))
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    source = frame["id"].str.partition("-")[0]
    words = [Column(name.capitalize(), name) for name in COLUMNS[1:5]]
    return Table(
        title="Errata",
        caption=CAPTION,
        frame=frame,
        columns=[Column("", "id"), *words, Column("Shown by", _shown_by)],
        groups=lines(frame, source.map(GROUPS).fillna("Other packages")),
    )


def _check(entry: Any) -> None:
    name = entry.get("id") if isinstance(entry, dict) else entry
    allowed = NEEDED | {"check", "number"}
    if not isinstance(entry, dict) or not NEEDED <= entry.keys() <= allowed:
        raise InputError(
            f"{inputs.ERRATA}: erratum {name} must have {', '.join(sorted(NEEDED))}, and may have "
            "check and number"
        )


def _evidence(entry: Mapping[str, Any], numbers: pd.DataFrame | None) -> dict[str, Any]:
    """Return ``statistic`` and ``value`` of an erratum, or why it has no number."""
    if "check" not in entry or numbers is None:
        return {"statistic": NOT_RUN if "check" in entry else NO_NUMBER}
    matches = numbers[numbers["check"].eq(entry["check"])]
    checks.choice(numbers["check"].unique(), **{f"erratum {entry['id']}: check": entry["check"]})
    number = entry.get("number", 1)
    if number > len(matches):
        raise InputError(
            f"erratum {entry['id']}: number is {number}; check {entry['check']} has {len(matches)}"
        )
    row = matches.iloc[number - 1]
    return {"statistic": row["statistic"], "value": row["value"]}


def _shown_by(row: Mapping[str, Any]) -> str:
    return row["statistic"] + ("" if pd.isna(row["value"]) else f": {short(row['value'])}")
