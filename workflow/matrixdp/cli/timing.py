"""Sum the jobs' run times in one table."""

from __future__ import annotations

from pathlib import Path


def run(*, results: str = "results") -> None:
    """Run the verb."""
    from matrixdp.report import timing

    timing.write(Path(results, "benchmarks"), Path(results, "timing.csv"))
