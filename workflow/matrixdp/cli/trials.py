"""Run mechanisms of an experiment, all epsilons and trials."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(
    experiment: str,
    mechanisms: Sequence[str],
    *,
    reading: str = "default",
    results: str = "results",
    out: str,
) -> None:
    """Run the verb.

    Args:
        mechanisms: or nonprivate, random or zero
        out: folder for MECHANISM.csv.gz, tidy rows
    """
    from matrixdp import config, dependence, trials
    from matrixdp.experiments import readings, study

    settings = {**config.read(results), "reading": readings.find(reading).name}
    part = dependence.part(settings, experiment, *mechanisms)
    folder = Path(results, "data", part["dataset"])
    parts = dependence.parts(settings, experiment, mechanisms, folder)
    found = trials.made(
        out, lambda names, more: study.trials({**part, **more}, names, folder), parts
    )
    for mechanism, rows in found.items():
        made = dependence.made_from(settings, experiment, mechanism)
        trials.write(rows, Path(out, f"{mechanism}.csv.gz"), parts[mechanism], **made)
