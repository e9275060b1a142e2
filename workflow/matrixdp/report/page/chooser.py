"""The chooser: the rows of the table of advice, one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.markup import interval, short
from matrixdp.report.page import layout


def view(advice: pd.DataFrame, commands: Mapping[str, str], arguments: str) -> dict[str, Any]:
    """Return what ``chooser.html.j2`` needs beside the table.

    Args:
        advice: ``tables/advice.csv``.
        commands: see :func:`matrixdp.report.page.layout.command`.
        arguments: what every command ends with.
    """
    rows = [_row(row, dict(commands), arguments) for row in advice.to_dict("records")]
    return {
        "tasks": {
            name: catalogue.experiment(name).title for name in dict.fromkeys(advice["experiment"])
        },
        "rows": rows,
    }


def _row(row: Mapping[str, Any], commands: dict[str, str], arguments: str) -> dict[str, Any]:
    experiment, metric = str(row["experiment"]), catalogue.metric(str(row["metric"]))
    trials = f"trials/{experiment}/default/{row['best_mechanism']}"
    span = row["chance"] - row["nonprivate"]
    kept = ("experiment", "released", "guarantee", "outcome", "advice", "best")
    return {
        **{name: row[name] for name in kept},
        "epsilon": str(row["epsilon"]),
        "metric": metric.name,
        "error": interval(row["error"], row["ci95"]),
        "level": catalogue.label(catalogue.experiment(experiment).chance),
        "chance": short(row["chance"]),
        "nonprivate": short(row["nonprivate"]),
        # 0 without privacy, 1 by a guess; beyond both ends of the scale it stands at the end.
        "lost": None
        if pd.isna(span) or not span
        else round((row["error"] - row["nonprivate"]) / span, 4),
        "noise": short(row["noise_std"]),
        "actual": short(row["epsilon_actual"]),
        "delta": short(row["delta"]),
        "trials": int(row["n_trials"]),
        "how": "" if pd.isna(row["how"]) else row["how"],
        "command": layout.command(trials, commands, arguments),
    }
