"""Results under variations of the reading: a row per mechanism and reading, from trial rows."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from reproduction import files
from reproduction.experiments import readings
from reproduction.experiments.readings import DEFAULT, ROW, Reading
from reproduction.report import summary
from reproduction.trials import SKIPPED

#: Columns of the table; a question's column is empty where the question does not act.
COLUMNS = (
    *("experiment", "mechanism", "ran", "reading", *readings.questions(), "private", "metric"),
    *("mean", "ci95", "n_trials", "epsilon", "epsilon_delivered", "data_status", "configuration"),
    *("direction", "outcome", "note"),
)


def summarise_readings(trial_files: Iterable[str | os.PathLike]) -> pd.DataFrame:
    """Return one row per mechanism and reading (``COLUMNS``), the default reading of each first.

    If several mechanisms may stand for a row of the paper, ``mechanism`` is that of the default
    reading, and ``ran`` is the mechanism of the trials. ``private`` says whether the guarantee
    holds. The files are those of one experiment, one per mechanism.

    Raises:
        InputError: see :func:`reproduction.report.summary.summarise_trials`.
    """
    rows = summary.summarise_trials(trial_files)
    rows = rows[rows["chosen"]]
    rows = rows.assign(ran=rows["mechanism"], metric=rows["metric"].max())
    rows = pd.concat([rows, *_alternatives(rows)], ignore_index=True)
    by_name = {name: readings.find_reading(name) for name in rows["reading"].unique()}
    rows["private"] = rows["reading"].map(lambda name: by_name[name].private)
    rows["private"] &= rows["mechanism"].ne("nonprivate")
    choices = pd.DataFrame([dict(by_name[name].choices) for name in rows["reading"]], rows.index)
    choices = choices.reindex(columns=list(readings.questions())).astype(object)
    for name, question in readings.questions().items():
        # A question acts on a mechanism if some reading of it has another value. Readings that do
        # not name it have the default value.
        acts = choices[name].notna().groupby(rows["mechanism"]).transform("any")
        rows[name] = choices[name].fillna(question.default).where(acts, "")
    rows = rows[rows["outcome"].ne(SKIPPED)]
    default = rows["reading"].eq(DEFAULT)
    order = rows.assign(_default=~default).sort_values(["mechanism", "_default", "reading"])
    return order[[*COLUMNS]].reset_index(drop=True)


def _alternatives(rows: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """Yield the rows of mechanisms that replace others under some reading."""
    experiment = rows["experiment"].iloc[0]
    for question in readings.questions().values():
        if question.acts_on != ROW or experiment not in question.experiments:
            continue
        for value, replaced in question.values.items():
            for usual, other in replaced.items():
                alternatives = rows[rows["mechanism"].eq(other) & rows["reading"].eq(DEFAULT)]
                if rows["mechanism"].eq(usual).any():
                    name = Reading({question.name: value}).name
                    yield alternatives.assign(mechanism=usual, reading=name)


def trial_file(table_file: str | os.PathLike) -> Path:
    """Return the file of the trials behind a written table, beside it."""
    path = Path(table_file)
    return path.with_name(f"{path.stem}_trials.csv.gz")


def write_readings(trial_files: Iterable[str | os.PathLike], out: str | os.PathLike) -> None:
    """Write :func:`summarise_readings` to the CSV ``out``."""
    files.write_text(out, summarise_readings(trial_files).to_csv(index=False, lineterminator="\n"))
