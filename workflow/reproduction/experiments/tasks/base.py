"""The interface of tasks: a task splits data into instances, and an instance scores releases."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import Box, Query, RecordsQuery, SecondMomentQuery
from reproduction.trials import CLIPPED, NONPRIVATE

Streams = Sequence[np.random.Generator]

#: Cache of intermediate results that several instances share, by the options that decide them.
Shared = dict[tuple, Any]


class NoBaseline(Exception):
    """A baseline that does not follow from the public bounds; the message has the reason."""


class Released(NamedTuple):
    """Released values (trials, ...), with attributes of their `CalibratedMechanism`."""

    values: Array
    output_type: str
    ridge: float = 0.0
    noise_std: float = float("nan")


class Instance(abc.ABC):
    """The private data of a stack of trials, with test data or exact results for the metric."""

    #: The private matrix, shape (m, n), or (trials, m, n) where trials split the data.
    matrix: Array

    def score(self, values: Array, *, shared: Shared | None = None, **of: Any) -> Array:
        """Return the metric of each trial, shape (trials,).

        Args:
            values: released values (trials, ...).
            shared: cache of instances of the same trials, for the same release.
            of: the other fields of :class:`Released`.
        """
        return self._score(Released(values, **of), {} if shared is None else shared)

    @abc.abstractmethod
    def _score(self, released: Released, shared: Shared) -> Array:
        """Return the metric of each trial."""

    def baseline(self, name: str, streams: Streams, domain: Box) -> Array:
        """Return the metric of a baseline (see :attr:`Task.baselines`), shape (trials,).

        ``domain`` has the public bounds. NoBaseline: the baseline does not follow from them.
        """
        if name in CLIPPED:
            ball = Ball(float(np.sqrt(CLIPPED[name])) * domain.radius, domain.features)
            return self.without_privacy(ball.clip(self.matrix), streams)
        if name == NONPRIVATE:
            return self.without_privacy(self.matrix, streams)
        return self.without_records(name, streams, domain)

    @abc.abstractmethod
    def without_privacy(self, records: Array, streams: Streams) -> Array:
        """Return the metric of exact results on records, shape (trials,)."""

    @abc.abstractmethod
    def without_records(self, name: str, streams: Streams, domain: Box) -> Array:
        """Return the metric of a baseline that uses no record, shape (trials,)."""


class Task(abc.ABC):
    """A task whose metric is an error: smaller is better.

    Attributes:
        metric: name of the metric.
        queries: names of the queries that it can use, the paper's query first.
        baselines: names of its baselines.
        splits: whether each trial splits the data anew; otherwise all trials share the records.
    """

    metric: ClassVar[str]
    queries: ClassVar[tuple[str, ...]]
    baselines: ClassVar[tuple[str, ...]]
    splits: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def accepts(self) -> frozenset[str]:
        """Types of releases (``CalibratedMechanism.output_type``) that the task can use."""

    @property
    def reads_gram(self) -> bool:
        """Whether scores of released records Y depend on Y Y^T alone.

        Trials may then draw less than Y (:mod:`reproduction.experiments.grams`).
        """
        return False

    def records(self, matrix: Array) -> int:
        """Return the number of private records in the data (m, n)."""
        return matrix.shape[1]

    def tuned(self, matrix: Array, streams: Streams) -> Self:
        """Return the task with options tuned on the data, as if that were public.

        Tuning uses all of the data, on splits from ``streams`` that no reported trial uses.
        """
        return self

    def query(self, name: str, domain: Box, records: int, adjacency: str) -> Query:
        """Return one of the task's queries by name, from public facts."""
        query_type = RecordsQuery if name == RecordsQuery.name else SecondMomentQuery
        return query_type(domain, records, adjacency)

    @abc.abstractmethod
    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Return the instance for one trial per stream; ``matrix`` is m x n."""


@dataclass(frozen=True)
class TaskEntry:
    """A task that config.yaml names.

    ``build`` makes the task from the values of the keys ``needs``, which the experiment must have.
    The key ``target`` names a feature; ``build`` gets its index.
    """

    build: Callable[..., Task]
    needs: tuple[str, ...] = ()
