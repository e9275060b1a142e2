"""Gather what other jobs have made in one table."""

from __future__ import annotations

from collections.abc import Sequence

#: The modules that write tables, imported by name: a table rests on no other's module.
TABLES = {
    "audit": "reproduction.auditing.table",
    "held_out": "reproduction.report.held_out_table",
    "readings": "reproduction.report.readings",
}


def run(table: str, files: Sequence[str] = (), *, out: str) -> None:
    """Run the verb.

    Args:
        table: audit, held_out or readings
        files: audits of an experiment's mechanisms, or trials, .csv.gz
        out: the table, CSV
    """
    import importlib

    from matrixdp.checks import choice

    importlib.import_module(TABLES[choice(TABLES, table=table)]).write(files, out)
