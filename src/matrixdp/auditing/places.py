"""Neighbouring data sets for the audit of a function, of which nothing is known.

Every record changes once, in data sets of several kinds: half at one edge and half at the other,
in the order of the records and in random order; inner values; random values near the edges; all
records equal. Where there are many records, those at random places change, and
:func:`steepest` walks from one edge to the other for the steps at which an answer moves most.

Others have records beyond the bounds, or numbers that are not finite, on one side: a function that
leaves these to its caller promises nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from matrixdp.auditing.neighbours import (
    Size,
    counts,
    edge_records,
    farthest,
    inner_records,
    worst,
)
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import Query

#: Largest number of places at which a data set of one kind changes, least number, and numbers of
#: all data sets of a kind.
PLACES, FEWEST, PLACE_NUMBERS = 128, 8, 5e5

#: Random pairs beside: of records near the edges, and of records anywhere in bounds.
RANDOM, INSIDE = 8, 16

#: Steps of a walk that are looked at, and halvings of these.
STEPS, HALVINGS = 64, 96

#: How far records lie beyond the bounds, in ranges, and how far all of them do; columns of which
#: each alone is beyond.
BEYOND, ALL_BEYOND, COLUMNS = (0.5, 10.0, 1e6), 10.0, 8

#: What is no finite number, in words.
NOT_FINITE = {"a missing value": np.nan, "an infinity": np.inf, "a negative infinity": -np.inf}


class Pair(NamedTuple):
    """Neighbouring data sets (n, m), the changed record's place, and the others in words."""

    first: Array
    second: Array
    place: int
    among: str

    @property
    def sides(self) -> tuple[Array, Array]:
        """Both data sets."""
        return self.first, self.second

    def explain(self) -> str:
        """Return the pair in words."""
        return f"record {self.place + 1} of {len(self.first)} changes, among {self.among}"


@dataclass(frozen=True)
class Walk:
    """Data sets from ``low`` to ``high`` (n, m), of which each changes one person's records.

    Attributes:
        order: first records of the people, in the order of their changes.
        removes: whether neighbours lack the record.
    """

    low: Array
    high: Array
    order: NDArray[np.int_]
    group: int
    removes: bool
    among: str

    def at(self, step: int) -> Array:
        """Return the data set after a number of steps."""
        records = self.low.copy()
        changed = (self.order[:step, None] + np.arange(self.group)).ravel()
        records[changed] = self.high[changed]
        return records

    def pair(self, step: int) -> Pair:
        """Return the neighbours of a step."""
        start = int(self.order[step])
        first = self.at(step + 1)
        if self.removes:
            second = np.delete(first, slice(start, start + self.group), axis=0)
        else:
            second = self.at(step)
        return Pair(first, second, start, self.among)


