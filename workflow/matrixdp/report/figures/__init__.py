"""Figures: every file's ``FIGURES`` is found here and drawn from kept tables alone."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.discovery import collect
from matrixdp.report.figures.base import Figure, save


def registry() -> dict[str, Figure]:
    """Return every figure by its name, which is the base name of its files."""
    return collect(sys.modules[__name__], "FIGURES")


def write(name: str, *, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Write one figure (see :func:`matrixdp.report.figures.base.save`).

    Raises:
        InputError: there is no such figure, or an input is damaged. Missing or empty data are no
            error: the figure says so.
    """
    known = registry()
    save(known[checks.choice(known, figure=name)], name, results=results, out=out)


def redraw(*, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Draw every figure whose tables are kept, and compare with the kept figures byte for byte.

    Args:
        results: holds ``summary``, ``theory`` and ``tables`` to draw from, and ``figures``.
        out: folder to draw to.

    Raises:
        InputError: nothing is kept there, or a figure came out otherwise than it is kept.
    """
    kept, drawn = Path(results, "figures"), Path(out)
    if not kept.is_dir():
        raise InputError(f"{kept} does not exist; run the workflow and keep its results there")
    known = registry()
    names = sorted(name for name in known if known[name].missing(results) is None)
    for name in names:
        write(name, results=results, out=out)
    there = {path.relative_to(kept) for path in kept.rglob("*") if path.is_file()}
    expected = {path for name in names for path in _files(name)}
    differ = [
        str(path)
        for path in sorted(expected | there)
        if path not in there & expected or (kept / path).read_bytes() != (drawn / path).read_bytes()
    ]
    if differ:
        raise InputError(
            f"{', '.join(differ)}: not the same in {drawn} and {kept}; look at both and, if the "
            "new ones are right, keep them"
        )
    print(f"{len(names)} figures are the same, byte for byte")


def _files(name: str) -> list[Path]:
    return [Path(f"{name}.svg"), Path(f"{name}.png"), Path("data", f"{name}.csv")]
