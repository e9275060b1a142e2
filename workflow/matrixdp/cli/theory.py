"""Compute what needs no data set."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("names", nargs="+", metavar="name")
    shared.seed(parser)
    shared.out(parser, "folder for NAME.csv, tidy")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import theory

    for name in options.names:
        theory.write(name, seed=options.seed, out=Path(options.out, f"{name}.csv"))
