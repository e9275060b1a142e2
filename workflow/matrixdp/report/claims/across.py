"""In how many readings of the papers a claim holds."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from matrixdp.experiments import readings
from matrixdp.report import inputs, specifications, summary
from matrixdp.report.claims import ledger
from matrixdp.report.claims.evidence import surplus
from matrixdp.report.claims.ledger import Comparison, Row
from matrixdp.report.statistics import LEVEL, Pair


class Swept(NamedTuple):
    """An experiment under all its readings: see :func:`matrixdp.report.specifications.table`.

    ``values`` are those of the trials behind each row, shape (rows, trials); trials of one number
    share their split.
    """

    table: pd.DataFrame
    values: Array


class Share(NamedTuple):
    """In how many private readings a claim clearly holds, and which are sure.

    Attributes:
        holding, total: numbers of readings; None where there is nothing to count.
        sure: names of readings in which it holds after Bonferroni's correction over all readings,
            and in which no baseline meets it too.
        guessed: number of readings in which it holds after the correction, and a baseline meets it.
    """

    holding: int | None = None
    total: int | None = None
    sure: tuple[str, ...] = ()
    guessed: int = 0


def read(path: str | os.PathLike) -> Swept | None:
    """Return results/readings/<experiment>.csv with its trials, or None if it was not run."""
    trial_file = specifications.trials_of(path)
    if not (os.path.isfile(path) and trial_file.is_file()):
        return None
    with inputs.whole(path):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table = table[table["mean"].ne("")].reset_index(drop=True)
        table = table.reindex(columns=table.columns.union([*readings.knobs()]), fill_value="")
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
    """Return the reading under which a mechanism ran, without the choice of the row it fills."""
    choices, knobs = readings.find(reading).choices.items(), readings.knobs()
    mechanism_choices = {
        name: value for name, value in choices if knobs[name].acts_on != readings.ROW
    }
    return readings.Reading(mechanism_choices).name


def share(
    swept: Swept,
    comparisons: Sequence[Comparison],
    *,
    epsilon: str,
    larger: bool,
    every: bool,
    guesses: Sequence[Sequence[Comparison]] = (),
) -> Share:
    """Return the share of the joint readings in which the comparisons clearly hold.

    A joint reading fixes every knob that acts on one of the rows, at one value for all rows. A row
    that exists at one value of a knob only is in readings with that value only. Readings that are
    not private never count. Rows are compared by the differences of their trials, as in
    :func:`matrixdp.report.claims.evidence.gather`.

    The comparisons are of rows of one experiment at one epsilon; all are needed (``every``) or any.
    ``larger`` says whether a larger metric is better. ``guesses`` are the comparisons with a
    baseline in place of their subject. A reading in which a baseline meets them is not sure.
    """
    ran = set(swept.table["mechanism"])
    guesses = [
        group for group in guesses if ran.issuperset(row.mechanism for row in ledger.rows(group))
    ]
    rows = ledger.rows([*comparisons, *itertools.chain(*guesses)])
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
    for group in guesses:
        sure &= ~holds(group, LEVEL)
    return Share(
        holding=int(holds(comparisons, LEVEL).sum()),
        total=len(joint),
        sure=tuple(joint["reading"][sure]),
        guessed=int((corrected & ~sure).sum()),
    )


def _joint(table: pd.DataFrame, rows: Sequence[Row], epsilon: str) -> pd.DataFrame:
    """Return one line per private joint reading; ``cell<i>`` is where row i stands in ``table``."""
    knobs = list(readings.knobs())
    joint = pd.DataFrame({"_": [0]})
    for i, row in enumerate(rows):
        cells = table[
            table["mechanism"].eq(row.mechanism)
            & table["epsilon"].isin(["", epsilon])
            # Rows without privacy are compared with, and need not be private.
            & (table["private"] | (row.mechanism == "nonprivate"))
        ]
        if row.direction is not None:
            cells = cells[cells["direction"].eq(row.direction)]
        acting = [name for name in knobs if cells[name].ne("").any()]
        cells = cells[acting].assign(**{f"cell{i}": cells.index})
        shared = [name for name in acting if name in joint]
        joint = joint.merge(cells, on=shared) if shared else joint.merge(cells, how="cross")
    choices = joint[[name for name in knobs if name in joint]].to_dict("records")
    names = [readings.Reading({str(k): v for k, v in choice.items()}).name for choice in choices]
    return joint.assign(reading=names)
