"""Figures: the files of this package have their recipes in ``FIGURES``, drawn from tables alone."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from matrixdp.checks import InputError
from reproduction.discovery import find
from reproduction.report import inputs
from reproduction.report.figures.base import save
from reproduction.report.inputs import Files


def write(recipe: str, files: Files, out: str | os.PathLike) -> None:
    """Write a figure as SVG, and its other files beside it (:func:`base.save`).

    Args:
        recipe: name of an entry of ``FIGURES``.
        files: its inputs by name.
        out: the SVG file.

    Raises:
        InputError: there is no such recipe, or an input is damaged.
    """
    save(find(sys.modules[__name__], "FIGURES", figure=recipe), recipe, files, out)


def redraw(folder: str | os.PathLike, out: str | os.PathLike) -> None:
    """Draw every figure of a results' folder again, and compare with the figures there.

    Raises:
        InputError: there are no figures, or one differs by a byte.
    """
    files, reference, redrawn = inputs.below(folder), Path(folder, "figures"), Path(out)
    words = {}
    for path in sorted(reference.glob("*.json")):
        with inputs.file_errors(path):
            words[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    if not words:
        raise InputError(f"{reference} has no figures; run the workflow and keep its results there")
    for name, entry in words.items():
        used = {key: inputs.find(key, files) for key in entry["inputs"]}
        write(entry["recipe"], used, redrawn / f"{name}.svg")
    kinds = ("{}.svg", "{}.png", "{}.json", "data/{}.csv", "narrow/{}.svg")
    paths = [Path(kind.format(name)) for name in words for kind in kinds]
    expected = {path for path in paths if (redrawn / path).exists()}
    existing = {path.relative_to(reference) for path in reference.rglob("*") if path.is_file()}
    differ = [
        str(path)
        for path in sorted(expected | existing)
        if path not in existing & expected
        or (reference / path).read_bytes() != (redrawn / path).read_bytes()
    ]
    if differ:
        raise InputError(
            f"{', '.join(differ)}: not the same in {redrawn} and {reference}; look at both and, "
            "if the new ones are right, keep them"
        )
    print(f"{len(words)} figures are the same, byte for byte")
