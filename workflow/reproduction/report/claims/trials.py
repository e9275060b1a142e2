"""The trials behind a row of a claim: one value per trial, read from files on demand."""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence

import pandas as pd

from reproduction import catalogue
from reproduction.report import contrasts, summary
from reproduction.report.claims.definitions import Comparison, Row
from reproduction.report.inputs import Files, Run
from reproduction.trials import CONTROL, SAME_AS

#: Columns that tell the cells of a mechanism apart.
KEYS = ["epsilon", "direction", "configuration"]

#: Phase of the trials that are reported.
REPORT = "report"


class NotRun(Exception):
    """A row without trials; the message has the reason."""


class Trials:
    """The summaries and trials among the files of a run.

    Methods raise NotRun for experiments and rows that were not run.

    Args:
        files: files of the run by name (:mod:`reproduction.report.inputs`).
        epsilon: the tables' epsilon as text.
    """

    def __init__(self, files: Files, epsilon: str) -> None:
        self.epsilon = epsilon
        self._run = Run(files)
        self._summary = functools.cache(self._read_summary)
        self._frame = functools.cache(self._read_frame)
        self._same = functools.cache(self._read_same)
        self._published = functools.cache(self._run.published)
        self.column = functools.cache(self._column)

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

    def baseline(self, experiment: str) -> Row:
        """Return the best baseline that uses no record."""
        return Row(experiment, summary.best_free_baseline(self._summary(experiment)))

    def has(self, row: Row) -> bool:
        """Return whether a row has trials. NotRun: its experiment was not run."""
        table = self._summary(row.experiment)
        return bool((table["mechanism"].eq(row.mechanism) & table["n_trials"].gt(0)).any())

    def epsilons(self, row: Row) -> list[str]:
        """Return the epsilons at which a row has trials; ``[""]`` for a baseline."""
        rows = self._rows(row)
        return rows["epsilon"][rows["n_trials"] > 0].tolist()

    def printed(self, comparison: Comparison) -> list[pd.Series]:
        """Return what a paper prints of both rows of a comparison; empty unless it has each once.

        It orders no two experiments.
        """
        rows = (comparison.first, comparison.second)
        if comparison.second.experiment != comparison.first.experiment:
            return []
        cells = [cell for cell in map(self.cell, rows) if cell is not None]
        return cells if len(cells) == len(rows) else []

    def cell(self, row: Row) -> pd.Series | None:
        """Return what a paper prints of a row, if it has it once; it has no other direction."""
        table = self._published(catalogue.experiment(row.experiment).results)
        cells = table[table["mechanism"].eq(row.mechanism)]
        return cells.iloc[0] if row.direction is None and len(cells) == 1 else None

    def same_distribution(self, row: Row, other: Row) -> bool:
        """Return whether the comparisons of an experiment join two mechanisms."""
        pair = frozenset((row.mechanism, other.mechanism))
        return row.experiment == other.experiment and pair in self._same(row.experiment)

    def _column(
        self, row: Row, epsilons: Sequence[str], metrics: Collection[str], phase: str = REPORT
    ) -> pd.Series:
        """Return the mean over ``epsilons`` of each trial of a row, indexed by trial.

        At each epsilon the configuration is the one chosen on the select trials. Trials that were
        not run at every epsilon are left out. NotRun: a value is missing.
        """
        rows = self._rows(row)
        if not rows["metric"].isin([*metrics, ""]).all():
            raise NotRun(f"{row.mechanism} was not run with {' or '.join(metrics)}")
        selected = rows[rows["epsilon"].isin(["", *epsilons])]
        empty = selected[selected["n_trials"] == 0]
        if len(empty):
            raise NotRun(f"{row.mechanism}: {_reason(empty) or 'no trials'}")
        missing = set(epsilons) - set(selected["epsilon"])
        if missing and set(selected["epsilon"]) != {""}:
            raise NotRun(f"{row.mechanism} was not run at epsilon {', '.join(sorted(missing))}")
        values = self._frame(row.experiment, row.mechanism)
        # Baselines have no noise, and are the same on records of zeros.
        phase = REPORT if row.mechanism in catalogue.BASELINES else phase
        cells = [(phase, *cell) for cell in selected[KEYS].itertuples(index=False)]
        cells = [cell for cell in cells if cell in values.index]
        if not cells:
            raise NotRun(f"{row.mechanism} has no such trials")
        return values.loc[cells].dropna(axis=1).mean()

    def _rows(self, row: Row) -> pd.DataFrame:
        """Return the summary rows of a row, one per epsilon."""
        table = self._summary(row.experiment)
        table = table[table["mechanism"] == row.mechanism]
        if table.empty:
            raise NotRun(f"{row.mechanism} was not run in {row.experiment}")
        if row.direction is None:
            selected = summary.mark_first_direction(table)
        else:
            selected = table["direction"].eq(row.direction)
        if not selected.any():
            if table["n_trials"].eq(0).all():
                raise NotRun(f"{row.mechanism}: {_reason(table)}")
            raise NotRun(f"{row.mechanism} was not run with direction {row.direction}")
        return table[selected & table["chosen"]]

    def _read_same(self, experiment: str) -> set[frozenset[str]]:
        table = self._read("comparisons", experiment)
        table = table[table["same_distribution"].astype(str).eq("True")]
        return {frozenset(pair) for pair in table[["mechanism", "against"]].to_numpy()}

    def _read_summary(self, experiment: str) -> pd.DataFrame:
        table = self._read("summary", experiment)
        return table[table["reading"] == summary.DEFAULT]

    def _read(self, folder: str, experiment: str) -> pd.DataFrame:
        """Return a table of an experiment. NotRun: it is missing."""
        if (table := self._run.get(f"{folder}/{experiment}")) is None:
            command = catalogue.experiment(experiment).command
            raise NotRun(f"`{command}`" if command else f"experiment {experiment} was not run")
        return table

    def _read_frame(self, experiment: str, mechanism: str) -> pd.DataFrame:
        """Return the trials of a mechanism: a row for each phase and cell, a column per trial."""
        others = SAME_AS.get(catalogue.experiment(experiment).perturbation, {})
        names = [
            f"trials/{experiment}/{summary.DEFAULT}/{each}.csv.gz"
            for each in (mechanism, others.get(mechanism, mechanism))
        ]
        paths = [self._run.files[name] for name in names if name in self._run]
        if not paths:
            raise NotRun(f"the trials of {mechanism} in {experiment} are missing")
        columns = ["phase", *KEYS, "reading", "trial", "value"]
        rows = summary.read_trials(paths[0], columns)
        rows = rows[rows["phase"].isin([REPORT, CONTROL]) & rows["reading"].eq(summary.DEFAULT)]
        return contrasts.frame(rows, ["phase", *KEYS])


def _reason(rows: pd.DataFrame) -> str:
    """Return what came instead of trials, and why; empty where nothing is said."""
    return ": ".join(filter(None, rows.iloc[0][["outcome", "note"]]))
