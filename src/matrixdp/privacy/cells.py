"""What a cell of records counts as: one rule, for every door.

A number counts as itself in float64, one beyond float64 as an infinite one, a boolean as 0 or 1. A
cell is missing where it is None, NaN, masked, or pandas.NA. Everything else is refused: texts, also
those that look like numbers, dates and durations, complex numbers, sequences.

A file of CSV has texts alone, which :mod:`matrixdp.release.csv_text` reads. What bounds and the
rule for missing values make of a number is said elsewhere: this module knows no bounds.

What becomes of a cell depends on this cell alone. No warning and no message shows a value; a
refusal tells of a record, and says where it stands.
"""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.ma import MaskedArray

from matrixdp.checks import Array, InputError

#: What helps where a cell holds a text, a date or another object.
REMEDY = "give numbers alone, one record per row"

#: What arrays of numpy hold that are no real numbers, by the letter of their type.
_KINDS = {
    "U": "texts",
    "S": "texts",
    "T": "texts",
    "M": "dates",
    "m": "durations",
    "c": "complex numbers",
    "V": "bytes without a type",
}
#: What helps against some of what is there, whatever the door.
_REMEDIES = {
    "complex numbers": "Complex data not supported: give real numbers",
    "a complex number": "Complex data not supported: give real numbers",
    "values of which numpy makes no array": "convert them, to float64 if they are numbers",
    "no single column": "rename one, or give one record per row",
}
#: A method of tables that are computed when they are read: the method that gives their records.
_COMPUTED = {
    "__dask_graph__": "compute",
    "to_spark": "to_pandas",
    "toPandas": "toPandas",
    "collect": "collect",
}
#: Types of numbers of which numpy makes float64 as Python does.
_PLAIN = {float, int, bool, np.float64, np.float32, np.int64, np.int32, np.bool}


class NoNumber(InputError, TypeError):
    """Records hold what is no real number."""


class _Obstacle(Exception):
    """What is there in place of a number; and its record, -1 for all of them, and its column."""

    def __init__(self, kind: str, *place: int) -> None:
        super().__init__(kind)
        self.kind, self.place = kind, place


def numbers(
    values: Any, name: str, remedy: str = REMEDY, *, first: int = 1, column: object = None
) -> Array:
    """Return values in float64, in their own shape, NaN where they are missing.

    Args:
        values: an array, lists, or a data frame, whose columns are read one by one.
        name: what messages call them.
        remedy: end of a message, where what is there has no remedy of its own.
        first: number of the first record.
        column: name of the column that values (n,) are.

    Raises:
        NoNumber: a cell is no number, or numpy makes no array of values.
    """
    check_container(values, name)
    try:
        # A warning would show that a number is beyond float64.
        with np.errstate(all="ignore"):
            return _numbers(values)
    except _Obstacle as obstacle:
        kind = obstacle.kind
        words = [f"record {first + row}" for row in obstacle.place[:1] if row >= 0]
        names = labels(values)
        words += [f"column {names[i] if names else i!r}" for i in obstacle.place[1:]]
    if column is not None:
        words.append(f"column {column!r}")
    where = f" in {', '.join(words)}" * bool(words)
    # Raise outside the handler: the error must not carry another one, which may show a value.
    raise NoNumber(f"{name} has {kind}{where}; {_REMEDIES.get(kind, remedy)}")


def labels(values: Any) -> list[Any]:
    """Return the names of a data frame's columns, also those of a table of pyarrow; else none."""
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        return [*values.columns]
    # Under ``columns`` other tables have their values.
    return [*getattr(values, "column_names", ())]


def check_container(values: Any, name: str) -> None:
    """Refuse what holds records, and is no array and no data frame.

    A table that is computed when it is read, as of Dask or Spark, would be so for each column: in
    another order of rows each time, where nothing sorts them, so that one person's values would be
    in the records of several others.

    Raises:
        NoNumber: it is such a table, a sparse matrix, a numpy.matrix or a structured array.
    """
    kind = type(values)
    method = next((give for name, give in _COMPUTED.items() if hasattr(kind, name)), "")
    if method and not (method == "collect" and hasattr(kind, "__len__")):
        problem = (
            f"a {kind.__name__}, which holds no records yet; give its .{method}(), or mdp.sums of "
            "its parts to make_release"
        )
    elif hasattr(values, "toarray"):
        problem = "a sparse matrix; give its .toarray()"
    elif isinstance(values, np.matrix):
        problem = "a numpy.matrix; give numpy.asarray of it"
    elif getattr(getattr(values, "dtype", None), "names", None):
        problem = (
            "a structured array; give its fields as columns, as "
            "numpy.lib.recfunctions.structured_to_unstructured does"
        )
    else:
        return
    raise NoNumber(f"{name} is {problem}")


