"""In how many readings of the papers a claim holds."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from matrixdp.experiments import readings
from matrixdp.report import inputs
from matrixdp.report.claims import ledger
from matrixdp.report.claims.ledger import Comparison, Row
from matrixdp.report.statistics import LEVEL, above


class Share(NamedTuple):
    """In how many private readings a claim clearly holds, and which are sure.

    Attributes:
        holding, total: numbers of readings; None where there is nothing to count.
        sure: names of readings in which it still holds after Bonferroni's correction over all, and
            no guess meets it too.
    """

    holding: int | None = None
    total: int | None = None
    sure: tuple[str, ...] = ()


def read(path: str | os.PathLike) -> pd.DataFrame | None:
    """Return results/readings/<experiment>.csv, or None if readings were not run.

    Raises:
        InputError: the file is damaged.
    """
    if not Path(path).is_file():
        return None
    numbers = ["mean", "ci95"]
    with inputs.whole(path):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        table[numbers] = table[numbers].apply(pd.to_numeric)
        table["private"] = table["private"].eq("True")
        return table[["mechanism", "reading", "private", "epsilon", "direction", *numbers]].join(
            table.reindex(columns=[*readings.knobs()], fill_value="")
        )


def share(
    table: pd.DataFrame,
    comparisons: Sequence[Comparison],
    *,
    epsilon: str,
    larger: bool,
    every: bool,
    guesses: Sequence[Sequence[Comparison]] = (),
) -> Share:
    """Return the share of the joint readings in which the comparisons clearly hold.

    A joint reading has every knob that acts on one of the rows at one value; a knob acts alike on
    all rows that it touches. Readings that are not private never count.

    Args:
        table: see :func:`read`.
        comparisons: of rows of one experiment.
        epsilon: the one that the claim is about.
        larger: whether a larger metric is better.
        every: whether all comparisons are needed, or any.
        guesses: the comparisons with a row that uses no record in place of their subject; what
            these meet too in a reading says nothing there, and is not sure.
    """
    ran = set(table["mechanism"])
    guesses = [
        group for group in guesses if ran.issuperset(row.mechanism for row in ledger.rows(group))
    ]
    rows = ledger.rows([*comparisons, *itertools.chain(*guesses)])
    joint = _joint(table, rows, epsilon)
    if joint.empty:
        return Share()

    def holds(group: Sequence[Comparison], level: float) -> np.ndarray:
        each = [_holds(joint, one, rows, level, larger) for one in group]
        return np.all(each, axis=0) if every else np.any(each, axis=0)

    corrected = LEVEL / len(joint)
    sure = holds(comparisons, corrected)
    for group in guesses:
        sure &= ~(holds(group, LEVEL) | holds(group, corrected))
    return Share(int(holds(comparisons, LEVEL).sum()), len(joint), tuple(joint["reading"][sure]))


def _joint(table: pd.DataFrame, rows: Sequence[Row], epsilon: str) -> pd.DataFrame:
    """Return one row per private joint reading, with ``mean<i>`` and ``ci<i>`` of each row."""
    knobs = list(readings.knobs())
    joint = pd.DataFrame({"_": [0]})
    for i, row in enumerate(rows):
        own = table[
            table["mechanism"].eq(row.mechanism)
            & table["epsilon"].isin(["", epsilon])
            & table["mean"].notna()
            # Rows without privacy are there to compare with, not to be private.
            & (table["private"] | (row.mechanism == "nonprivate"))
        ]
        if row.direction is not None:
            own = own[own["direction"].eq(row.direction)]
        acting = [name for name in knobs if own[name].ne("").any()]
        own = own[[*acting, "mean", "ci95"]].rename(columns={"mean": f"mean{i}", "ci95": f"ci{i}"})
        shared = [name for name in acting if name in joint]
        joint = joint.merge(own, on=shared) if shared else joint.merge(own, how="cross")
    there = [name for name in knobs if name in joint]
    choices = joint[there].to_dict("records")
    return joint.assign(
        reading=[readings.Reading({str(k): v for k, v in one.items()}).name for one in choices]
    )


def _holds(
    joint: pd.DataFrame, one: Comparison, rows: Sequence[Row], level: float, larger: bool
) -> np.ndarray:
    i, j = rows.index(one.first), rows.index(one.second)
    first, second = joint[f"mean{i}"].to_numpy(), joint[f"mean{j}"].to_numpy()
    spread = [joint[f"ci{k}"].to_numpy() for k in (i, j)]
    # Clearly better at the level asked for; for the amount a wide interval is no help.
    if one.kind == "times":
        found = second / first
        margins = (found * ci95 / mean for ci95, mean in zip(spread, (first, second), strict=True))
        return above(found, *margins, null=1.0, level=level) & (found >= one.amount)
    found = (first - second) * (1 if larger else -1)
    if one.kind == "within":
        return above(found, *spread, null=-one.amount, level=level)
    return above(found, *spread, level=level) & (found >= one.amount)
