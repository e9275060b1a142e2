"""Compare a run with the kept results of a full one."""

from __future__ import annotations

import argparse

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    shared.results(parser)
    parser.add_argument("--reference", default="results/reference")
    parser.add_argument("--out", default="results/verify.csv")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp.report import reference

    print(reference.verify(options.results, options.reference, options.out))
