"""Judge the privacy of an experiment's mechanisms, or try known ways to get privacy wrong."""

from __future__ import annotations

from pathlib import Path

#: In place of an experiment.
CANARIES = "canaries"


def run(name: str, *, results: str = "results", seed: int = 0, out: str) -> None:
    """Run the verb.

    Args:
        name: an experiment, or canaries: mistakes that must be caught
        seed: root of the random streams of canaries (default: 0)
        out: folder for NAME.csv and, of an experiment, NAME_sensitivities.csv
    """
    if name == CANARIES:
        canaries(seed, Path(out))
    else:
        experiment(name, results, Path(out))


def canaries(seed: int, out: Path) -> None:
    """Try known ways to get privacy wrong."""
    from matrixdp import trials
    from matrixdp.audit import canaries

    trials.write_csv(canaries.run(seed), canaries.COLUMNS, out / f"{CANARIES}.csv")


def experiment(name: str, results: str, out: Path) -> None:
    """Judge the mechanisms of an experiment, and its sensitivities."""
    from matrixdp import config, data, dependence, files, sources, stamps, trials
    from matrixdp.audit import releases, sensitivities
    from matrixdp.experiments import study

    settings = config.read(results)
    part = dependence.audited(settings, name)
    folder, runs = Path(results, "data", part["dataset"]), settings["audit_runs"]
    places = [out / f"{name}.csv", out / f"{name}_sensitivities.csv"]
    code = dependence.code_of(settings, ("cli/audit.py", "experiment"), name)
    made = sources.stamp([part, runs, stamps.of_data(folder), code, config.rows(settings, name)])
    if files.restored(made, *places):
        return
    task, private, chosen = study.prepared(part, data.load(folder))
    queries = study.queries(task, private, chosen)
    found = [
        row
        for mechanism in config.rows(settings, name)
        if mechanism in sources.mechanisms() and study.serves(task, mechanism, queries, chosen)
        for row in releases.run(mechanism, queries, chosen, runs)
    ]
    trials.write_csv(found, releases.COLUMNS, places[0])
    attacked = sensitivities.run(name, queries, chosen.seed)
    trials.write_csv(attacked, sensitivities.COLUMNS, places[1])
    files.keep(made, *places)
