"""Judge the privacy of a mechanism in an experiment."""

from __future__ import annotations

from pathlib import Path


def run(mechanism: str, *, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        mechanism: name of a mechanism
        settings: settings that the audit depends on, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per release, CSV; none where the mechanism cannot serve the task
    """
    from matrixdp.auditing.releases import Limits
    from reproduction import job_settings, trials
    from reproduction.auditing import experiment
    from reproduction.data import load
    from reproduction.experiments import study

    job = job_settings.load_settings(settings)
    task, private, chosen = study.prepare_job(job, load(Path(data).parent))
    queries = study.queries(task, private, chosen)
    limits = Limits(job["audit_runs"], job.get("audit_pairs"), job.get("audit_numbers"))
    serves = study.serves(task, mechanism, queries, chosen)
    rows = experiment.run(mechanism, queries, chosen, limits) if serves else []
    trials.write_csv(rows, experiment.COLUMNS, out)