class Places:
    """The neighbouring data sets of a query.

    Attributes:
        query: the query.
        pairs: all pairs, the farthest neighbours among equal records first.
        walks: walks from one edge to the other.
        count: number of places at which records change.
        domain, records: bounds and number of records of a data set.

    Raises:
        InputError: a record is zeroed out, which the bounds do not allow.
    """

    def __init__(self, query: Query, stream: Generator) -> None:
        n, k = counts(query)
        domain, zeros = query.domain, np.zeros((query.features, n))
        if query.adjacency == "zero_out" and np.any(domain.clip(zeros)):
            raise InputError(
                "a function cannot be given a null record, which zero_out compares with, as zeros "
                "are out of bounds; take 'replace' or 'add_or_remove'"
            )
        self.query, self._group = query, k
        self.domain, self.records = domain, n
        sides = (np.reshape(side, (-1, query.features)) for side in farthest(query)[:2])
        self._one, self._other = (domain.clip(side.T).T for side in sides)
        self._equal = domain.clip(zeros).T
        starts = np.unique([*range(0, n - k + 1, k), n - k])
        edges, inner = edge_records(query, n, stream).T, inner_records(query, n, stream).T
        high, low = (np.resize(side, (n, query.features)) for side in (self._one, self._other))
        removes = query.add_or_remove
        shuffled = stream.permutation(starts)
        self.walks = [
            Walk(low, high, starts, k, removes, "records of which the first are at one edge"),
            Walk(low, high, shuffled, k, removes, "records of which some are at one edge"),
        ]
        if query.adjacency == "replace":
            new = inner_records(query, n, stream).T
            self.walks.append(Walk(inner, new, shuffled, k, False, "inner values"))
        kinds = {
            "equal records": self._equal,
            "random records near the edges": edges,
            "inner values": inner,
            "records at the first edge": high,
            "records at the second edge": low,
        }
        most = int(np.clip(PLACE_NUMBERS / (n * query.features), FEWEST, PLACES))
        chosen = self._choose(starts, most, stream)
        self.pairs = [self._pair(kinds[among], 0, self._one, among) for among in kinds]
        for number in range(RANDOM):
            among = [*kinds][number % 2]
            record = edge_records(query, k, stream).T
            self.pairs.append(self._pair(kinds[among], 0, record, among))
        for _ in range(INSIDE):
            # A function may treat records in the middle otherwise, of which many hide one.
            record = inner_records(query, k, stream).T
            self.pairs.append(self._pair(kinds["equal records"], 0, record, "equal records"))
        for walk in self.walks:
            self.pairs += [
                walk.pair(int(step)) for step in self._choose(np.arange(len(starts)), most, stream)
            ]
        for among in ("equal records", "random records near the edges", "inner values"):
            self.pairs += [self._pair(kinds[among], int(s), self._one, among) for s in chosen]
        self.pairs = [pair for pair in self.pairs if not np.array_equal(*pair.sides)]
        self.count = len({pair.place for pair in self.pairs})

    @staticmethod
    def _choose(places: NDArray[np.int_], most: int, stream: Generator) -> NDArray[np.int_]:
        """Return all places, or the first, the middle, the last one and random ones."""
        if len(places) <= most:
            return places
        middle = [places[0], places[len(places) // 2], places[-1]]
        return np.unique([*middle, *stream.choice(places, most - 3, replace=False)])

    def _pair(
        self, shared: Array, start: int, record: Array, among: str, other: Array | None = None
    ) -> Pair:
        block = slice(start, start + self._group)
        first, second = shared.copy(), shared.copy()
        first[block], second[block] = record, self._other if other is None else other
        if self.query.add_or_remove:
            second = np.delete(second, block, axis=0)
        return Pair(first, second, start, among)

    def worst(self, size: Size) -> Pair:
        """Return the neighbours whose values of the query differ most, by a size of changes."""
        pair = worst(self.query, size, np.random.default_rng(0))
        sides = (np.reshape(side, (-1, self.query.features)) for side in pair[:2])
        record, other = (self.domain.clip(side.T).T for side in sides)
        return self._pair(self._equal, 0, record, "equal records", other)

    def beyond(self) -> Iterator[Pair]:
        """Yield neighbours of which one has a person's records beyond the bounds."""
        bounds = self.query.domain
        middle, reach = np.zeros(bounds.features), bounds.magnitudes
        if isinstance(bounds, Box):
            middle, reach = bounds.middle, bounds.widths / 2
        for ranges in BEYOND:
            words = f"equal records, and is {ranges:g} ranges beyond the bounds"
            for columns in self._columns():
                for start, sign in ((0, 1), (self.records - self._group, -1)):
                    edge = middle + sign * (1 + 2 * ranges) * reach
                    record = np.where(columns, edge, self._one)
                    yield self._pair(self._equal, start, record, words)
        far = self._equal + 2 * ALL_BEYOND * reach
        yield self._pair(far, 0, self._one, "records beyond the bounds")
        yield self._pair(far, 0, 2 * far[: self._group], "records beyond the bounds, as it is")

    def not_finite(self) -> Iterator[Pair]:
        """Yield neighbours of which one has what is no finite number."""
        for words, number in NOT_FINITE.items():
            for columns in self._columns():
                record = np.where(columns, number, self._one)
                yield self._pair(self._equal, 0, record, f"equal records, and has {words}")

    def _columns(self) -> Iterator[NDArray[np.bool_]]:
        """Yield marks (m,) of all columns, and of each alone, of few where records are many."""
        features = self.query.features
        yield np.ones(features, bool)
        if features > 1:
            most = int(PLACE_NUMBERS / (self.records * features))
            yield from np.eye(min(most, COLUMNS, features), features, dtype=bool)

    def steepest(self, answer: Callable[[Array], Array | None]) -> Iterator[Pair]:
        """Yield the pairs of walks with many steps at which an answer moves most.

        The part of a walk along which the answer moves most is halved again and again. A function
        that jumps somewhere, as a quantile does, is caught where it jumps.

        Args:
            answer: function of records, None where it fails.
        """
        for walk in self.walks:
            size = len(walk.order)
            if size <= PLACES or walk.removes:
                continue
            points = np.unique(np.linspace(0, size, STEPS).astype(int)).tolist()
            values = {point: answer(walk.at(point)) for point in points}
            parts = [*pairwise(points)]
            for _ in range(HALVINGS):
                wide = [part for part in parts if part[1] - part[0] > 1]
                if not wide:
                    break
                start, end = max(wide, key=lambda part: _distance(*(values[p] for p in part)))
                middle = (start + end) // 2
                values[middle] = answer(walk.at(middle))
                parts.remove((start, end))
                parts += [(start, middle), (middle, end)]
            for start, end in parts:
                if end - start == 1:
                    yield walk.pair(start)


def extremes(query: Query, stream: Generator, most: int = RANDOM) -> Iterator[Pair]:
    """Yield the farthest neighbours and ``most`` random ones, among equal and among random records.

    The latter are near the edges. Where neighbours lack a record, it is zeroed out.
    """
    count, group = counts(query)
    record, other = (np.reshape(side, (-1, query.features)) for side in farthest(query)[:2])
    records = [record, *(edge_records(query, group, stream).T for _ in range(most))]
    zeros = np.zeros((query.features, count))
    kinds = {
        "equal records": query.domain.clip(zeros).T,
        "random records near the edges": edge_records(query, count, stream).T,
    }
    for (among, shared), record in product(kinds.items(), records):
        first, second = shared.copy(), shared.copy()
        first[:group], second[:group] = record, other
        yield Pair(first, second, 0, among)


def _distance(first: Array | None, second: Array | None) -> float:
    """Return how far two answers are apart; infinite where one of them fails."""
    if first is None or second is None or first.shape != second.shape:
        return 0.0 if first is None and second is None else float("inf")
    return float(np.linalg.norm(first - second))
