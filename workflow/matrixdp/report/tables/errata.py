"""Errors in the papers and in other packages, each beside the number that shows it in this run."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.report import markup
from matrixdp.report.markup import short

FILE = Path(__file__).parents[3] / "errata.yaml"

COLUMNS = ("id", "place", "printed", "right", "consequence", "statistic", "value")
NEEDED = {"id", "place", "printed", "right", "consequence"}
GROUPS = {"MVG": "MVG paper", "IMGM": "IMGM paper"}

NO_NUMBER, NOT_RUN, NOT_INSTALLED = "none", "not run", "not installed"


def read(known_checks: Collection[str], path: str | os.PathLike = FILE) -> list[dict[str, Any]]:
    """Return the errata of a file.

    Raises:
        InputError: the file cannot be read, or an entry is not of the form or names an unknown
            check; the message names its id.
    """
    try:
        entries = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path} cannot be read ({reason}); restore it from git") from error
    for entry in entries:
        name = entry.get("id") if isinstance(entry, dict) else entry
        allowed = NEEDED | {"check", "number", "package"}
        if not isinstance(entry, dict) or not NEEDED <= entry.keys() <= allowed:
            raise InputError(
                f"erratum {name} must have {', '.join(sorted(NEEDED))}, and may have check, number "
                "and package"
            )
        if "check" in entry:
            checks.choice(known_checks, **{f"erratum {name}: check": entry["check"]})
    return entries


def table(entries: list[dict[str, Any]], numbers: pd.DataFrame | None) -> pd.DataFrame:
    """Return one row per erratum, with ``statistic`` and ``value`` of this run.

    Args:
        entries: see :func:`read`.
        numbers: results/theory/exact.csv; None if it was not made.
    """
    rows = []
    for entry in entries:
        told = {name: " ".join(str(entry[name]).split()) for name in COLUMNS[:5]}
        rows.append(told | _shown(entry, numbers))
    return pd.DataFrame(rows, columns=[*COLUMNS])


def write(
    results: str | os.PathLike,
    known_checks: Collection[str],
    path: str | os.PathLike = FILE,
) -> None:
    """Write ``<results>/tables/errata.csv``, ``.md`` and ``.tex``.

    Raises:
        InputError: see :func:`read`.
    """
    numbers = Path(results, "theory", "exact.csv")
    found = table(read(known_checks, path), pd.read_csv(numbers) if numbers.is_file() else None)
    kinds = found["id"].str.partition("-")[0].map(GROUPS).fillna("Other packages")
    grid = markup.Grid(
        name="Errata",
        caption="What is wrong or stated too loosely in print, and the number that shows it, "
        "computed in this run. Most of it is harmless; what costs privacy is called not private.",
        warning="",
        header=["", "Place", "Printed", "Right", "Consequence", "Shown by"],
        groups=[
            (kind, [_cells(row) for row in rows.to_dict("records")])
            for kind, rows in found.groupby(kinds, sort=False)
        ],
        columns="l" + r"p{0.16\linewidth}" * 5,
    )
    markup.write(Path(results) / "tables" / "errata", found, grid)


def _shown(entry: Mapping[str, Any], numbers: pd.DataFrame | None) -> dict[str, Any]:
    # Checks of packages that are missing were left out when the numbers were made.
    missing = NOT_INSTALLED if "package" in entry else NOT_RUN
    if "check" not in entry:
        return {"statistic": missing if "package" in entry else NO_NUMBER}
    found = None if numbers is None else numbers[numbers["check"] == entry["check"]]
    if found is None or found.empty:
        return {"statistic": missing}
    number = entry.get("number", 1)
    if number > len(found):
        raise InputError(
            f"erratum {entry['id']}: number is {number}; check {entry['check']} has {len(found)}"
        )
    row = found.iloc[number - 1]
    return {"statistic": row["statistic"], "value": row["value"]}


def _cells(row: Mapping[str, Any]) -> list[str]:
    number = "" if pd.isna(row["value"]) else f": {short(row['value'])}"
    return [
        *(row[name] for name in ("id", "place", "printed", "right", "consequence")),
        row["statistic"] + number,
    ]
