"""Readers of records: one for each format of files, and one for data frames and arrays.

Each yields blocks of the requested columns as they are; :mod:`matrixdp.release.tables` completes
them.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import itertools
import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from matrixdp.checks import Array, InputError, as_input_error, plural, why
from matrixdp.library import LazyProperty
from matrixdp.privacy import cells
from matrixdp.privacy.domain import block_rows
from matrixdp.release.people import MISSING, as_objects

#: Messages show no values, as they end up in logs. A refused release reveals something about a
#: record, and so does leaving records out.
_REMEDY = (
    "turn dates and words into numbers without marks of thousands, leave a missing value empty, "
    "and leave no record out for what is in it"
)

#: Records per block, at most: enough that the overhead per block is small.
_ROWS = 1 << 14

#: Bytes that are read ahead of a column of Parquet. A whole row group of it, otherwise.
_READ_AHEAD = 1 << 16

#: Values of CSV, in small letters, that other formats have as booleans.
BOOLEANS = {"true": 1.0, "false": 0.0}


class Dialect(NamedTuple):
    """How a file of CSV is written, in public.

    Attributes:
        separator: what stands between two values of a line, one of ``SEPARATORS``.
        decimal: what stands before the decimals of a number, one of ``DECIMALS``; empty where it is
            not stated, beside a separator that leaves it open.
    """

    separator: str = ","
    decimal: str = "."


class Codes(NamedTuple):
    """What stands for a missing value in a column by its code book, in public.

    Attributes:
        numbers: as -999.
        texts: as ?, in small letters and without blanks around them.
    """

    numbers: tuple[float, ...] = ()
    texts: tuple[str, ...] = ()

    def hold(self, cell: object) -> bool:
        """Return whether a cell is one of the texts."""
        return isinstance(cell, str) and cell.strip().lower() in self.texts

    def replaced(self, numbers: Array, kind: np.dtype[Any] | None = None) -> Array:
        """Return numbers (n,) with NaN in place of codes, as they are in the type of their file."""
        codes = _convert(self.numbers, kind)
        return np.where(np.isin(numbers, codes), np.nan, numbers) if codes.size else numbers


def _convert(numbers: Sequence[float], kind: np.dtype[Any] | None) -> Array:
    """Return stated numbers as a type of a file has them; NaN for one that is beyond it."""
    codes = np.array(numbers, dtype=np.float64)
    if kind is None or kind.kind != "f" or kind.itemsize >= codes.itemsize:
        return codes
    with np.errstate(over="ignore"):
        stored = codes.astype(kind).astype(np.float64)
    return np.where(np.isfinite(stored) | ~np.isfinite(codes), stored, np.nan)


@dataclass(frozen=True)
class Categories:
    """The public categories of a column of groups: a record is of one of them, or of none.

    Its cell decides alone, whatever it is, and nothing is refused. A category stands for cells as a
    code of a missing value does.

    Attributes:
        names: as answers show them.
        keys: a number, or a text in small letters and without blanks around it, for each of them.
    """

    names: tuple[str, ...]
    keys: tuple[str | float, ...]

    @LazyProperty
    def _lookup(self) -> dict[str | float | None, int]:
        return {key: place for place, key in enumerate(self.keys)}

    def place(self, cell: object, dialect: Dialect) -> int:
        """Return the place of a cell's category, from 0; -1 where it is of none."""
        return self._lookup.get(meaning(cell, dialect), -1)

    def replaced(self, cells: Any, kind: np.dtype[Any]) -> Array:
        """Return the places (n,) of cells in an array, or in the type of their file."""
        if kind.kind not in "biuf":
            return np.array([self.place(cell, USUAL) for cell in as_objects(cells)], float)
        with np.errstate(all="ignore"):
            numbers = np.ma.filled(np.ma.asarray(cells).astype(np.float64), np.nan)
        # What is no number equals none, and so does a category that is no number here.
        keys = _convert([key if isinstance(key, float) else np.nan for key in self.keys], kind)
        order = np.argsort(keys, kind="stable")
        rank = np.minimum(np.searchsorted(keys[order], numbers), len(keys) - 1)
        places = order[rank]
        return np.where(keys[places] == numbers, places, -1).astype(np.float64)


def meaning(cell: object, dialect: Dialect) -> str | float | None:
    """Return the number that a cell or a category states, else its text in small letters.

    A date, and what else is neither a number nor a text, is None.
    """
    number: Any = cell
    if isinstance(cell, str):
        text = _normalize(cell).strip().lower()
        try:
            number = value(text, dialect)
        except ValueError:
            return BOOLEANS.get(text, text)
    if isinstance(number, np.generic) and number.dtype.kind not in "biuf":
        return None
    if isinstance(number, Real | Decimal | np.bool):
        with contextlib.suppress(ArithmeticError, ValueError), np.errstate(all="ignore"):
            return float(number) + 0.0
    return None


