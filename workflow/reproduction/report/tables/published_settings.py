"""The tight epsilon of every setting that the IMGM paper publishes, run here or not."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction import catalogue
from reproduction.report import markup
from reproduction.report.entries import Tables
from reproduction.report.markup import Cells, Grid, short
from reproduction.report.standings import NOT_PRIVATE
from reproduction.report.statistics import exceeds
from reproduction.report.tables import training
from reproduction.report.tables.base import Table

TITLES = {
    "gradients": "Type I: gradients, sampled and released T times",
    "features": "Type II: features of all records, released once",
}
MARKS = {training.PRIVATE: "", NOT_PRIVATE: training.DAGGER}


def data(tables: Tables) -> pd.DataFrame:
    """Return the settings with ``label``, the scheme's name, and ``verdict``."""
    numbers = tables["theory/settings"]
    keys = zip(numbers["kind"], numbers["scheme"], strict=True)
    too_large = exceeds(numbers["epsilon_actual"], numbers["epsilon"])
    return numbers.assign(
        label=[catalogue.schemes(kind)[name].label for kind, name in keys],
        verdict=too_large.map({True: NOT_PRIVATE, False: training.PRIVATE}),
    )


def finding(table: pd.DataFrame) -> str:
    """Return how many settings exceed their claimed epsilon, and the worst at claimed 1."""
    wrong = table[table["verdict"].eq(NOT_PRIVATE)]
    paper = wrong["epsilon"].eq(1) & wrong["lots"].eq("paper")
    worst = wrong.loc[paper, "epsilon_actual"].max()
    count = f"{len(wrong)} of {len(table)} published settings promise too much"
    return f"{count}: tight epsilons of up to {short(worst)} at claimed 1" if worst > 1 else ""


def grid(table: pd.DataFrame) -> Grid:
    """Return one line per data set and scheme, with a column per claimed epsilon."""
    keys = ["dataset", "scheme", "lots", "_batch"]
    first = table.assign(
        _batch=table["batch"].fillna(0),
        dataset=[catalogue.experiment(name).name for name in table["dataset"]],
        cell=[short(row.epsilon_actual, 4) + MARKS[row.verdict] for row in table.itertuples()],
    )
    columns = {"Data set": "dataset", "Scheme": "label", "Lots of the": "lots"}
    cells: Cells = {**columns, "Batch": "batch", "q": "rate", "T": "steps"}
    for epsilon in sorted({*table["epsilon"]}):
        cells[f"{epsilon:g}"] = functools.partial(_at, epsilon)
    return markup.grid(first, "kind", cells, title=TITLES.__getitem__, each=keys)


def _at(epsilon: float, rows: pd.DataFrame) -> str:
    return "".join(rows.loc[rows["epsilon"].eq(epsilon), "cell"])


TABLES = {
    "imgm_settings": Table(
        title="Tight epsilon of the published settings",
        caption=(
            "Tight ε by claimed ε in the settings of Table 1, at the same δ; q is the share of "
            "records in a lot or block, T counts releases. †: not private. The authors' public "
            "code (commit 2b7b36e) has lots and epochs of its own, in rows of their own. Lots "
            "count as Poisson samples, though the code shuffles."
        ),
        finding=finding,
        data=data,
        grid=grid,
    ),
}
