"""Attack the declared sensitivities of an experiment's queries."""

from __future__ import annotations

from pathlib import Path


def run(*, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        settings: settings that the queries depend on, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per query and measure, CSV
    """
    from reproduction import job_settings, trials
    from reproduction.auditing import attacks
    from reproduction.data import load
    from reproduction.experiments import study

    job = job_settings.load_settings(settings)
    task, private, chosen = study.prepare_job(job, load(Path(data).parent))
    queries = study.queries(task, private, chosen)
    attacked = attacks.run(job["experiment"], queries, chosen.seed)
    trials.write_csv(attacked, attacks.COLUMNS, out)