#: What a column's cells stand for beside numbers; a column without any has nothing.
CodeBook = Mapping[str, Codes | Categories]

#: Errors of the csv module, by a part of their texts: what is there, and the remedy.
_ERRORS = {
    "new-line character": (
        "a carriage return that ends no line",
        "save it as UTF-8, with line feeds at the ends of lines",
    ),
    "unexpected end": ("quotes that do not close", "close them, and double a quote within quotes"),
    "field larger": (
        "a value of more than 131,072 characters, or quotes that do not close",
        "shorten it, or close them, and double a quote within quotes",
    ),
    "expected after": ("text after closing quotes", "double a quote within quotes"),
}
#: The line by which a spreadsheet states a separator.
_SEP = re.compile(r'"?sep=', re.IGNORECASE)
#: Characters of a line that are looked at for names.
_LONGEST = 1 << 16

#: A byte order mark; files that were put together, or saved twice, begin with several.
_MARK = "\ufeff"
#: Of a file that nothing is stated of, and of a column.
USUAL, NO_CODES = Dialect(), Codes()
#: Names of the values that ``separator`` may have.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: The values that ``decimal`` may have.
DECIMALS = (".", ",")

#: Records (k, m), and the identifiers of their people, empty unless they are asked for.
Block = tuple[Array, Sequence[object]]


def _csv(
    path: Path, columns: Sequence[str], person: str, dialect: Dialect, book: CodeBook
) -> Iterator[Block]:
    # A line feed alone ends a line, also after a carriage return. Were a carriage return an end
    # too, then whether a line feed is one would depend on the line before.
    with path.open(newline="\n", encoding="utf-8") as file:
        first = file.readline().lstrip(_MARK)
        if "\r" in first.rstrip("\r\n"):
            raise InputError(
                f"{path} has a carriage return within its first line; save it with line feeds at "
                "the ends of lines"
            )
        if "\0" in first:
            raise InputError(f"{path} has zero bytes in its first line; save it as UTF-8")
        lines = _lines(path, itertools.chain([first], file), dialect.separator)
        header = next((line for line in lines if line), [])
        stated = {*columns, person} - {""}
        if not stated <= {*header}:
            _check_header(path, header, stated, dialect)
        places, place = _places(path, header, columns, person, "column name")
        if not dialect.decimal:
            raise InputError(
                f"{path} has {SEPARATORS[dialect.separator]} between its columns, and decimal is "
                'not stated, so that 1.500 may be 1500; state decimal = "," or decimal = "."'
            )
        # No more of a line stays than its cells in the columns.
        codes = {name: book.get(name, NO_CODES) for name in columns}
        groups = [(k, one) for k, one in enumerate(codes.values()) if isinstance(one, Categories)]

        def cells(line: list[str]) -> list[str]:
            texts = [line[i] for i in places]
            for k, categories in groups:
                texts[k] = str(categories.place(texts[k], dialect))
            return texts

        records = (
            (_row(cells(line), dialect, path, codes, record), line[place])
            for record, line in _records(path, lines, len(header), dialect)
        )
        step = block_rows(len(columns), _ROWS)
        while block := list(itertools.islice(records, step)):
            numbers = bytearray().join(row for row, _ in block)
            rows = np.frombuffer(numbers, dtype=np.float64).reshape(len(block), -1)
            for i, of_column in enumerate(codes.values()):
                if isinstance(of_column, Codes):
                    rows[:, i] = of_column.replaced(rows[:, i])
            yield rows, [name for _, name in block] if person else []


def width(path: Path, dialect: Dialect) -> int:
    """Return the number of columns of a file that can be read."""
    kind = path.suffix.lower()
    if kind == ".npy":
        return int(np.load(path, mmap_mode="r", allow_pickle=False).shape[1])
    if kind == ".parquet":
        from pyarrow import parquet

        return len(parquet.read_schema(path).names)
    with path.open(newline="\n", encoding="utf-8") as file:
        first = itertools.chain([file.readline().lstrip(_MARK)], file)
        lines = _lines(path, first, dialect.separator)
        return len(next(line for line in lines if line))


def has_records(path: Path, dialect: Dialect) -> bool:
    """Return whether a file of CSV or Parquet has a record: a line after the names of its columns.

    No record is parsed. As :func:`_records` says, an empty line is one in a file of one column.
    """
    if path.suffix.lower() == ".parquet":
        from pyarrow import parquet

        return bool(parquet.read_metadata(path).num_rows)
    with path.open(newline="\n", encoding="utf-8", errors="replace") as file:
        lines = (line.lstrip(_MARK).rstrip("\r\n") for line in file)
        header = next(filter(None, lines), "")[:_LONGEST]
        try:
            columns = len(next(csv.reader([header], delimiter=dialect.separator), []))
        except csv.Error:
            # Whoever reads the records refuses such a line in a sentence.
            return True
        return any(line or columns == 1 for line in lines)


