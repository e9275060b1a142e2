"""Judge the papers' claims."""

from __future__ import annotations

import argparse

from matrixdp.cli import options as shared


def add(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""
    shared.results(parser)


def run(options: argparse.Namespace) -> None:
    """Run the verb."""
    from matrixdp import config, sources
    from matrixdp.report import claims
    from matrixdp.report.claims import ledger
    from matrixdp.theory import exact

    settings = config.read(options.results)
    claims.write(
        options.results,
        known=ledger.Known(
            mechanisms=sources.mechanisms(),
            checks=exact.names(),
            theory=sources.theory(),
            figures=sources.figures(),
        ),
        experiments=[*settings["experiments"], *settings["training"]],
        epsilon=settings["table_epsilon"],
        seed=settings["seed"],
    )
