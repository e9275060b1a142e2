"""What tables and figures share: named inputs, one tidy frame, and words; templates for many.

The files of ``tables`` and ``figures`` offer their entries in a dictionary with literal keys,
``inputs``, ``optional`` and ``each``, which the workflow reads without importing anything.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import pandas as pd

from matrixdp import catalogue, templates
from matrixdp.checks import InputError
from matrixdp.report import inputs
from matrixdp.report.statistics import ENOUGH

#: From the name of an input to what :func:`matrixdp.report.inputs.read` returns.
Tables = Mapping[str, Any]

#: Data behind what uses no data set: formulas and samples of noise.
COMPUTED = "computed"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Entry:
    """How a table or figure is made, but for what it looks like.

    Attributes:
        title: its topic.
        finding: from the frame to one short sentence, what one finds in it; empty for nothing. It
            sees no rows of too few trials (see :data:`matrixdp.report.statistics.ENOUGH`).
        caption: plain sentences; a function of the frame, where the words depend on the numbers.
        inputs: names as in :mod:`matrixdp.places`. Where ``each`` is empty, one that holds
            ``{experiment}`` stands for those of all the run's experiments on releases, one that
            holds ``{training}`` for those of all its trainings.
        data: from the inputs by name to one tidy frame. Columns whose names begin with ``_`` are
            for caption and looks alone.
        optional: inputs that it can do without; ``data`` gets those that are there.
        each: ``releases`` or ``training``: a template, made once for each of the run's experiments
            of that kind. Its name, title and inputs may hold ``{experiment}``, ``{results}``,
            ``{figure}`` and ``{title}`` (see :class:`matrixdp.catalogue.Experiment`), its title
            ``{table}`` (such as ``Table 3``), and ``data`` gets the experiment before the inputs.
    """

    title: str
    caption: str | Callable[[pd.DataFrame], str]
    inputs: tuple[str, ...]
    data: Callable[..., pd.DataFrame]
    optional: tuple[str, ...] = ()
    each: str = ""
    finding: Callable[[pd.DataFrame], str] | None = None

    def collect(
        self, results: str | os.PathLike, reading: str = "default"
    ) -> tuple[pd.DataFrame, str]:
        """Return the frame, and the status of its data; ``computed`` for none.

        Without rows, the frame has a column ``note`` alone, whose one entry says what is missing.

        Raises:
            InputError: an input is damaged.
        """
        if absent := inputs.missing(self.inputs, results, reading):
            return _nothing(f"{absent[0]} has not been made yet"), COMPUTED
        left_out = inputs.missing(self.optional, results, reading)
        names = [name for name in (*self.inputs, *self.optional) if name not in left_out]
        if not names:
            return _nothing("none of its inputs has been made yet"), COMPUTED
        tables = {name: inputs.read(name, results, reading) for name in names}
        with self.complete():
            frame = self.data(tables)
        status = _status(tables)
        if frame.empty:
            frame = _nothing(f"nothing of it is in {', '.join(names)}")
        return frame, status

    @contextlib.contextmanager
    def complete(self) -> Iterator[None]:
        """Turn a column or key that is not there into one sentence that names the inputs."""
        try:
            yield
        except KeyError as error:
            names = ", ".join((*self.inputs, *self.optional))
            raise InputError(f"one of {names} lacks {error}; delete it and run again") from error

    def describe(self, frame: pd.DataFrame) -> str:
        """Return the caption for a frame; if something is missing, what it is."""
        if is_empty(frame):
            return f"Nothing to show: {frame['note'].iloc[0]}."
        return self.caption(frame) if callable(self.caption) else self.caption

    def headline(self, frame: pd.DataFrame) -> str:
        """Return what one finds in a frame; the title where that is nothing."""
        if self.finding is None or is_empty(frame):
            return self.title
        if "n_trials" in frame:
            frame = frame[~frame["n_trials"].between(1, ENOUGH - 1)]
            if not frame["n_trials"].ge(ENOUGH).any():
                return self.title
        return self.finding(frame) or self.title


E = TypeVar("E", bound=Entry)


def expand(found: Mapping[str, E], experiments: Mapping[str, str]) -> dict[str, E]:
    """Return entries by name, templates made once for each experiment that they fit.

    Args:
        found: entries and templates.
        experiments: see :func:`matrixdp.templates.fill`.
    """
    return {
        one.name: dataclasses.replace(
            entry,
            title=entry.title.format(**one.words),
            inputs=one.inputs,
            optional=one.put_in(entry.optional),
            data=functools.partial(entry.data, *([one.words["experiment"]] if one.words else [])),
            each="",
        )
        for name, entry in found.items()
        for one in templates.fill(name, entry.each, entry.inputs, experiments)
    }


def experiments(results: str | os.PathLike) -> dict[str, str]:
    """Return the experiments of the settings of a run; nothing where they are not there."""
    if inputs.missing(["settings"], results):
        return {}
    return templates.kinds(inputs.read("settings", results))


def only(tables: Tables) -> pd.DataFrame:
    """Return the one input as it is."""
    (table,) = tables.values()
    return table


def by_experiment(tables: Tables, kind: str) -> dict[str, pd.DataFrame]:
    """Return the inputs of a kind of the run's experiments, but for parts of others.

    Args:
        tables: inputs by name.
        kind: ``summary``, ``comparisons`` or ``audit``.
    """
    named = ((name.partition("/"), table) for name, table in tables.items())
    return {
        experiment: table
        for (folder, _, experiment), table in named
        if folder == kind and not catalogue.experiment(experiment).part_of
    }


def is_empty(frame: pd.DataFrame) -> bool:
    """Return whether :meth:`Entry.collect` found nothing to show."""
    return list(frame.columns.drop("data_status", errors="ignore")) == ["note"]


def _nothing(note: str) -> pd.DataFrame:
    return pd.DataFrame({"note": [note]}, dtype=str)


def _status(tables: Tables) -> str:
    found = ""
    for table in tables.values():
        if isinstance(table, pd.DataFrame):
            found += " ".join(map(str, {*table.get("data_status", ())}))
        elif isinstance(table, dict):
            found += str(table.get("status"))
    return next((s for s in (*catalogue.section("marks"), "original") if s in found), COMPUTED)
