"""Readers of records: one for each format of files, and one for data frames and arrays.

Each yields blocks of the requested columns as they are; :mod:`matrixdp.release.tables` completes
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError, as_input_error, plural, why
from matrixdp.privacy import cells
from matrixdp.release import csv_text
from matrixdp.release.columns import REMEDY, Block, block_size, find_places
from matrixdp.release.notation import NO_CODES, Categories, CodeBook, Dialect
from matrixdp.release.people import as_objects

#: Bytes that are read ahead of a column of Parquet. A whole row group of it, otherwise.
_READ_AHEAD = 1 << 16


def width(path: Path, dialect: Dialect) -> int:
    """Return the number of columns of a file that can be read."""
    kind = path.suffix.lower()
    if kind == ".npy":
        return int(np.load(path, mmap_mode="r", allow_pickle=False).shape[1])
    if kind == ".parquet":
        from pyarrow import parquet

        return len(parquet.read_schema(path).names)
    return csv_text.width(path, dialect)


def has_records(path: Path, dialect: Dialect) -> bool:
    """Return whether a file of CSV or Parquet has a record: a line after the names of its columns.

    No record is parsed.
    """
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        return bool(parquet.read_metadata(path).num_rows)
    return csv_text.has_records(path, dialect)


def _npy(
    path: Path, columns: Sequence[str], person: str, _: Dialect, book: CodeBook
) -> Iterator[Block]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    # Of no record: what the file's type says.
    cells.check_container(array, str(path))
    cells.numbers(np.empty(0, array.dtype), str(path), REMEDY)
    if array.ndim != 2:
        raise InputError(
            f"{path} holds {plural(array.ndim, 'dimension')} of numbers; give a table of numbers, "
            "one record per row"
        )
    header = [*map(str, range(array.shape[1]))]
    places, place = find_places(path, header, columns, person, "column number")
    step = block_size(columns)
    for start in range(0, len(array), step):
        rows = array[start : start + step]
        # As numbers of the file, which float64 need not tell apart.
        names = as_objects(rows[:, place]) if person else []
        numbers = np.ascontiguousarray(cells.numbers(rows[:, places], str(path), first=start + 1))
        for i, column in enumerate(columns):
            if column in book:
                numbers[:, i] = book[column].replaced(numbers[:, i], array.dtype)
        yield numbers, names


def _parquet(
    path: Path, columns: Sequence[str], person: str, _: Dialect, book: CodeBook
) -> Iterator[Block]:
    try:
        from pyarrow import parquet, types
    except ImportError as error:
        raise InputError(
            f"{path} needs the package pyarrow ({why(error)}); install it, or save the file as CSV"
        ) from None
    # Pages of a row group at a time: otherwise the whole file, or the row group, is read ahead.
    with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_READ_AHEAD) as file:
        find_places(path, file.schema_arrow.names, columns, person, "column")
        for column in columns:
            if isinstance(book.get(column), Categories):
                continue
            kind = file.schema_arrow.field(column).type
            kind = kind.value_type if types.is_dictionary(kind) else kind
            numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
            if not any(matches(kind) for matches in (*numbers, types.is_null)):
                raise InputError(
                    f"{path} has {kind} in column {column!r}; every value must be a number, so "
                    "turn dates and words into numbers"
                )
        step = block_size(columns)
        first = 1
        for batch in file.iter_batches(step, columns=[*columns, *([person] if person else [])]):
            parts = (batch.column(name).to_numpy(zero_copy_only=False) for name in columns)
            rows = [
                _column(part, path, column, first, book)
                for part, column in zip(parts, columns, strict=True)
            ]
            names = batch.column(person).to_pylist() if person else []
            yield np.stack(rows, axis=1), names
            first += len(batch)


def frame_blocks(
    frame: Any,
    labels: Sequence[Any],
    name: Path,
    columns: Sequence[str],
    person: str,
    book: CodeBook,
) -> Iterator[Block]:
    """Yield the blocks of a data frame or an array, whose columns have these labels."""
    header, is_frame = [*map(str, labels)], hasattr(frame, "columns")
    kind = "column name" if is_frame else "column number"
    for column in {*columns, person} & {*getattr(getattr(frame, "index", None), "names", ())}:
        if column not in header:
            raise InputError(f"{name} has {column!r} as its index; give its .reset_index()")
    places, place = find_places(name, header, columns, person, kind)
    arrays = {}
    for i in {*places, *([place] if person else [])}:
        # An error of another package may show a value. Nothing else is known to be wrong.
        with as_input_error(
            f"{name} has values in column {header[i]!r} of which numpy makes no array; convert the "
            "column, to float64 if it has numbers"
        ):
            # Not the function of numpy.ma, which copies what is not masked.
            arrays[i] = np.asanyarray(frame[labels[i]] if is_frame else frame[:, i])
    for i, column in zip(places, columns, strict=True):
        if arrays[i].shape != (len(frame),):
            raise InputError(
                f"{name} has no single column {column!r}; give a data frame or an array with one "
                "record per row"
            )
        # Of no record: refuses what a type says, before any block is read.
        _column(arrays[i][:0], name, column, 1, book)
    step = block_size(columns)
    for start in range(0, len(frame), step):
        part = slice(start, start + step)
        rows = [
            _column(arrays[i][part], name, column, start + 1, book)
            for i, column in zip(places, columns, strict=True)
        ]
        yield np.stack(rows, axis=1), as_objects(arrays[place][part]) if person else []


def _column(values: Any, name: Path, column: str, first: int, book: CodeBook) -> Array:
    """Return cells of a column, the first of them of record ``first``, in float64."""
    codes = book.get(column, NO_CODES)
    if isinstance(codes, Categories):
        return codes.replaced(values, values.dtype)
    if codes.texts and values.dtype.kind == "O":
        texts = [codes.hold(cell) for cell in as_objects(values)]
        values = np.ma.masked_where(texts, values)
    numbers = cells.numbers(values, str(name), REMEDY, first=first, column=column)
    return codes.replaced(numbers, values.dtype)


#: The reader of each suffix of files.
READERS = {".csv": csv_text.read, ".npy": _npy, ".parquet": _parquet}
