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
    + ["scale", "scale_low", "scale_high", "real_scale", "executed", "detectable_effect"]
    + ["noise_inflation", "rescaled_std", "replayed", "status", "verdict", "note"]
)

#: Columns whose cells are text, whatever they look like; all others have numbers or truth values.
TEXT = {"experiment", "mechanism", "configuration", "direction", "query", "adjacency", "tool"}
TEXT |= {"status", "verdict", "note"}


def write_audit(paths: Iterable[str | os.PathLike], out: str | os.PathLike) -> None:
    """Write the rows of the files of mechanisms, in their order, to the CSV ``out``."""
    rows: list[dict[str, object]] = []
    for path in paths:
        with Path(path).open(encoding="utf-8", newline="") as stream:
            rows += [
                {name: text if name in TEXT else _cell(text) for name, text in row.items()}
                for row in csv.DictReader(stream)
            ]
    trials.write_csv(rows, COLUMNS, out)


def _cell(text: str) -> object:
    """Return the number or truth value of a cell; None for an empty one."""
    if text in ("", "True", "False"):
        return {"": None, "True": True, "False": False}[text]
    # A whole number stays one, as long as all of its column are.
    return int(text) if text.isdecimal() else float(text)
