"""Draw figures and write the data that they show, or draw all kept ones again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

REFERENCE = "results/reference"


def run(names: Sequence[str] = (), *, results: str = "results", out: str = "") -> None:
    """Run the verb.

    Args:
        names: figures to draw; none draws all of results/reference again, to compare the bytes
        out: folder for svg, png and data (default: with the run)
    """
    from reproduction.report import figures

    if names:
        figures.write(names, results=results, out=out or Path(results, "figures"))
    else:
        folder = REFERENCE if results == "results" else results
        figures.redraw(results=folder, out=out or "results/redrawn")
