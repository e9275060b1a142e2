"""The files of a run as the page shows them: experiments, verdicts, advice and trials."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status, comparisons, inputs, summary
from reproduction.report.inputs import Files
from reproduction.report.statistics import ENOUGH
from reproduction.report.tables import audit


class Run:
    """The files of a run; a missing one is an empty frame.

    Args:
        files: files of the run by name, its settings among them.
    """

    def __init__(self, files: Files) -> None:
        self.files = files
        self.settings = inputs.read("settings", files)
        self.claimed_epsilon = float(self.settings["table_epsilon"])

    def table(self, name: str, at: bool = False) -> pd.DataFrame:
        """Return an input by its name; with ``at``, only its rows at the tables' epsilon."""
        if name not in self.files or [*(table := inputs.read(name, self.files))] == ["note"]:
            return pd.DataFrame()
        if not at or "epsilon" not in table:
            return table
        return table[pd.to_numeric(table["epsilon"], errors="coerce").eq(self.claimed_epsilon)]

    def runs(self) -> list[str]:
        """Return the names of all experiments and trainings in the settings."""
        return [*self.settings["experiments"], *(self.settings.get("training") or ())]

    def published(self, name: str) -> pd.DataFrame:
        """Return a paper's numbers; a frame without rows where it prints none."""
        file = f"published/{name}"
        present = {file: inputs.read(file, self.files)} if file in self.files else {}
        return inputs.published(name, present)

    def experiments(self) -> dict[str, pd.DataFrame]:
        """Return the table rows of each experiment, in the catalogue's order.

        Parts of other experiments are left out, and so are those on simulated data, which answer
        nothing about the papers.
        """
        return {**self._experiments}

    @functools.cached_property
    def _experiments(self) -> dict[str, pd.DataFrame]:
        tables, order = {}, [*catalogue.experiments()]
        for name in sorted(
            self.runs(), key=lambda name: order.index(name) if name in order else 1000
        ):
            rows = self.table(f"summary/{name}")
            if rows.empty or catalogue.experiment(name).part_of:
                continue
            if not rows["data_status"].eq(summary.SIMULATED).any():
                tables[name] = audit_status.joined(summary.default(rows), self.audit(name))
        return tables

    def audit(self, experiment: str) -> pd.DataFrame:
        """Return the audited releases of an experiment."""
        rows = self.table("tables/audit")
        if rows.empty:
            return rows
        return rows[rows["subject"].eq(audit.RELEASE) & rows["experiment"].eq(experiment)]

    def advice(self) -> dict[str, pd.Series]:
        """Return each experiment's advice for the task that allows most; few trials give none."""
        rows = self.table("tables/advice", at=True)
        if rows.empty:
            return {}
        enough = {name for name, rows in self.experiments().items() if trials(rows) >= ENOUGH}
        rows = rows[rows["experiment"].isin(enough)]
        return {str(name): group.iloc[-1] for name, group in rows.groupby("experiment", sort=False)}

    def verdicts(self, experiment: str, names: list[str]) -> dict[str, str]:
        """Return the verdicts on mechanisms' table rows against the best record-free baseline.

        What is refuted has the words for that as its verdict
        (:mod:`reproduction.report.audit_status`).
        """
        compared = self.table(f"comparisons/{experiment}")
        if compared.empty:
            return {}
        rows = self.experiments()[experiment]
        baseline, at = summary.trivial(rows), pd.to_numeric(rows["epsilon"], errors="coerce")
        rows = rows[
            at.eq(self.claimed_epsilon) & rows["mechanism"].isin(names) & rows["mean"].notna()
        ]
        outcomes = comparisons.verdicts(rows, compared, baseline)
        words = map(audit_status.text, rows.to_dict("records"))
        each = (word or outcome for word, outcome in zip(words, outcomes, strict=True))
        return dict(zip(rows["mechanism"], each, strict=True))

    def trials(self) -> dict[int, list[str]]:
        """Return the names of experiments, grouped by their trials of a row.

        The smallest number at the claimed epsilon, which all answers are on.
        """
        by_count: dict[int, list[str]] = {}
        for name, rows in self.experiments().items():
            at = pd.to_numeric(rows["epsilon"], errors="coerce")
            rows = rows[at.eq(self.claimed_epsilon) | at.isna()]
            by_count.setdefault(trials(rows), []).append(catalogue.experiment(name).name)
        return by_count


def trials(rows: pd.DataFrame) -> int:
    """Return the smallest positive number of trials in the rows; 0 if there is none."""
    ran = rows.loc[rows["n_trials"].gt(0), "n_trials"]
    return 0 if ran.empty else int(ran.min())
