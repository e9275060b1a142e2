"""The explorer: the curves of all experiments as numbers, for a script to draw."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import inputs, summary
from matrixdp.report.figures import frames

#: Of a point: where it stands on each axis, its mean and half of its 95 % confidence interval.
POINT = ("epsilon", "epsilon_actual", "mu_actual", "mean", "ci95")


def view(results: str | os.PathLike, experiments: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows that tables show, at every epsilon, by experiment.

    Args:
        results: a run's folder.
        experiments: of the run; those that are part of another one, or have no summary, are left
            out.
    """
    named = [one for one in experiments if not catalogue.experiment(one).part_of]
    there = [one for one in named if not inputs.missing([f"summary/{one}"], results)]
    drawn = [_experiment(one, inputs.read(f"summary/{one}", results)) for one in there]
    return [one for one in drawn if one["series"]]


def _experiment(name: str, table: pd.DataFrame) -> dict[str, Any]:
    rows = summary.shown(frames.cells(table, ("epsilon_actual", "data_status")))
    rows = rows[rows["mean"].notna()]
    metric = catalogue.metric(str(rows["metric"].max()))
    if metric.axis.endswith("(%)"):
        rows = rows.assign(mean=100 * rows["mean"], ci95=100 * rows["ci95"])
    ours, levels = (rows[rows["kind"].eq(kind)] for kind in ("mechanism", "level"))
    return {
        "id": name,
        "title": catalogue.experiment(name).title,
        "axis": metric.axis,
        "warning": catalogue.mark(str(rows["data_status"].iloc[0])).text,
        "levels": [
            {
                "label": catalogue.label(row.mechanism),
                "mean": _number(row.mean) if row.mean > frames.NOTHING else 0.0,
            }
            for row in levels.itertuples()
        ],
        "series": [
            {
                "label": catalogue.label(mechanism),
                "colour": catalogue.look(mechanism).colour,
                "line": str(catalogue.look(mechanism).line),
                "points": [
                    [_number(value) for value in point] for point in part[[*POINT]].to_numpy()
                ],
            }
            for mechanism, part in frames.ordered(ours)
        ],
    }


def _number(value: float) -> float | None:
    return None if pd.isna(value) else float(f"{value:.4g}")
