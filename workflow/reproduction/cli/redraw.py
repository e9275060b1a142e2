"""Draw all kept figures again, and compare the bytes."""

from __future__ import annotations


def run(*, results: str = "results/reference", out: str = "results/redrawn") -> None:
    """Run the verb.

    Args:
        results: the folder that has them (default: results/reference)
        out: folder of what is drawn (default: results/redrawn)
    """
    from reproduction.report import figures

    figures.redraw_figures(results, out)
