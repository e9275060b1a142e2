"""Composed mechanisms as programs, which ask for one noisy answer after another.

A program stands once, as ``run(records, ask)``. It passes exact values of the records to ``ask``,
which adds the noise of a part. What it does with the answers is post-processing, but for those of a
:class:`Step` whose mu covers a part of them. They alone decide what it asks next. mu^2 adds up
nevertheless (Dong, Roth & Su, JRSS B 2022, Corollary 3.3).

Who runs it passes other records and another ``ask``:

- a simulation, of many runs at once: :class:`Stack` and :class:`Simulation`;
- a real release, of exact sums with safe noise: :mod:`matrixdp.mechanisms.composed`;
- an audit, of data sets and noise of its choice: :mod:`matrixdp.auditing.composition`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism
from matrixdp.noise import safe
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery


class Records:
    """Records that a program reads, of one release or of many runs."""

    def value(self, query: Query) -> Array:
        """Return the exact value of a query, shape (..., m, n)."""
        raise NotImplementedError

    def about(self, centre: Array) -> Records:
        """Return the records minus a centre (..., m)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Value(Records):
    """The exact value of the only query that a program asks of its records."""

    exact: Array

    def value(self, query: Query) -> Array:
        """Return the exact value, whatever the query: there is one."""
        return self.exact


@dataclass(frozen=True)
class Stack(Records):
    """Records of runs: a matrix (m, n) for all of them, or one each (runs, m, n)."""

    columns: Array

    def value(self, query: Query) -> Array:
        """Return the value of a query, shape (..., m, n)."""
        return query.value(self.columns)

    def about(self, centre: Array) -> Stack:
        """Return the records minus a centre (..., m)."""
        return Stack(self.columns - centre[..., None])

    def of(self, runs: NDArray[np.intp]) -> Stack:
        """Return the records of some runs."""
        return Stack(self.columns[runs]) if self.columns.ndim == 3 else self


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

#: Maps a question and its exact value (..., m, n) to the noisy value. Where ``ask`` answers many
#: runs, their axis comes first, and the exact value may be one for all of them.
Ask = Callable[[Question, Array], Array]


@dataclass(frozen=True)
class Simulation:
    """Answers of many runs."""

    generator: np.random.Generator
    count: int

    def __call__(self, question: Question, value: Array) -> Array:
        """Return the noisy answers to a question, shape (count, m, n)."""
        if isinstance(question, AdditiveGaussian):
            # Without its check: what a program asks follows from records that were checked.
            return question._draw(value, self.generator, self.count)
        return value + question.noise.sample(self.generator, self.count)

    def of(self, runs: NDArray[np.intp]) -> Simulation:
        """Return the answers of some runs."""
        return Simulation(self.generator, len(runs))


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


@dataclass(frozen=True, kw_only=True)
class Program(CalibratedMechanism):
    """A calibrated mechanism in several parts."""

    def noisy_mean(self, query: MeanQuery, std: float) -> AdditiveGaussian:
        """Return a part: a mean with independent noise of one standard deviation."""
        budget, noise = Budget(self.epsilon, self.delta), Noise.of(safe.NORMAL, std, query.shape)
        mu = query.l2_sensitivity / std
        return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=std)

    @abc.abstractmethod
    def run(self, records: Records, ask: Ask) -> Any:
        """Return the outcome of one release, or of many runs along the first axis."""

    def released(self, outcome: Any) -> Array:
        """Return what ``simulate`` gives of the outcome of many runs."""
        return np.asarray(outcome)

    def simulated(self, value: Array, ask: Simulation) -> Array:
        """Return the releases of many runs, to which ``ask`` gives the answers."""
        reads = isinstance(self.query, RecordsQuery)
        return self.released(self.run(Stack(value) if reads else Value(value), ask))

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        return self.simulated(value, Simulation(generator, count))


def answered(part: CalibratedMechanism, records: Records, ask: Ask) -> Array:
    """Return what a part releases, which may be a program of its own."""
    if isinstance(part, Program):
        return part.released(part.run(records, ask))
    assert isinstance(part, AdditiveGaussian)
    return ask(part, records.value(part.query))
