"""Where our runs would meet the numbers that the MVG paper prints in Tables 3 to 5.

For each published cell the epsilon, and the standard deviation of the noise, at which our curve of
the same mechanism has the printed value (see :func:`matrixdp.report.statistics.implied`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import markup
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Grid, short
from matrixdp.report.tables.base import Table

COLUMNS = (
    *("table", "method", "mechanism", "published_value", "mean", "epsilon", "noise_std"),
    *("implied_epsilon", "implied_noise_std", "data_status"),
)


def data(tables: Tables) -> pd.DataFrame:
    """Return one row per published private cell of the tables that were made."""
    parts = []
    for name, cells in tables.items():
        private = cells["published"].notna() & ~cells["mechanism"].isin(["nonprivate", "random"])
        parts.append(cells[private].assign(table=name.removeprefix("tables/table")))
    return pd.concat(parts, ignore_index=True)[[*COLUMNS]]


def grid(table: pd.DataFrame) -> Grid:
    """Return the cells by table."""
    columns = r"p{0.3\linewidth}rrrrrr"
    return markup.grid(table, "table", _cells, columns, title="Table {}".format)


def _cells(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        "Method": row["method"],
        "Printed value": short(row["published_value"]),
        "Ours": short(row["mean"]),
        "Our epsilon": row["epsilon"],
        "Our noise": short(row["noise_std"]),
        "Implied epsilon": short(row["implied_epsilon"]),
        "Implied noise": short(row["implied_noise_std"]),
    }


TABLES = {
    "implied": Table(
        title="Implied noise",
        caption=catalogue.caption("implied"),
        inputs=(),
        optional=("tables/table3", "tables/table4", "tables/table5"),
        data=data,
        grid=grid,
    ),
}
