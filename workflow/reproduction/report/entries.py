"""The common part of tables and figures: one tidy frame, a title, a finding and a caption.

Each file of ``tables`` and ``figures`` has its entries in a dictionary with literal keys. What an
entry is made from is written in workflow/rules/report.smk.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.report import inputs
from reproduction.report.inputs import Files
from reproduction.report.statistics import ENOUGH

#: Inputs by name, as :func:`reproduction.report.inputs.read` returns them.
Tables = Mapping[str, Any]

#: Status of results that use no data set, such as formulas and samples of noise.
COMPUTED = "computed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """The recipe of a table or figure; subclasses add its layout.

    Attributes:
        title: topic. It may contain ``{claimed_epsilon}``, that of the tables, for one experiment
            ``{title}`` and ``{table}`` (such as ``Table 3``), for one mechanism ``{mechanism}``.
        caption: fixed plain sentences, at most 60 words; or a function of the frame, if it names
            the setting, such as the number of trials.
        finding: function from the frame to the headline, one sentence of at most 90 characters, or
            an empty one. Rows of too few trials (:data:`reproduction.report.statistics.ENOUGH`)
            have none.
        data: function from the inputs by name to one tidy frame. Columns whose names begin with
            ``_`` are only for the caption and the layout.
        of_experiment: whether it shows the one experiment whose summary is among its inputs; then
            ``data`` gets the experiment first.
        of_mechanism: whether it is on one mechanism, which ``data`` then gets last.
    """

    title: str
    data: Callable[..., pd.DataFrame]
    of_experiment: bool = False
    of_mechanism: bool = False
    caption: str | Callable[[pd.DataFrame], str]
    finding: Callable[[pd.DataFrame], str] | None = None

    def collect(self, files: Files, mechanism: str = "") -> tuple[pd.DataFrame, str]:
        """Return the frame, and the status of its data (``computed`` without a data set).

        ``mechanism`` is the one that it is on, where it is on one.
        A frame without rows becomes one with the column ``note``, whose entry says what is missing.

        Raises:
            InputError: an input is damaged or lacks a column, there are the settings alone, or the
                mechanism is missing, or too much.
        """
        if not {*files} - {"settings"}:
            raise InputError("settings alone show nothing; name the files that it is made from")
        if bool(mechanism) != self.of_mechanism:
            remedy = "name the one that is shown" if self.of_mechanism else "leave it out"
            raise InputError(f"mechanism is {mechanism!r}; {remedy}")
        tables = {name: inputs.read(name, files) for name in files}
        experiment = _experiment(files) if self.of_experiment else ""
        with complete(files):
            frame = self.data(*filter(None, [experiment, tables, mechanism]))
        if frame.empty:
            names = ", ".join(name for name in files if name != "settings")
            frame = pd.DataFrame({"note": [f"nothing of it is in {names}"]}, dtype=str)
        settings = tables.get("settings", {})
        frame.attrs["experiment"] = experiment
        if mechanism:
            perturbation = catalogue.experiment(experiment).perturbation
            frame.attrs["mechanism"] = catalogue.label(mechanism, perturbation)
        frame.attrs["claimed_epsilon"] = float(settings.get("table_epsilon", "nan"))
        runs = [*settings.get("experiments", {}).values(), *settings.get("training", {}).values()]
        rows = [each.get("mechanisms") or each.get("schemes", []) for each in runs]
        frame.attrs["mechanisms"] = [name for names in rows for name in names]
        return frame, _status(tables)

    def topic(self, frame: pd.DataFrame) -> str:
        """Return the title for a frame."""
        about = catalogue.experiment(frame.attrs.get("experiment", ""))
        table = f"Table {about.table}" if about.table else about.title
        at = f"{claimed_epsilon(frame):g}"
        words = {"title": about.title, "table": table, "claimed_epsilon": at}
        return self.title.format(**words, mechanism=frame.attrs.get("mechanism"))

    def describe(self, frame: pd.DataFrame) -> str:
        """Return the caption for a frame; of an empty one, what is missing."""
        if is_empty(frame):
            return f"Nothing to show: {frame['note'].iloc[0]}."
        return self.caption(frame) if callable(self.caption) else self.caption

    def headline(self, frame: pd.DataFrame) -> str:
        """Return the finding of a frame; the title if it has none."""
        title = self.topic(frame)
        if is_empty(frame):
            return title
        if "n_trials" in frame:
            frame = frame[~frame["n_trials"].between(1, ENOUGH - 1)]
            if not frame["n_trials"].ge(ENOUGH).any():
                return title
        return (self.finding and self.finding(frame)) or title


@contextlib.contextmanager
def complete(files: Files) -> Iterator[None]:
    """Turn a missing column or key into one sentence that names the inputs (InputError)."""
    try:
        yield
    except KeyError as error:
        names = ", ".join(files)
        raise InputError(f"one of {names} lacks {error}; delete it and run again") from error


def _experiment(files: Files) -> str:
    """Return the experiment whose summary is the only one among the inputs.

    Raises:
        InputError: there is none, or there are several.
    """
    names = [name for name in files if name.startswith("summary/")]
    if len(names) != 1:
        raise InputError(
            f"{', '.join(files) or 'nothing'} has {len(names)} summaries; name that of the one "
            "experiment that is shown"
        )
    return names[0].partition("/")[2]


def claimed_epsilon(frame: pd.DataFrame) -> float:
    """Return the tables' epsilon (``table_epsilon``) of the run behind a frame; NaN for none."""
    return float(frame.attrs.get("claimed_epsilon", np.nan))


def only(tables: Tables) -> pd.DataFrame:
    """Return the only frame among the inputs, unchanged."""
    (table,) = (table for name, table in tables.items() if name != "settings")
    return table


def by_experiment(tables: Tables, folder: str) -> dict[str, pd.DataFrame]:
    """Return the inputs ``<folder>/<experiment>`` by experiment, without parts of others."""
    frames = {
        name.removeprefix(f"{folder}/"): table
        for name, table in tables.items()
        if name.startswith(f"{folder}/")
    }
    return {name: table for name, table in frames.items() if not catalogue.experiment(name).part_of}


def is_empty(frame: pd.DataFrame) -> bool:
    """Return whether :meth:`Entry.collect` found nothing to show."""
    return list(frame.columns.drop("data_status", errors="ignore")) == ["note"]


def _status(tables: Tables) -> str:
    # Provenance has one status, a frame one per row.
    statuses = {table.get("status") for table in tables.values() if isinstance(table, dict)}
    for table in tables.values():
        statuses |= {*table.get("data_status", ())} if isinstance(table, pd.DataFrame) else set()
    return next((s for s in (*catalogue.section("marks"), "original") if s in statuses), COMPUTED)