def _check_header(path: Path, header: list[str], names: set[str], dialect: Dialect) -> None:
    """Refuse a first line without the names of all columns, if it is seen what it is.

    It may be a record, so no message quotes it. A separator is named where it gives these names.

    Raises:
        InputError: with the remedy.
    """
    with path.open(newline="\n", encoding="utf-8") as file:
        starts = [line.rstrip("\r\n")[:_LONGEST] for line in itertools.islice(file, 20)]
    starts[:1] = [line.lstrip(_MARK) for line in starts[:1]]
    for (place, line), separator in itertools.product(enumerate(starts), SEPARATORS):
        if names <= {*next(csv.reader([line], delimiter=separator), [])}:
            remedies = []
            if any(starts[:place]):
                finding = "the line sep= of a spreadsheet first" * bool(_SEP.match(starts[0]))
                finding = finding or f"the names of its columns in line {place + 1}"
                remedies.append("delete what is above the names of the columns")
            else:
                finding = f"{SEPARATORS[separator]} between its columns"
            if separator != dialect.separator:
                remedies.append(_keys_for(separator))
            if remedies:
                raise InputError(f"{path} has {finding}; {', and '.join(remedies)}")
    if len(header) == 1:
        for separator, name in SEPARATORS.items():
            if separator != dialect.separator and separator in header[0]:
                raise InputError(f"{path} has {name} between its columns; {_keys_for(separator)}")
    if header and all(map(_is_number, header)):
        raise InputError(
            f"{path} has numbers alone in its first line; write the names of the columns there"
        )


def _keys_for(separator: str) -> str:
    """Return what to state of a file with a separator."""
    if separator == USUAL.separator:
        return "leave separator and decimal out"
    text = "\\t" if separator == "\t" else separator
    return f'state separator = "{text}", and decimal = "," or "." as its numbers have it'


def _is_number(text: str) -> bool:
    try:
        value(text.replace(",", "."), USUAL)
    except ValueError:
        return False
    return True


def _lines(path: Path, texts: Iterable[str], separator: str) -> Iterator[list[str]]:
    """Yield the values of each line of CSV, the names' line included.

    Raises:
        InputError: a record, or the names, go on in the next line. One line, that closes a quote,
            would then decide whether others are records.
    """
    lines = csv.reader(texts, strict=True, delimiter=separator)
    for number in itertools.count(1):
        try:
            line = next(lines, None)
        except csv.Error as error:
            finding, remedy = next(
                (words for start, words in _ERRORS.items() if start in str(error)),
                (why(error), "save it anew"),
            )
            raise InputError(f"{path} has {finding} in line {number}; {remedy}") from None
        if line is None:
            return
        if lines.line_num != number:
            raise InputError(
                f"{path} has a line break within quotes in line {number}; write the names of the "
                "columns on one line, and each record on one"
            )
        yield line


def _records(
    path: Path, lines: Iterable[list[str]], columns: int, dialect: Dialect
) -> Iterator[tuple[int, list[str]]]:
    """Yield the records of lines of CSV with their numbers from 1.

    A line is read alike wherever it stands, and whatever the others are: as one record, or as none
    if it is empty. In a file of one column an empty line is a record with a missing value, as a
    line of blanks and one of empty quotes are.
    """
    lines = (line or [""] for line in lines if line or columns == 1)
    for record, line in enumerate(lines, 1):
        if len(line) != columns:
            raise InputError(
                f"{path} has {len(line)} of {columns} values in record {record}; put "
                f"{SEPARATORS[dialect.separator]} between, and text with them in quotes"
            )
        yield record, line


def _row(
    cells: list[str], dialect: Dialect, path: Path, codes: CodeBook, record: int
) -> array[float]:
    """Return the numbers in the cells of a record, each as :func:`_number` reads it.

    A list of them would have four times the bytes.
    """
    numbers = _plain_numbers(cells, dialect)
    if numbers is None:
        pairs = zip(cells, codes, strict=True)
        numbers = [
            np.nan
            if isinstance(of_column := codes[column], Codes) and of_column.hold(cell)
            else _number(cell, dialect, path, column, record)
            for cell, column in pairs
        ]
    return array("d", numbers)


