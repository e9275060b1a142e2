"""Numbers of columns as files and sentences have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matrixdp.checks import Array, plural

#: Largest number of columns in a line.
_MOST = 4


def by_name(names: Sequence[str], values: Array) -> dict[str, Any]:
    """Return values (m, ...) by the names of their columns, as files in JSON have them."""
    return dict(zip(names, values.tolist(), strict=True))


def table(names: Sequence[str], matrix: Array) -> dict[str, Any]:
    """Return a matrix (m, ...) whose rows and columns have the same names, as files have it."""
    return {name: by_name(names, row) for name, row in zip(names, matrix, strict=True)}


def join_columns(phrases: Sequence[str]) -> str:
    """Return phrases, one for each column: the first ones, and how many more columns there are."""
    remainder = len(phrases) - _MOST
    end = f", and {plural(remainder, 'more column')}" if remainder > 0 else ""
    return ", ".join(phrases[:_MOST]) + end


def exact(number: float) -> str:
    """Return a number with all its digits, a whole one without decimals."""
    return repr(float(number)).removesuffix(".0")


def plain(number: float, digits: int = 6) -> str:
    """Return a number with thousands separators and at most this many digits."""
    return f"{float(f'{number:.{digits}g}'):,.15g}"
