"""Train under a scheme, all epsilons and trials."""

from __future__ import annotations

from pathlib import Path


def run(scheme: str, *, settings: str, data: str, twin: str = "", out: str) -> None:
    """Run the verb.

    Args:
        scheme: or nonprivate, random or majority
        settings: what the rows depend on, a JSON object
        data: arrays.npz of the prepared data set, or the features made of it
        twin: trials of the scheme with the same noise, taken for this one's (default: none)
        out: tidy rows, .csv.gz
    """
    from matrixdp.checks import InputError
    from reproduction import job_settings, trials
    from reproduction.data.prepared import ARRAYS
    from reproduction.experiments.training import base

    job, path = job_settings.read(settings), Path(data)
    path = path.parent if path.name == ARRAYS else path
    digest = job_settings.digest(settings)
    if twin:
        drawn = trials.read(twin)
        if {row["settings"] for row in drawn} != {digest}:
            raise InputError(f"{twin} is of other settings; delete it and run again")
        rows = base.twin_rows(job, scheme, path, drawn)
    else:
        ((_, rows),) = base.trials(job, [scheme], path)
    trials.write(trials.assigned(rows, settings=digest), out)
