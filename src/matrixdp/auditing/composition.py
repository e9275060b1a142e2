"""Replays of a composed release, to check the declarations of its parts.

A part answers f_k, which may depend on earlier noisy answers, with noise of a declared deviation.
Let w_k be f_k over that deviation. For any two data sets X and X' and any draws z_k, the draws
z'_k = z_k + w_k(X) - w_k(X') give the same noisy answers, and so the same release (a randomness
alignment; Zhang & Kifer, POPL 2017). The size of w_k(X) - w_k(X') on neighbours is the part's mu.

A program that omits or shrinks a part's noise gives another release on X' with the draws z'. So
does a program that reads the data once more. The check needs no neighbours: data sets far apart
show most. The stream of draws accepts only the declared kinds and numbers of draws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from matrixdp.auditing import sensitivities
from matrixdp.auditing.base import ROUNDING, Finding, is_gaussian
from matrixdp.auditing.neighbours import farthest, random_records, worst
from matrixdp.checks import Array
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.programs import Program, Question, Records, Step
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.noise.value import Noise as NoiseValue
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import (
    Query,
    SecondMomentQuery,
    second_moments,
)

#: Number of replayed pairs of data sets that are far apart, of replayed pairs of neighbours, and of
#: the former pairs whose releases are searched for changes.
PAIRS, NEIGHBOURS, CHANGES = 16, 12, 6

#: Sizes of the replayed noise, used in turn: small noise reveals the effect of the data.
SIZES = 1.0, 1e-3

#: Largest difference of two replays of one release, over its size.
CLOSE = 1e-6

#: Resolution and range of the search for a change, in deviations.
RESOLUTION, FARTHEST = 1e-3, 1e5

#: Relative error of a part's noise, of either sign, that replays detect with a probability of at
#: least .95; ``tests/matrixdp/auditing/test_composition.py`` measures it.
SHORTFALL = 0.01

#: Function from a part's exact value over its deviation, and the type of noise, ``normal`` or
#: ``laplace``, to the noisy one.
Answer = Callable[[Array, str], Array]


class Draw(NamedTuple):
    """Numbers of unit scale that a part draws from its stream."""

    noise_type: str
    numbers: Array


class Undeclared(Exception):
    """A release draws other numbers from its stream than its parts declare."""


class Script(np.random.Generator):
    """A stream that returns draws fixed in advance."""

    def __init__(self, draws: list[Draw]) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws = iter(draws)
        self._untouched = self.bit_generator.state

    def _next(self, noise_type: str, size: int) -> Array:
        draw = next(self._draws, None)
        if draw is None or draw.noise_type != noise_type or draw.numbers.size != size:
            raise Undeclared
        return draw.numbers

    def standard_normal(self, size: Any = None, dtype: Any = float, out: Any = None) -> Any:
        """Return the next draw, of normal numbers."""
        shape = np.shape(out) if out is not None else np.zeros(size or ()).shape
        numbers = self._next("normal", int(np.prod(shape))).reshape(shape)
        if out is None:
            return numbers.copy()
        out[...] = numbers
        return out

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Return the next draw, of Laplace numbers."""
        shape = np.zeros(size or ()).shape
        return loc + scale * self._next("laplace", int(np.prod(shape))).reshape(shape)

    def finish(self) -> None:
        """Raise Undeclared if draws are left, or if the release bypassed this class."""
        if next(self._draws, None) or self.bit_generator.state != self._untouched:
            raise Undeclared


class Noise(NamedTuple):
    """Noise of all parts at a size; one part's numbers are shifted along a direction."""

    seed: int
    size: float
    part: int = -1
    shift: float = 0.0

    def draw(self, noise_type: str, shape: tuple[int, ...], part: int) -> Draw:
        """Return the numbers of a part, by its place."""
        stream = np.random.default_rng([self.seed, part])
        numbers = (stream.standard_normal if noise_type == "normal" else stream.laplace)(size=shape)
        numbers = self.size * np.asarray(numbers)
        if part == self.part:
            numbers += self.shift * stream.standard_normal(shape)
        return Draw(noise_type, numbers)


