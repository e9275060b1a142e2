"""Fetch, check and prepare a data set."""

from __future__ import annotations

import argparse

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("dataset")
    parser.add_argument("--source", default="auto", help="auto, original or simulated")
    shared.seed(parser)
    shared.out(parser, "folder for the arrays and provenance.json")
    shared.mirror(parser)


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp.data import store

    store.prepare(
        options.dataset,
        out=options.out,
        source=options.source,
        mirror=options.mirror or None,
        seed=options.seed,
    )
