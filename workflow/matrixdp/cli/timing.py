"""Sum the jobs' run times in one table."""

from __future__ import annotations

import argparse
from pathlib import Path

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    shared.results(parser)


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp.report import timing

    timing.write(Path(options.results, "benchmarks"), Path(options.results, "timing.csv"))
