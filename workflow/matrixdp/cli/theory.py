"""Compute what needs no data set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def run(names: Sequence[str], *, seed: int = 0, out: str) -> None:
    """Run the verb.

    Args:
        out: folder for NAME.csv, tidy
    """
    from matrixdp import theory

    for name in names:
        theory.write(name, seed=seed, out=Path(out, f"{name}.csv"))
