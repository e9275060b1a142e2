"""Errors in the papers, each with the number of this run that shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import pandas as pd
from pydantic import Field, computed_field

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction.models import Model, Text, check
from reproduction.report import inputs
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.tables.base import Column, Table, lines

COLUMNS = (
    *("id", "place", "printed", "right", "consequence", "statistic", "value"),
    *("paper", "costs_privacy"),
)
PAPERS = {"MVG": "MVG paper", "IMGM": "IMGM paper"}

NO_NUMBER, NOT_RUN = "none", "not run"


CAPTION = (
    "What is wrong, ambiguous or stated too loosely in print. A number of this run shows what "
    "matters for a guarantee or a result. Most of it is harmless; what costs privacy is called not "
    "private."
)


class Erratum(Model):
    """An error in a paper, in our words."""

    id: Annotated[str, Field(pattern="^(MVG|IMGM)-[0-9]+$")]
    """Its name, such as MVG-1."""
    place: Text
    """Where it stands in the paper."""
    printed: Text
    """What is printed there."""
    right: Text
    """What is right."""
    consequence: Text
    """What follows from it."""
    costs_privacy: bool = False
    """Whether what is printed is not private."""
    check: str = ""
    """The check in results/theory/exact.csv that shows it."""
    number: int = Field(1, ge=1)
    """Which of the numbers of that check does."""

    @computed_field
    def paper(self) -> str:
        """Which paper it is in."""
        return self.id.partition("-")[0]


def build(run: Run) -> Table:
    """Return one row per erratum, with ``statistic`` and ``value`` of this run.

    Raises:
        InputError: an entry has the wrong form, or names a missing check or number. The message
            gives its id.
    """
    numbers = run.get("theory/exact")
    rows = []
    for entry in run["errata"]:
        name = entry.get("id") if isinstance(entry, dict) else entry
        erratum = check(Erratum, entry, f"{inputs.ERRATA}: erratum {name}")
        rows.append(erratum.model_dump(include={*COLUMNS}) | _evidence(erratum, numbers))
    frame = pd.DataFrame(rows, columns=[*COLUMNS])
    words = [Column(name.capitalize(), name) for name in COLUMNS[1:5]]
    return Table(
        title="Errata",
        caption=CAPTION,
        frame=frame,
        columns=[Column("", "id"), *words, Column("Shown by", _shown_by)],
        groups=lines(frame, frame["paper"].map(PAPERS)),
    )


def _evidence(erratum: Erratum, numbers: pd.DataFrame | None) -> dict[str, Any]:
    """Return ``statistic`` and ``value`` of an erratum, or why it has no number."""
    if not erratum.check or numbers is None:
        return {"statistic": NOT_RUN if erratum.check else NO_NUMBER}
    matches = numbers[numbers["check"].eq(erratum.check)]
    checks.choice(numbers["check"].unique(), **{f"erratum {erratum.id}: check": erratum.check})
    if erratum.number > len(matches):
        raise InputError(
            f"erratum {erratum.id}: number is {erratum.number}; check {erratum.check} has "
            f"{len(matches)}"
        )
    row = matches.iloc[erratum.number - 1]
    return {"statistic": row["statistic"], "value": row["value"]}


def _shown_by(row: Mapping[str, Any]) -> str:
    return row["statistic"] + ("" if pd.isna(row["value"]) else f": {short(row['value'])}")
