"""Run an experiment under all its readings."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    parser.add_argument("experiment")
    shared.results(parser)
    shared.out(parser, "one row per mechanism and reading, CSV")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config, trials
    from matrixdp.experiments import study
    from matrixdp.report import specifications

    settings = config.read(options.results)
    part = config.swept(settings, options.experiment)
    folder = Path(options.results, "data", part["dataset"])
    rows = study.specifications(part, config.rows(settings, options.experiment), folder)
    with tempfile.TemporaryDirectory() as temporary:
        file = Path(temporary, "rows.csv.gz")
        trials.write(rows, file)
        specifications.write([file], options.out)
