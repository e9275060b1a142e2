"""Train under a scheme, all epsilons and trials."""

from __future__ import annotations

from pathlib import Path


def run(scheme: str, *, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        scheme: or nonprivate, random or majority
        settings: what the rows depend on, a JSON object
        data: arrays.npz of the prepared data set, or the features made of it
        out: tidy rows, .csv.gz
    """
    from reproduction import jobs, trials
    from reproduction.data.prepared import ARRAYS
    from reproduction.experiments.training import base

    part, place = jobs.read(settings), Path(data)
    place = place.parent if place.name == ARRAYS else place
    for _, rows in base.trials(part, [scheme], place):
        trials.write(trials.assigned(rows, settings=jobs.digest(settings)), out)
