"""How cells of records are written, in public: numbers, codes of missing values, categories."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.release.people import as_objects

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

    A date is its text, see :func:`date_text`. What else is neither a number nor a text is None.
    """
    if isinstance(cell, date | np.datetime64):
        return date_text(cell)
    number: Any = cell
    if isinstance(cell, str):
        text = normalize(cell).strip().lower()
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


def date_text(cell: date | np.datetime64) -> str | None:
    """Return a date as ISO 8601 writes it, in UTC, with a time of day unless that is midnight.

    None of no date, as NaT.
    """
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        try:
            cell = cell.astimezone(UTC).replace(tzinfo=None)
        except (OverflowError, ValueError):
            return None
    text = str(cell) if isinstance(cell, np.datetime64) else cell.isoformat()
    day, _, clock = text.partition("T")
    if day.strip("0123456789-"):
        return None
    seconds = clock.rstrip("0").rstrip(".") if "." in clock else clock
    return f"{day} {seconds}" if seconds.strip("0:") else day


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


def normalize(name: str) -> str:
    """Return a text with its letters composed in one way."""
    return unicodedata.normalize("NFC", name)


#: What a column's cells stand for beside numbers; a column without any has nothing.
CodeBook = Mapping[str, Codes | Categories]
#: Of a file that nothing is stated of, and of a column.
USUAL, NO_CODES = Dialect(), Codes()
#: Names of the values that ``separator`` may have.
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: The values that ``decimal`` may have.
DECIMALS = (".", ",")
