"""Counts of the readings of the papers in which a claim holds. They decide no verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from reproduction.experiments import readings
from reproduction.report import contrasts, inputs, summary
from reproduction.report.claims.definitions import Comparison, Row
from reproduction.report.claims.evidence import weights
from reproduction.report.inputs import Files
from reproduction.report.statistics import LEVEL, combine


class ReadingValues(NamedTuple):
    """An experiment under all variations of its reading.

    Attributes:
        table: one row per mechanism and reading, see
            :func:`reproduction.report.readings.summarise_readings`.
        values: values of the trials of each row, shape (rows, trials); the trials of a column have
            the same split.
    """

    table: pd.DataFrame
    values: Array


class Count(NamedTuple):
    """Numbers of private readings; None without any.

    Attributes:
        holding, total: in how many a claim clearly holds, and of how many.
        trials: the trials of each.
    """

    holding: int | None = None
    total: int | None = None
    trials: int | None = None


def read_reading_values(experiment: str, files: Files) -> ReadingValues | None:
    """Return an experiment under all variations of its reading, or None if it was not run."""
    if f"readings/{experiment}" not in files:
        return None
    path, trial_file = (files[f"readings/{experiment}{end}"] for end in ("", "_trials.csv.gz"))
    with inputs.file_errors(path):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = table[table["mean"].ne("")].reset_index(drop=True)
        table = table.reindex(columns=table.columns.union([*readings.questions()]), fill_value="")
        table["private"] = table["private"].eq("True")
        keys = table[["ran", "direction", "configuration", "epsilon"]].assign(
            reading=table["reading"].map(_without_rows)
        )
    trials = summary.read_trials(trial_file).rename(columns={"mechanism": "ran"})
    values = contrasts.frame(trials[trials["phase"].eq("report")], [*keys])
    with inputs.file_errors(trial_file):
        return ReadingValues(table, values.loc[pd.MultiIndex.from_frame(keys)].to_numpy())


def _without_rows(reading: str) -> str:
    """Return the reading of the trials: one that chooses a mechanism for a row changes no other."""
    return readings.DEFAULT if readings.find_reading(reading).rows else reading


def count(
    by_reading: ReadingValues,
    comparisons: Sequence[Comparison],
    *,
    epsilon: str,
    larger: bool,
    every: bool,
) -> Count:
    """Return in how many joint readings the comparisons clearly hold, each test at ``LEVEL``.

    A joint reading gives every question the same value for all rows that it acts on, and differs
    from the default one in at most one. A row that exists only at one value of a question is only
    in readings with that value. Readings that are not private never count. Rows are compared by
    the differences of their trials, as in :func:`reproduction.report.claims.evidence.weigh`.

    Args:
        by_reading: the experiment under all variations of its reading.
        comparisons: comparisons of rows of that experiment.
        epsilon: epsilon of the rows, as text.
        larger: whether a larger metric is better.
        every: whether all comparisons are needed; otherwise any one suffices.
    """
    contrasted = [weights(comparison, larger) for comparison in comparisons]
    rows = [*dict.fromkeys(row for total, _ in contrasted for row in total)]
    joint = _joint(by_reading.table, rows, epsilon)
    if not joint:
        return Count()
    columns = dict(zip(rows, np.transpose([*joint.values()]), strict=True))

    def test(total: dict[Row, float], margin: float) -> tuple[Array, Array]:
        """Return the p-values for and against a comparison, under each reading."""
        weighted = [weight * by_reading.values[columns[row]] for row, weight in total.items()]
        estimate = contrasts.estimate(np.sum(weighted, axis=0))
        return estimate.above(margin), estimate.below(margin)

    p_values = np.transpose([test(*contrast) for contrast in contrasted], (2, 1, 0))
    clear = [combine(above, below, every).p_for < LEVEL for above, below in p_values]
    return Count(sum(clear), len(joint), by_reading.values.shape[1])


def _joint(table: pd.DataFrame, rows: Sequence[Row], epsilon: str) -> dict[str, list[int]]:
    """Return the index in ``table`` of each row, by the name of the private joint reading."""
    by_row = [_private(table, row, epsilon) for row in rows]
    joint = {}
    for reading in readings.variations(readings.questions().values()):
        acts = [cells[[*reading.choices]].ne("").any(axis=None) for cells in by_row]
        names = [reading.name if act else readings.DEFAULT for act in acts]
        here = all(name in cells.index for name, cells in zip(names, by_row, strict=True))
        if here and (any(acts) or reading.name == readings.DEFAULT):
            joint[reading.name] = [
                int(cells.at[name, "cell"]) for name, cells in zip(names, by_row, strict=True)
            ]
    return joint


def _private(table: pd.DataFrame, row: Row, epsilon: str) -> pd.DataFrame:
    """Return the lines of a row under private readings, by reading; ``cell`` is their index."""
    cells = table[
        table["mechanism"].eq(row.mechanism)
        & table["epsilon"].isin(["", epsilon])
        # Non-private baselines need not be private.
        & (table["private"] | (row.mechanism == "nonprivate"))
    ]
    if row.direction is not None:
        cells = cells[cells["direction"].eq(row.direction)]
    return cells.assign(cell=cells.index).set_index("reading")
