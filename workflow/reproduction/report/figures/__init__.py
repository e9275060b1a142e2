"""Figures: this package collects every file's ``FIGURES``, and draws them from tables alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction.discovery import collect
from reproduction.report import entries, inputs
from reproduction.report.figures.base import Figure, save


def registry(experiments: Mapping[str, str]) -> dict[str, Figure]:
    """Return every figure of a run by the base name of its files (see ``entries.expand``)."""
    return entries.expand(collect(sys.modules[__name__], "FIGURES"), experiments)


def write(names: Iterable[str], *, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Write figures of a run to a folder (see :func:`reproduction.report.figures.base.save`).

    The settings of the run name its experiments.

    Raises:
        InputError: there is no such figure, or an input is damaged. Missing or empty data are no
            error: the figure says so.
    """
    by_name = registry(entries.experiments(results))
    for name in names:
        save(by_name[checks.choice(by_name, figure=name)], name, results=results, out=out)


def redraw(*, results: str | os.PathLike, out: str | os.PathLike) -> None:
    """Draw every figure whose tables are in ``results``, and compare with the figures there.

    Raises:
        InputError: there are no figures, or one differs by a byte.
    """
    reference, redrawn = Path(results, "figures"), Path(out)
    if not reference.is_dir():
        raise InputError(f"{reference} does not exist; run the workflow and keep its results there")
    by_name = registry(entries.experiments(results))
    names = sorted(n for n, figure in by_name.items() if not inputs.missing(figure.inputs, results))
    reference_files = {
        path.relative_to(reference) for path in reference.rglob("*") if path.is_file()
    }
    new = [name for name in names if reference_files.isdisjoint(_files(name))]
    names = [name for name in names if name not in new]
    write(names, results=results, out=out)
    expected = {path for name in names for path in _files(name)}
    differ = [
        str(path)
        for path in sorted(expected | reference_files)
        if path not in reference_files & expected
        or (reference / path).read_bytes() != (redrawn / path).read_bytes()
    ]
    if differ:
        raise InputError(
            f"{', '.join(differ)}: not the same in {redrawn} and {reference}; look at both and, "
            "if the new ones are right, keep them"
        )
    print(f"{len(names)} figures are the same, byte for byte")
    if new:
        print(f"not kept yet: {', '.join(new)}")


def _files(name: str) -> list[Path]:
    return [Path(f"{name}.svg"), Path(f"{name}.png"), Path("data", f"{name}.csv")]
