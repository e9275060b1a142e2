"""The true epsilon of every setting that the IMGM paper publishes, run here or not."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from matrixdp.checks import InputError
from matrixdp.experiments import schemes
from matrixdp.report import markup
from matrixdp.report.markup import short
from matrixdp.report.tables import setups, training

TITLES = {
    "gradients": "Type I: gradients, sampled and released T times",
    "features": "Type II: features of all records, released once",
}


def table(numbers: pd.DataFrame) -> pd.DataFrame:
    """Return ``numbers`` with ``label``, the scheme's name, and ``verdict``.

    Args:
        numbers: results/theory/settings.csv.
    """
    names = {
        (kind, name): scheme.label
        for kind in TITLES
        for name, scheme in schemes.registry(kind).items()
    }
    too_large = numbers["epsilon_actual"] > numbers["epsilon"] * (1 + training.ROUNDING)
    return numbers.assign(
        label=[names[key] for key in zip(numbers["kind"], numbers["scheme"], strict=True)],
        verdict=too_large.map({True: training.NOT_PRIVATE, False: training.PRIVATE}),
    )


def write(theory: str | os.PathLike, out: str | os.PathLike) -> None:
    """Write ``<out>/imgm_settings.csv``, ``.md`` and ``.tex``.

    Args:
        theory: results/theory/settings.csv.
        out: folder to write to.

    Raises:
        InputError: the file cannot be read.
    """
    try:
        found = table(pd.read_csv(theory))
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{theory} cannot be read ({reason}); delete it and run again") from error
    epsilons = sorted({*found["epsilon"]})
    grid = markup.Grid(
        name="True epsilon of the published settings",
        caption="What IMGM's noise gives in the settings of Table 1, by nominal epsilon, at delta "
        f"= {short(found['delta'].max())}; q is the share of records in a lot or batch. A step's "
        "gradients change by the clip norm if a record is added or removed, whatever else is "
        "released in it; in features one record is replaced. Schemes with (ε/q, δ/q) or "
        "times q are the paper's amplification. †: not private, above the nominal epsilon.",
        warning="",
        header=["Data set", "Scheme", "q", "T", *(f"{epsilon:g}" for epsilon in epsilons)],
        groups=[
            (TITLES[str(kind)], [_cells(part, epsilons) for part in _lines(rows)])
            for kind, rows in found.groupby("kind", sort=False)
        ],
        columns=r"ll" + "r" * (2 + len(epsilons)),
    )
    markup.write(Path(out, "imgm_settings"), found, grid)


def _lines(rows: pd.DataFrame) -> list[pd.DataFrame]:
    return [part for _, part in rows.groupby(["dataset", "scheme"], sort=False)]


def _cells(part: pd.DataFrame, epsilons: list[float]) -> list[str]:
    first: Mapping[str, Any] = part.iloc[0].to_dict()
    actual = {
        row["epsilon"]: short(row["epsilon_actual"], 4)
        + ("†" if row["verdict"] == training.NOT_PRIVATE else "")
        for row in part.to_dict("records")
    }
    names = setups.TABLES[1].columns
    rate, steps = short(first["rate"]), str(first["steps"])
    return [
        names[first["dataset"]],
        first["label"],
        rate,
        steps,
        *(actual.get(e, "") for e in epsilons),
    ]
