"""Check the trials of others in a bundle, and take those of one experiment over."""

from __future__ import annotations


def run(bundle: str, *, settings: str, data: str, out: str) -> None:
    """Run the verb.

    Args:
        bundle: bundle, .zip
        settings: settings that the trials must be of, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per trial, .csv.gz
    """
    from pathlib import Path

    from reproduction import bundles, job_settings, trials
    from reproduction.data import load, prepared
    from reproduction.experiments import study

    job, folder = job_settings.read(settings), Path(data).parent
    name, source = job["experiment"], bundles.read(bundle)
    bundles.check_settings(source, name, job)
    bundles.check_data(source, name, prepared.read_provenance(folder))
    task, private, chosen = study.prepared(job, load(folder))
    queries = study.queries(task, private, chosen).values()
    delta = chosen.delta or max(1 / query.n_records for query in queries)
    rows = bundles.merged(source, name, job, task.metric, delta)
    if source.same_code:
        # The code is here: what it gives now is what the bundle must have.
        few = {**job, "trials": bundles.RERUN}
        for _, again in study.trials(few, [source.mechanism], folder):
            bundles.check_rerun(source, rows, trials.columns(again))
    trials.write(rows, out)
