"""Judge the privacy of an experiment's mechanisms, or try known ways to get privacy wrong."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared

#: In place of an experiment.
CANARIES = "canaries"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment", help=f"or {CANARIES}: mistakes that must be caught")
    shared.results(parser)
    shared.seed(parser, f"root of the random streams of {CANARIES}")
    shared.out(parser, "folder for EXPERIMENT.csv and EXPERIMENT_sensitivities.csv")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    (canaries if options.experiment == CANARIES else experiment)(options)


def canaries(options: argparse.Namespace) -> None:
    """Try known ways to get privacy wrong."""
    from matrixdp import trials
    from matrixdp.audit import canaries

    rows = canaries.run(options.seed)
    trials.write_csv(rows, canaries.COLUMNS, Path(options.out, f"{CANARIES}.csv"))


def experiment(options: argparse.Namespace) -> None:
    """Judge the mechanisms of an experiment, and its sensitivities."""
    from matrixdp import config, data, sources, trials
    from matrixdp.audit import releases, sensitivities
    from matrixdp.experiments import study

    settings, name, out = config.read(options.results), options.experiment, Path(options.out)
    part = config.audited(settings, name)
    dataset = data.load(Path(options.results, "data", part["dataset"]))
    task, private, chosen = study.prepared(part, dataset)
    queries = study.queries(task, private, chosen)
    found = [
        row
        for mechanism in config.rows(settings, name)
        if mechanism in sources.mechanisms()
        for row in releases.run(mechanism, queries, chosen, settings["audit_runs"])
    ]
    trials.write_csv(found, releases.COLUMNS, out / f"{name}.csv")
    attacked = sensitivities.run(name, queries, chosen.seed)
    trials.write_csv(attacked, sensitivities.COLUMNS, out / f"{name}_sensitivities.csv")
