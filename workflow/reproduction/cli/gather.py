"""Gather what other jobs have made in one table."""

from __future__ import annotations

from collections.abc import Sequence

#: Functions that write tables, imported by name: a table rests on no other's module.
TABLES = {
    "audit": "reproduction.auditing.table:write_audit",
    "held_out": "reproduction.report.held_out_table:write_held_out",
    "readings": "reproduction.report.readings:write_readings",
}


def run(table: str, files: Sequence[str] = (), *, out: str) -> None:
    """Run the verb.

    Args:
        table: audit, held_out or readings
        files: audits of an experiment's mechanisms, or trials, .csv.gz
        out: the table, CSV
    """
    import pkgutil

    from matrixdp.checks import choice

    pkgutil.resolve_name(TABLES[choice(TABLES, table=table)])(files, out)
