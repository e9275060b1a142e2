"""Replays of a composed release, to check the declarations of its parts.

A part answers f_k, which may depend on earlier noisy answers, with noise of a declared deviation.
Let w_k be f_k over that deviation. For any two data sets X and X' and any draws z_k, the draws
z'_k = z_k + w_k(X) - w_k(X') give the same noisy answers, and so the same release (a randomness
alignment; Zhang & Kifer, POPL 2017). The size of w_k(X) - w_k(X') on neighbours is the part's mu.

So a program that gets the same noisy answers on X' must ask the same and release the same. One that
uses an exact answer, or reads the data once more, does not. The check needs no neighbours: data
sets far apart show most. Programs of simulations are replayed so, and those of real releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from matrixdp.auditing.audit import CLOSE, ROUNDING, Finding, is_gaussian
from matrixdp.auditing.neighbours import counts, farthest, random_records, worst
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.in_parts import ComposedMoments
from matrixdp.mechanisms.programs import Program, Question, Records, Step
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import (
    Query,
    SecondMomentQuery,
    second_moments,
)
from matrixdp.status import NOT_REFUTED, REFUTED

#: Number of replayed pairs of data sets that are far apart, of replayed pairs of neighbours, and of
#: the former pairs whose releases get far larger noise.
PAIRS, NEIGHBOURS, MOVED = 16, 12, 6

#: Sizes of the replayed noise, used in turn: small noise reveals the effect of the data.
SIZES = 1.0, 1e-3

#: Sizes of the records that neighbours of a real release share, used in turn: beside small ones one
#: record shows most of what the data decide.
SHARED = 1.0, 0.1, 0.01

#: The far larger noise, in deviations.
FARTHEST = 1e5

#: Missing share of a part's noise that replays detect with a probability of at least .95;
#: ``tests/reproduction/auditing/test_papers_composition.py`` measures it.
SHORTFALL = 0.01

#: The verdict where neighbours differ by more than declared.
REPLAYED = f"{REFUTED}: a replay on two neighbours shows it"
#: The verdict where replays with the same noisy answers differ.
UNDECLARED = f"{NOT_REFUTED}: the noise of its parts does not enter what is released as declared"


class Undeclared(Exception):
    """A program asks for other answers than on other records, or for values without clipping."""


class Numbers(NamedTuple):
    """Noise of all parts at a size; one part's numbers are shifted along a direction."""

    seed: int
    size: float = 1.0
    part: int = -1
    shift: float = 0.0

    def numbers(self, part: int, question: Question, count: int) -> Array:
        """Return the numbers of a part, by its place."""
        stream = np.random.default_rng([self.seed, part])
        draw = stream.standard_normal if is_gaussian(question.noise) else stream.laplace
        numbers = self.size * np.asarray(draw(size=count))
        if part == self.part:
            numbers += self.shift * stream.standard_normal(count)
        return numbers


class Transcript:
    """Noisy answers to the questions of a program: with noise, or those of another run again.

    Args:
        noise: the noise; None where answers are repeated.
        repeated: the run whose answers are repeated.
        shift: what is added to the exact answers of a step, in its unit, and subtracted from the
            noisy ones: nothing where entries are compared alone.

    Attributes:
        parts: what was asked.
        noisy: whitened noisy answers.
        numbers: noise in them.
    """

    def __init__(
        self, noise: Numbers | None = None, repeated: Transcript | None = None, shift: float = 0.0
    ) -> None:
        self._noise, self._repeated, self._shift = noise, repeated, shift
        self.parts: list[Question] = []
        self.noisy: list[Array] = []
        self.numbers: list[Array] = []

    def __call__(self, question: Question, value: Array) -> Array:
        """Return the noisy answer to a question.

        Raises:
            Undeclared: the run whose answers are repeated had no such question.
        """
        place, noise = len(self.parts), question.noise
        moved = self._shift * question.unit if isinstance(question, Step) else 0.0
        white = np.ravel(noise.whiten(value + moved))  # type: ignore[union-attr]
        if self._noise is not None:
            noisy = white + self._noise.numbers(place, question, white.size)
        else:
            assert self._repeated is not None
            if place == len(self._repeated.noisy):
                raise Undeclared
            noisy = self._repeated.noisy[place]
            if noisy.shape != white.shape:
                raise Undeclared
        self.parts.append(question)
        self.noisy.append(noisy)
        self.numbers.append(noisy - white)
        return np.asarray(noise.colour(noisy)) - moved  # type: ignore[union-attr]

    @property
    def mu(self) -> float:
        """What all parts spend: what the library proves of their noise, or else they state."""

        def spent(part: Question) -> float:
            if isinstance(part, Step):
                return part.mu
            proven = proofs.mu(part.query, part.noise)
            return part.mu if np.isnan(proven) else proven

        return float(np.linalg.norm([spent(part) for part in self.parts]))

    def apart(self, other: Transcript) -> float:
        """Return the distance of the Gaussian draws from those of another run."""
        return float(
            np.linalg.norm(
                [
                    np.linalg.norm(new - old)
                    for part, new, old in zip(self.parts, self.numbers, other.numbers, strict=True)
                    if is_gaussian(part.noise)
                ]
            )
        )


