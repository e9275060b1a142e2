"""The format of trial rows, which every experiment writes and every summary reads.

There is one row per trial; without trials one row says in ``outcome`` what came instead, and in
``note`` why. A cell is empty where a number does not exist: a baseline has no epsilon, noise that
is not Gaussian no ``mu``.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from reproduction import files

#: Columns of a trial file, in order.
COLUMNS = (
    *("experiment", "dataset", "data_status", "mechanism", "configuration", "direction", "reading"),
    *("epsilon", "delta", "epsilon_delivered", "mu", "epsilon_exact", "noise_std"),
    *("phase", "trial", "metric", "value", "outcome", "note", "settings"),
)

#: Outcomes without trials: the mechanism cannot serve the task, or the budget has no guarantee.
SKIPPED, NO_GUARANTEE = "skipped", "no guarantee"

#: Baselines in the column ``mechanism``: the non-private result, and predictions without records.
#: ``majority`` predicts the most frequent class of the training labels.
NONPRIVATE, RANDOM, ZERO, MAJORITY = "nonprivate", "random", "zero", "majority"

#: Predictions from the public bounds, and along the axes of the features.
CONSTANT, AXES = "constant", "axes"
RECORD_FREE = (ZERO, CONSTANT, AXES, RANDOM, MAJORITY)

#: Non-private results on clipped records, by name: R^2 as a share of the largest squared norm.
CLIPPED = {"clipped_64": 1 / 64, "clipped_16": 1 / 16, "clipped_4": 1 / 4}
BASELINES = (NONPRIVATE, *CLIPPED, *RECORD_FREE)

#: Baselines of regressions, and of principal components.
OF_REGRESSION = (NONPRIVATE, *CLIPPED, ZERO, RANDOM)
OF_COMPONENTS = (NONPRIVATE, *CLIPPED, CONSTANT, AXES, RANDOM)

#: Baselines of private training.
OF_TRAINING = (NONPRIVATE, RANDOM, MAJORITY)

#: Schemes whose noise is that of another one at every budget, by what they perturb. A run with both
#: trains the other one alone, and its rows stand under both names.
SAME_AS = {
    "gradients": {"matrix_mechanism": "gaussian_2014"},
    "features": {
        "imgm": "analytic_gaussian",
        "imgm_amplified": "analytic_gaussian_amplified",
    },
}

#: The panels of the IMGM paper's Figure 1, in the order of its text; no run has all of them.
PANELS = ("mnist_features", "cifar10_features", "svhn_features", "imdb")

#: Name of the reading that gives every open question its first value.
DEFAULT = "default"

#: Phase of trials on records of zeros, which show the effect of the noise alone.
CONTROL = "control"

#: Rows in blocks. A block maps a column to one value for all its rows, or to an array of values. A
#: block without arrays is one row. A missing column, None and NaN are empty cells.
Block = Mapping[str, Any]
Rows = Sequence[Block]

#: Types of cells whose text is that of ``str``.
_PLAIN = {bool, int, float}

#: Characters of a text that stands in quotes in a CSV file.
_QUOTED = re.compile('[,"\\r\\n]')


def assign_columns(rows: Rows, **values: object) -> Rows:
    """Return the rows with columns that have one value for all of them."""
    return [{**block, **values} for block in rows]


def write_trials(rows: Rows, path: str | os.PathLike) -> None:
    """Write trial rows as gzipped CSV; equal rows give equal bytes."""
    with (
        files.replacing(path) as temporary,
        open(temporary, "wb") as raw,
        # No name and no time in the gzip header. Level 6 takes twice as long for a twelfth less.
        gzip.GzipFile("", "wb", compresslevel=3, fileobj=raw, mtime=0) as stream,
    ):
        stream.write(_text(rows, COLUMNS).encode())


def write_csv(rows: Rows, columns: Sequence[str], path: str | os.PathLike) -> None:
    """Write the named columns of rows as CSV."""
    files.write_text(path, _text(rows, columns))


def _text(rows: Rows, names: Sequence[str]) -> str:
    lines = [",".join(map(_field, names))]
    for length, block in _blocks(rows, names):
        # Most columns of a block have one value: its text is made once, not once a row.
        fields, varying = [], []
        for value in block.values():
            if isinstance(value, list):
                fields.append("%s")
                varying.append(value if {*map(type, value)} <= _PLAIN else map(_field, value))
            else:
                fields.append(_field(value).replace("%", "%%"))
        row = ",".join(fields)
        each = zip(*varying, strict=True) if varying else [()] * length
        lines += map(row.__mod__, each)
    return "\n".join([*lines, ""])


def _field(cell: Any) -> str:
    """Return a cell as the text that stands in a CSV file."""
    text = "" if cell is None else str(cell)
    if isinstance(cell, float) or not _QUOTED.search(text):
        return text
    return '"{}"'.format(text.replace('"', '""'))


def _blocks(rows: Rows, names: Sequence[str]) -> list[tuple[int, dict[str, Any]]]:
    """Return of each block its number of rows, and by column a list of cells or one for all."""
    blocks: list[tuple[int, dict[str, Any]]] = []
    kinds: dict[str, set[type]] = {name: set() for name in names}
    for block in rows:
        cells = {name: _cells(value) for name, value in block.items()}
        length = max((len(value) for value in cells.values() if isinstance(value, list)), default=1)
        # An empty list is no row.
        if length == 0:
            continue
        blocks.append((length, {name: cells.get(name) for name in names}))
        for name, value in blocks[-1][1].items():
            kinds[name] |= {*map(type, value if isinstance(value, list) else [value])}
    for name, types in kinds.items():
        if int in types and types <= {int, float, type(None)} and len(types) > 1:
            for _, block in blocks:
                block[name] = _as_float(block[name])
    return blocks


def _cells(value: Any) -> Any:
    """Return an array or a list as a list of cells, a single value as a cell."""
    plain = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(plain, list):
        # NumPy compares all numbers of an array at once.
        whole = getattr(value, "ndim", 0) == 1 and value.dtype.kind in "iuf"
        if whole and (value == value).all():
            return plain
        return [_cells(each) for each in plain]
    # Only NaN differs from itself.
    return plain if plain == plain else None


def _as_float(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_as_float, value)]
    return None if value is None else float(value)
