"""Figures: every file's ``FIGURES`` is found here and drawn from kept tables alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from matrixdp import checks
from matrixdp.checks import InputError
from matrixdp.discovery import collect
from matrixdp.report import entries, inputs
from matrixdp.report.figures.base import Figure, save


def registry(experiments: Mapping[str, str]) -> dict[str, Figure]:
    """Return every figure of a run by the base name of its files (see ``entries.expand``)."""
    return entries.expand(collect(sys.modules[__name__], "FIGURES"), experiments)


def write(names: Iterable[str], *, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Write figures of a run to a folder (see :func:`matrixdp.report.figures.base.save`).

    The settings of the run say of which experiments there are figures.

    Raises:
        InputError: there is no such figure, or an input is damaged. Missing or empty data are no
            error: the figure says so.
    """
    known = registry(entries.experiments(results))
    for name in names:
        save(known[checks.choice(known, figure=name)], name, results=results, out=out)


def redraw(*, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Draw every figure whose tables are kept, and compare with the kept figures byte for byte.

    Raises:
        InputError: nothing is kept there, or a figure came out otherwise than it is kept.
    """
    kept, drawn = Path(results, "figures"), Path(out)
    if not kept.is_dir():
        raise InputError(f"{kept} does not exist; run the workflow and keep its results there")
    known = registry(entries.experiments(results))
    names = sorted(n for n, figure in known.items() if not inputs.missing(figure.inputs, results))
    there = {path.relative_to(kept) for path in kept.rglob("*") if path.is_file()}
    new = [name for name in names if there.isdisjoint(_files(name))]
    names = [name for name in names if name not in new]
    write(names, results=results, out=out)
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
    if new:
        print(f"not kept yet: {', '.join(new)}")


def _files(name: str) -> list[Path]:
    return [Path(f"{name}.svg"), Path(f"{name}.png"), Path("data", f"{name}.csv")]
