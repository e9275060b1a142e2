"""Run an experiment, with one open question changed at a time."""

from __future__ import annotations

from pathlib import Path


def run(*, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        settings: settings that the rows depend on, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per trial, .csv.gz
    """
    from reproduction import job_settings, trials
    from reproduction.experiments import study

    job = job_settings.load_settings(settings)
    rows = study.sweep_readings(job, job["mechanisms"], Path(data).parent)
    trials.write_trials(trials.assign_columns(rows, settings=job_settings.digest(settings)), out)
