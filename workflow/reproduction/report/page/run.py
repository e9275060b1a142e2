"""The files of a run as the page shows them: experiments, verdicts, advice and trials."""

from __future__ import annotations

import functools
import os

import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status, inputs, summary
from reproduction.report.inputs import Files
from reproduction.report.statistics import ENOUGH


class PageRun(inputs.Run):
    """The files of a run, of which any but the settings may be missing.

    Args:
        files: files of the run by name.
        folder: the results' folder, as commands on the page have it.
        options: the end of every command.
    """

    def __init__(
        self, files: Files, folder: str | os.PathLike = "results", options: str = ""
    ) -> None:
        super().__init__(files)
        self.folder, self.options = folder, options

    def table(self, name: str) -> pd.DataFrame:
        """Return an input by its name; a missing one, or a note on nothing, is an empty frame."""
        table = self.get(name)
        return pd.DataFrame() if table is None or [*table] == ["note"] else table

    def at_epsilon(self, rows: pd.DataFrame) -> pd.Series:
        """Return a mask of the rows at the tables' epsilon."""
        return rows["epsilon"].eq(self.table_epsilon)

    @functools.cached_property
    def results(self) -> dict[str, pd.DataFrame]:
        """The table rows of each experiment, in the catalogue's order.

        Parts of other experiments are left out, and so are those on simulated data, which answer
        nothing about the papers.
        """
        tables, order = {}, {name: i for i, name in enumerate(catalogue.experiments())}
        for name in sorted(self.experiments, key=lambda name: order.get(name, len(order))):
            rows = self.table(f"rows/{name}")
            if rows.empty or catalogue.experiment(name).part_of:
                continue
            if not rows["data_status"].eq(summary.SIMULATED).any():
                tables[name] = rows[rows["shown"] & rows["reading"].eq(summary.DEFAULT)]
        return tables

    def advice(self) -> dict[str, pd.Series]:
        """Return each experiment's advice for the task that allows most; few trials give none."""
        rows = self.table("tables/advice")
        if rows.empty:
            return {}
        enough = {name for name, rows in self.results.items() if trials(rows) >= ENOUGH}
        rows = rows[self.at_epsilon(rows) & rows["experiment"].isin(enough)]
        return {str(name): group.iloc[-1] for name, group in rows.groupby("experiment", sort=False)}

    def verdicts(self, experiment: str, names: list[str]) -> dict[str, str]:
        """Return the verdicts on mechanisms' table rows against the best record-free baseline.

        What is refuted has the words for that as its verdict
        (:mod:`reproduction.report.audit_status`).
        """
        rows = self.results[experiment]
        ran = self.at_epsilon(rows) & rows["mean"].notna()
        rows = rows[ran & rows["mechanism"].isin(names)]
        return {
            row["mechanism"]: audit_status.text(row) or row["against_baseline"]
            for row in rows.to_dict("records")
        }

    def trials(self) -> dict[int, list[str]]:
        """Return the names of experiments, grouped by their trials of a row.

        The smallest number at the claimed epsilon, which all answers are on.
        """
        by_count: dict[int, list[str]] = {}
        for name, rows in self.results.items():
            rows = rows[self.at_epsilon(rows) | rows["epsilon"].isna()]
            by_count.setdefault(trials(rows), []).append(catalogue.experiment(name).name)
        return by_count


def trials(rows: pd.DataFrame) -> int:
    """Return the smallest positive number of trials in the rows; 0 if there is none."""
    ran = rows.loc[rows["n_trials"].gt(0), "n_trials"]
    return 0 if ran.empty else int(ran.min())
