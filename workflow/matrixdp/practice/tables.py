"""A person's own file of records, read in blocks: CSV, NPY, NPZ or Parquet."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from matrixdp.checks import Array, InputError, nearest, said

#: Values are not shown, as messages end in logs; and who leaves records out tells how many.
_REMEDY = "put a public number where one is missing, and leave no record out for what is in it"

#: Records at once: few enough for any memory, enough to make a block's own cost small.
_ROWS = 1 << 14


def blocks(path: Path, columns: Sequence[str]) -> Iterator[Array]:
    """Yield the records of a file, one per row, in blocks (k, m) of the columns asked for.

    Columns of arrays go by their number from 0, those of other files by their name.

    Raises:
        InputError: there is no such file or column, or a value is missing or no finite number.
    """
    readers = {".csv": _csv, ".npy": _npy, ".npz": _npy, ".parquet": _parquet}
    if path.suffix not in readers:
        raise InputError(f"{path} is no {', '.join(readers)} file; convert it to one of these")
    if not path.is_file():
        raise InputError(f"{path} is not there, or no file; give the path of a file of records")
    first = 1
    how = "as UTF-8" if path.suffix == ".csv" else "anew"
    with said(f"{path} cannot be read as {path.suffix[1:].upper()} ({{why}}); save it {how}"):
        for block in readers[path.suffix](path, columns):
            bad = np.argwhere(~np.isfinite(block))
            if bad.size:
                row, column = bad[0]
                raise InputError(
                    f"{path} has no finite number in record {first + row}, column "
                    f"{columns[column]!r}; {_REMEDY}"
                )
            yield block
            first += len(block)


def _csv(path: Path, columns: Sequence[str]) -> Iterator[Array]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file, strict=True)
        places = _places(path, next(lines, []), columns)
        while block := list(itertools.islice(lines, _ROWS)):
            yield _numbers(block, places)


def _numbers(block: list[list[str]], places: list[int]) -> Array:
    """Return the numbers of lines, NaN where there is none."""
    try:
        return np.array([[line[place] for place in places] for line in block], dtype=np.float64)
    except (ValueError, IndexError):
        return np.array([[_number(line, place) for place in places] for line in block])


def _number(line: list[str], place: int) -> float:
    try:
        return float(line[place])
    except (ValueError, IndexError):
        return np.nan


def _npy(path: Path, columns: Sequence[str]) -> Iterator[Array]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if path.suffix == ".npz":
        with array:
            if len(array.files) != 1:
                raise InputError(
                    f"{path} holds {len(array.files)} arrays; save the one of the records alone"
                )
            array = array[array.files[0]]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise InputError(
            f"{path} holds {array.dtype} of shape {array.shape}; give numbers, one record per row"
        )
    places = _places(path, [str(column) for column in range(array.shape[1])], columns)
    for start in range(0, len(array), _ROWS):
        yield np.asarray(array[start : start + _ROWS], dtype=np.float64)[:, places]


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[Array]:
    try:
        from pyarrow import parquet, types
    except ImportError:
        raise InputError(
            f"{path} needs the package pyarrow; install it, or save the file as CSV"
        ) from None
    # A row group at a time: otherwise the whole file is read ahead.
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        _places(path, file.schema_arrow.names, columns)
        for column in columns:
            kind = file.schema_arrow.field(column).type
            kind = kind.value_type if types.is_dictionary(kind) else kind
            numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
            if not any(one(kind) for one in (*numbers, types.is_null)):
                raise InputError(
                    f"{path} has {kind} in column {column!r}; every value must be a number"
                )
        for batch in file.iter_batches(_ROWS, columns=list(columns)):
            parts = [batch.column(name).to_numpy(zero_copy_only=False) for name in columns]
            yield np.stack([part.astype(np.float64) for part in parts], axis=1)


def _places(path: Path, header: Sequence[str], columns: Sequence[str]) -> list[int]:
    for column in columns:
        if column not in header:
            known = nearest(column, header) if header else "it is empty"
            raise InputError(f"{path} has no column {column!r}; {known}")
        if list(header).count(column) > 1:
            raise InputError(f"{path} has the column {column!r} twice; rename one")
    return [list(header).index(column) for column in columns]