def verdict(finding: Finding | None) -> str:
    """Return the verdict that replays decide; empty where they show nothing, or there are none."""
    if finding is None:
        return ""
    if finding.mu > 1 + ROUNDING:
        return REPLAYED
    return UNDECLARED if finding.differing_share > 0 else ""


def replay(
    release: Program | ComposedMoments, stream: np.random.Generator, most: int | None = None
) -> Finding:
    """Return the finding of replays on a composed release.

    A part whose noise, however large, changes nothing is not used as declared. Neither are parts
    that spend more together than the release declares.

    Args:
        release: a composed release, or its program.
        stream: source of data sets and noise.
        most: largest number of pairs of data sets that are far apart, and of neighbours. None for
            ``PAIRS`` and ``NEIGHBOURS``.
    """
    pairs, neighbours = PAIRS, NEIGHBOURS
    if most is not None:
        pairs, neighbours = min(most, pairs), min(most, neighbours)
    try:
        differing = _differing_share(release, stream, pairs)
        mu = _largest_mu(release, stream, neighbours)
    except Undeclared:
        # Nothing is replayed of what it may not ask, and no mu is known.
        differing, mu = 1.0, 0.0
    return Finding(differing, mu / float(release.mu or np.nan))


def _differing_share(
    release: Program | ComposedMoments, stream: np.random.Generator, pairs: int
) -> float:
    """Return ``differing_share`` of :class:`Finding`, by replays on data sets far apart."""
    differing, moves = [], dict[int, bool]()
    for number in range(pairs):
        first, second = (random_records(release.query, stream) for _ in range(2))
        noise = Numbers(int(stream.integers(2**32)), SIZES[number % len(SIZES)])
        _, answers = _run(release, first, noise)
        overspent = not answers.mu <= (release.mu or np.inf) * (1 + ROUNDING)
        if number < MOVED:
            for part in range(len(answers.parts)):
                shaken = noise._replace(part=part)
                moves[part] = moves.get(part, False) or _moves(release, first, shaken)
        differing.append(overspent or _replay(release, first, second, noise) is None)
    return float(np.mean(differing)) or float(not all(moves.values()))


