"""Keep a full run on original data as the reference."""

from __future__ import annotations

import argparse

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    shared.results(parser)
    parser.add_argument("--reference", default="results/reference")
    parser.add_argument("--quick", action="store_true", help="keep the summaries of a quick run")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp.report import reference

    reference.keep(options.results, options.reference, options.quick)
