"""Compute what needs no data set."""

from __future__ import annotations


def run(name: str, *, seed: int = 0, out: str) -> None:
    """Run the verb.

    Args:
        out: table, CSV
    """
    from reproduction import theory

    theory.write_theory(name, seed=seed, out=out)
