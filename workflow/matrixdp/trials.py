"""The shape of trial rows: what every experiment writes, and every summary reads.

One row per trial, or one that says in ``note`` why there is none. An empty cell is a number that
does not exist: a reference row has no epsilon, noise without a Gaussian form no ``mu_actual``.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Mapping, Sequence
from typing import Any

from matrixdp import files

#: Columns of a trial file, in order.
COLUMNS = (
    *("experiment", "dataset", "data_status", "mechanism", "variant", "direction", "reading"),
    *("epsilon", "delta", "epsilon_actual", "mu_actual", "mu_exact", "noise_std"),
    *("phase", "trial", "metric", "value", "note", "settings"),
)

#: What the column ``mechanism`` says of rows that need none: those of no privacy, and of guesses,
#: which use no record, or the labels of training for the one class that they always name.
NONPRIVATE, RANDOM, ZERO, MAJORITY = "nonprivate", "random", "zero", "majority"
#: The mean of a regression's training target, which is not private.
MEAN = "mean"

#: Guesses that follow from the public bounds, and from the names of the features.
CONSTANT, AXES = "constant", "axes"
GUESSES = (ZERO, CONSTANT, AXES, RANDOM, MAJORITY, MEAN)

#: No privacy, of records that are clipped: R^2 as a share of the largest squared norm, by name.
CLIPPED = {"clipped_64": 1 / 64, "clipped_16": 1 / 16, "clipped_4": 1 / 4}
REFERENCES = (NONPRIVATE, *CLIPPED, *GUESSES)

#: Those of predictions of a target, of principal components, and of private training.
OF_REGRESSION = (NONPRIVATE, *CLIPPED, ZERO, RANDOM)
OF_COMPONENTS = (NONPRIVATE, *CLIPPED, CONSTANT, AXES, RANDOM)
OF_RELEASES = tuple(dict.fromkeys((*OF_REGRESSION, *OF_COMPONENTS)))

#: The data set that is a person's own file.
OWN = "my_matrix"

OF_TRAINING = (NONPRIVATE, RANDOM, MAJORITY)

#: The phase of trials on records of zeros, which show what the noise does alone.
CONTROL = "control"

#: Rows in blocks: a block maps a column to one value for all its rows, or to an array with one
#: value per row; a block without arrays is one row. What a block leaves out, or is None or NaN
#: there, is an empty cell.
Block = Mapping[str, Any]
Rows = Sequence[Block]


def assigned(rows: Rows, **values: object) -> Rows:
    """Return the rows with columns that have one value for all of them."""
    return [{**block, **values} for block in rows]


def columns(rows: Rows, names: Sequence[str] = COLUMNS) -> dict[str, list]:
    """Return columns as lists, None in empty cells.

    Whole numbers become floats in a column with empty cells or fractions, as in pandas.
    """
    found: dict[str, list] = {name: [] for name in names}
    for block in rows:
        cells = {name: _cells(value) for name, value in block.items()}
        length = max((len(many) for many in cells.values() if isinstance(many, list)), default=1)
        for name, column in found.items():
            own = cells.get(name)
            column += own if isinstance(own, list) else [own] * length
    return {name: _as_floats(column) for name, column in found.items()}


def write(rows: Rows, path: str | os.PathLike) -> None:
    """Write trial rows as gzipped CSV; the same rows are the same bytes."""
    with (
        files.replacing(path) as temporary,
        open(temporary, "wb") as raw,
        # No name and no time in the gzip header.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as stream,
    ):
        stream.write(_text(rows, COLUMNS).encode())


def write_csv(rows: Rows, columns: Sequence[str], path: str | os.PathLike) -> None:
    """Write the named columns of rows as CSV."""
    files.write_text(path, _text(rows, columns))


def _text(rows: Rows, names: Sequence[str]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(zip(*columns(rows, names).values(), strict=True))
    return stream.getvalue()


def _cells(value: Any) -> Any:
    """Return an array or a list as a list of cells, a single value as a cell."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, list):
        return [_cells(each) for each in plain]
    # NaN alone is not itself.
    return plain if plain == plain else None


def _as_floats(cells: list) -> list:
    kinds = set(map(type, cells))
    mixed = int in kinds and kinds <= {int, float, type(None)} and len(kinds) > 1
    return [None if cell is None else float(cell) for cell in cells] if mixed else cells
