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

    rows = study.trials(job_settings.load_settings(settings), mechanism, Path(data).parent)
    trials.write_trials(trials.assign_columns(rows, settings=job_settings.digest(settings)), out)
