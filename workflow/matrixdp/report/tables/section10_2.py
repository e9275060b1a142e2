"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Grid
from matrixdp.report.tables import comparison
from matrixdp.report.tables.base import Table

#: What stands beside it: the rows on all features that the paper compares with, and ours.
ON_ALL = ("mvg_binary", "mvg_maxpnr", "directional_gaussian", "nonprivate", "zero")

TWO, ALL = "two features", "all features"


def data(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments: ``features`` and the columns of Tables 3 to 5."""
    # Experiment I in all but the features: the same metric, unit and conjecture.
    about = catalogue.experiment("regression")
    parts = []
    for features, name, paper, shown in (
        (TWO, "section10_2", "section10_2", None),
        (ALL, "regression", "table3", ON_ALL),
    ):
        results, printed = (
            table if shown is None else table[table["mechanism"].isin(shown)]
            for table in (tables[f"summary/{name}"], tables[f"published/{paper}"])
        )
        part = comparison.comparison(about, results, printed, tables["settings"])
        part.insert(0, "features", features)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def caption(table: pd.DataFrame) -> str:
    """Return what is compared, and in which units."""
    first = table.iloc[0]
    return catalogue.caption("section10_2", epsilon=first["_at"], status=first["data_status"])


def grid(table: pd.DataFrame) -> Grid:
    """Return the rows on two features, then those on all."""
    titles = table["features"].str.capitalize()
    return comparison.by_group(table, titles, without=("Ours / paper", "Actual epsilon"))


TABLES = {
    "section10_2": Table(
        title="Section 10.2",
        caption=caption,
        inputs=(
            "summary/section10_2",
            "summary/regression",
            "published/section10_2",
            "published/table3",
            "settings",
        ),
        data=data,
        grid=grid,
    ),
}