def _numbers(values: Any) -> Array:
    """Return :func:`numbers`.

    Raises:
        _Obstacle: a cell is no number.
    """
    if names := labels(values):
        return np.stack([_of_column(values, name, i) for i, name in enumerate(names)], axis=1)
    return _of_array(_array(values))


def _of_column(frame: Any, name: Any, place: int) -> Array:
    """Return a column of a data frame, (n,)."""
    try:
        column = _of_array(_array(frame[name]))
    except _Obstacle as obstacle:
        row = obstacle.place[0] if obstacle.place else -1
        problem = _Obstacle(obstacle.kind, row, place)
    else:
        if column.ndim == 1:
            return column
        problem = _Obstacle("no single column", -1, place)
    raise problem


def _array(values: Any) -> Any:
    """Return what numpy makes of values: an array of numbers, or of objects.

    Raises:
        _Obstacle: it makes none.
    """
    try:
        if isinstance(values, list | tuple):
            # Objects stay what they are: numpy would make texts or dates of numbers beside some.
            return np.asarray([*map(_without_mask, values)], object)
        # Not the function of numpy.ma, which copies what is not masked.
        return np.asanyarray(values)
    except MemoryError:
        raise
    except Exception:
        problem = _Obstacle("values of which numpy makes no array")
    # Raise outside the handler, whose error may show a value.
    raise problem


def _without_mask(row: Any) -> Any:
    """Return a row of a list with None in place of masked cells, which numpy would read."""
    if not isinstance(row, MaskedArray) or not row.ndim:
        return row
    return _objects(np.ma.getdata(row), np.ma.getmaskarray(row))


def _objects(data: Any, mask: Any) -> Any:
    """Return an array of objects with None in place of masked cells."""
    objects = data.astype(object)
    objects[mask] = None
    return objects


def _of_array(array: Any) -> Array:
    """Return an array in float64, NaN where it is missing or masked."""
    data = np.ma.getdata(array)
    mask = np.ma.getmaskarray(array) if isinstance(array, MaskedArray) else None
    kind = data.dtype.kind
    if kind in "biuf":
        floats: Array = np.asarray(data, dtype=np.float64)
        return floats if mask is None else np.where(mask, np.nan, floats)
    if kind != "O":
        raise _Obstacle(_KINDS.get(kind, f"values of the type {data.dtype}"))
    return _of_objects(data if mask is None else _objects(data, mask))


def _of_objects(objects: Any) -> Array:
    """Return an array of objects in float64, NaN where they are missing."""
    cells = objects.ravel().tolist()
    if {*map(type, cells)} <= _PLAIN:
        try:
            return np.asarray(objects, dtype=np.float64)
        except OverflowError:
            # A whole number is beyond float64.
            pass
    floats = [*map(_number, cells)]
    if None not in floats:
        return np.array(floats, dtype=np.float64).reshape(objects.shape)
    rows = objects.ndim == 1 and all(isinstance(cell, list | tuple | np.ndarray) for cell in cells)
    # A column of a data frame can hold lists of one length.
    if rows and len({*map(np.size, cells)}) > 1:
        raise _Obstacle("rows of several lengths")
    index = floats.index(None)
    raise _Obstacle(_kind(cells[index]), *map(int, np.unravel_index(index, objects.shape)))


def _number(cell: Any) -> float | None:
    """Return the number in a cell, NaN if it is missing, None if it is neither."""
    if isinstance(cell, np.ndarray) and cell.ndim == 0:
        return np.nan if cell is np.ma.masked else _number(cell[()])
    # The latter is the missing value of pandas, which has no other sign without importing it.
    if cell is None or type(cell).__name__ == "NAType":
        return np.nan
    # A duration of numpy is a whole number by its class.
    if not isinstance(cell, Real | Decimal | np.bool) or isinstance(cell, np.timedelta64):
        return None
    if isinstance(cell, Decimal) and cell.is_nan():
        # Python makes no float of a signalling one.
        return np.nan
    number: Any = cell
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def _kind(cell: Any) -> str:
    """Return what a cell holds that is no number."""
    if isinstance(cell, complex | np.complexfloating):
        return "a complex number"
    if isinstance(cell, str):
        return "a text"
    return (
        "a text of bytes" if isinstance(cell, bytes) else f"an entry of type {type(cell).__name__}"
    )
