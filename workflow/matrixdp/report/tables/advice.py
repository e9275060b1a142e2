"""Which mechanism should I use? The best rows of each task, by guarantee and range of epsilon.

Within a range, a mechanism counts by the geometric mean of its errors over the epsilons that were
run, so that no single one dominates. Intervals are those of the means in the summaries, taken as
independent, which says less rather than more.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from matrixdp.report import markup, summary
from matrixdp.report.markup import short
from matrixdp.report.tables import comparison

COLUMNS = (
    *("task", "guarantee", "range", "epsilons", "best", "error", "runner_up", "runner_up_error"),
    *("margin", "margin_low", "margin_high", "clear", "over_chance", "beats_chance"),
    *("data_status", "experiment", "best_mechanism", "runner_up_mechanism"),
)

#: Ranges of epsilon: name, and largest epsilon.
RANGES = (("up to 0.1", 0.1), ("above 0.1, up to 3", 3.0), ("above 3", np.inf))

PURE, APPROXIMATE = "pure", "approximate"
#: The same law under another name: it would be its own runner-up.
SAME = ("imgm",)
#: Rows of experiment I that use no record are what chance can do.
CHANCE = ("zero", "random")


@dataclass(frozen=True)
class Task:
    """A question that a reader may have.

    Attributes:
        title: in words.
        experiment: where it was run.
        queries: what may be released to answer it.
    """

    title: str
    experiment: str
    queries: frozenset[str]


IDENTITY, BOTH = frozenset({"identity"}), frozenset({"identity", "covariance"})
TASKS = (
    Task("Records, used for regression", "regression", IDENTITY),
    Task("Regression, if other than records may be released", "regression", BOTH),
    Task("Records, used for their covariance", "covariance", IDENTITY),
    Task("Covariance, if other than records may be released", "covariance", BOTH),
    Task("First component", "first_pc", BOTH),
)


def table(
    summaries: Mapping[str, pd.DataFrame],
    *,
    labels: Mapping[str, str] | None = None,
    queries: Mapping[str, Collection[str]],
) -> pd.DataFrame:
    """Return one row per task, guarantee and range of epsilon (``COLUMNS``).

    Args:
        summaries: by experiment, as :func:`matrixdp.report.summary.read` returns them.
        labels: name for a reader per mechanism id.
        queries: the queries that each mechanism answers; mechanisms that it lacks are left out.

    Returns:
        ``error`` is a geometric mean; ``margin`` the runner-up's error over the best one's, with
        its 95 % interval; ``clear`` whether that is above 1; ``over_chance`` the best row's error
        over that of chance, and ``beats_chance`` whether it is clearly below it.
    """
    rows = []
    for task in TASKS:
        if task.experiment not in summaries:
            continue
        results = summaries[task.experiment]
        results = results[results["reading"].eq("default") & results["chosen"]]
        for guarantee in (PURE, APPROXIMATE):
            for i, (name, highest) in enumerate(RANGES):
                lowest = RANGES[i - 1][1] if i else 0.0
                epsilon = pd.to_numeric(results["epsilon"], errors="coerce")
                inside = results[(epsilon > lowest) & (epsilon <= highest)]
                if row := _best(task, guarantee, inside, results, queries, labels or {}):
                    rows.append(row | {"range": name})
    found = pd.DataFrame(rows, columns=[*COLUMNS])
    # What may be released besides the records is of interest where it changes the answer.
    same = ["experiment", "guarantee", "range", "best_mechanism", "runner_up_mechanism"]
    return found.drop_duplicates(same, ignore_index=True)


def write(
    results: str | os.PathLike,
    experiments: Collection[str],
    *,
    labels: Mapping[str, str] | None = None,
    queries: Mapping[str, Collection[str]],
) -> None:
    """Write ``<results>/tables/advice.csv``, ``.md`` and ``.tex``; arguments as :func:`table`.

    Raises:
        InputError: a summary is damaged.
    """
    names = [name for name in experiments if Path(results, "summary", f"{name}.csv").is_file()]
    summaries = {name: summary.read(Path(results, "summary", f"{name}.csv")) for name in names}
    found = table(summaries, labels=labels, queries=queries)
    simulated = found["data_status"].eq(summary.SIMULATED).any()
    grid = markup.Grid(
        name="Advice",
        caption="The best mechanism of each task, by guarantee (pure: delta = 0; approximate: any "
        "mechanism) and range of epsilon. Errors are geometric means over the epsilons of a range. "
        "The margin is the runner-up's error over the best one's; clear if its 95 % interval is "
        "above 1. Chance is the better of a random guess and, for regression, a constant "
        "prediction. Free parameters were chosen on separate trials; in practice they must be "
        "fixed before the data are seen.",
        warning=markup.SIMULATED if simulated else "",
        header=["Guarantee", "epsilon", "Best", "Runner-up", "Margin", "Clear", "Beats chance"],
        groups=[
            (task, [_cells(row) for row in rows.to_dict("records")])
            for task, rows in found.groupby("task", sort=False)
        ],
        columns=r"llp{0.24\linewidth}p{0.24\linewidth}lll",
    )
    markup.write(Path(results) / "tables" / "advice", found, grid)


def _best(
    task: Task,
    guarantee: str,
    inside: pd.DataFrame,
    results: pd.DataFrame,
    queries: Mapping[str, Collection[str]],
    labels: Mapping[str, str],
) -> dict[str, Any] | None:
    """Return the row of one task, guarantee and range, or None if fewer than two can serve it."""
    answers = [name for name, served in queries.items() if task.queries & set(served)]
    answers = [name for name in answers if name not in SAME]
    rivals = inside[
        inside["mechanism"].isin(answers) & inside["direction"].isin(comparison.DIRECTIONS)
    ]
    if guarantee == PURE:
        rivals = rivals[rivals["delta"].eq(0)]
    ran = rivals[rivals["mean"] > 0]
    wanted = ran["epsilon"].nunique()
    logs = {
        name: _log_error(rows)
        for name, rows in ran.groupby("mechanism")
        # No guarantee at one epsilon of the range: not an option there.
        if rows["epsilon"].nunique() == wanted
    }
    if len(logs) < 2:
        return None
    first, second = sorted(logs, key=lambda name: logs[name][0])[:2]
    margin, width = logs[second][0] - logs[first][0], np.hypot(logs[first][1], logs[second][1])
    row = {
        "task": task.title,
        "guarantee": guarantee,
        "epsilons": " ".join(sorted(ran["epsilon"].unique(), key=float)),
        "best": labels.get(first, first),
        "error": np.exp(logs[first][0]),
        "runner_up": labels.get(second, second),
        "runner_up_error": np.exp(logs[second][0]),
        "margin": np.exp(margin),
        "margin_low": np.exp(margin - width),
        "margin_high": np.exp(margin + width),
        "clear": bool(margin > width),
        "data_status": results["data_status"].iloc[0],
        "experiment": task.experiment,
        "best_mechanism": first,
        "runner_up_mechanism": second,
    }
    guesses = results[results["mechanism"].isin(CHANCE) & (results["mean"] > 0)]
    if len(guesses):
        log, spread = min(_log_error(guesses.loc[[i]]) for i in guesses.index)
        gain = logs[first][0] - log
        row |= {"over_chance": np.exp(gain)}
        row |= {"beats_chance": bool(gain < -np.hypot(logs[first][1], spread))}
    return row


def _log_error(rows: pd.DataFrame) -> tuple[float, float]:
    """Return the mean of the logs of the errors, and half its 95 % interval."""
    relative = (rows["ci95"].fillna(0) / rows["mean"]).to_numpy()
    return float(np.log(rows["mean"]).mean()), float(np.sqrt((relative**2).sum()) / len(rows))


def _cells(row: Mapping[str, Any]) -> list[str]:
    chance = row["beats_chance"]
    ends = f"{short(row['margin_low'])} to {short(row['margin_high'])}"
    return [
        row["guarantee"],
        row["range"],
        row["best"],
        row["runner_up"],
        f"{short(row['margin'], 4)} ({ends})",
        "yes" if row["clear"] else "no",
        "" if pd.isna(chance) else "yes" if chance else "no",
    ]
