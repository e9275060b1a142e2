"""Exact values of queries on blocks of records, without floating-point summation.

A float64 sum rounds the contribution of one record by an amount that depends on the other records,
and no sensitivity covers this. Means and second moments are therefore integer sums. Each record is
rounded to a lattice of its bounds. The sum of a block is exact in float64, and integers add the
blocks.

What is computed for a record (its clipped values, its norm, its place on the lattice) is the same
to the last bit alone and in any block: entry by entry, or by
:func:`~matrixdp.privacy.domain.squared_norms`. So another record, which may shift blocks or change
their size, never moves it. Integer sums are the same in any order. The noise covers the roundings
of all that is computed from the sums.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from datetime import time
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Ball, Box, block_rows
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery, SecondMomentQuery

#: Lattice steps by power: of a feature's range for sums of values (1), of its largest absolute
#: value for sums of products (2).
_STEPS = {1: 2**37, 2: 2**19}
#: Records per block at most, so that sums are integers below 2^53, and records until sums of blocks
#: leave int64.
_ROWS, _MANY = 2**15, 2**24
#: Entries are cut to this size, so that squared norms are finite.
_LONGEST = 1e150

#: What classes of queries compute where this module computes it.
_VALUES = (RecordsQuery.value, MeanQuery.value, PresentMeanQuery.value, SecondMomentQuery.value)


def value(query: Query, blocks: Iterable[ArrayLike]) -> Array:
    """Return the value of a query on records that are first clipped to its public domain.

    No entry that float64 holds causes an error or a warning. A missing one (NaN, or masked) counts
    as the middle of its bounds, in a ball as 0, and an infinite one is clipped.

    Args:
        query: identity, mean or second moments. Where the number of records is private, the value
            is the sum over all records, divided by ``query.n_records``.
        blocks: the records in order, one per row (k, m).

    Raises:
        InputError: as :func:`clipped`; or the query's class computes another value.
    """
    if type(query).value not in _VALUES:
        raise InputError(
            f"{type(query).__name__} computes a value of its own, which is no sum of records; give "
            "its value on records within their bounds to release_value"
        )
    rows = clipped(query, blocks)
    if isinstance(query, RecordsQuery):
        return np.concatenate(list(rows)).T
    power = 1 if isinstance(query, MeanQuery) else 2
    start, size = np.zeros(query.features), query.domain.magnitudes
    if power == 1 and not query.private_count and isinstance(query.domain, Box):
        # With a private number of records, adding one changes the sum by its value, not its range.
        start, size = np.array(query.domain.lower), query.domain.widths
    unit = size / _STEPS[power]
    mean = np.empty((query.features, 1 if power == 1 else query.features))
    totals, count = [np.zeros(mean.shape, dtype=np.int64)], 0
    for block in rows:
        counts = np.rint((block - start) / unit)
        block_sum = counts.sum(axis=0)[:, None] if power == 1 else counts.T @ counts
        if (count := count + len(block)) > _MANY:
            totals.append(np.zeros_like(totals[0]))
            count = len(block)
        totals[-1] += block_sum.astype(np.int64)
    # Python's integers add and divide without overflow; a row of them at a time needs no memory.
    for i in range(query.features):
        mean[i] = sum(total[i].astype(object) for total in totals) / query.n_records
    return mean * unit[:, None] + start[:, None] if power == 1 else mean * np.outer(unit, unit)


def clipped(query: Query, blocks: Iterable[ArrayLike]) -> Iterator[Array]:
    """Yield the records in blocks, within the domain.

    Raises:
        InputError: a block is not of real numbers with m columns, such as one with a text or an
            integer beyond float64: this tells of a record. Or there are not ``n_records``, if their
            number is public.
    """
    count = 0
    for block in blocks:
        try:
            # A warning would show that a wider number is beyond float64.
            with np.errstate(all="ignore"):
                values = filled(block)
                rows = None if _is_complex(values) else np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            rows = None
        if rows is None:
            # Raise outside the handler, whose error shows a value.
            raise InputError(
                f"records are no array of real numbers ({obstacle(block, count)}); give numbers "
                "alone, one record per row"
            )
        if rows.ndim != 2 or rows.shape[1] != query.features:
            raise InputError(
                f"records have shape {rows.shape}; give one record per row, with "
                f"{checks.plural(query.features, 'column')}"
            )
        count += len(rows)
        step = block_rows(query.features, _ROWS)
        for start in range(0, len(rows), step):
            yield _within(query, rows[start : start + step])
    if count != query.n_records and not query.private_count:
        raise InputError(
            f"the query was stated for {checks.plural(query.n_records, 'record')}, and there "
            f"{'is' if count == 1 else 'are'} {count}; correct one"
        )


def filled(values: Any) -> Any:
    """Return values with NaN in place of masked ones, which numpy would read as numbers.

    Raises:
        TypeError: they are dates or texts, which numpy would read as numbers too, or numpy reads
            nothing of them.
    """
    if _kind(values) in ("m", "M"):
        raise TypeError("dates are no numbers")
    if checks.has_text(_read(values)):
        raise TypeError("texts are no numbers")
    if isinstance(values, list | tuple) and any(isinstance(value, MaskedArray) for value in values):
        values = np.ma.array(values)
    if not isinstance(values, MaskedArray):
        return values
    return np.where(np.ma.getmaskarray(values), np.nan, np.ma.getdata(values))


def _read(values: Any, dtype: Any = None) -> Any:
    """Return the array that numpy makes of values.

    Raises:
        TypeError, ValueError: it makes none. Errors of other packages become a TypeError.
    """
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError):
        raise
    except Exception:
        problem = TypeError("numpy does not read it")
    # Raise outside the handler, whose error may show a value.
    raise problem


def _kind(values: Any) -> str:
    """Return numpy's letter for dates, times, durations or complex numbers of an array or a frame.

    A list has such a letter where numpy would read all of it as dates. Otherwise nothing.
    """
    if isinstance(values, list | tuple):
        with contextlib.suppress(ValueError):
            # Rows of several lengths raise it.
            kind = np.asarray(values).dtype.kind
            return kind if kind in ("m", "M") else ""
        return ""
    types = [*values.dtypes] if is_frame(values) else [getattr(values, "dtype", None)]
    if not all(hasattr(entry, "kind") for entry in types):
        # Types that are not numpy's or pandas': what numpy makes of each column.
        parts = [values[name] for name in values.columns] if is_frame(values) else [values]
        try:
            arrays = [_read(part) for part in parts]
        except np.exceptions.DTypePromotionError:
            # Of numbers and dates together it makes nothing.
            return "M"
        objects = (entry for array in arrays if array.dtype.kind == "O" for entry in array.flat)
        if any(isinstance(entry, time) for entry in objects):
            # Times of a day, of which polars makes whole numbers beside a column of numbers.
            return "M"
        types = [array.dtype for array in arrays]
    kinds = [getattr(entry, "kind", "") for entry in types]
    return next((kind for kind in kinds if kind in ("c", "m", "M")), "")


def is_frame(values: Any) -> bool:
    """Return whether values have labels of columns; ``columns`` of other tables hold records."""
    return hasattr(values, "columns") and hasattr(values, "dtypes")


def obstacle(values: Any, before: int = 0) -> str:
    """Return what keeps values from being an array of real numbers; no value is shown.

    Args:
        values: data frame, or what numpy may read as an array, one record per row.
        before: number of records before these.
    """
    # Of a data frame its entries say the column.
    with contextlib.suppress(TypeError, ValueError):
        if not is_frame(values) and (kind := _kind(values)):
            return "complex numbers" if kind == "c" else "dates"
    if isinstance(values, list | tuple) and len({np.shape(row) for row in values}) > 1:
        return "rows of several lengths"
    columns = [*values.columns] if is_frame(values) else []
    unread = f"the type {type(values).__name__}, for which give a numpy array"
    try:
        # By column: a whole table may become numbers where one of its columns holds none.
        entries = (
            np.column_stack([_read(values[name], object) for name in columns])
            if columns
            else _read(values, object)
        )
    except (TypeError, ValueError):
        return unread
    for place, entry in np.ndenumerate(entries):
        try:
            if isinstance(entry, complex | np.complexfloating):
                kind = "a complex number"
            elif isinstance(entry, str):
                kind = "a text"
            else:
                float(entry)
                if not isinstance(entry, bytes):
                    continue
                kind = "a text of bytes"
        except (TypeError, ValueError):
            kind = f"an entry of type {type(entry).__name__}"
        except OverflowError:
            kind = "a number beyond float64"
        place_words = [f"record {before + place[0] + 1}"] if place else []
        place_words += [f"column {columns[i] if columns else i!r}" for i in place[1:]]
        return f"{kind} in {', '.join(place_words)}" if place_words else kind
    return unread


def _is_complex(values: Any) -> bool:
    """Return whether an entry is complex, of which numpy would take the real part."""
    array = np.asarray(values)
    if array.dtype.kind != "O":
        return array.dtype.kind == "c"
    return any(isinstance(value, complex | np.complexfloating) for value in array.flat)


def _within(query: Query, rows: Array) -> Array:
    domain = query.domain
    if not isinstance(domain, Ball):
        rows = np.clip(np.where(np.isnan(rows), domain.middle, rows), domain.lower, domain.upper)
        return query.states(rows) if isinstance(query, PresentMeanQuery) else rows
    # Cut entries first: squares would overflow.
    rows = np.clip(np.nan_to_num(rows, nan=0.0), -_LONGEST, _LONGEST)
    # Leave room for rounding to the lattice, which adds up to half a step along each feature.
    room = 1 - np.sqrt(domain.features) / _STEPS[2]
    return Ball(domain.radius * room, domain.features).clip(rows.T).T
