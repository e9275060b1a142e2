"""Write tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(
    names: Sequence[str], *, reading: str = "default", results: str = "results", out: str = ""
) -> None:
    """Run the verb.

    Args:
        out: folder for csv, md and json (default: with the run)
    """
    from matrixdp.experiments import readings
    from matrixdp.places import place
    from matrixdp.report import tables

    reading = readings.find(reading).name
    folder = Path(out) if out else place("tables/any", results, reading).parent
    tables.write(names, results=results, out=folder, reading=reading)
