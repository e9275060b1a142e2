"""Summarise an experiment's trials to one row per cell, and compare the rows."""

from __future__ import annotations

from pathlib import Path


def run(experiment: str, *, reading: str = "default", results: str = "results") -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.places import place
    from matrixdp.report import comparisons, summary

    folder = Path(results, "trials", experiment, reading)
    files = [folder / f"{name}.csv.gz" for name in config.rows(config.read(results), experiment)]
    summarised, compared = (
        place(f"{kind}/{experiment}", results, reading) for kind in ("summary", "comparisons")
    )
    summary.write(files, summarised)
    comparisons.write(files, summarised, compared)
