"""Recipes: a file of ``report/tables`` or ``report/figures`` makes one table or figure of a run.

Its function ``build`` gets the run, and what the table is of: ``build(run)``, or
``build(run, experiment)``. Which names they have and what they are made from stands in
``workflow/rules/report.smk``.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction.report import inputs
from reproduction.report.inputs import Run

_BUILD = re.compile(r"^def build\(run: Run(.*?)\) ->", re.MULTILINE)


@functools.cache
def recipes(kind: str) -> dict[str, list[str]]:
    """Return the recipes of ``tables`` or ``figures``, with what each needs beside the run.

    The files are read as text, and not imported.
    """
    files = sorted((Path(__file__).parent / kind).glob("[!_]*.py"))
    matches = {file.stem: _BUILD.search(file.read_text(encoding="utf-8")) for file in files}
    return {name: re.findall(r", (\w+):", match[1]) for name, match in matches.items() if match}


def standalone(kind: str) -> list[str]:
    """Return the recipes of ``tables`` or ``figures`` that are of no single experiment."""
    return [name for name, words in recipes(kind).items() if not words]


def build_exhibit(kind: str, name: str, run: Run, words: Mapping[str, str]) -> Any:
    """Return the table or figure that a recipe makes.

    Args:
        kind: ``tables`` or ``figures``.
        name: of the recipe, a file of their folder.
        run: the results that it is made from.
        words: what it is of, by name, such as ``experiment``; empty ones do not count.

    Raises:
        InputError: there is no such recipe, it needs other words, or an input is missing or
            damaged.
    """
    needed = recipes(kind)[checks.choice(recipes(kind), **{kind.removesuffix("s"): name})]
    given = {word: value for word, value in words.items() if value}
    remedies = [f"add --{word} NAME" for word in needed if word not in given]
    remedies += [f"leave --{word} out" for word in given if word not in needed]
    if remedies:
        subject = " and ".join(f"one {word}" for word in needed) or "a whole run"
        raise InputError(f"{name} is of {subject}; {' and '.join(remedies)}")
    module = importlib.import_module(f"reproduction.report.{kind}.{name}")
    try:
        return module.build(run, **given)
    except KeyError as error:
        raise InputError(
            f"a file that {name} is made from lacks {error}; {inputs.AGAIN}"
        ) from error
