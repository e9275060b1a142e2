"""Draw figures and write the data that they show, or draw all kept ones again."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared

KEPT = "results/reference"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"none: those of {KEPT}, to compare the bytes"
    )
    shared.results(parser)
    parser.add_argument("--out", help="folder for svg, png and data (default: with the run)")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp.report import figures

    if options.names:
        out = options.out or Path(options.results, "figures")
        figures.write(options.names, results=options.results, out=out)
    else:
        kept = KEPT if options.results == "results" else options.results
        figures.redraw(results=kept, out=options.out or "results/redrawn")