def executed(release: Program, stream: np.random.Generator, most: int | None = None) -> Finding:
    """Return the finding of replays on a composed release.

    Where a part's noise makes a discrete choice, draws on both sides of a change are replayed. A
    part whose noise, however large, changes nothing is not used as declared. Neither are parts that
    spend more together than the release declares.

    Args:
        release: a composed release, whose program runs with other noise.
        stream: source of data sets and noise.
        most: largest number of pairs of data sets that are far apart, and of neighbours. None for
            ``PAIRS`` and ``NEIGHBOURS``.
    """
    query = release.query
    pairs, neighbours = PAIRS, NEIGHBOURS
    if most is not None:
        pairs, neighbours = min(most, pairs), min(most, neighbours)
    others, moves = [], dict[int, bool]()
    for number in range(pairs):
        first, second = (random_records(query, stream) for _ in range(2))
        noise = Noise(int(stream.integers(2**32)), SIZES[number % len(SIZES)])
        trials, (*_, parts) = [noise], _scripted(release, first, noise)
        spent = not _mu(parts) <= (release.mu or np.inf) * (1 + ROUNDING)
        if number < CHANGES:
            for part in range(len(parts)):
                shaken = noise._replace(part=part)
                trials += _change(release, first, shaken)
                moves[part] = moves.get(part, False) or _moves(release, first, shaken)
        others += [spent or _replay(release, first, second, trial) is None for trial in trials]
    moments = SecondMomentQuery(query.domain, query.n_records, query.adjacency)
    extremes = [farthest(query), farthest(moments)]
    if hasattr(query, "measures"):
        norms = [norm for _, norm in sensitivities.measures(query).values()]
        extremes += [worst(query, norm, stream) for norm in norms]
    mus = [0.0]
    for number in range(neighbours):
        first = random_records(query, stream)
        second = first.copy()
        first[:, 0], second[:, 0] = extremes[number % len(extremes)][:2]
        noise = Noise(int(stream.integers(2**32)), 1.0)
        mus.append(_replay(release, first, second, noise) or 0.0)
    other = float(np.mean(others)) or float(not all(moves.values()))
    return Finding(other, max(mus) / float(release.mu or np.nan), SHORTFALL)


def _scripted(
    release: Program, records: Array, noise: Noise
) -> tuple[list[Draw], list[Array], list[Question]]:
    """Return the draws of all parts, their noisy answers, and the parts themselves."""
    draws: list[Draw] = []
    noisy: list[Array] = []

    def answer(white: Array, noise_type: str) -> Array:
        draws.append(noise.draw(noise_type, np.shape(white), len(draws)))
        noisy.append(white + draws[-1].numbers)
        return noisy[-1]

    parts = _replayed(release, records, answer)
    return draws, noisy, parts


def _run(release: Program, records: Array, draws: list[Draw]) -> Array | None:
    """Return the release under these draws; None if it consumes other draws."""
    script = Script(draws)
    try:
        released = release.simulate(release.query.value(records), [script])[0]
        script.finish()
    except Undeclared:
        return None
    return released


def _same(first: Array | None, second: Array | None) -> bool:
    if first is None or second is None:
        return False
    return bool(np.abs(first - second).max() <= CLOSE * np.abs(first).max())


def _moves(release: Program, records: Array, noise: Noise) -> bool:
    """Return whether far larger noise of a part, in either direction, changes the release."""
    start, *far = (
        _run(release, records, _scripted(release, records, noise._replace(shift=shift))[0])
        for shift in (0.0, FARTHEST, -FARTHEST)
    )
    return not all(_same(start, other) for other in far)