def _plain_numbers(cells: Sequence[str], dialect: Dialect) -> list[float] | None:
    """Return :func:`value` of each cell where all of them state a number, else None.

    What all cells of a record lack each of them lacks, which is looked up once.
    """
    text = "".join(cells)
    if not text.isascii() or "_" in text:
        return None
    if dialect.decimal != ".":
        if "." in text:
            return None
        cells = [cell.replace(dialect.decimal, ".") for cell in cells]
    try:
        return [*map(float, cells)]
    except ValueError:
        return None


def _number(cell: str, dialect: Dialect, path: Path, column: str, record: int) -> float:
    """Return the number in a cell, by this cell alone; NaN where it is missing."""
    try:
        return value(cell, dialect)
    except ValueError:
        text = cell.strip().lower()
    if text in MISSING:
        return np.nan
    if text in BOOLEANS:
        return BOOLEANS[text]
    wrong_mark = next(mark for mark in DECIMALS if mark != dialect.decimal)
    if wrong_mark in text and _is_number(text):
        decimals = f'state decimal = "{wrong_mark}" if it stands before decimals'
        if wrong_mark == dialect.separator:
            decimals = f'write "{dialect.decimal}" where it stands before decimals'
        raise InputError(
            f"{path} has no number in record {record}, column {column!r}, with the decimal "
            f'"{dialect.decimal}"; delete "{wrong_mark}" where it marks thousands, or {decimals}'
        )
    raise InputError(f"{path} has no number in record {record}, column {column!r}; {_REMEDY}")


def value(cell: str, dialect: Dialect) -> float:
    """Return the number that a cell states in ASCII, as 1.5, 15e-1 or inf.

    Raises:
        ValueError: it states none; marks of thousands, of Python or of a country, are no part of
            a number, and neither are the digits of other scripts.
    """
    if dialect.decimal != ".":
        if "." in cell:
            raise ValueError
        cell = cell.replace(dialect.decimal, ".")
    if "_" in cell or not (cell.isascii() or cell.strip().isascii()):
        raise ValueError
    return float(cell)


def _npy(
    path: Path, columns: Sequence[str], person: str, _: Dialect, book: CodeBook
) -> Iterator[Block]:
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    # Of no record: what the file's type says.
    cells.check_container(array, str(path))
    cells.numbers(np.empty(0, array.dtype), str(path), _REMEDY)
    if array.ndim != 2:
        raise InputError(
            f"{path} holds {plural(array.ndim, 'dimension')} of numbers; give a table of numbers, "
            "one record per row"
        )
    header = [*map(str, range(array.shape[1]))]
    places, place = _places(path, header, columns, person, "column number")
    step = block_rows(len(columns), _ROWS)
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
        _places(path, file.schema_arrow.names, columns, person, "column")
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
        step = block_rows(len(columns), _ROWS)
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
    places, place = _places(name, header, columns, person, kind)
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
    step = block_rows(len(columns), _ROWS)
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
    numbers = cells.numbers(values, str(name), _REMEDY, first=first, column=column)
    return codes.replaced(numbers, values.dtype)


def _places(
    path: Path, header: Sequence[str], columns: Sequence[str], person: str, kind: str
) -> tuple[list[int], int]:
    """Return the places of the columns, and of that of people, 0 where nobody asks for it."""
    names = [*columns, *([person] if person else [])]
    for name in names:
        if not header:
            raise InputError(f"{path} is empty; give a file of records with the column {name!r}")
        if name not in header:
            # The line may be a record. So quote a cell only if it is the public name but for how
            # it is written, or one near it in a line that has another public name.
            alike = [label for label in header if _plain(label) == _plain(name)]
            near = alike
            if not near and {*names} & {*header}:
                near = difflib.get_close_matches(name, header, n=1, cutoff=0.8)
            hint = f"did you mean {near[0]!r}?" if near else "correct the name, or the file"
            if kind == "column number":
                hint = "columns of an array go by their numbers from 0"
            elif not name.isprintable():
                hint = "a backslash is one in single quotes alone, so write the name in these"
            elif alike and _normalize(alike[0]) == _normalize(name):
                hint = "copy the name from the file, whose letters are composed otherwise"
            raise InputError(f"{path} has no {name!r} among {plural(len(header), kind)}; {hint}")
        if header.count(name) > 1:
            raise InputError(f"{path} has the column {name!r} twice; rename one")
    places = [header.index(name) for name in names]
    return places[: len(columns)], places[-1] if person else 0


def _plain(name: str) -> str:
    """Return a name without capitals, quotes and blanks around it, and marks that nobody sees."""
    return _normalize(name).replace("\ufeff", "").strip(" \t\"'").lower()


def _normalize(name: str) -> str:
    return unicodedata.normalize("NFC", name)


#: The reader of each suffix of files.
READERS = {".csv": _csv, ".npy": _npy, ".parquet": _parquet}
