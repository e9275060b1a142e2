"""The shape of trial rows: what every experiment writes, and every summary reads.

One row per trial, or one that says in ``note`` why there is none. An empty cell is a number that
does not exist: a reference row has no epsilon, noise without a Gaussian form no ``mu_actual``.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from matrixdp import files, stamps

#: Columns of a trial file, in order.
COLUMNS = (
    *("experiment", "dataset", "data_status", "mechanism", "variant", "direction", "reading"),
    *("epsilon", "delta", "epsilon_actual", "mu_actual", "mu_exact", "noise_std"),
    *("phase", "trial", "metric", "value", "note"),
)

#: Of these those that hold numbers.
NUMBERS = {"delta", "epsilon_actual", "mu_actual", "noise_std", "trial", "value"}

#: What the column ``mechanism`` says of rows that need none: those of no privacy, and of guesses,
#: which use no record, or the labels of training for the one class that they always name.
NONPRIVATE, RANDOM, ZERO, MAJORITY = "nonprivate", "random", "zero", "majority"

#: Guesses that follow from the public bounds, and from the names of the features.
CONSTANT, AXES = "constant", "axes"
GUESSES = (ZERO, CONSTANT, AXES, RANDOM, MAJORITY)

#: No privacy, of records that are clipped: R^2 as a share of the largest squared norm, by name.
CLIPPED = {"clipped_64": 1 / 64, "clipped_16": 1 / 16, "clipped_4": 1 / 4}
REFERENCES = (NONPRIVATE, *CLIPPED, *GUESSES)

#: Those of predictions of a target, of principal components, and of private training.
OF_REGRESSION = (NONPRIVATE, *CLIPPED, ZERO, RANDOM)
OF_COMPONENTS = (NONPRIVATE, *CLIPPED, CONSTANT, AXES, RANDOM)
OF_RELEASES = tuple(dict.fromkeys((*OF_REGRESSION, *OF_COMPONENTS)))
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


def made(
    out: str | os.PathLike,
    run: Callable[[Sequence[str], Mapping[str, Any]], Iterable[tuple[str, Rows]]],
    parts: Mapping[str, Mapping[str, str]],
) -> dict[str, Rows]:
    """Return trial rows by mechanism, those of each epsilon computed only if none are kept.

    Args:
        out: the folder of their files.
        run: yields the names and rows of some mechanisms under the settings, with changes.
        parts: digests of what rows rest on, by mechanism and epsilon; epsilon is empty where there
            is none.
    """
    found = {name: _kept(Path(out, f"{name}.csv.gz"), wanted) for name, wanted in parts.items()}
    missing: dict[tuple[str, ...] | None, list[str]] = {}
    for name, wanted in parts.items():
        lacking = tuple(epsilon for epsilon in wanted if epsilon not in found[name])
        missing.setdefault(lacking if found[name] else None, []).append(name)
    missing.pop((), None)
    computed: dict[str, Rows] = {}
    for epsilons, names in missing.items():
        computed |= run(names, {} if epsilons is None else {"epsilons": [*epsilons]})
    return {
        name: _in_order([*found[name].values(), *computed.get(name, ())], list(wanted))
        if found[name]
        else computed[name]
        for name, wanted in parts.items()
    }


def _kept(path: Path, wanted: Mapping[str, str]) -> dict[str, Block]:
    """Return the rows of the epsilons whose parts are kept of a file."""
    kept = stamps.kept(path)
    if kept is None:
        return {}
    with gzip.open(kept[0], "rt", encoding="utf-8", newline="") as stream:
        lines = list(csv.DictReader(stream))
    found: dict[str, Block] = {}
    for epsilon in (one for one, part in wanted.items() if kept[1].get(one) == part):
        rows = [line for line in lines if line["epsilon"] == epsilon]
        # A note on the whole mechanism has no epsilon, and took no time.
        if rows:
            found[epsilon] = {n: [_read(n, row[n]) for row in rows] for n in COLUMNS}
    return found


def _read(name: str, text: str) -> object:
    """Return the cell that was written so."""
    if name in NUMBERS and text:
        return int(float(text)) if name == "trial" or text.isdigit() else float(text)
    return text or None


def _in_order(rows: Rows, epsilons: Sequence[str]) -> Rows:
    """Return rows of single epsilons in the order in which one computation of all has them."""
    table = columns(rows)
    # A release has all epsilons of a variant together; private training has no variants.
    named = (table["variant"], table["direction"])
    variants = [(variant or "", direction or "") for variant, direction in zip(*named, strict=True)]
    first = {one: number for number, one in enumerate(dict.fromkeys(variants))}
    places = [epsilons.index(epsilon or "") for epsilon in table["epsilon"]]
    keys = [(first[variant], at) for variant, at in zip(variants, places, strict=True)]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return [{name: [column[at] for at in order] for name, column in table.items()}]


def write(
    rows: Rows,
    path: str | os.PathLike,
    parts: Mapping[str, str] | None = None,
    /,
    **facts: str,
) -> None:
    """Write trial rows as gzipped CSV; the same rows are the same bytes.

    Args:
        rows: of trials.
        path: of the file.
        parts, facts: what they were made from, for its stamp (see :func:`matrixdp.stamps.write`).
    """
    with (
        files.replacing(path) as temporary,
        open(temporary, "wb") as raw,
        # No name and no time in the gzip header.
        gzip.GzipFile("", "wb", compresslevel=6, fileobj=raw, mtime=0) as stream,
    ):
        stream.write(_text(rows, COLUMNS).encode())
    stamps.write(path, parts, **facts)


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
