"""The inputs of tables, figures and the page: one reader of a run's files.

Inputs go by the names of :mod:`reproduction.places`, such as ``summary/regression``.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from matrixdp.checks import as_input_error
from reproduction import places
from reproduction.report import summary

AGAIN = "delete it and run again"
FROM_GIT = "restore it from git"
DATA_AGAIN = "delete it and run `snakemake data`"

#: Columns of written tables that are text, whatever they look like.
_TEXT = dict.fromkeys(("epsilon", "published", "published_ci"), str)

#: Columns of a file of published values.
_PRINTED = (
    *("place", "method", "mechanism", "epsilon", "delta", "qualifier", "value", "interval"),
    *("unit", "unit_factor"),
)


def whole(path: str | os.PathLike, remedy: str = AGAIN) -> contextlib.AbstractContextManager[None]:
    """Turn an error while a file is read into one sentence that names the file.

    Raises:
        InputError: the file is missing or damaged.
    """
    return as_input_error(f"{path} cannot be read ({{why}}); {remedy}")


def read(name: str, results: str | os.PathLike) -> Any:
    """Return an input by its name (see :mod:`reproduction.places`), below a run's folder.

    It is a frame, a list for ``errata``, or a dictionary for ``settings`` and for the provenance of
    a data set. Published values are text; without a file they are a frame without rows.

    Raises:
        InputError: the file is damaged, or missing and not of published values.
    """
    path = places.place(name, Path(results))
    folder = name.partition("/")[0]
    if folder == "summary":
        return summary.read(path)
    if folder == "data":
        return provenance(path)
    if folder == "published" and not path.is_file():
        return pd.DataFrame(columns=[*_PRINTED], dtype=str)
    with whole(path, FROM_GIT if folder in ("published", "errata") else AGAIN):
        if folder == "published":
            return pd.read_csv(path, dtype=str, keep_default_na=False)
        if name in ("settings", "errata"):
            content = yaml.safe_load(path.read_text(encoding="utf-8"))
            return [*content] if name == "errata" else {**content}
        text = _TEXT if folder == "tables" else {}
        return pd.read_csv(path, keep_default_na=False, na_values=[""], dtype=text)


def missing(names: Iterable[str], results: str | os.PathLike) -> list[str]:
    """Return the inputs that do not exist; published values are never missing."""
    return [
        name
        for name in names
        if not name.startswith("published/") and not places.place(name, Path(results)).is_file()
    ]


def provenance(path: Path) -> dict[str, Any]:
    """Return the content of a data set's ``provenance.json``.

    Raises:
        InputError: the file is missing or damaged.
    """
    with whole(path, DATA_AGAIN):
        return {**json.loads(path.read_text(encoding="utf-8"))}