def _change(release: Program, records: Array, noise: Noise) -> list[Noise]:
    """Return noise just before and after a change of the release; empty without a change."""

    def released(shift: float) -> Array | None:
        moved = noise._replace(shift=shift)
        return _run(release, records, _scripted(release, records, moved)[0])

    start, low = released(0.0), RESOLUTION
    if not _same(start, released(low)):
        return []
    high = 4 * low
    while _same(start, released(high)):
        low, high = high, 4 * high
        if high > FARTHEST:
            return []
    while high - low > RESOLUTION:
        middle = (low + high) / 2
        low, high = (middle, high) if _same(start, released(middle)) else (low, middle)
    return [noise._replace(shift=low), noise._replace(shift=high)]


def _replay(release: Program, first: Array, second: Array, noise: Noise) -> float | None:
    """Return the distance between the draws of two data sets with the same noisy answers.

    It is None if their releases differ.
    """
    draws, noisy, _ = _scripted(release, first, noise)
    moved: list[Draw] = []

    def repeat(white: Array, noise_type: str) -> Array:
        place = len(moved)
        if place == len(noisy) or np.shape(white) != np.shape(noisy[place]):
            raise Undeclared
        moved.append(Draw(noise_type, noisy[place] - white))
        return noisy[place]

    try:
        _replayed(release, second, repeat)
    except Undeclared:
        return None
    same = len(moved) == len(draws)
    if not (same and _same(_run(release, first, draws), _run(release, second, moved))):
        return None
    apart = [
        float(np.linalg.norm(new.numbers - old.numbers))
        for old, new in zip(draws, moved, strict=True)
        if new.noise_type == "normal"
    ]
    return float(np.linalg.norm(apart))


def _clipped(query: Query, records: Array) -> Array:
    """Return records (m, n), clipped to the radius of a ball independently of the query."""
    if not isinstance(query.domain, Ball):
        return records
    norms = np.linalg.norm(records, axis=0)
    return records * np.minimum(1, query.domain.radius / np.maximum(norms, 1e-300))


@dataclass(frozen=True)
class _Clipped(Records):
    """Records (m, n) whose second moments are computed here, independently of the query."""

    columns: Array

    def value(self, query: Query) -> Array:
        """Return the exact value of a query."""
        if isinstance(query, SecondMomentQuery):
            return second_moments(_clipped(query, self.columns))
        return query.value(self.columns)

    def about(self, centre: Array) -> _Clipped:
        """Return the records minus a centre (m,)."""
        return _Clipped(self.columns - centre[:, None])


def _replayed(release: Program, records: Array, answer: Answer) -> list[Question]:
    """Run a program on records, with noise from ``answer``; return the parts that it asks."""
    parts: list[Question] = []
    # A shift that depends on the data, which cancels where entries are compared alone.
    shift = 10 * float((records**2).sum(axis=0).mean()) / release.query.domain.radius**2

    def ask(question: Question, value: Array) -> Array:
        parts.append(question)
        noise: Any = question.noise
        if isinstance(question, Step):
            value = value + shift * question.unit
        white, entries = np.zeros(noise.shape), _drawn(noise)
        white[entries] = noise.whiten(value)
        noise_type = "normal" if is_gaussian(noise) else "laplace"
        return noise.colour(answer(white, noise_type)[entries])

    release.run(_Clipped(_clipped(release.query, records)), ask)
    return parts


def _mu(parts: list[Question]) -> float:
    """Return what parts spend together: what the library proves of their noise, or they state."""

    def spent(part: Question) -> float:
        if isinstance(part, Step):
            return part.mu
        proven = proofs.part_mu(part.query, part.noise)
        return part.mu if np.isnan(proven) else proven

    return float(np.linalg.norm([spent(part) for part in parts]))


def _drawn(noise: NoiseValue | NoiseDistribution) -> Array:
    """Return which of the numbers (m, n) that a sampler draws enter its noise."""
    every = np.ones(noise.shape, dtype=bool)
    symmetric = isinstance(noise, NoiseValue) and noise.symmetric
    return np.triu(every) if symmetric else every