def _largest_mu(
    release: Program | ComposedMoments, stream: np.random.Generator, neighbours: int
) -> float:
    """Return the largest mu of all normal parts together on neighbours.

    Neighbours differ in the records of a person; one that is removed is left out. A null record
    is replayed as one of zeros, where these lie within the bounds.
    """
    query = release.query
    moments = SecondMomentQuery(
        query.domain, query.n_records, query.adjacency, per_person=query.per_person
    )
    # Parts may answer second moments whatever the query of the release is, as directions do.
    extremes = [farthest(query), farthest(moments)]
    # A query of the study names the norms of its parts.
    norms = [norm for _, norm in getattr(query, "measures", {}).values()]
    extremes += [worst(query, norm, stream) for norm in norms]
    if isinstance(release, ComposedMoments):
        # A part that reads lengths alone moves most from a full record to one of zeros.
        extremes.append(extremes[0]._replace(other=0 * extremes[0].other))
    _, group = counts(query)
    mus = [0.0]
    for number in range(neighbours):
        first = random_records(query, stream)
        if isinstance(release, ComposedMoments):
            first *= SHARED[number // len(extremes) % len(SHARED)]
        second = first.copy()
        pair = extremes[number % len(extremes)]
        for side, record in ((first, pair.record), (second, pair.other)):
            side[:, :group] = np.reshape(record, (-1, query.features)).T
        noise = Numbers(int(stream.integers(2**32)))
        if _private_count(release, first, noise):
            second = second[:, group:]
        # None where the second run asks otherwise: such pairs are counted by `_differing_share`.
        mus.append(_replay(release, first, second, noise) or 0.0)
    return max(mus)


def _private_count(release: Program | ComposedMoments, records: Array, noise: Numbers) -> bool:
    """Return whether the number of records is private, which a query of records does not say."""
    asked = [*_run(release, records, noise)[1].parts]
    queries = [part.query for part in asked if not isinstance(part, Step)]
    return any(query.add_or_remove for query in [release.query, *queries])


def _run(
    release: Program | ComposedMoments,
    records: Array,
    noise: Numbers | None,
    repeated: Transcript | None = None,
) -> tuple[Array, Transcript]:
    """Return what a program releases of records (m, n), and its answers.

    Raises:
        Undeclared: a real release refuses what its program asks.
    """
    if isinstance(release, ComposedMoments):
        answers = Transcript(noise, repeated)
        try:
            parts = release.run(lambda: [records.T], answers)
        except InputError as error:
            raise Undeclared from error
        return np.concatenate([np.ravel(part) for part in parts]), answers
    # What is added depends on the records, so that a step that shows it gives another release.
    mean_square = float((records**2).sum()) / max(records.shape[1], 1)
    shift = 10 * mean_square / release.query.domain.radius**2
    answers = Transcript(noise, repeated, shift)
    outcome = release.run(_ClippedRecords(_clip(release.query, records)), answers)
    return release.released(outcome), answers


def _same(first: Array, second: Array, *, each: bool = False) -> bool:
    """Return whether releases are equal up to rounding.

    ``each`` compares each number by its own size, as those of a real release, which are of several
    units and come from exact sums; others are compared by the largest one.
    """
    if first.shape != second.shape:
        return False
    limit = ROUNDING * np.abs(first) if each else CLOSE * np.abs(first).max(initial=0.0)
    return bool((np.abs(first - second) <= limit).all())


def _moves(release: Program | ComposedMoments, records: Array, noise: Numbers) -> bool:
    """Return whether far larger noise of a part, in either direction, changes the release."""
    start, *far = (
        _run(release, records, noise._replace(shift=shift))[0]
        for shift in (0.0, FARTHEST, -FARTHEST)
    )
    each = isinstance(release, ComposedMoments)
    return not all(_same(start, other, each=each) for other in far)


def _replay(
    release: Program | ComposedMoments, first: Array, second: Array, noise: Numbers
) -> float | None:
    """Return the distance between the draws of two data sets with the same noisy answers.

    It is None if the questions or the releases differ.
    """
    released, answers = _run(release, first, noise)
    try:
        again, repeated = _run(release, second, None, answers)
    except Undeclared:
        return None
    each = isinstance(release, ComposedMoments)
    if len(repeated.parts) != len(answers.parts) or not _same(released, again, each=each):
        return None
    return repeated.apart(answers)


def _clip(query: Query, records: Array) -> Array:
    """Return records (m, n), clipped to the radius of a ball independently of the query."""
    if not isinstance(query.domain, Ball):
        return records
    norms = np.linalg.norm(records, axis=0)
    return records * np.minimum(1, query.domain.radius / np.maximum(norms, 1e-300))


@dataclass(frozen=True)
class _ClippedRecords(Records):
    """Records (m, n) whose second moments are computed here too, independently of the query."""

    columns: Array

    def value(self, query: Query) -> Array:
        """Return the exact value of a query.

        Raises:
            Undeclared: they are not the second moments of clipped records.
        """
        value = query.value(self.columns)
        moments = isinstance(query, SecondMomentQuery)
        if moments and not _same(second_moments(_clip(query, self.columns)), value):
            raise Undeclared
        return value

    def about(self, centre: Array) -> _ClippedRecords:
        """Return the records minus a centre (m,)."""
        return _ClippedRecords(self.columns - centre[:, None])
