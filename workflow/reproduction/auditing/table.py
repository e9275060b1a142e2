"""The table of an experiment's audit, gathered from the files of its mechanisms."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path

from reproduction import trials

COLUMNS = (
    ["experiment", "mechanism", "configuration", "direction", "query", "adjacency", "records"]
    + ["epsilon", "delta", "noise_std", "tool", "epsilon_attained", "epsilon_bound", "mu"]
    + ["runs", "epsilon_certified", "epsilon_largest", "refuted"]
    + ["scale", "scale_low", "scale_high", "real_scale", "executed", "shortfall"]
    + ["noise_inflation", "rescaled_std", "replayed", "verdict", "note"]
)

#: Columns whose cells are text, whatever they look like; all others have numbers or truth values.
TEXT = {"experiment", "mechanism", "configuration", "direction", "query", "adjacency", "tool"}
TEXT |= {"verdict", "note"}


def write(paths: Iterable[str | os.PathLike], out: str | os.PathLike) -> None:
    """Write the rows of the files of mechanisms, in their order, to the CSV ``out``.

    What stands in rows from bundles, whose names have words, changes the form of no other number.
    """
    rows: list[dict[str, object]] = []
    for path in paths:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows += [
                {name: text if name in TEXT else _cell(text) for name, text in row.items()}
                for row in csv.DictReader(stream)
            ]
    others = [row for row in rows if " " in str(row["mechanism"])]
    parts = [[row for row in rows if row not in others], others]
    texts = [trials.columns(part, COLUMNS) for part in parts]
    trials.write_csv(
        [{name: [*map(_text, part[name])] for name in COLUMNS} for part in texts], COLUMNS, out
    )


def _text(cell: object) -> str:
    return "" if cell is None else str(cell)


def _cell(text: str) -> object:
    """Return the number or truth value of a cell; None for an empty one."""
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    # A whole number stays one, as long as all of its column are.
    return int(text) if text.isdecimal() else float(text)
