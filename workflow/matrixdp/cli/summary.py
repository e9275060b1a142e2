"""Summarise an experiment's trials to one row per cell, and compare the rows."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    shared.reading(parser)
    shared.results(parser)


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.places import place
    from matrixdp.report import comparisons, summary

    settings = config.read(options.results)
    folder = Path(options.results, "trials", options.experiment, options.reading)
    names = config.rows(settings, options.experiment)
    files = [folder / f"{name}.csv.gz" for name in names]
    summarised, compared = (
        place(f"{kind}/{options.experiment}", options.results, options.reading)
        for kind in ("summary", "comparisons")
    )
    summary.write(files, summarised)
    comparisons.write(files, summarised, compared)
