"""The numbers that the papers print: one CSV for each table, and one for those in the text."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd

from matrixdp import places
from matrixdp.report.inputs import whole

FOLDER = places.PUBLISHED


def read(name: str, folder: str | os.PathLike = FOLDER) -> pd.DataFrame:
    """Return ``<folder>/<name>.csv`` as text, every number just as printed.

    All files have the columns ``place`` (table and row, or section), ``value``, ``interval`` (half
    of the 95 % confidence interval; empty for none) and ``unit``. Those of results add ``method``
    (the paper's row label), ``mechanism`` (our id), ``epsilon``, ``delta``, ``qualifier`` (``~``:
    approximate) and ``unit_factor``; the others ``item`` and ``experiment``.

    Raises:
        InputError: the file cannot be read.
    """
    path = Path(folder) / f"{name}.csv"
    with whole(path, "restore it from git"):
        return pd.read_csv(path, dtype=str, keep_default_na=False)
