"""Write a table."""

from __future__ import annotations

from collections.abc import Sequence


def run(recipe: str, files: Sequence[str], *, out: str, mechanism: str = "") -> None:
    """Run the verb.

    Args:
        recipe: name of the table in workflow/reproduction/report/tables
        files: what it is made from, settings.yaml of the run among them
        out: the table as CSV; Markdown and JSON are written beside it
        mechanism: of the table against_each, the one that is compared
    """
    from reproduction.report import inputs, tables

    tables.write(recipe, inputs.by_name(files), out, mechanism)
