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

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.isolation import isolate
from matrixdp.privacy import cells
from matrixdp.privacy.domain import Ball, Box, block_rows
from matrixdp.privacy.ratios import RatioQuery
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
_VALUES = (RecordsQuery.value, MeanQuery.value, RatioQuery.value, SecondMomentQuery.value)


@isolate
def value(query: Query, blocks: Iterable[ArrayLike]) -> Array:
    """Return the value of a query on records that are first clipped to its public domain.

    No number causes an error or a warning. A missing one (NaN, None, masked) counts as the middle
    of its bounds, in a ball as 0, and an infinite one, or one beyond float64, is clipped.

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
    if isinstance(query, RecordsQuery):
        return np.concatenate(list(clipped(query, blocks))).T
    count, totals = _sums(query, blocks)
    _check_number(query, count)
    return _mean(query, totals)


def steps(query: Query, blocks: Iterable[ArrayLike]) -> tuple[int, NDArray[np.object_]]:
    """Return the number of records, and their sums in steps of the lattice of a query.

    The sums of several parts add up to those of all records, in any order: they are Python's whole
    numbers, (m, 1) or (m, m). The number is not compared with the query's.

    Raises:
        InputError: as :func:`clipped`; or the query is no sum.
    """
    if type(query).value not in _VALUES or isinstance(query, RecordsQuery):
        raise InputError(f"{query.name} is no sum of records; ask for another query")
    count, totals = _sums(query, blocks)
    return count, np.sum([total.astype(object) for total in totals], axis=0, dtype=object)


def value_of_steps(query: Query, count: int, total: NDArray[np.object_]) -> Array:
    """Return what :func:`value` does, to the last bit, from merged :func:`steps`.

    Raises:
        InputError: there are not ``n_records`` records, if their number is public.
    """
    _check_number(query, count)
    return _mean(query, [total])


def _lattice(query: Query) -> tuple[Array, Array, int]:
    """Return the origin and the steps (m,) of the lattice, and the power of records in a sum."""
    power = 1 if isinstance(query, MeanQuery) else 2
    start, size = np.zeros(query.features), query.domain.magnitudes
    if power == 1 and not query.add_or_remove and isinstance(query.domain, Box):
        # With a private number of records, adding one changes the sum by its value, not its range.
        start, size = np.array(query.domain.lower), query.domain.widths
    return start, size / _STEPS[power], power


def _sums(query: Query, blocks: Iterable[ArrayLike]) -> tuple[int, list[NDArray[np.int64]]]:
    """Return the number of records and their sums in steps, of ``_MANY`` records each at most."""
    start, unit, power = _lattice(query)
    shape = query.features, 1 if power == 1 else query.features
    totals, number, count = [np.zeros(shape, dtype=np.int64)], 0, 0
    for block in _clip(query, blocks):
        number += len(block)
        counts = np.rint((block - start) / unit)
        block_sum = counts.sum(axis=0)[:, None] if power == 1 else counts.T @ counts
        if (count := count + len(block)) > _MANY:
            totals.append(np.zeros_like(totals[0]))
            count = len(block)
        totals[-1] += block_sum.astype(np.int64)
    return number, totals


def _mean(query: Query, totals: Sequence[NDArray[Any]]) -> Array:
    """Return the value that sums in steps give."""
    start, unit, power = _lattice(query)
    mean = np.empty(totals[0].shape)
    # Python's integers add and divide without overflow; a row of them at a time needs no memory.
    for i in range(query.features):
        mean[i] = sum(total[i].astype(object) for total in totals) / query.n_records
    return mean * unit[:, None] + start[:, None] if power == 1 else mean * np.outer(unit, unit)


def clipped(query: Query, blocks: Iterable[ArrayLike]) -> Iterator[Array]:
    """Yield the records in blocks, within the domain.

    Raises:
        InputError: a block is not of real numbers with m columns, see
            :mod:`matrixdp.privacy.cells`: this tells of a record. Or there are not ``n_records``,
            if their number is public.
    """
    count = 0
    for rows in _clip(query, blocks):
        count += len(rows)
        yield rows
    _check_number(query, count)


def _check_number(query: Query, count: int) -> None:
    if count != query.n_records and not query.add_or_remove:
        raise InputError(
            f"the query was stated for {checks.plural(query.n_records, 'record')}, and there "
            f"{'is' if count == 1 else 'are'} {count}; correct one"
        )


def _clip(query: Query, blocks: Iterable[ArrayLike]) -> Iterator[Array]:
    """Yield the records of :func:`clipped`, however many there are."""
    count = 0
    for block in blocks:
        rows = cells.numbers(block, "the array of records", first=count + 1)
        if rows.ndim != 2 or rows.shape[1] != query.features:
            raise InputError(
                f"records have shape {rows.shape}; give one record per row, with "
                f"{checks.plural(query.features, 'column')}"
            )
        count += len(rows)
        step = block_rows(query.features, _ROWS)
        for start in range(0, len(rows), step):
            yield _within(query, rows[start : start + step])


def _within(query: Query, rows: Array) -> Array:
    domain = query.domain
    if not isinstance(domain, Ball):
        rows = np.clip(np.where(np.isnan(rows), domain.middle, rows), domain.lower, domain.upper)
        return query.states(rows) if isinstance(query, RatioQuery) else rows
    # Cut entries first: squares would overflow.
    rows = np.clip(np.nan_to_num(rows, nan=0.0), -_LONGEST, _LONGEST)
    # Leave room for rounding to the lattice, which adds up to half a step along each feature.
    room = 1 - np.sqrt(domain.features) / _STEPS[2]
    return Ball(domain.radius * room, domain.features).clip(rows.T).T
