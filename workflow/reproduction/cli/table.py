"""Write a table."""

from __future__ import annotations

from collections.abc import Sequence


def run(table: str, files: Sequence[str], *, out: str) -> None:
    """Run the verb.

    Args:
        table: its name, such as table3, imgm_adult or audit
        files: what it is made from, settings.yaml of the run among them
        out: the table as CSV, with Markdown beside it, or as LaTeX (.tex)
    """
    from reproduction.report import inputs, tables

    tables.write(table, inputs.by_name(files), out)
