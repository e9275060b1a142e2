"""Implied epsilons: where our curves meet the published numbers of Tables 3 to 5 of the MVG paper.

Each published cell has the epsilon, and the noise's standard deviation, at which our curve of the
same mechanism meets the published number (see :func:`matrixdp.report.statistics.implied`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import markup
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Cells, Grid, short
from matrixdp.report.tables.base import Table

COLUMNS = (
    *("table", "method", "mechanism", "published_value", "published_over_base", "mean"),
    *("over_base", "base", "epsilon", "noise_std", "implied_epsilon", "implied_noise_std"),
    *("n_trials", "data_status"),
)
NOWHERE = "no epsilon in the grid gives it"


def data(tables: Tables) -> pd.DataFrame:
    """Return one row per published private cell of the tables that were made."""
    parts = []
    for name, cells in tables.items():
        private = cells["published"].notna() & ~cells["mechanism"].isin(catalogue.REFERENCES)
        parts.append(cells[private].assign(table=name.removeprefix("tables/table")))
    return pd.concat(parts, ignore_index=True)[[*COLUMNS]]


def grid(table: pd.DataFrame) -> Grid:
    """Return the cells by table; words stand in for an epsilon or a noise that does not exist."""
    bases = dict(zip(table["table"].map(str), table["base"], strict=True))

    def noise(row: Mapping[str, Any]) -> str:
        has_epsilon = pd.notna(row["implied_epsilon"])
        return short(row["implied_noise_std"]) or ("no noise to name" if has_epsilon else "-")

    cells: Cells = {
        "Method": "method",
        "Paper, ratio": "published_over_base",
        "Ours, ratio": "over_base",
        "Our epsilon": "epsilon",
        "Our noise": "noise_std",
        "Epsilon for the paper's": lambda row: short(row["implied_epsilon"]) or NOWHERE,
        "Noise for the paper's": noise,
    }

    def title(number: str) -> str:
        return f"Table {number}: ratios to {catalogue.label(str(bases[number])).lower()}"

    return markup.grid(table, "table", cells, title=title)


TABLES = {
    "implied": Table(
        title="What the printed results would need",
        caption=(
            "For each private cell of Tables 3 to 5 the ε, and the standard deviation of the "
            "noise, at which our run of the same mechanism would have the printed value, or "
            "where its unit is in doubt (Tables 3 and 5) the printed ratio; interpolated."
        ),
        finding=lambda table: (
            f"{table['implied_epsilon'].isna().sum()} of {len(table)} printed private results "
            "come out at no epsilon that was run"
        ),
        inputs=(),
        optional=("tables/table3", "tables/table4", "tables/table5"),
        data=data,
        grid=grid,
    ),
}
