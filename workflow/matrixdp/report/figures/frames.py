"""What figures take from summaries and from the papers' tables, in tidy rows."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pandas as pd

from matrixdp.report.tables import comparison

#: Rows that need no mechanism; they are levels in a figure.
LEVELS = tuple(comparison.LABELS)

EXPERIMENTS = {
    "regression": "Experiment I: regression, Liver data",
    "first_pc": "Experiment II: first principal component, Movement data",
    "covariance": "Experiment III: covariance estimation, CTG data",
}

#: Metric -> its name and unit on an axis.
METRICS = {
    "rmse": "RMSE (drinks in [−1, 1])",
    "delta_rho": "Δρ (features in [−1, 1])",
    "rss": "RSS (features in [0, 1])",
    "accuracy": "test accuracy (%)",
}

#: Number of the table with the published results of an experiment.
TABLES = {"regression": 3, "first_pc": 4, "covariance": 5}

#: Below this a metric is an exact 0, which has no place on a logarithmic axis.
NOTHING = 1e-12

COLUMNS = (
    *("kind", "experiment", "metric", "mechanism", "direction", "variant", "chosen"),
    *("epsilon", "mu_actual", "mu_exact", "noise_std", "mean", "ci95", "note"),
)


def cells(table: pd.DataFrame, further: Iterable[str] = ()) -> pd.DataFrame:
    """Return the rows of the default reading, ``epsilon`` as a number.

    Args:
        table: a summary.
        further: columns of it to keep as well.

    Returns:
        The columns ``COLUMNS`` and ``further``; ``kind`` is ``level`` for reference rows, else
        ``mechanism``. Pairs of task and mechanism that make no sense are left out.
    """
    rows = table[table["reading"].eq("default") & ~table["note"].str.startswith(comparison.SKIPPED)]
    # Without trials a row has no metric, but its experiment has one.
    metric = rows["metric"].max()
    rows = rows.assign(
        epsilon=pd.to_numeric(rows["epsilon"], errors="coerce"),
        kind=rows["mechanism"].isin(LEVELS).map({True: "level", False: "mechanism"}),
        metric=metric,
    )
    order = ["mechanism", "direction", "epsilon", "variant"]
    return rows[[*COLUMNS, *further]].sort_values(order, kind="stable", ignore_index=True)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that a table would show: chosen variants in the first direction there is.

    See :data:`matrixdp.report.tables.comparison.DIRECTIONS`.
    """
    rows = cells(table)
    rank = rows["direction"].map({name: i for i, name in enumerate(comparison.DIRECTIONS)})
    first = rank.eq(rank.groupby(rows["mechanism"]).transform("min"))
    refused = rows["note"].str.startswith(comparison.NO_GUARANTEE)
    kept = rows[first & (rows["chosen"] | refused)]
    return kept.drop_duplicates(["mechanism", "epsilon"]).reset_index(drop=True)


def printed(table: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Return published results as rows of kind ``published``, in the unit of our metric.

    Args:
        table: ``published/table3`` or another table of results.
        experiment: whose unit they have.

    Returns:
        ``kind``, ``experiment``, ``mechanism``, ``epsilon``, ``printed`` (in the printed unit),
        ``factor`` from there to the unit that we suspect behind it (1 where the printed unit is
        plausible), and ``mean`` and ``ci95`` after this factor.
    """
    conjecture = comparison.LAYOUTS[TABLES[experiment]].conjecture or 1.0
    unit = table["unit_factor"].astype(float)
    value = pd.to_numeric(table["value"]) * unit
    return pd.DataFrame(
        {
            "kind": "published",
            "experiment": experiment,
            "mechanism": table["mechanism"],
            "epsilon": pd.to_numeric(table["epsilon"], errors="coerce"),
            "printed": value,
            "factor": 1 / conjecture,
            "mean": value / conjecture,
            "ci95": pd.to_numeric(table["interval"], errors="coerce") * unit / conjecture,
        }
    )


def join(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below each other; what one lacks is empty in text and NaN in numbers."""
    joined = pd.concat(list(parts), ignore_index=True)
    text = joined.columns.intersection(["direction", "variant", "mu_exact", "note"])
    joined[text] = joined[text].fillna("")
    return joined


def setup(table2: pd.DataFrame, item: str, experiment: str) -> str:
    """Return what Table 2 says of an experiment as it was run; empty if it says nothing."""
    found = table2.loc[table2["item"].eq(item), experiment]
    return "" if found.isna().all() else str(found.iloc[0])


def directions(text: str) -> dict[str, str]:
    """Return what each direction favours, from the cell of Table 2: ``(a) sgpt, drinks; ...``."""
    named = {}
    for name, features in re.findall(r"\((\w+)\) ([^;]+)", text):
        members = features.split(", ")
        if members[0] == "none":
            named[name] = "i.i.d. noise"
        else:
            some = ", ".join(members) if len(members) < 5 else f"the {len(members)} others"
            named[name] = f"({name}) {some}"
    return named


def level(frame: pd.DataFrame, mechanism: str) -> float:
    """Return the mean of a reference row, NaN if it was not run."""
    found = frame.loc[frame["kind"].eq("level") & frame["mechanism"].eq(mechanism), "mean"]
    return float(found.iloc[0]) if len(found) else float("nan")
