"""Write a table."""

from __future__ import annotations

from collections.abc import Sequence


def run(
    table: str, files: Sequence[str], *, experiment: str = "", mechanism: str = "", out: str
) -> None:
    """Run the verb.

    Args:
        table: its recipe, such as audit or paper_table, a file of report/tables
        files: what it is made from, settings.yaml of the run among them
        experiment: the one that it is of, if it is of one
        mechanism: the one that it holds against each other row, if it does
        out: the table as CSV; JSON, Markdown and LaTeX are written beside it
    """
    from reproduction.report import inputs, tables

    words = {"experiment": experiment, "mechanism": mechanism}
    tables.write_table(table, inputs.files_by_name(files), out, **words)
