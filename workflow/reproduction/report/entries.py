"""The common part of tables and figures: named inputs, one tidy frame, and captions.

Each file of ``tables`` and ``figures`` has its entries in a dictionary. The keys, ``inputs``,
``optional`` and ``each`` are literals, which the workflow reads without importing anything.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import pandas as pd

from matrixdp.checks import InputError
from reproduction import catalogue, exhibits
from reproduction.report import inputs
from reproduction.report.statistics import ENOUGH

#: Inputs by name, as :func:`reproduction.report.inputs.read` returns them.
Tables = Mapping[str, Any]

#: Status of results that use no data set, such as formulas and samples of noise.
COMPUTED = "computed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """The recipe of a table or figure; subclasses add its layout.

    Attributes:
        title: topic.
        caption: fixed plain sentences, at most 60 words; or a function of the frame, if it names
            the setting, such as the number of trials.
        finding: function from the frame to the headline, one sentence of at most 90 characters, or
            an empty one. Rows of too few trials (:data:`reproduction.report.statistics.ENOUGH`)
            have none.
        inputs: names as in :mod:`reproduction.places`. Where ``each`` is empty, a name with
            ``{experiment}`` is repeated for all experiments on releases, one with ``{training}``
            for all trainings.
        data: function from the inputs by name to one tidy frame. Columns whose names begin with
            ``_`` are only for the caption and the layout.
        optional: inputs that may be missing; ``data`` gets those that exist.
        each: ``releases`` or ``training`` for a template, which is made once for each experiment of
            that kind. Its name, title and inputs may contain ``{experiment}``, ``{results}``,
            ``{figure}`` and ``{title}`` (see :class:`reproduction.catalogue.Experiment`). Its title
            may also contain ``{table}`` (such as ``Table 3``). ``data`` gets the experiment first.
    """

    title: str
    inputs: tuple[str, ...]
    data: Callable[..., pd.DataFrame]
    optional: tuple[str, ...] = ()
    each: str = ""
    caption: str | Callable[[pd.DataFrame], str]
    finding: Callable[[pd.DataFrame], str] | None = None

    def collect(self, results: str | os.PathLike) -> tuple[pd.DataFrame, str]:
        """Return the frame, and the status of its data (``computed`` without a data set).

        A frame without rows becomes one with the column ``note``, whose entry says what is missing.

        Raises:
            InputError: an input is damaged.
        """
        if absent := inputs.missing(self.inputs, results):
            return _nothing(f"{absent[0]} has not been made yet"), COMPUTED
        left_out = inputs.missing(self.optional, results)
        names = [name for name in (*self.inputs, *self.optional) if name not in left_out]
        if not self.inputs and all(name.startswith("published/") for name in names):
            return _nothing("none of its inputs has been made yet"), COMPUTED
        tables = {name: inputs.read(name, results) for name in names}
        with self.complete():
            frame = self.data(tables)
        status = _status(tables)
        if frame.empty:
            frame = _nothing(f"nothing of it is in {', '.join(names)}")
        frame.attrs["file"] = own_file(results)
        return frame, status

    @contextlib.contextmanager
    def complete(self) -> Iterator[None]:
        """Turn a missing column or key into one sentence that names the inputs (InputError)."""
        try:
            yield
        except KeyError as error:
            names = ", ".join((*self.inputs, *self.optional))
            raise InputError(f"one of {names} lacks {error}; delete it and run again") from error

    def describe(self, frame: pd.DataFrame) -> str:
        """Return the caption for a frame; of an empty one, what is missing."""
        if is_empty(frame):
            return f"Nothing to show: {frame['note'].iloc[0]}."
        text = self.caption(frame) if callable(self.caption) else self.caption
        file = frame.attrs.get("file", "")
        return f"{file}: {text}" if file else text

    def headline(self, frame: pd.DataFrame) -> str:
        """Return the finding of a frame; the title if it has none."""
        if is_empty(frame):
            return self.title
        if "n_trials" in frame:
            frame = frame[~frame["n_trials"].between(1, ENOUGH - 1)]
            if not frame["n_trials"].ge(ENOUGH).any():
                return self.title
        return (self.finding and self.finding(frame)) or self.title


E = TypeVar("E", bound=Entry)


def expand(templates: Mapping[str, E], experiments: Mapping[str, str]) -> dict[str, E]:
    """Return entries by name, with one per experiment for templates (see ``exhibits.fill``)."""
    return {
        exhibit.name: dataclasses.replace(
            entry,
            title=entry.title.format(**exhibit.words),
            inputs=exhibit.inputs,
            optional=exhibit.fill(entry.optional),
            data=functools.partial(
                entry.data, *([exhibit.words["experiment"]] if exhibit.words else [])
            ),
            each="",
        )
        for name, entry in templates.items()
        for exhibit in exhibits.fill(name, entry.each, entry.inputs, experiments)
    }


def experiments(results: str | os.PathLike) -> dict[str, str]:
    """Return the experiments in the settings of a run; empty without settings."""
    has_settings = not inputs.missing(["settings"], results)
    return exhibits.kinds(inputs.read("settings", results)) if has_settings else {}


def own_file(results: str | os.PathLike) -> str:
    """Return the name of the user's file behind a run; empty for the papers' data."""
    if inputs.missing(["settings"], results):
        return ""
    matrix = inputs.read("settings", results).get("matrix")
    return os.path.basename(matrix["file"]) if isinstance(matrix, dict) else ""


def only(tables: Tables) -> pd.DataFrame:
    """Return the only input, unchanged."""
    (table,) = tables.values()
    return table


def by_experiment(tables: Tables, kind: str) -> dict[str, pd.DataFrame]:
    """Return the inputs ``<kind>/<experiment>`` by experiment, without parts of others."""
    frames = {
        name.removeprefix(f"{kind}/"): table
        for name, table in tables.items()
        if name.startswith(f"{kind}/")
    }
    return {name: table for name, table in frames.items() if not catalogue.experiment(name).part_of}


def is_empty(frame: pd.DataFrame) -> bool:
    """Return whether :meth:`Entry.collect` found nothing to show."""
    return list(frame.columns.drop("data_status", errors="ignore")) == ["note"]


def _nothing(note: str) -> pd.DataFrame:
    return pd.DataFrame({"note": [note]}, dtype=str)


def _status(tables: Tables) -> str:
    # Provenance has one status, a frame one per row.
    statuses = {table.get("status") for table in tables.values() if isinstance(table, dict)}
    for table in tables.values():
        statuses |= {*table.get("data_status", ())} if isinstance(table, pd.DataFrame) else set()
    return next((s for s in (*catalogue.section("marks"), "original") if s in statuses), COMPUTED)
