"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from matrixdp.report import markup, published, summary
from matrixdp.report.markup import interval, short
from matrixdp.report.tables import comparison

#: Name of the experiment on two features; that on all features is experiment I.
EXPERIMENT = "section10_2"

#: What stands beside it: the rows on all features that the paper compares with, and ours.
ON_ALL = ("mvg_binary", "mvg_maxpnr", "directional_gaussian", "nonprivate", "zero")

TWO, ALL = "two features", "all features"

#: Experiment I in all but the features: the same metric, unit and conjecture.
LAYOUT = comparison.LAYOUTS[3]

_CAPTION = (
    "Regression on the Liver data after leaving out all features but two, and on all features with "
    "directional noise: means over the trials ± half of the 95 % confidence interval, at epsilon = "
    "{epsilon} and delta = 1/n. Each experiment draws its own splits. The paper's gain of over "
    "150 % is its ratio of the errors on two features to those of MVG. The last ratio is the "
    "conjecture of Table 3: that the paper divides the RMSE by sqrt(248). Data: {status}."
)


def rows_of_both(
    reduced: pd.DataFrame,
    full: pd.DataFrame,
    *,
    labels: Mapping[str, str],
    epsilon: str = "1",
    public_tau: str = "0.75",
    published_folder: str | os.PathLike = published.FOLDER,
) -> pd.DataFrame:
    """Return the rows of both experiments, with a column ``features``.

    Args:
        reduced, full: the summaries of the experiment on two features and of experiment I.
        labels: name for a reader per mechanism id.
        epsilon, public_tau: canonical tokens of what to show.
        published_folder: the numbers that the paper prints.

    Returns:
        ``features`` and the columns of Tables 3 to 5.
    """
    theirs = published.read("table3", published_folder)
    parts = []
    for features, results, printed in (
        (TWO, reduced, published.read(EXPERIMENT, published_folder)),
        (ALL, full[full["mechanism"].isin(ON_ALL)], theirs[theirs["mechanism"].isin(ON_ALL)]),
    ):
        results = results[results["reading"].eq("default")]
        part = comparison.comparison(
            *(LAYOUT, results, printed, labels),
            epsilon=epsilon,
            public_tau=public_tau,
            simulated=bool(results["data_status"].eq(summary.SIMULATED).any()),
        )
        parts.append(part.assign(features=features, reading="default"))
    return pd.concat(parts, ignore_index=True)[["features", *comparison.COLUMNS]]


def write(
    *,
    reduced_file: str | os.PathLike,
    full_file: str | os.PathLike,
    out: str | os.PathLike,
    labels: Mapping[str, str],
    epsilon: str = "1",
    public_tau: str = "0.75",
) -> None:
    """Write ``<out>/section10_2.csv``, ``.md`` and ``.tex``.

    Args:
        reduced_file, full_file: the summaries of the two experiments.
        out: folder to write to.
        labels, epsilon, public_tau: as for :func:`rows_of_both`.

    Raises:
        InputError: a file is missing or damaged.
    """
    table = rows_of_both(
        summary.read(reduced_file),
        summary.read(full_file),
        labels=labels,
        epsilon=epsilon,
        public_tau=public_tau,
    )
    simulated = table["data_status"].eq(summary.SIMULATED).any()
    grid = markup.Grid(
        name="Section 10.2",
        caption=_CAPTION.format(epsilon=epsilon, status=table["data_status"].iloc[0]),
        warning=markup.SIMULATED if simulated else "",
        header=[
            *("Method", "Paper (1e-2)", "Ours (1e-2)", "Ours (RMSE)", "Conjectured ratio"),
            "Verdict",
        ],
        groups=[
            (features.capitalize(), [_cells(row) for row in rows.to_dict("records")])
            for features, rows in table.groupby("features", sort=False)
        ],
        columns=r"p{0.36\linewidth}rrrrl",
    )
    markup.write(Path(out) / EXPERIMENT, table, grid)


def _cells(row: dict) -> list[str]:
    variant = f" ({row['variant'].replace('=', ' = ')})" if row["variant"] else ""
    return [
        row["method"] + variant,
        row["published"] + (f" ± {row['published_ci']}" if row["published_ci"] else ""),
        interval(row["mean"] * 100, row["ci95"] * 100),
        interval(row["mean"], row["ci95"]),
        short(row["ratio_conjectured"]),
        row["verdict"] or (row["note"].partition(":")[0] if np.isnan(row["mean"]) else ""),
    ]
