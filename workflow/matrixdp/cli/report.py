"""Put everything that a run has made on one page."""

from __future__ import annotations

import argparse

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    shared.results(parser)
    parser.add_argument("--arguments", default="", help="what the page's commands end with")
    shared.out(parser, "the HTML file")


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config
    from matrixdp.report import page

    settings = config.read(options.results)
    page.write(options.results, options.out, config=settings, arguments=options.arguments)
