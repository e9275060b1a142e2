"""Where our runs would meet the numbers that the MVG paper prints in Tables 3 to 5.

For each published cell the epsilon, and the standard deviation of the noise, at which our curve of
the same mechanism has the printed value (see :func:`matrixdp.report.statistics.implied`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from matrixdp.report import findings, inputs, markup, summary
from matrixdp.report.markup import short

COLUMNS = (
    *("table", "method", "mechanism", "published_value", "mean", "epsilon", "noise_std"),
    *("implied_epsilon", "implied_noise_std", "data_status"),
)
NOT_PRIVATE = ("nonprivate", "random")


def table(results: str | os.PathLike) -> pd.DataFrame:
    """Return one row per published private cell of the tables that were made."""
    parts = []
    for number in findings.titles():
        if not inputs.missing([f"tables/table{number}"], results):
            cells = inputs.read(f"tables/table{number}", results)
            cells = cells[cells["published"].notna() & ~cells["mechanism"].isin(NOT_PRIVATE)]
            parts.append(cells.assign(table=number))
    if not parts:
        return pd.DataFrame(columns=[*COLUMNS])
    return pd.concat(parts, ignore_index=True)[[*COLUMNS]]


def write(results: str | os.PathLike) -> None:
    """Write ``<results>/tables/implied.csv``, ``.md`` and ``.tex``.

    Raises:
        InputError: a table is damaged.
    """
    found = table(results)
    simulated = found["data_status"].eq(summary.SIMULATED).any()
    grid = markup.Grid(
        name="Implied noise",
        caption="For each private cell of Tables 3 to 5 the epsilon, and the standard deviation of "
        "the noise, at which our run of the same mechanism would give the printed value, "
        "interpolated between the epsilons that were run. Empty where no two of them bracket it, "
        "or a mechanism adds no noise to name.",
        warning=markup.SIMULATED if simulated else "",
        header=[
            *("Method", "Printed value", "Ours", "Our epsilon", "Our noise"),
            *("Implied epsilon", "Implied noise"),
        ],
        groups=[
            (f"Table {number}", [_cells(row) for row in rows.to_dict("records")])
            for number, rows in found.groupby("table", sort=False)
        ],
        columns=r"p{0.3\linewidth}rrrrrr",
    )
    markup.write(Path(results) / "tables" / "implied", found, grid)


def _cells(row: Mapping[str, Any]) -> list[str]:
    numbers = [short(row[name]) for name in ("published_value", "mean")]
    shown = ("noise_std", "implied_epsilon", "implied_noise_std")
    return [row["method"], *numbers, row["epsilon"], *(short(row[name]) for name in shown)]
