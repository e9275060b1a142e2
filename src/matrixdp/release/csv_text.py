"""Files of CSV: what is read of each line, by this line alone, and what is refused."""

from __future__ import annotations

import csv
import itertools
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from matrixdp.checks import InputError, why
from matrixdp.release import notation
from matrixdp.release.columns import REMEDY, Block, block_size, find_places
from matrixdp.release.notation import (
    BOOLEANS,
    DECIMALS,
    NO_CODES,
    SEPARATORS,
    USUAL,
    Categories,
    CodeBook,
    Codes,
    Dialect,
)
from matrixdp.release.people import MISSING

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
    "expected after": (
        "text after closing quotes",
        "put the separator there, or double a quote within quotes",
    ),
}
#: The line by which a spreadsheet states a separator.
_SEP = re.compile(r'"?sep=', re.IGNORECASE)
#: Characters of a line that are looked at for names.
_LONGEST = 1 << 16

#: A byte order mark; files that were put together, or saved twice, begin with several.
_MARK = "\ufeff"


def read(
    path: Path, columns: Sequence[str], person: str, dialect: Dialect, book: CodeBook
) -> Iterator[Block]:
    """Yield the blocks of a file."""
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
        places, place = find_places(path, header, columns, person, "column name")
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
        step = block_size(columns)
        while block := list(itertools.islice(records, step)):
            numbers = bytearray().join(row for row, _ in block)
            rows = np.frombuffer(numbers, dtype=np.float64).reshape(len(block), -1)
            for i, of_column in enumerate(codes.values()):
                if isinstance(of_column, Codes):
                    rows[:, i] = of_column.replaced(rows[:, i])
            yield rows, [name for _, name in block] if person else []


def width(path: Path, dialect: Dialect) -> int:
    """Return the number of columns of a file that can be read."""
    with path.open(newline="\n", encoding="utf-8") as file:
        first = itertools.chain([file.readline().lstrip(_MARK)], file)
        lines = _lines(path, first, dialect.separator)
        return len(next(line for line in lines if line))


def has_records(path: Path, dialect: Dialect) -> bool:
    """Return whether there is a record: a line after the names of the columns.

    No record is parsed. As :func:`_records` says, an empty line is one in a file of one column.
    """
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
        if names <= {*re.split(r"[^\w.]+", header[0])}:
            marks = ", ".join(SEPARATORS.values())
            raise InputError(
                f"{path} has none of {marks} between its columns; save it with one of these, or "
                "correct the names"
            )
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
        notation.value(text.replace(",", "."), USUAL)
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
        return notation.value(cell, dialect)
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
    raise InputError(f"{path} has no number in record {record}, column {column!r}; {REMEDY}")
