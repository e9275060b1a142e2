"""Write tables."""

from __future__ import annotations

from collections.abc import Sequence


def run(names: Sequence[str], *, results: str = "results", out: str = "") -> None:
    """Run the verb.

    Args:
        out: folder for csv, md and json (default: with the run)
    """
    from reproduction.report import tables

    tables.write(names, results=results, out=out or None)
