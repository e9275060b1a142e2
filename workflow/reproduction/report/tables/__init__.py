"""Tables: the files of this package have their recipes in ``TABLES``."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

from reproduction.discovery import find
from reproduction.report import markup
from reproduction.report.entries import complete
from reproduction.report.inputs import Files


def write(recipe: str, files: Files, out: str | os.PathLike, mechanism: str = "") -> None:
    """Write a table as CSV, and beside it as JSON and, where its recipe has a grid, as Markdown.

    Args:
        recipe: name of an entry of ``TABLES``.
        files: its inputs by name.
        out: the CSV file.
        mechanism: the one that it is on, where it is on one.

    Raises:
        InputError: there is no such recipe or mechanism, or an input is damaged.
    """
    table = find(sys.modules[__name__], "TABLES", table=recipe)
    frame, status = table.collect(files, mechanism)
    with complete(files):
        grid = dataclasses.replace(table.show(frame, status), inputs=[*files])
    columns = [column for column in frame.columns if not str(column).startswith("_")]
    stem = Path(out).with_suffix("")
    markup.write(stem, frame[columns], grid, as_markdown=table.grid is not None)
