"""The shape of a task: it turns data into instances, one per trial, and scores what is released."""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from matrixdp.checks import Array
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import Box, IdentityQuery, Query, SecondMomentQuery
from matrixdp.trials import CLIPPED, NONPRIVATE

Streams = Sequence[np.random.Generator]

#: Results by the options that they depend on, where they are shared.
Shared = dict[tuple, Array]


class NoBaseline(Exception):
    """A baseline does not follow from the public bounds; the text says why."""


class Released(NamedTuple):
    """What a release returned, trials first, and the attributes that say what it is."""

    values: Array
    yields: str
    ridge: float = 0.0
    noise_std: float = float("nan")


class Instance(abc.ABC):
    """The private data of a stack of trials, and what the metric needs beside them."""

    #: The private matrix, shape (m, n), or (trials, m, n) where trials split the data.
    matrix: Array

    def score(self, values: Array, *, shared: Shared | None = None, **of: Any) -> Array:
        """Return the metric of each trial, shape (trials,).

        ``values`` is what a release returned, and ``of`` the other fields of :class:`Released`;
        ``shared`` what instances of the same trials have computed from the same release.
        """
        return self._score(Released(values, **of), {} if shared is None else shared)

    @abc.abstractmethod
    def _score(self, released: Released, shared: Shared) -> Array:
        """Return the metric of each trial."""

    def reference(self, name: str, streams: Streams, domain: Box) -> Array:
        """Return the metric of a reference row (see :attr:`Task.references`), shape (trials,).

        ``domain`` are the public bounds. NoBaseline: the row does not follow from them.
        """
        if name in CLIPPED:
            ball = Ball(float(np.sqrt(CLIPPED[name])) * domain.radius, domain.features)
            return self.without_privacy(ball.clip(self.matrix), streams)
        if name == NONPRIVATE:
            return self.without_privacy(self.matrix, streams)
        return self.guess(name, streams, domain)

    @abc.abstractmethod
    def without_privacy(self, records: Array, streams: Streams) -> Array:
        """Return the metric of exact results on records, shape (trials,)."""

    @abc.abstractmethod
    def guess(self, name: str, streams: Streams, domain: Box) -> Array:
        """Return the metric of a row that uses no record, shape (trials,)."""


class Task(abc.ABC):
    """A task with a metric that is better when smaller.

    It names the queries that serve it, the paper's own first, and the rows that need no mechanism.
    """

    metric: ClassVar[str]
    queries: ClassVar[tuple[str, ...]]
    references: ClassVar[tuple[str, ...]]

    @property
    @abc.abstractmethod
    def accepts(self) -> frozenset[str]:
        """The yields of a release that it can work with."""

    def records(self, matrix: Array) -> int:
        """Return how many records of the data are private."""
        return matrix.shape[1]

    def tuned(self, matrix: Array, streams: Streams) -> Self:
        """Return the task with options that it chooses itself, as if that were public.

        It sees the whole data, and the streams of splits that no reported trial uses.
        """
        return self

    def query(self, name: str, domain: Box, records: int, adjacency: str) -> Query:
        """Return one of the queries that serve the task, from public facts."""
        kind = IdentityQuery if name == IdentityQuery.name else SecondMomentQuery
        return kind(domain, records, adjacency)

    def position(self, feature: int, features: int) -> int:
        """Return the index that one of the data's features has in the queries."""
        return feature

    @abc.abstractmethod
    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Return the instance of one trial per stream; ``matrix`` is m x n."""


@dataclass(frozen=True)
class Entry:
    """How a task appears in config.yaml: what makes it, of the keys that an experiment must have.

    Of these, ``target`` is the name of a feature, whose index the task is given.
    """

    build: Callable[..., Task]
    needs: tuple[str, ...] = ()
