"""Tables: every file's ``TABLES`` is found here and made from the files of a run alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from matrixdp import checks
from reproduction.discovery import collect
from reproduction.report import entries, markup
from reproduction.report.tables.base import Table


def registry(experiments: Mapping[str, str]) -> dict[str, Table]:
    """Return every table of a run by the base name of its files (see ``entries.expand``)."""
    return entries.expand(collect(sys.modules[__name__], "TABLES"), experiments)


def write(
    names: Iterable[str],
    *,
    results: str | os.PathLike,
    out: str | os.PathLike | None = None,
) -> None:
    """Write ``<out>/<name>.csv``, ``.md``, ``.tex`` and ``.json`` of each table.

    The settings of the run name its experiments. ``out`` is by default the place of the run's
    tables.

    Raises:
        InputError: there is no such table, or an input is damaged. Missing inputs are no error:
            the table says so.
    """
    by_name = registry(entries.experiments(results))
    for name in names:
        table = by_name[checks.choice(by_name, table=name)]
        frame, status = table.collect(results)
        with table.complete():
            grid = table.show(frame, status)
        columns = [column for column in frame.columns if not str(column).startswith("_")]
        markup.write(Path(out or Path(results, "tables"), name), frame[columns], grid)
