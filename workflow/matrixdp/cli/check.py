"""Check the configuration that Snakemake would run, before it reads that."""

from __future__ import annotations

from collections.abc import Sequence


def run(arguments: Sequence[str] = ()) -> None:
    """Run the verb.

    Args:
        arguments: of snakemake, after --
    """
    from matrixdp import config

    config.planned(arguments)
