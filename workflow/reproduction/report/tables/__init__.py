"""Tables: a file of this package makes the table of its name from the results of a run."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction import catalogue, discovery, files, job_settings
from reproduction.report import inputs, markup
from reproduction.report.inputs import Files, Run
from reproduction.report.tables.base import Table


def build(name: str, of_run: Files) -> Table:
    """Return a table of a run by its name, with the mark of its data.

    Args:
        name: such as ``audit``, a file of this package; ``table3`` or that of an experiment of
            one's own, ``imgm_adult``, or ``against_adult_imgm`` for one row against each other.
        of_run: files of the run by name.

    Raises:
        InputError: there is no such table, or an input is missing or damaged.
    """
    run = Run(of_run)
    recipe, arguments = find(name, run.settings)
    module = importlib.import_module(f"{__name__}.{recipe}")
    with complete(name):
        table: Table = module.build(run, **arguments)
    warnings = filter(None, (catalogue.mark(run.status).text, table.warning))
    return replace(table, warning=" ".join(warnings))


def find(name: str, settings: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the file of a table and what its ``build`` gets beside the run.

    Raises:
        InputError: the run has no such table.
    """
    experiments = [*job_settings.runs(settings)]
    for experiment in sorted(experiments, key=len, reverse=True):
        if name.startswith(start := f"against_{experiment}_"):
            mechanism = name.removeprefix(start)
            return "against_each", {"experiment": experiment, "mechanism": mechanism}
    recipes: dict[str, tuple[str, dict[str, str]]] = {
        name: (name, {}) for name in discovery.alone("tables")
    }
    for experiment in experiments:
        recipe = "training" if experiment in settings["training"] else "comparison"
        recipes.setdefault(name_of(experiment, settings), (recipe, {"experiment": experiment}))
    return recipes[checks.choice(recipes, table=name)]


def name_of(experiment: str, settings: Mapping[str, Any]) -> str:
    """Return the name of the table of an experiment or a training."""
    if experiment in settings["training"]:
        return f"imgm_{experiment}"
    return catalogue.experiment(experiment).results


def write(name: str, of_run: Files, out: str | os.PathLike) -> None:
    """Write a table of a run (:func:`save`).

    Args:
        name, of_run: those of :func:`build`.
        out: the CSV file, or one that ends in .tex.

    Raises:
        InputError: see :func:`build`.
    """
    save(build(name, of_run), out)


def save(table: Table, out: str | os.PathLike) -> None:
    """Write a table as LaTeX, or as CSV and, if it has columns to show, beside it as Markdown."""
    out = Path(out)
    if out.suffix == ".tex":
        files.write_text(out, markup.latex(table))
        return
    files.write_text(out, table.frame.to_csv(index=False, lineterminator="\n"))
    if table.columns:
        files.write_text(out.with_suffix(".md"), markup.markdown(table))


@contextlib.contextmanager
def complete(name: str) -> Iterator[None]:
    """Turn a missing column or key into one sentence that names what is made (InputError)."""
    try:
        yield
    except KeyError as error:
        raise InputError(
            f"a file that {name} is made from lacks {error}; {inputs.AGAIN}"
        ) from error
