"""Public bounds of columns, in the forms that Python callers may write."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError, plural, shown, shown_public

#: Public (lowest, highest): of all columns alike, of each in a list, or by column.
BoundsLike = tuple[float, float] | Sequence[tuple[float, float]] | Mapping[Any, tuple[float, float]]


def check_names(columns: Sequence[Any]) -> None:
    """Check that no two columns have the same name.

    Raises:
        InputError: two have.
    """
    if len({*columns}) < len(columns):
        duplicate = next(column for column in columns if list(columns).count(column) > 1)
        raise InputError(f"there are two columns {duplicate!r}; rename one")


def by_column(bounds: BoundsLike | None, columns: Sequence[Any]) -> dict[Any, tuple[float, float]]:
    """Return the bounds (lowest, highest) of each column, in the order of ``columns``.

    Two pairs could also be the two lowest and the two highest values of two columns, as earlier
    versions read them. Only names tell which is meant, so that they are needed there.

    Args:
        bounds: (lowest, highest) of all columns; or a list with such a pair per column; or such
            pairs by column.
        columns: names of m columns, or their numbers from 0.

    Raises:
        InputError: the bounds are missing, have another form, or could mean two things.
    """
    if bounds is None:
        raise InputError(
            "bounds is None; state the public lowest and highest values, (-1, 1) with "
            "max_norm = 1 where norms of records are at most 1"
        )
    check_names(columns)
    if isinstance(bounds, Mapping):
        # Bounds that were found call the columns of an array "0", "1", ...
        numbers = {str(column): column for column in columns if isinstance(column, int)}
        if not {*numbers.values()} & {*bounds}:
            bounds = {numbers.get(column, column): ends for column, ends in bounds.items()}
        checks.columns(columns, bounds=bounds)
        for column in columns:
            if column not in bounds:
                raise InputError(f"bounds lacks the column {column!r}; add its (lowest, highest)")
        return {column: pair(bounds[column], f"bounds[{column!r}]") for column in columns}
    shape = _shape(bounds)
    if shape == (2,):
        return dict.fromkeys(columns, pair(bounds, "bounds"))
    if shape == (len(columns), 2) != (2, 2):
        pairs = zip(columns, bounds, strict=True)
        return {column: pair(ends, f"bounds[{column!r}]") for column, ends in pairs}
    pattern = ", ".join(f"{column!r}: (lowest, highest)" for column in columns[:2])
    pattern = f"{{{pattern}{', ...' * (len(columns) > 2)}}}"
    if shape == (len(columns), 2):
        raise InputError(
            f"bounds is {shown(bounds)}, which can be a pair per column, or the lowest and then the"
            f" highest values of both; give bounds = {pattern}"
        )
    raise InputError(
        f"bounds is {shown(bounds)}, for {plural(len(columns), 'column')}; give a pair (lowest, "
        f"highest) of numbers for all columns, a list with such a pair per column, or {pattern}"
    )


def pair(stated: object, name: str) -> tuple[float, float]:
    """Return the (lowest, highest) of one column, which messages call ``name``.

    Raises:
        InputError: they are missing or no pair of finite numbers, the lowest is not below the
            highest, or the range is too wide or too narrow to be computed with.
    """
    sides = stated.tolist() if isinstance(stated, np.ndarray) else stated
    if not isinstance(sides, list | tuple) or len(sides) != 2:
        raise InputError(f"{name} is {shown(stated)}; it must be public [lowest, highest]")
    low, high = (checks.finite(**{name: side}) for side in sides)
    if low >= high:
        raise InputError(f"{name} is {shown_public(sides)}; the lowest must be below the highest")
    if max(-low, high) > checks.LARGEST or high - low < checks.SMALLEST:
        raise InputError(
            f"{name} is {shown_public(sides)}; choose a unit in which neither is beyond "
            f"{checks.LARGEST:g}, and the range is not below {checks.SMALLEST:g}"
        )
    return low, high


def _shape(bounds: object) -> tuple[int, ...]:
    """Return the shape of numbers; none where an entry is no number, or rows differ in length."""
    with contextlib.suppress(TypeError, ValueError):
        numbers = np.asarray(bounds)
        decimals = numbers.dtype.kind == "O" and {*map(type, numbers.flat)} <= {
            Decimal,
            Fraction,
            int,
        }
        return numbers.shape if decimals or numbers.dtype.kind in "fiu" else ()
    return ()
