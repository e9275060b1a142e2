"""Counts of the readings of the papers under which a claim holds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from reproduction.experiments import readings
from reproduction.report import inputs, summary
from reproduction.report.claims import ledger
from reproduction.report.claims.evidence import surplus
from reproduction.report.claims.ledger import Comparison, Row
from reproduction.report.inputs import Files
from reproduction.report.statistics import LEVEL, Pair


class Swept(NamedTuple):
    """An experiment under all its readings.

    Attributes:
        table: one row per mechanism and reading (`reproduction.report.all_readings.table`).
        values: values of the trials of each row, shape (rows, trials); the trials of a column have
            the same split.
    """

    table: pd.DataFrame
    values: Array


class Share(NamedTuple):
    """Counts of private readings under which a claim clearly holds.

    Attributes:
        holding, total: number of readings under which it holds, and of all; None without readings.
        sure: names of the readings under which it holds after Bonferroni's correction over all
            readings, while no baseline meets it.
        met_by_baseline: number of readings under which it holds after the correction, but a
            baseline meets it too.
    """

    holding: int | None = None
    total: int | None = None
    sure: tuple[str, ...] = ()
    met_by_baseline: int = 0


def read(experiment: str, files: Files) -> Swept | None:
    """Return an experiment under all its readings, or None if it was not run."""
    if f"readings/{experiment}" not in files:
        return None
    path, trial_file = (files[f"readings/{experiment}{end}"] for end in ("", "_trials.csv.gz"))
    with inputs.whole(path):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = table[table["mean"].ne("")].reset_index(drop=True)
        table = table.reindex(columns=table.columns.union([*readings.questions()]), fill_value="")
        table["private"] = table["private"].eq("True")
        keys = table[["ran", "direction", "variant", "epsilon"]].assign(
            reading=table["reading"].map(_without_rows)
        )
    trials = summary.read_trials(trial_file).rename(columns={"mechanism": "ran"})
    trials = trials[trials["phase"].eq("report") & trials["trial"].notna()]
    values = trials.pivot(index=[*keys], columns="trial", values="value")
    with inputs.whole(trial_file):
        return Swept(table, values.loc[pd.MultiIndex.from_frame(keys)].to_numpy())


def _without_rows(reading: str) -> str:
    """Return a reading without its choices of mechanisms for rows of the paper."""
    choices, questions = readings.find(reading).choices.items(), readings.questions()
    mechanism_choices = {
        name: value for name, value in choices if questions[name].acts_on != readings.ROW
    }
    return readings.Reading(mechanism_choices).name


def share(
    swept: Swept,
    comparisons: Sequence[Comparison],
    *,
    epsilon: str,
    larger: bool,
    every: bool,
    baselines: Sequence[Sequence[Comparison]] = (),
) -> Share:
    """Return counts of the joint readings under which the comparisons clearly hold.

    A joint reading gives every question that acts on one of the rows the same value for all rows.
    A row that exists only at one value of a question is only in readings with that value. Readings
    that are not private never count. Rows are compared by the differences of their trials, as in
    :func:`reproduction.report.claims.evidence.gather`.

    Args:
        swept: the experiment under all its readings.
        comparisons: comparisons of rows of that experiment.
        epsilon: epsilon of the rows, as text.
        larger: whether a larger metric is better.
        every: whether all comparisons are needed; otherwise any one suffices.
        baselines: the same comparisons with a baseline in place of their subject, one list for each
            baseline. A reading under which a baseline meets them is not sure.
    """
    ran = set(swept.table["mechanism"])
    baselines = [
        group for group in baselines if ran.issuperset(row.mechanism for row in ledger.rows(group))
    ]
    rows = ledger.rows([*comparisons, *itertools.chain(*baselines)])
    joint = _joint(swept.table, rows, epsilon)
    if joint.empty:
        return Share()

    def holds(group: Sequence[Comparison], level: float) -> np.ndarray:
        each = []
        for comparison in group:
            ends = (
                (comparison.first, comparison.second)
                if larger
                else (comparison.second, comparison.first)
            )
            cells = (joint[f"cell{rows.index(row)}"].to_numpy() for row in ends)
            estimate = surplus(comparison, Pair(*(swept.values[cell] for cell in cells)))
            each.append(estimate.above() < level / 2)
        return np.all(each, axis=0) if every else np.any(each, axis=0)

    corrected = holds(comparisons, LEVEL / len(joint))
    sure = corrected.copy()
    for group in baselines:
        sure &= ~holds(group, LEVEL)
    return Share(
        holding=int(holds(comparisons, LEVEL).sum()),
        total=len(joint),
        sure=tuple(joint["reading"][sure]),
        met_by_baseline=int((corrected & ~sure).sum()),
    )


def _joint(table: pd.DataFrame, rows: Sequence[Row], epsilon: str) -> pd.DataFrame:
    """Return one line per private joint reading; ``cell<i>`` is the index of row i in ``table``."""
    questions = list(readings.questions())
    joint = pd.DataFrame({"_": [0]})
    for i, row in enumerate(rows):
        cells = table[
            table["mechanism"].eq(row.mechanism)
            & table["epsilon"].isin(["", epsilon])
            # Non-private baselines need not be private.
            & (table["private"] | (row.mechanism == "nonprivate"))
        ]
        if row.direction is not None:
            cells = cells[cells["direction"].eq(row.direction)]
        acting = [name for name in questions if cells[name].ne("").any()]
        cells = cells[acting].assign(**{f"cell{i}": cells.index})
        shared = [name for name in acting if name in joint]
        joint = joint.merge(cells, on=shared) if shared else joint.merge(cells, how="cross")
    choices = joint[[name for name in questions if name in joint]].to_dict("records")
    names = [readings.Reading({str(k): v for k, v in choice.items()}).name for choice in choices]
    return joint.assign(reading=names)
