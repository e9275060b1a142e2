"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Grid
from matrixdp.report.tables import audit, comparison
from matrixdp.report.tables.base import Table

#: What stands beside it: the rows on all features that the paper compares with, and ours.
ON_ALL = ("mvg_binary", "mvg_maxpnr", "directional_gaussian", "nonprivate", "zero")

TWO, ALL = "two features", "all features"


def data(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments: ``features`` and the columns of Tables 3 to 5."""
    # Experiment I in all but the features: the same metric, unit and conjecture.
    about, settings = catalogue.experiment("regression"), tables["settings"]
    results, printed = tables["summary/regression"], tables["published/table3"]
    level = comparison.base(about, results, printed, settings["reading"])
    parts = []
    for features, name, paper, shown in (
        (TWO, "section10_2", "section10_2", None),
        (ALL, "regression", "table3", ON_ALL),
    ):
        given = tables[f"summary/{name}"], tables[f"published/{paper}"]
        results, printed = (
            one if shown is None else one[one["mechanism"].isin(shown)] for one in given
        )
        compared = tables[f"comparisons/{name}"]
        part = comparison.comparison(about, results, printed, compared, settings, level)
        part["standing"] = audit.standings(tables, name, part["mechanism"])
        part.insert(0, "features", features)
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def finding(table: pd.DataFrame) -> str:
    """Say how many private rows on two features are better than chance."""
    two = table[table["features"].eq(TWO)]
    return f"Two features alone: {comparison.finding(two.assign(published='')).lower()}"


def caption(table: pd.DataFrame) -> str:
    """Return what is compared, and in which units."""
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
        inputs=(
            "summary/section10_2",
            "summary/regression",
            "comparisons/section10_2",
            "comparisons/regression",
            "published/section10_2",
            "published/table3",
            "settings",
        ),
        optional=("audit/section10_2", "audit/regression"),
        data=data,
        grid=grid,
    ),
}
