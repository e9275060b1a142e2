"""Summarise an experiment's trials to one row per cell, and compare the rows."""

from __future__ import annotations

from pathlib import Path


def run(experiment: str, *, reading: str = "default", results: str = "results") -> None:
    """Run the verb."""
    from matrixdp import config, dependence, stamps
    from matrixdp.places import place
    from matrixdp.report import comparisons, summary

    folder = Path(results, "trials", experiment, reading)
    settings = {**config.read(results), "reading": reading}
    files = []
    for name in config.rows(settings, experiment):
        files.append(folder / f"{name}.csv.gz")
        stamps.check(files[-1], **dependence.made_from(settings, experiment, name, code=False))
    summarised, compared = (
        place(f"{kind}/{experiment}", results, reading) for kind in ("summary", "comparisons")
    )
    summary.write(files, summarised)
    comparisons.write(files, summarised, compared)
    for file in (summarised, compared):
        stamps.write(file, **dependence.made_from(settings, experiment, code=False))
