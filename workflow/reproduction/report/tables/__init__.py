"""Tables: each file of this package is a recipe, which makes tables from the results of a run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from reproduction import catalogue, files
from reproduction.report import markup, recipes
from reproduction.report.inputs import Files, Run
from reproduction.report.tables.base import Table


def build(recipe: str, of_run: Files, **words: str) -> Table:
    """Return a table of a run, with the mark of its data.

    Args:
        recipe: such as ``audit``, ``paper_table`` or ``against_each``, a file of this package.
        of_run: files of the run by name.
        words: what it is of: ``experiment``, and ``mechanism`` for one against each other row.

    Raises:
        InputError: see :func:`reproduction.report.recipes.build_exhibit`.
    """
    run = Run(of_run)
    table: Table = recipes.build_exhibit("tables", recipe, run, words)
    warnings = filter(None, (catalogue.mark(run.status).text, table.warning))
    return replace(table, warning=" ".join(warnings))


def write_table(recipe: str, of_run: Files, out: str | os.PathLike, **words: str) -> None:
    """Write a table of a run (:func:`save_table`).

    Args:
        recipe, of_run, words: those of :func:`build`.
        out: the CSV file.

    Raises:
        InputError: see :func:`build`.
    """
    save_table(build(recipe, of_run, **words), out)


def save_table(table: Table, out: str | os.PathLike) -> None:
    """Write a table as CSV, and beside it what it shows as JSON, Markdown and LaTeX."""
    out, sheet = Path(out), table.sheet()
    files.write_text(out, table.frame.to_csv(index=False, lineterminator="\n"))
    forms = {".json": sheet.dump(), ".md": markup.markdown(sheet), ".tex": markup.latex(sheet)}
    for suffix, text in forms.items():
        files.write_text(out.with_suffix(suffix), text)
