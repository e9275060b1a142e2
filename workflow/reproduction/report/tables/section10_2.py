"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

import pandas as pd

from reproduction import catalogue
from reproduction.report.inputs import Run
from reproduction.report.tables import paper_table
from reproduction.report.tables.base import Table, lines

#: Rows on all features beside those on two: those that the paper compares with, and ours.
ON_ALL = ("mvg_binary", "mvg_maxpnr", "directional_gaussian", "nonprivate", "zero")

TWO, ALL = "two features", "all features"


def build(run: Run) -> Table:
    """Return the rows of both experiments: ``features`` and the columns of Tables 3 to 5."""
    # It is another experiment on fewer features: metric, unit and conjecture are the same.
    part, settings = catalogue.experiment("section10_2"), run.settings
    about = catalogue.experiment(part.part_of)
    on_all, printed = run[f"rows/{about.id}"], run[f"published/{about.results}"]
    level = paper_table.base(on_all, printed, settings["reading"])
    results, published = run[f"rows/{part.id}"], run[f"published/{part.results}"]
    shared, two = paper_table.compare(about, results, published, settings, level)
    on_all, printed = (rows[rows["mechanism"].isin(ON_ALL)] for rows in (on_all, printed))
    _, every = paper_table.compare(about, on_all, printed, settings, level)
    two.insert(0, "features", TWO)
    every.insert(0, "features", ALL)
    rows = pd.concat([two, every], ignore_index=True)

    return Table(
        title=part.name,
        caption=(
            "Regression on two features alone, and on all features with directional noise: means "
            "± half of the 95 % confidence interval. Each experiment draws its own splits. "
            f"{paper_table.ratios(shared, rows, f'on all features (Table {about.table})')}"
        ),
        frame=rows[["features", *paper_table.COLUMNS]],
        columns=paper_table.columns(shared, rows),
        groups=lines(rows, rows["features"].str.capitalize()),
    )
