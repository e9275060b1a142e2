"""Figures: each file of this package is a recipe, which makes figures from the results of a run."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import os
from dataclasses import replace
from pathlib import Path

import pandas as pd

from matrixdp.checks import InputError
from reproduction import catalogue, job_settings
from reproduction.report import inputs, recipes
from reproduction.report.figures import style
from reproduction.report.figures.base import Figure, save_figure
from reproduction.report.inputs import Files, Run


def build(recipe: str, of_run: Files, experiment: str = "") -> Figure:
    """Return a figure of a run, with the status and the mark of its data.

    Args:
        recipe: such as ``nominal`` or ``curves``, a file of this package.
        of_run: the files of the run that it is made from, by name.
        experiment: the one that it is of; empty for none.

    Raises:
        InputError: see :func:`reproduction.report.recipes.build_exhibit`.
    """
    if not {*of_run} - {"settings"}:
        raise InputError("settings alone show nothing; name the files that it is made from")
    run = Run(of_run)
    figure: Figure = recipes.build_exhibit("figures", recipe, run, {"experiment": experiment})
    rows = (job_settings.rows(run.settings, name) for name in run.experiments)
    if figure.frame.empty:
        figure = replace(
            figure,
            caption=f"Nothing to show: {run.nothing}.",
            frame=pd.DataFrame({"note": [run.nothing]}, dtype=str),
            draw=lambda frame: style.message(frame["note"].iloc[0]),
        )
    # Rows of a kept run have a status of their own.
    statuses = figure.frame.get("kept_status", pd.Series(None, figure.frame.index, dtype=object))
    captions = filter(None, (catalogue.mark(run.status).text, figure.caption))
    return replace(
        figure,
        frame=figure.frame.assign(data_status=statuses.fillna(run.status)),
        caption=" ".join(captions),
        status=run.status,
        mechanisms=[*itertools.chain(*rows)],
    )


def write_figure(recipe: str, of_run: Files, out: str | os.PathLike, experiment: str = "") -> None:
    """Write a figure as SVG, and its other files beside it (:func:`base.save_figure`).

    Args:
        recipe, of_run, experiment: those of :func:`build`.
        out: the SVG file.

    Raises:
        InputError: see :func:`build`.
    """
    figure = build(recipe, of_run, experiment)
    words = {"recipe": recipe} | ({"experiment": experiment} if experiment else {})
    save_figure(figure, words | {"inputs": [*of_run]}, out)


def redraw_figures(folder: str | os.PathLike, out: str | os.PathLike) -> None:
    """Draw every figure of a results' folder again, and compare with the figures there.

    Raises:
        InputError: there are no figures, or one differs by a byte.
    """
    files, reference, redrawn = inputs.files_of_folder(folder), Path(folder, "figures"), Path(out)
    words = {}
    for path in sorted(reference.glob("*.json")):
        with inputs.file_errors(path):
            words[path.stem] = json.loads(path.read_text(encoding="utf-8"))
    if not words:
        raise InputError(f"{reference} has no figures; run the workflow and keep its results there")
    drawings = [
        (
            entry["recipe"],
            {key: inputs.find_file(key, files) for key in entry["inputs"]},
            redrawn / f"{name}.svg",
            entry.get("experiment", ""),
        )
        for name, entry in words.items()
    ]
    # A process takes as long to start as a figure or two to draw.
    processes = min(os.cpu_count() or 1, len(drawings) // 4)
    if processes > 1:
        # Started anew: threads of what this one has imported would not outlive a fork.
        with multiprocessing.get_context("spawn").Pool(processes) as pool:
            pool.starmap(write_figure, drawings, chunksize=1)
    else:
        for drawing in drawings:
            write_figure(*drawing)
    kinds = ("{}.svg", "{}.png", "{}.json", "data/{}.csv")
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
