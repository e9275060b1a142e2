"""Judge the privacy of an experiment's mechanisms."""

from __future__ import annotations

from pathlib import Path


def run(*, settings: str, data: str, out: str, sensitivities: str) -> None:
    """Run the verb.

    Args:
        settings: settings that the audit depends on, a JSON object
        data: matrix.npy of the prepared data set
        out: one row per release, CSV
        sensitivities: one row per attack on a sensitivity, CSV
    """
    from matrixdp.auditing.releases import Limits
    from reproduction import discovery, parts, trials
    from reproduction.auditing import attacks, experiment
    from reproduction.data import load
    from reproduction.experiments import study

    part = parts.read(settings)
    task, private, chosen = study.prepared(part, load(Path(data).parent))
    queries = study.queries(task, private, chosen)
    limits = Limits(part["audit_runs"], part.get("audit_pairs"), part.get("audit_numbers"))
    rows = [
        row
        for mechanism in part["mechanisms"]
        if mechanism in discovery.mechanisms() and study.serves(task, mechanism, queries, chosen)
        for row in experiment.run(mechanism, queries, chosen, limits)
    ]
    trials.write_csv(rows, experiment.COLUMNS, out)
    attacked = attacks.run(part["experiment"], queries, chosen.seed)
    trials.write_csv(attacked, attacks.COLUMNS, sensitivities)
