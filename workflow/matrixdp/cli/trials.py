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
    part = config.part(settings, options.experiment, *options.mechanisms)
    folder = Path(options.results, "data", part["dataset"])
    for mechanism, rows in study.trials(part, options.mechanisms, folder):
        trials.write(rows, Path(options.out, f"{mechanism}.csv.gz"))
