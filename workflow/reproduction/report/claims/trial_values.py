"""The trials behind a row of a table: one value per trial, read from files on demand."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence

import pandas as pd

from reproduction import catalogue
from reproduction.report import inputs, summary
from reproduction.report.claims.definitions import Row
from reproduction.report.inputs import Files
from reproduction.trials import CONTROL, SAME_AS

#: Columns that tell the rows of a mechanism apart.
KEYS = ["epsilon", "direction", "configuration"]


class NotRun(Exception):
    """A row without trials; the message has the reason."""


class TrialValues:
    """The summaries and trials among the files of a run, read on demand.

    Methods raise NotRun for experiments and rows that were not run.

    Args:
        files: files of the run by name (:mod:`reproduction.report.inputs`).
    """

    def __init__(self, files: Files) -> None:
        self._files = files
        self._phase = "report"
        #: The trials on data: this book, or for a control the book that it belongs to.
        self.of_data = self
        self._summary = functools.cache(self._read_summary)
        self._trials = functools.cache(self._read_trials)
        self._same = functools.cache(self._read_same)

    def status(self, experiment: str) -> str:
        """Return ``original`` or ``simulated``."""
        return str(self._summary(experiment)["data_status"].iloc[0])

    def split_source(self, experiment: str) -> str:
        """Return the name that seeds the splits of an experiment.

        Trial k of all experiments with this name has the same split. The name is that of the data
        set, or of the experiment itself for private training.
        """
        trained = catalogue.experiment(experiment).perturbation
        return experiment if trained else str(self._summary(experiment)["dataset"].iloc[0])

    def metric(self, experiment: str) -> str:
        """Return the name of the experiment's metric."""
        return str(self._summary(experiment)["metric"].max())

    def baseline(self, experiment: str) -> str:
        """Return the name of the best baseline that uses no record."""
        return summary.trivial(self._summary(experiment))

    def has(self, row: Row) -> bool:
        """Return whether a row has trials. NotRun: its experiment was not run."""
        table = self._summary(row.experiment)
        return bool((table["mechanism"].eq(row.mechanism) & table["n_trials"].gt(0)).any())

    def epsilons(self, row: Row) -> list[str]:
        """Return the epsilons at which a row has trials; ``[""]`` for a baseline."""
        rows = self._rows(row)
        return rows["epsilon"][rows["n_trials"] > 0].tolist()

    def published(self, experiment: str) -> pd.DataFrame:
        """Return the numbers that a paper prints of an experiment; without rows if none."""
        name = f"published/{catalogue.experiment(experiment).results}"
        tables = {name: inputs.read(name, self._files)} if name in self._files else {}
        return inputs.published(name.partition("/")[2], tables)

    def control(self) -> TrialValues:
        """Return the book of the same mechanisms' trials on records of zeros."""
        book = TrialValues(self._files)
        book._phase, book.of_data = CONTROL, self
        return book

    def values(self, row: Row, epsilons: Sequence[str], metrics: Collection[str]) -> pd.Series:
        """Return the mean over ``epsilons`` of each trial of a row, indexed by trial.

        At each epsilon the configuration is the one chosen on the select trials. NotRun: a value
        is missing.
        """
        rows = self._rows(row)
        if not rows["metric"].isin([*metrics, ""]).all():
            raise NotRun(f"{row.mechanism} was not run with {' or '.join(metrics)}")
        selected = rows[rows["epsilon"].isin(["", *epsilons])]
        empty = selected[selected["n_trials"] == 0]
        if len(empty):
            raise NotRun(f"{row.mechanism}: {empty['note'].iloc[0] or 'no trials'}")
        missing = set(epsilons) - set(selected["epsilon"])
        if missing and set(selected["epsilon"]) != {""}:
            raise NotRun(f"{row.mechanism} was not run at epsilon {', '.join(sorted(missing))}")
        trials = self._trials(row.experiment, row.mechanism).merge(selected[KEYS], on=KEYS)
        if trials.empty:
            raise NotRun(f"{row.mechanism} has no such trials")
        by_trial = trials.groupby("trial")["value"].agg(["mean", "size"])
        # Keep only trials that were run at every epsilon.
        return by_trial["mean"][by_trial["size"].eq(by_trial["size"].max())]

    def same_distribution(self, row: Row, other: Row) -> bool:
        """Return whether the comparisons of an experiment join two mechanisms."""
        pair = frozenset((row.mechanism, other.mechanism))
        return row.experiment == other.experiment and pair in self._same(row.experiment)

    def _read_same(self, experiment: str) -> set[frozenset[str]]:
        table = inputs.read(self._of_run("comparisons", experiment), self._files)
        table = table[table["same_distribution"].astype(str).eq("True")]
        return {frozenset(pair) for pair in table[["mechanism", "against"]].to_numpy()}

    def _rows(self, row: Row) -> pd.DataFrame:
        """Return the summary rows of a row, one per epsilon."""
        table = self._summary(row.experiment)
        table = table[table["mechanism"] == row.mechanism]
        if table.empty:
            raise NotRun(f"{row.mechanism} was not run in {row.experiment}")
        if row.direction is None:
            selected = summary.in_first_direction(table)
        else:
            selected = table["direction"].eq(row.direction)
        if not selected.any():
            if table["n_trials"].eq(0).all():
                raise NotRun(f"{row.mechanism}: {table['note'].iloc[0]}")
            raise NotRun(f"{row.mechanism} was not run with direction {row.direction}")
        return table[selected & table["chosen"]]

    def _read_summary(self, experiment: str) -> pd.DataFrame:
        table = inputs.read(self._of_run("summary", experiment), self._files)
        return table[table["reading"] == summary.DEFAULT]

    def _of_run(self, folder: str, experiment: str) -> str:
        """Return the name of a file of an experiment. NotRun: it is missing."""
        name = f"{folder}/{experiment}"
        if name not in self._files:
            command = catalogue.experiment(experiment).command
            raise NotRun(f"`{command}`" if command else f"experiment {experiment} was not run")
        return name

    def _read_trials(self, experiment: str, mechanism: str) -> pd.DataFrame:
        others = SAME_AS.get(catalogue.experiment(experiment).perturbation, {})
        names = [
            f"trials/{experiment}/{summary.DEFAULT}/{each}.csv.gz"
            for each in (mechanism, others.get(mechanism, mechanism))
        ]
        name = next((name for name in names if name in self._files), "")
        if not name:
            raise NotRun(f"the trials of {mechanism} in {experiment} are missing")
        table = summary.read_trials(self._files[name])
        free = mechanism in catalogue.BASELINES
        in_phase = table["phase"].eq("report" if free else self._phase)
        selected = in_phase & table["reading"].eq(summary.DEFAULT)
        # Many trials make long tables: keep no text that nothing reads.
        return table.loc[selected & table["trial"].notna(), [*KEYS, "trial", "value"]]
