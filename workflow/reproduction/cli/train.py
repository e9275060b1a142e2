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
    from reproduction import job_settings, trials
    from reproduction.data.prepared import ARRAYS
    from reproduction.experiments.training import base

    job, path = job_settings.load_settings(settings), Path(data)
    path = path.parent if path.name == ARRAYS else path
    rows = base.trials(job, scheme, path)
    trials.write_trials(trials.assign_columns(rows, settings=job_settings.digest(settings)), out)
