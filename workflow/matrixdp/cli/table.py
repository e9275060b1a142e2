"""Write tables."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("names", nargs="+", metavar="name")
    shared.reading(parser)
    shared.results(parser)
    parser.add_argument("--out", help="folder for csv, md, tex and json (default: with the run)")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp.experiments import readings
    from matrixdp.places import place
    from matrixdp.report import tables

    reading = readings.find(options.reading).name
    out = options.out or place("tables/any", options.results, reading).parent
    tables.write(options.names, results=options.results, out=Path(out), reading=reading)
