"""Files of records, read in blocks: CSV, NPY, NPZ or Parquet."""

from __future__ import annotations

import csv
import difflib
import itertools
from collections.abc import Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from matrixdp.checks import Array, InputError, as_input_error, plural
from matrixdp.release.people import MISSING, REMEDY, FirstRecords, People, identifiers

#: Messages show no values, as they end up in logs. A refused release reveals something about a
#: record, and so does leaving records out.
_REMEDY = (
    "turn dates and words into numbers, leave a missing value empty, and leave no record out for "
    "what is in it"
)

#: Records per block: few enough for any memory, and enough that the overhead per block is small.
_ROWS = 1 << 14

#: Records (k, m), and the identifiers of their people, empty unless they are asked for.
_Block = tuple[Array, Sequence[object]]


def check(path: Path) -> None:
    """Check that a path is a file of a known format.

    Raises:
        InputError: it is not.
    """
    if path.suffix not in _READERS:
        raise InputError(f"{path} is no {', '.join(_READERS)} file; convert it to one of these")
    if not path.is_file():
        raise InputError(f"{path} is not there, or no file; give the path of a file of records")


def blocks(
    path: Path,
    columns: Sequence[str],
    fill: Array | None = None,
    people: People | None = None,
    *,
    keep_missing: bool = False,
) -> Iterator[Array]:
    """Yield the records of a file, one per row, in blocks (k, m) of the requested columns.

    Columns of arrays go by their number from 0, those of other files by their name.

    Args:
        path: path of the file.
        columns: names of m columns.
        fill: replacement of a missing value in each column, (m,), NaN to refuse it; infinite values
            stay. None refuses both missing and infinite values.
        people: column of people, of whom the first records count. Others are read and dropped.
        keep_missing: whether missing values stay, as NaN; infinite ones do, too.

    Raises:
        InputError: the file or a column does not exist, a value is not a number or is refused, or
            an identifier is missing.
    """
    check(path)
    first = 1
    person, counts = ("", None) if people is None else (people.column, FirstRecords(people.most))
    how = "as UTF-8, with line feeds at the ends of lines" if path.suffix == ".csv" else "anew"
    with as_input_error(
        f"{path} cannot be read as {path.suffix[1:].upper()} ({{why}}); save it {how}"
    ):
        for block, names in _READERS[path.suffix](path, columns, person):
            filled = block if fill is None else np.where(np.isnan(block), fill, block)
            bad = np.argwhere(~np.isfinite(filled) if fill is None else np.isnan(filled))
            if bad.size and not keep_missing:
                row, column = bad[0]
                raise InputError(
                    f"{path} has no finite number in record {first + row}, column "
                    f"{columns[column]!r}; put a public number there, and leave no record out"
                )
            if counts is not None:
                filled = filled[counts.keep(_identified(path, person, names, first))]
            yield filled
            first += len(block)


def _identified(path: Path, person: str, names: Sequence[object], first: int) -> list[Hashable]:
    """Return the identifiers of records from number ``first`` on."""
    people = identifiers(names)
    if None in people:
        record = first + people.index(None)
        raise InputError(
            f"{path} has no identifier in record {record}, column {person!r}; {REMEDY}"
        )
    return people


def _csv(path: Path, columns: Sequence[str], person: str) -> Iterator[_Block]:
    # A line feed alone ends a line, also after a carriage return. Were a carriage return an end
    # too, then whether a line feed is one would depend on the line before.
    with path.open(newline="\n", encoding="utf-8-sig") as file:
        if "\r" in file.readline().rstrip("\r\n"):
            raise InputError(
                f"{path} has a carriage return within its first line; save it with line feeds at "
                "the ends of lines"
            )
        file.seek(0)
        lines = csv.reader(file, strict=True)
        header = next((line for line in _lines(path, lines) if line), [])
        if not {*columns} <= {*header}:
            _check_header(path, header)
        places = _columns(path, header, columns, "column name")
        place = _column(path, header, person, "column name")
        records, first = _records(path, lines, len(header)), 1
        while block := list(itertools.islice(records, _ROWS)):
            for record, line in enumerate(block, first):
                if len(line) != len(header):
                    raise InputError(
                        f"{path} has {len(line)} of {len(header)} values in record {record}; put "
                        "a comma between any two, and text with commas in quotes"
                    )
            try:
                rows = [[float(line[i]) for i in places] for line in block]
            except ValueError:
                rows = [
                    [_number(line[i], path, header[i], record) for i in places]
                    for record, line in enumerate(block, first)
                ]
            yield np.array(rows), [line[place] for line in block] if person else []
            first += len(block)


