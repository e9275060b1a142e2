"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

import pandas as pd

from reproduction import catalogue
from reproduction.report.entries import Tables
from reproduction.report.markup import Grid
from reproduction.report.tables import comparison
from reproduction.report.tables.base import Table

#: Rows on all features beside those on two: those that the paper compares with, and ours.
ON_ALL = ("mvg_binary", "mvg_maxpnr", "directional_gaussian", "nonprivate", "zero")

TWO, ALL = "two features", "all features"


def data(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments: ``features`` and the columns of Tables 3 to 5."""
    # Section 10.2 is experiment I on fewer features: metric, unit and conjecture are the same.
    about, settings = catalogue.experiment("regression"), tables["settings"]
    results, published = tables["summary/regression"], tables["published/table3"]
    level = comparison.base(about, results, published, settings["reading"])
    parts = []
    for features, name, paper, mechanisms in (
        (TWO, "section10_2", "section10_2", None),
        (ALL, "regression", "table3", ON_ALL),
    ):
        frames = tables[f"summary/{name}"], tables[f"published/{paper}"]
        results, published = (
            frame if mechanisms is None else frame[frame["mechanism"].isin(mechanisms)]
            for frame in frames
        )
        compared = tables[f"comparisons/{name}"]
        audit = tables.get(f"audit/{name}")
        part = comparison.comparison(about, results, published, compared, settings, level, audit)
        part.insert(0, "features", features)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def finding(table: pd.DataFrame) -> str:
    """Return how many private rows on two features are better than the baseline."""
    two = table[table["features"].eq(TWO)]
    return f"Two features alone: {comparison.finding(two.assign(published='')).lower()}"


def caption(table: pd.DataFrame) -> str:
    """Return the comparison, and its units."""
    return (
        "Regression on two features alone, and on all features with directional noise: means ± "
        "half of the 95 % confidence interval. Each experiment draws its own splits. "
        f"{comparison.ratios(table, 'on all features (Table 3)')}"
    )


def grid(table: pd.DataFrame) -> Grid:
    """Return the rows on two features, then those on all."""
    return comparison.by_group(table, table["features"].str.capitalize())


TABLES = {
    "section10_2": Table(
        title="Section 10.2",
        finding=finding,
        caption=caption,
        data=data,
        grid=grid,
    ),
}
