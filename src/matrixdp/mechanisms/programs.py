"""Composed mechanisms as programs, which ask for one noisy answer after another.

A program stands once, as ``run(records, ask)``. It passes exact values of the records to ``ask``,
which adds the noise of a part. What it does with the answers is post-processing, but for those of a
:class:`Step` whose mu covers a part of them. They alone decide what it asks next. mu^2 adds up
nevertheless (Dong, Roth & Su, JRSS B 2022, Corollary 3.3).

Who runs it passes other records and another ``ask``:

- a simulation, one release after another: :class:`Columns` and :func:`drawing`;
- a real release, of exact sums with safe noise: :mod:`matrixdp.mechanisms.in_parts`;
- an audit, of data sets and noise of its choice: :mod:`matrixdp.auditing.alignment`.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from matrixdp import library
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, MeanQuery, Query, RecordsQuery

#: Numbers of all simulated releases that are computed at once.
NUMBERS = 2**16


class Records:
    """Records that a program reads."""

    def value(self, query: Query) -> Array:
        """Return the exact value of a query, shape (m, n)."""
        raise NotImplementedError

    def about(self, centre: Array) -> Records:
        """Return the records minus a centre (m,)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Value(Records):
    """The exact value of the only query that a program asks of its records."""

    exact: Array

    def value(self, query: Query) -> Array:
        """Return the exact value, whatever the query: there is one."""
        return self.exact


@dataclass(frozen=True)
class Columns(Records):
    """Records of simulated releases, one per column (m, n), which all share; or (k, m, n)."""

    columns: Array
    _values: dict[Query, Array] = field(default_factory=dict, compare=False)

    def value(self, query: Query) -> Array:
        """Return the value of a query, which is computed once for all releases."""
        if query not in self._values:
            self._values[query] = query.value(self.columns)
        return self._values[query]

    def about(self, centre: Array) -> Columns:
        """Return the records minus a centre (m,), or minus one for each release (k, m)."""
        return Columns(self.columns - centre[..., None])

    def of(self, which: Array) -> Columns:
        """Return the records of some of the releases, by marks (k,): or those that all share."""
        return self if self.columns.ndim == 2 else Columns(self.columns[which])


@dataclass(frozen=True)
class Step:
    """A part that is only simulated.

    ``mu`` is its Gaussian-DP parameter. Where noisy entries are compared alone, a shift of all of
    them by ``unit`` changes nothing; elsewhere it is 0.

    The answer of a search holds all noisy comparisons, and ``mu`` covers only which of them is the
    first above the threshold. A program may use nothing else of that answer, and no real release
    may hand it out.
    """

    noise: NoiseDistribution | Noise
    mu: float
    unit: float = 0.0


#: What a program asks: a part, with the distribution ``noise``.
Question = AdditiveGaussian | Step

#: Maps a question and its exact value (m, n) to the noisy value.
Ask = Callable[[Question, Array], Array]


def drawing(generator: np.random.Generator, count: int | None = None) -> Ask:
    """Return what answers the questions of a simulated release.

    With ``count`` it answers those of so many releases at once, (count, m, n). Their values are one
    (m, n), or one for each; those of some of the releases are one for each of them.
    """

    def ask(question: Question, value: Array) -> Array:
        draws = len(value) if value.ndim == 3 else 1 if count is None else count
        if isinstance(question, AdditiveGaussian):
            # Without its check: what a program asks follows from records that were checked.
            noisy = question._draw(value, generator, draws)
        else:
            noisy = value + question.noise.sample(generator, draws)
        return np.asarray(noisy[0] if count is None else noisy)

    return ask


