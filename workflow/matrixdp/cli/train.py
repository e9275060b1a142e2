"""Train under schemes, all epsilons and trials."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    parser.add_argument("schemes", nargs="+", metavar="scheme", help="or nonprivate or random")
    shared.results(parser)
    shared.out(parser, "folder for SCHEME.csv.gz, tidy rows")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config, trials
    from matrixdp.experiments.training import base

    settings, name = config.read(options.results), options.experiment
    part = config.part(settings, name, *options.schemes)
    place = Path(options.results, "data", name)
    if "extractor_epochs" in settings["training"].get(name, {}):
        place = Path(options.results, "features", f"{name}.npz")
    for scheme, rows in base.trials(part, options.schemes, place):
        trials.write(rows, Path(options.out, f"{scheme}.csv.gz"))
