"""Train a feature extractor and write its features."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    shared.results(parser)
    shared.out(parser, "features, labels and settings, npz")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.experiments.training import extractor

    part = config.extraction(config.read(options.results), options.experiment)
    extractor.write(part, Path(options.results, "data", part["dataset"]), options.out)