class Block:
    """What answers the questions of many simulated releases at once, each with the noise of one.

    A release draws its standard normal numbers part by part, and as many for any choice that it
    makes between. So each has a row of them (k, numbers), from which its parts take theirs in turn.
    """

    def __init__(self, numbers: Array) -> None:
        self._numbers = numbers

    def __call__(self, question: Question, value: Array) -> Array:
        """Return the noisy values (k, m, n) of one value (m, n), or of one for each release."""
        noise: Any = question.noise
        count = math.prod(noise.shape)
        drawn, self._numbers = self._numbers[:, :count], self._numbers[:, count:]
        return np.asarray(value + noise.of_numbers(drawn.reshape(-1, *noise.shape)))

    def of(self, which: Array) -> Block:
        """Return what answers for some of the releases, by marks (k,), from here on."""
        return Block(self._numbers[which])


class Part(NamedTuple):
    """A part of a release: its name, and its releases, one for each earlier choice."""

    name: str
    releases: tuple[AdditiveGaussian, ...]

    @property
    def mu(self) -> float:
        """The largest mu of the part, for any earlier choice."""
        return max(release.mu for release in self.releases)

    @property
    def numbers(self) -> int:
        """The largest number of random numbers of the part."""
        return max(release.numbers for release in self.releases)


@dataclass(frozen=True, kw_only=True, eq=False)
class Program(CalibratedMechanism):
    """A calibrated mechanism in several parts."""

    #: Whether ``run`` and ``released`` serve many releases at once, as NumPy broadcasts: then
    #: answers, and what is made of them, have the releases along their first axis.
    batches: ClassVar[bool] = False

    #: Whether each release has records of its own, as about a centre.
    moves_records: ClassVar[bool] = False

    def noisy_mean(self, query: MeanQuery, std: float) -> AdditiveGaussian:
        """Return a part: a mean with independent noise of one standard deviation."""
        return AdditiveGaussian.independent(query, std, Budget(self.epsilon, self.delta))

    @property
    def add_or_remove(self) -> bool:
        """Whether the number of records is private, which an identity query does not say."""
        return self.query.add_or_remove

    @property
    def adjacency(self) -> str:
        """The neighbouring relation of the release."""
        return ADD_OR_REMOVE if self.add_or_remove else self.query.adjacency

    @abc.abstractmethod
    def run(self, records: Records, ask: Ask) -> Any:
        """Return the outcome of a release."""

    def released(self, outcome: Any) -> Array:
        """Return what ``simulate`` gives of an outcome."""
        return np.asarray(outcome)

    @property
    def reads(self) -> Callable[[Array], Records]:
        """What makes of an exact value, or of records as columns, what ``run`` reads."""
        return Columns if isinstance(self.query, RecordsQuery) else Value

    @property
    def drawn(self) -> int | None:
        """How many normal numbers a release draws, whatever it chooses; None where that differs."""
        return None

    def simulated(self, value: Array, asks: Sequence[Ask]) -> Array:
        """Return a release for each ``ask``, of one value (m, n), or of one for each (k, m, n)."""
        reads = self.reads
        each = [reads(value)] * len(asks) if value.ndim == 2 else map(reads, value)
        pairs = zip(each, asks, strict=True)
        return np.stack([self.released(self.run(records, ask)) for records, ask in pairs])

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        # Another author's subclass may take the first answer for that of all releases, and a part
        # of such a class may have noise of its own.
        if not (self.batches and library.plain(self)):
            return self.simulated(value, [drawing(generator)] * count)
        if self.drawn is None:
            return self.released(self.run(self.reads(value), drawing(generator, count)))
        each, parts = self.reads(value), []
        alone = self.moves_records or value.ndim == 3
        size = max(self.drawn, math.prod(value.shape[-2:]) if alone else 0)
        step = max(1, NUMBERS // size)
        for start in range(0, count, step):
            block = slice(start, min(start + step, count))
            few = each if value.ndim == 2 else self.reads(value[block])
            numbers = generator.standard_normal((block.stop - start, self.drawn))
            parts.append(self.released(self.run(few, Block(numbers))))
        return np.concatenate(parts)


def answered(part: CalibratedMechanism, records: Records, ask: Ask) -> Array:
    """Return what a part releases, which may be a program of its own."""
    if isinstance(part, Program):
        return part.released(part.run(records, ask))
    assert isinstance(part, AdditiveGaussian)
    return ask(part, records.value(part.query))
