"""Run a mechanism of an experiment, all epsilons and trials."""

from __future__ import annotations

from pathlib import Path


def run(mechanism: str, *, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        mechanism: name of a mechanism or a baseline
        settings: settings that the rows depend on, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per trial, .csv.gz
    """
    from reproduction import job_settings, trials
    from reproduction.experiments import study

    job, folder = job_settings.read(settings), Path(data).parent
    for _, rows in study.trials(job, [mechanism], folder):
        trials.write(trials.assigned(rows, settings=job_settings.digest(settings)), out)
