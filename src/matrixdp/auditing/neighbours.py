"""A search for the neighbouring data sets on which a query changes most.

It uses no declared sensitivity of :mod:`matrixdp.privacy.sensitivity`, so that the two can be
compared. Changes follow from the definition of the query and the public domain alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.ratios import RatioQuery
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    MeanQuery,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)

#: Objective of a search: a function from changes (searches, m, n') to numbers (searches,).
Size = Callable[[Array], Array]

#: Number of pairs of records at which a search starts.
STARTS = 48

#: Number of pairs that continue in small steps, and of halvings of the step.
FINALISTS, HALVINGS = 8, 24

#: Number of sides of a pair that vary; where a record is zeroed out or added, the other one is 0.
SIDES = {"replace": 2, "zero_out": 1, ADD_OR_REMOVE: 1}

#: Number of random moves of a search in a ball, for each record of a person.
STEPS = 400


def frobenius(change: Array) -> Array:
    """Return the Frobenius norms of changes."""
    return np.linalg.norm(change, axis=(-2, -1))


class Neighbours(NamedTuple):
    """The record that differs, before and after, shape (m,) each, and the size of the change.

    Where people have k records, the records of one person, shape (k, m) each.
    """

    record: Array
    other: Array
    size: float


def changes(query: Query, records: Array, others: Array) -> Array:
    """Return f(X) - f(X') for records (searches, m), or (searches, k, m), and their replacements.

    Identity: the columns that differ, (searches, m, k). Mean: (searches, m, 1). Second moments:
    (searches, m, m).
    """
    first, second = (contributions(query, side) for side in (records, others))
    return (first - second) / (1 if isinstance(query, RecordsQuery) else query.n_records)


def contributions(query: Query, records: Array) -> Array:
    """Return the terms of records in f, before an average divides by n."""
    rows = records.reshape(len(records), -1, query.features)
    if isinstance(query, RatioQuery):
        rows = query.states(rows)
    columns = np.swapaxes(rows, 1, 2)
    if isinstance(query, RecordsQuery):
        return columns
    if isinstance(query, MeanQuery):
        return columns.sum(axis=2, keepdims=True)
    assert isinstance(query, SecondMomentQuery)
    # An outer product is faster without a sum.
    return columns * rows if rows.shape[1] == 1 else columns @ rows


def worst(query: Query, size: Size, stream: np.random.Generator) -> Neighbours:
    """Return the neighbours with the largest change that a search from many starts reaches.

    In a box, one coordinate at a time moves to its lower bound, its upper bound or 0, as long as
    that enlarges the change. The best pairs and the starts then move by smaller and smaller steps.
    In a ball, the search accepts random moves that enlarge the change. The result is attained, and
    so a lower bound on the supremum. ``zero_out`` compares with a record of zeros. The records of
    one person move as one record with as many times the features.
    """
    sides = SIDES[query.adjacency]
    pair = _starts(query, stream)
    if sides == 1:
        pair[1] = 0

    def value(candidate: Array) -> Array:
        return size(changes(query, *candidate))

    if isinstance(query.domain, Ball):
        pair, values = _climb_ball(query.domain, pair, value, sides, stream)
    else:
        pair, values = _climb_box(_of_group(query), pair, value, sides)
    best = int(values.argmax())
    shape = (query.features,) if query.per_person is None else (-1, query.features)
    record, other = (side.reshape(shape) for side in pair[:, best])
    return Neighbours(record, other, float(values[best]))


def _of_group(query: Query) -> Box:
    """Return the box of all records of one person, one after the other."""
    assert isinstance(query.domain, Box)
    _, group = counts(query)
    return Box(query.domain.lower * group, query.domain.upper * group)


def _within(domain: Ball, pair: Array) -> Array:
    """Return pairs (2, searches, k m) with records beyond the radius shrunk to it."""
    rows = pair.reshape(*pair.shape[:-1], -1, domain.features)
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows * np.minimum(1, domain.radius / np.maximum(norms, 1e-300))).reshape(pair.shape)


#: Largest norm of random records, in radii of their ball; a release must enforce the radius.
BEYOND = 2.0


def counts(query: Query) -> tuple[int, int]:
    """Return the number of records of a data set, and of those of one person.

    A person has no more records than there are. Where their number is private, a data set has room
    for all records of a person.
    """
    if query.add_or_remove:
        return max(query.n_records, query.group), query.group
    return query.n_records, min(query.n_records, query.group)


def random_records(query: Query, stream: np.random.Generator) -> Array:
    """Return records (m, n) of very different lengths, in a box, or in and around a ball."""
    m, n = query.features, counts(query)[0]
    lengths = 4.0 ** -(stream.random() * 6 * stream.random(n))
    if isinstance(query.domain, Ball):
        rays = stream.standard_normal((m, n))
        return BEYOND * query.domain.radius * lengths * rays / np.linalg.norm(rays, axis=0)
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    corner = np.where(stream.random((m, n)) < stream.random((m, 1)), lower, upper)
    return np.clip(lengths * corner, lower, upper)


def edge_records(query: Query, count: int, stream: np.random.Generator) -> Array:
    """Return random records of the domain, most of them near its edges, shape (m, count)."""
    place = stream.beta(0.5, 0.5, (query.features, count))
    if isinstance(query.domain, Ball):
        return query.domain.clip(2 * query.domain.radius * (2 * place - 1))
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    return np.asarray(lower + (upper - lower) * place)


def inner_records(query: Query, count: int, stream: np.random.Generator) -> Array:
    """Return random records anywhere in the domain, uniform in it, shape (m, count)."""
    if isinstance(query.domain, Ball):
        rays = stream.standard_normal((query.features, count))
        lengths = query.domain.radius * stream.random(count) ** (1 / query.features)
        return np.asarray(rays * lengths / np.linalg.norm(rays, axis=0))
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    return np.asarray(lower + (upper - lower) * stream.random((query.features, count)))


@functools.cache
def farthest(query: Query) -> Neighbours:
    """Return the neighbours of the largest change in the Frobenius norm, by one search a query."""
    return worst(query, frobenius, np.random.default_rng(0))


def _starts(query: Query, stream: np.random.Generator) -> Array:
    """Return pairs of records, shape (2, STARTS, m): random ones, and corners of the domain."""
    _, group = counts(query)
    domain, m = query.domain, query.features * group
    if isinstance(domain, Ball):
        pair = stream.standard_normal((2, STARTS, group, query.features))
        pair[0, 0] = 1.0
        pair = domain.radius * pair / np.linalg.norm(pair, axis=-1, keepdims=True)
        return pair.reshape(2, STARTS, m)
    lower, upper = np.array(_of_group(query).lower), np.array(_of_group(query).upper)
    pair = np.where(stream.random((2, STARTS, m)) < 0.5, lower, upper)
    half = STARTS // 2
    pair[:, :half] = lower + (upper - lower) * stream.random((2, half, m))
    pair[0, 0], pair[1, 0] = upper, lower
    return pair


def _climb_box(domain: Box, pair: Array, value: Size, sides: int) -> tuple[Array, Array]:
    bounds = list(zip(domain.lower, domain.upper, strict=True))
    places = [(side, i) for side in range(sides) for i in range(len(bounds))]
    starts = pair.copy()
    values, before = value(pair), -np.inf
    while values.sum() > before * (1 + 1e-12) + 1e-300:
        before = values.sum()
        for side, i in places:
            for level in {*bounds[i], float(np.clip(0.0, *bounds[i]))}:
                _move(pair, values, (side, i), level, value)
    best = np.argsort(values, kind="stable")[-FINALISTS:]
    pair = np.concatenate([pair[:, best], starts], axis=1)
    values = np.concatenate([values[best], value(starts)])
    for step in 0.5 ** np.arange(1, HALVINGS):
        for side, i in places:
            lower, upper = bounds[i]
            for way in (-step, step):
                levels = np.clip(pair[side, :, i] + way * (upper - lower), lower, upper)
                _move(pair, values, (side, i), levels, value)
    return pair, values


def _move(
    pair: Array, values: Array, coordinate: tuple[int, int], levels: Array | float, value: Size
) -> None:
    """Change one coordinate of each pair, in place, where that increases its value.

    Args:
        pair: pairs of records, shape (2, searches, m).
        values: their objectives, shape (searches,), which are updated too.
        coordinate: (index of the record in its pair, index of the coordinate).
        levels: new values of the coordinate, shape (searches,) or one number.
        value: objective of pairs.
    """
    side, i = coordinate
    moved = pair.copy()
    moved[side, :, i] = levels
    tried = (moved[side, :, i] != pair[side, :, i]).nonzero()[0]
    if not len(tried):
        return
    found = value(moved.take(tried, axis=1))
    better = found > values[tried]
    if better.any():
        helped = tried[better]
        pair[:, helped], values[helped] = moved[:, helped], found[better]


def _climb_ball(
    domain: Ball, pair: Array, value: Size, sides: int, stream: np.random.Generator
) -> tuple[Array, Array]:
    values = value(pair)
    for scale in np.logspace(0, -4, STEPS * (pair.shape[-1] // domain.features)):
        moved = pair.copy()
        noise = scale * domain.radius * stream.standard_normal(pair[:sides].shape)
        moved[:sides] += noise / np.sqrt(pair.shape[-1])
        moved = _within(domain, moved)
        pair, values = _keep(pair, values, moved, value(moved))
    return pair, values


def _keep(pair: Array, values: Array, moved: Array, moved_values: Array) -> tuple[Array, Array]:
    better = moved_values > values
    return np.where(better[:, None], moved, pair), np.where(better, moved_values, values)