def _check_header(path: Path, header: list[str]) -> None:
    """Refuse a first line without column names; it may be a record, so no message quotes it."""
    if len(header) == 1:
        for separator, name in ((";", "semicolons"), ("\t", "tabs")):
            if separator in header[0]:
                raise InputError(f"{path} has {name} between its columns; save it with commas")
    if header and all(_is_number(name) for name in header):
        raise InputError(
            f"{path} has numbers alone in its first line; write the names of the columns there"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _lines(path: Path, lines: Any) -> Iterator[list[str]]:
    """Yield the values of each further line of a reader of CSV, the names' line included.

    Raises:
        InputError: a record, or the names, go on in the next line. One line, that closes a quote,
            would then decide whether others are records.
    """
    for number, line in enumerate(lines, lines.line_num + 1):
        if lines.line_num != number:
            raise InputError(
                f"{path} has a line break within quotes in line {number}; write the names of the "
                "columns on one line, and each record on one"
            )
        yield line


def _records(path: Path, lines: Any, columns: int) -> Iterator[list[str]]:
    """Yield the records of a reader of CSV.

    A line is read alike wherever it stands, and whatever the others are: as one record, or as none
    if it is empty. In a file of one column an empty line is a record with a missing value, as a
    line of blanks and one of empty quotes are.
    """
    empty = [[""]] if columns == 1 else []
    for line in _lines(path, lines):
        yield from [line] if line else empty


def _number(cell: str, path: Path, column: str, record: int) -> float:
    """Return the number in a cell, NaN where it is missing."""
    text = cell.strip()
    if text.lower() in MISSING:
        return np.nan
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{path} has no number in record {record}, column {column!r}; {_REMEDY}"
        ) from None


def _npy(path: Path, columns: Sequence[str], person: str) -> Iterator[_Block]:
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
    header = [*map(str, range(array.shape[1]))]
    places = _columns(path, header, columns, "column number")
    place = _column(path, header, person, "column number")
    for start in range(0, len(array), _ROWS):
        rows = array[start : start + _ROWS]
        # As numbers of the file, which float64 need not tell apart.
        names = rows[:, place].tolist() if person else []
        yield _numbers(rows[:, places]), names


def _parquet(path: Path, columns: Sequence[str], person: str) -> Iterator[_Block]:
    try:
        from pyarrow import parquet, types
    except ImportError:
        raise InputError(
            f"{path} needs the package pyarrow; install it, or save the file as CSV"
        ) from None
    # A row group at a time: otherwise the whole file is read ahead.
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        _columns(path, file.schema_arrow.names, columns, "column")
        _column(path, file.schema_arrow.names, person, "column")
        for column in columns:
            kind = file.schema_arrow.field(column).type
            kind = kind.value_type if types.is_dictionary(kind) else kind
            numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
            if not any(matches(kind) for matches in (*numbers, types.is_null)):
                raise InputError(
                    f"{path} has {kind} in column {column!r}; every value must be a number"
                )
        for batch in file.iter_batches(_ROWS, columns=[*columns, *([person] if person else [])]):
            parts = [batch.column(name).to_numpy(zero_copy_only=False) for name in columns]
            names = batch.column(person).to_pylist() if person else []
            yield np.stack([_numbers(part) for part in parts], axis=1), names


def _numbers(values: Array) -> Array:
    """Return values in float64, by rows; a warning would show that one is beyond float64."""
    with np.errstate(all="ignore"):
        return np.array(values, dtype=np.float64, order="C")


def _column(path: Path, header: Sequence[str], person: str, kind: str) -> int:
    """Return the place of the column that names people, 0 where nobody asks for it."""
    return _columns(path, header, [person], kind)[0] if person else 0


def _columns(path: Path, header: Sequence[str], columns: Sequence[str], kind: str) -> list[int]:
    for column in columns:
        if not header:
            raise InputError(f"{path} is empty; give a file of records with the column {column!r}")
        if column not in header:
            # Quote only a header cell that is close to the public name: the line may be a record.
            near = difflib.get_close_matches(column, header, n=1, cutoff=0.8)
            hint = f"did you mean {near[0]!r}?" if near else "correct the name, or the file"
            raise InputError(f"{path} has no {column!r} among {plural(len(header), kind)}; {hint}")
        if list(header).count(column) > 1:
            raise InputError(f"{path} has the column {column!r} twice; rename one")
    return [list(header).index(column) for column in columns]


_READERS = {".csv": _csv, ".npy": _npy, ".npz": _npy, ".parquet": _parquet}
#: Suffixes of files of records.
SUFFIXES = tuple(_READERS)
