"""Figures: a file of this package makes the figure of its name from the results of a run."""

from __future__ import annotations

import importlib
import itertools
import json
import multiprocessing
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import catalogue, discovery, job_settings
from reproduction.report import inputs
from reproduction.report.figures import style
from reproduction.report.figures.base import Figure, save
from reproduction.report.inputs import Files, Run
from reproduction.report.tables import complete


def build(name: str, of_run: Files) -> Figure:
    """Return a figure of a run by its name, with the status and the mark of its data.

    Args:
        name: such as ``nominal``, a file of this package, ``curves_first_pc``, or
            ``figure4_left``.
        of_run: the files of the run that it is made from, by name.

    Raises:
        InputError: there is no such figure, or an input is missing or damaged.
    """
    if not {*of_run} - {"settings"}:
        raise InputError("settings alone show nothing; name the files that it is made from")
    run = Run(of_run)
    recipe, arguments = find(name, run.settings)
    module = importlib.import_module(f"{__name__}.{recipe}")
    with complete(name):
        figure: Figure = module.build(run, **arguments)
    rows = (job_settings.rows(run.settings, name) for name in run.experiments)
    if figure.frame.empty:
        figure = replace(
            figure,
            caption=f"Nothing to show: {run.nothing}.",
            frame=pd.DataFrame({"note": [run.nothing]}, dtype=str),
            draw=lambda frame: style.message(frame["note"].iloc[0]),
        )
    words = filter(None, (catalogue.mark(run.status).text, figure.caption))
    return replace(
        figure,
        frame=figure.frame.assign(data_status=run.status),
        caption=" ".join(words),
        status=run.status,
        mechanisms=[*itertools.chain(*rows)],
    )


def find(name: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the file of a figure and what its ``build`` gets beside the run.

    Raises:
        InputError: the run has no such figure.
    """
    recipes: dict[str, tuple[str, dict[str, str]]] = {
        name: (name, {}) for name in discovery.alone("figures")
    }
    for experiment in settings["experiments"]:
        about = {"experiment": experiment}
        recipes[f"curves_{experiment}"] = "curves", about
        recipes |= dict.fromkeys(catalogue.experiment(experiment).figures, ("directions", about))
    return recipes[checks.choice(recipes, figure=name)]


def write(name: str, of_run: Files, out: str | os.PathLike) -> None:
    """Write a figure as SVG, and its other files beside it (:func:`base.save`).

    Args:
        name, of_run: those of :func:`build`.
        out: the SVG file.

    Raises:
        InputError: see :func:`build`.
    """
    figure = build(name, of_run)
    recipe, _ = find(name, inputs.read("settings", of_run))
    save(figure, {"recipe": recipe, "inputs": [*of_run]}, out)


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
    drawings = [
        (name, {key: inputs.find(key, files) for key in entry["inputs"]}, redrawn / f"{name}.svg")
        for name, entry in words.items()
    ]
    # A process takes as long to start as a figure or two to draw.
    processes = min(os.cpu_count() or 1, len(drawings) // 4)
    if processes > 1:
        # Started anew: threads of what this one has imported would not outlive a fork.
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            pool.starmap(write, drawings, chunksize=1)
    else:
        for drawing in drawings:
            write(*drawing)
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
