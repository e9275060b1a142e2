"""Run mechanisms of an experiment, all epsilons and trials."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    parser.add_argument(
        "mechanisms", nargs="+", metavar="mechanism", help="or nonprivate, random or zero"
    )
    shared.reading(parser)
    shared.results(parser)
    shared.out(parser, "folder for MECHANISM.csv.gz, tidy rows")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config, trials
    from matrixdp.experiments import readings, study

    reading = readings.find(options.reading).name
    settings = {**config.read(options.results), "reading": reading}
    for mechanism in options.mechanisms:
        part = config.part(settings, options.experiment, mechanism)
        rows = study.trials(part, mechanism, Path(options.results, "data", part["dataset"]))
        trials.write(rows, Path(options.out, f"{mechanism}.csv.gz"))
