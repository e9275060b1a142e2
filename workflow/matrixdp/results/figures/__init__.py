"""Figures: every file's ``FIGURES`` is found here and drawn from kept tables alone."""

from __future__ import annotations

import os
import sys

from matrixdp import checks
from matrixdp.discovery import collect
from matrixdp.results.figures.base import Figure, save


def registry() -> dict[str, Figure]:
    """Return every figure by its name, which is the base name of its files."""
    return collect(sys.modules[__name__], "FIGURES")


def write(name: str, *, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Write one figure (see :func:`matrixdp.results.figures.base.save`).

    Raises:
        InputError: there is no such figure, or an input is damaged. Missing or empty data are no
            error: the figure says so.
    """
    known = registry()
    save(known[checks.choice(known, figure=name)], name, results=results, out=out)
