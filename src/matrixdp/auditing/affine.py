"""What replays of a function show: with the same random bits, and with chosen numbers.

A function that draws other numbers for other records is objected to. Where it draws normal or
Laplace numbers alone, and its answer is a matrix times the numbers plus an answer without noise,
the epsilon that neighbours attain is computed and not estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from matrixdp.auditing.audit import epsilon_of
from matrixdp.auditing.neighbours import Size
from matrixdp.auditing.places import Pair
from matrixdp.auditing.recorder import EQUAL, Recorder
from matrixdp.auditing.runs import Runs
from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.mechanism import Budget
from matrixdp.privacy.domain import Ball, Box

#: Function of records (n, m) and a Generator: an answer.
Run = Callable[[Array, np.random.Generator], Array]

#: Replays of each pair, and of the first ones.
REPLAYS, MORE, SOME = 2, 20, 24

#: Largest number of drawn numbers, and of the matrix's entries, that are replayed one by one.
DRAWS, MATRIX = 2000, 4e6

#: Draws, and factors of a draw, at which an affine answer is tried. Of answers that are no such
#: for a share of 5 % of the noise, one in 10^6 is taken for affine.
PROBES, FACTORS = 270, (1.0, 10.0, 100.0)

#: Entries of the matrix up to which the worst neighbours are sought that the noise has.
SEARCHED = 1e5

#: Pairs on which cuts of the noise are sought.
CUT = 5

#: The number that shows cuts of the noise, and the least probability of an event beyond, which
#: numbers of 64 bits have.
FARTHEST, RARE = 1e6, 1e-12

#: The objection to a function whose draws cannot be replayed.
NOT_REPLAYED = "it has randomness besides its Generator"

#: Relative error of an answer without noise.
EXACT = 1e-10


def objections(runs: Runs, pairs: Sequence[Pair]) -> list[str]:
    """Return what replays with the same bits say against a function; a sentence of each kind."""
    words: dict[str, None] = {}
    for number, pair in enumerate(pairs):
        for seed in range(MORE if number < SOME else REPLAYS):
            recorders = [Recorder(seed), Recorder(seed)]
            results = [*map(runs, pair.sides, recorders)]
            if not (number or _same(results[0], runs(pair.first, Recorder(seed)))):
                return [NOT_REPLAYED]
            if any(failure for _, failure in results):
                # An event, whose frequency on both sides counts.
                continue
            first, second = (recorder.tape for recorder in recorders)
            if len(first.draws) != len(second.draws):
                words["how often it draws depends on the records"] = None
                continue
            both = zip(first.draws, second.draws, strict=True)
            if any(kinds := [one.differs(other) for one, other in both]):
                words |= dict.fromkeys(filter(None, kinds))
            elif first.states != second.states:
                words["how many random bits it takes depends on the records"] = None
    return [*words]


def _same(first: tuple[Array, str], second: tuple[Array, str]) -> bool:
    return first[1] == second[1] and np.array_equal(first[0], second[0])


def largest_size(run: Run, pairs: Iterable[Pair], size: Size) -> float:
    """Return the largest size of a change between answers to neighbours with the same bits.

    A replay runs the complete way from records to an answer. So it detects clipping that comes too
    late, or that depends on the data. It is infinite where neighbours take other numbers of bits.

    Args:
        run: a release whose noise does not depend on the records.
        pairs: the neighbours.
        size: of changes (..., r, c), as the declared law of the noise has it.
    """
    sizes = []
    for pair in pairs:
        generators = [np.random.default_rng(0) for _ in pair.sides]
        first, second = map(run, pair.sides, generators)
        states = [generator.bit_generator.state for generator in generators]
        if states[0] != states[1]:
            return float("inf")
        sizes.append(float(size((first - second)[None])[0]))
    return max(sizes)


def clips(runs: Runs, domain: Box | Ball, pairs: Sequence[Pair]) -> bool:
    """Return whether replays of records and of their clipped copies never differ."""
    for pair in pairs:
        for records in pair.sides:
            inside = domain.clip(records.T).T
            for seed in range(REPLAYS if not np.array_equal(inside, records) else 0):
                recorders = Recorder(seed), Recorder(seed)
                (answer, failure), (other, words) = map(runs, (records, inside), recorders)
                states = [recorder.tape.states for recorder in recorders]
                close = EQUAL * (np.abs(answer).max() + np.abs(other).max())
                same = failure == words and states[0] == states[1]
                if not (same and np.abs(answer - other).max() <= close):
                    return False
    return True


class DependentNoise(Exception):
    """The noise of an answer depends on the records."""


class _NotAffine(Exception):
    """An answer is not affine in what is drawn, or draws other numbers without noise."""


@dataclass(frozen=True)
class _Law:
    """What a function draws: standard normal numbers, or Laplace ones, and nothing else."""

    runs: Runs
    count: int
    laplace: bool

    @classmethod
    def of(cls, runs: Runs, records: Array) -> _Law:
        """Return the law of what is drawn on records.

        Raises:
            _NotAffine: it is another one, or there are too many numbers.
        """
        recorder = Recorder(0)
        answer, failure = runs(records, recorder)
        tape = recorder.tape
        plain = not failure and tape.plain and tape.signs is None and len(tape.laws) == 1
        if not plain or not 0 < tape.count <= min(DRAWS, MATRIX / answer.size):
            raise _NotAffine
        return cls(runs, tape.count, tape.laws == {"laplace"})

    def draw(self, stream: np.random.Generator) -> Array:
        """Return as many numbers of the law."""
        return (stream.laplace if self.laplace else stream.standard_normal)(size=self.count)

    def answer(self, records: Array, noise: Array) -> Array:
        """Return the flat answer to records with chosen numbers.

        Raises:
            _NotAffine: there is none, or it takes other numbers.
        """
        chosen = Recorder(0, noise)
        answer, failure = self.runs(records, chosen)
        if failure or not chosen.tape.finished:
            raise _NotAffine
        return answer.ravel()

    def matrix(self, records: Array) -> tuple[Array, Array]:
        """Return the answer without noise (d,), and what each number adds to it (d, count)."""
        centre = self.answer(records, np.zeros(self.count))
        units = [self.answer(records, unit) - centre for unit in np.eye(self.count)]
        return centre, np.stack(units, axis=1)


class Computed(NamedTuple):
    """The largest epsilon that neighbours attain, as computed from the noise.

    Attributes:
        attained: the epsilon.
        pair: the neighbours.
        event: what tells them apart, in words; empty where the claim holds on them.
        centres: their answers without noise (d,); None for an answer that is cut.
        mu: Gaussian-DP parameter that neighbours attain; NaN for other noise.
    """

    attained: float
    pair: Pair
    event: str
    centres: list[Array] | None = None
    mu: float = float("nan")


def computed(
    runs: Runs,
    pairs: Sequence[Pair],
    claim: Budget,
    worst: Callable[[Size], Pair] | None = None,
) -> Computed | None:
    """Return the largest epsilon that neighbours attain; None where runs alone tell.

    An answer is c(records) + A z with standard normal, or Laplace, numbers z. The privacy loss of a
    pair is that of the shift c - c' (Dong, Roth & Su 2022). Nothing is computed where Laplace
    numbers outnumber what the answer shows of them.

    Args:
        runs: runs of the function.
        pairs: neighbours.
        claim: claimed guarantee.
        worst: returns one more pair, by the size of a change in terms of the noise. It is asked
            where noise differs by direction, so that the farthest records need not be the worst.

    Raises:
        DependentNoise: A depends on the records.
    """
    try:
        law = _Law.of(runs, pairs[0].first)
        noise = _Noise.of(law, pairs[0].first)
        if worst is not None and noise.uneven:
            pairs = [*pairs, worst(noise.size)]
        centres = _centres(noise, pairs)
    except _NotAffine:
        return next(filter(None, (_cut(runs, pair, claim) for pair in pairs[:CUT])), None)
    if not noise.seen:
        return None
    sizes = [noise.shift(*sides) for sides in centres]
    losses = sizes if law.laplace else [epsilon_of(claim.delta, mu) for mu in sizes]
    place = int(np.argmax(losses))
    event = f"they attain epsilon {losses[place]:.4g}, as computed from the noise"
    return Computed(
        losses[place],
        pairs[place],
        event if losses[place] > claim.epsilon else "",
        centres[place],
        float("nan") if law.laplace else max(sizes),
    )


@dataclass(frozen=True)
class _Noise:
    """Noise A z of an answer: the law of z, and A (d, count) as measured."""

    law: _Law
    matrix: Array

    @classmethod
    def of(cls, law: _Law, records: Array) -> _Noise:
        """Return the noise of an answer that is affine in what is drawn.

        Draws of the noise's own law show what holds for a share of it.

        Raises:
            _NotAffine: it is not affine.
        """
        stream = np.random.default_rng(0)
        start, matrix = law.matrix(records)
        if not np.any(matrix):
            raise _NotAffine
        for _ in range(PROBES):
            noise = law.draw(stream)
            part = law.answer(records, noise) - start
            close = EQUAL * (np.abs(part).max() + np.abs(start).max())
            if np.abs(part - matrix @ noise).max() > close:
                raise _NotAffine
        return cls(law, matrix)

    @LazyProperty
    def _svd(self) -> tuple[Array, Array, Array]:
        """Singular vectors and values of A, without those of size 0."""
        left, values, right = np.linalg.svd(self.matrix, full_matrices=False)
        seen = values > 1e-10 * values[0]
        return left[:, seen], values[seen], right[seen]

    @property
    def seen(self) -> bool:
        """Whether an answer shows all Laplace numbers that are in it."""
        used = np.any(self.matrix != 0, axis=0).sum()
        return not self.law.laplace or len(self._svd[1]) >= used

    @property
    def uneven(self) -> bool:
        """Whether the noise differs by direction, of an answer small enough for a search."""
        values = self._svd[1]
        return self.matrix.size <= SEARCHED and bool(values[-1] < values[0] * (1 - EQUAL))

    def size(self, changes: Array) -> Array:
        """Return the norm of changes (..., r, c') in terms of the numbers; others do not change."""
        left, values, right = self._svd
        rows = changes.shape[-2]
        weights = (left / values @ right).reshape(rows, -1, right.shape[1])
        numbers = np.tensordot(changes, weights[:, : changes.shape[-1]], 2)
        return np.asarray(np.linalg.norm(numbers, 1 if self.law.laplace else 2, axis=-1))

    def shift(self, first: Array, second: Array) -> float:
        """Return the norm of a shift of answers (d,); infinite where no noise covers it."""
        (left, values, right), change = self._svd, first - second
        part = left.T @ change
        rest = np.linalg.norm(change - left @ part)
        if rest > EXACT * max(np.abs(first).max(), np.abs(second).max()):
            return float("inf")
        return float(np.linalg.norm(right.T @ (part / values), 1 if self.law.laplace else 2))


def _centres(noise: _Noise, pairs: Sequence[Pair]) -> list[list[Array]]:
    """Return answers without noise (d,) by pair.

    Draws that are 100 times as large reveal cuts far out. The first ``SOME`` pairs are tried with
    all ``FACTORS``.

    Raises:
        _NotAffine: an answer is not affine.
        DependentNoise: all are, with another matrix for other records.
    """
    law, stream = noise.law, np.random.default_rng(1)
    centres, dependent = [], False
    for number, pair in enumerate(pairs):
        sides = []
        for records in pair.sides:
            centre = law.answer(records, np.zeros(law.count))
            for factor in FACTORS if number < SOME else FACTORS[-1:]:
                drawn = factor * law.draw(stream)
                part = law.answer(records, drawn) - centre
                far = law.answer(records, 2 * drawn) - centre
                close = EQUAL * (np.abs(part).max() + np.abs(centre).max())
                if np.abs(far - 2 * part).max() > 2 * close:
                    raise _NotAffine
                dependent |= bool(np.abs(part - noise.matrix @ drawn).max() > close)
            sides.append(centre)
        centres.append(sides)
    # Only now: the matrix of an answer that is cut differs too, and _NotAffine must come first.
    if dependent:
        raise DependentNoise
    return centres


def _cut(runs: Runs, pair: Pair, claim: Budget) -> Computed | None:
    """Return an event that only one side has, more often than delta; None for none.

    An entry c + a z of one standard normal or Laplace number z each may be cut somewhere. Where the
    cuts of both sides are apart, answers between them exclude a side. Draws of several sizes verify
    the form, also far out.
    """
    try:
        law = _Law.of(runs, pair.first)
        sides = [_ends(law, records) for records in pair.sides]
    except _NotAffine:
        return None
    for (centre, scale, *ends), (other, _, *others) in (sides, sides[::-1]):
        size = EQUAL * (np.abs(centre).max() + np.abs(other).max())
        for sign, end, limit in zip((1, -1), ends, others, strict=True):
            outside = sign * (end - limit) > size
            with np.errstate(divide="ignore", invalid="ignore"):
                least = np.where(outside, sign * (limit - centre) / scale, np.inf)
            chances = np.exp(-np.maximum(least, 0)) / 2 if law.laplace else special.ndtr(-least)
            entry = int(np.argmax(chances))
            if chances[entry] > max(claim.delta, RARE):
                words = f"entry {entry} is {'above' if sign > 0 else 'below'} {limit[entry]:.6g}"
                return Computed(
                    float("inf"),
                    pair,
                    f"{words} with a probability of {chances[entry]:.2g} on one side and never on "
                    "the other, as computed from the noise",
                )
    return None


def _ends(law: _Law, records: Array) -> tuple[Array, Array, Array, Array]:
    """Return the centre, the scales, and the largest and least values of an answer's entries.

    Raises:
        _NotAffine: entries are not each a number times a scale plus a centre, cut at some values,
            or the first cut is less than a deviation away, which spoils the scale as measured.
    """
    centre, matrix = law.matrix(records)
    entries, numbers = np.nonzero(matrix)
    if not np.array_equal(entries, np.arange(len(centre))):
        raise _NotAffine
    # Each entry has one number; several entries may share a number.
    slopes = matrix[entries, numbers]
    up, down = (law.answer(records, sign * FARTHEST * np.ones(law.count)) for sign in (1, -1))
    top, bottom = np.where(slopes > 0, up, down), np.where(slopes > 0, down, up)
    stream = np.random.default_rng(0)
    # Also 4: at 1 all draws may lie within the cuts, and at 10 all of them beyond.
    for factor in (1.0, 4.0, *FACTORS[1:]):
        for _ in range(PROBES):
            noise = factor * law.draw(stream)
            model = np.clip(centre + slopes * noise[numbers], bottom, top)
            close = EQUAL * (np.abs(model).max() + np.abs(centre).max())
            if np.abs(law.answer(records, noise) - model).max() > close:
                raise _NotAffine
    return centre, np.abs(slopes), top, bottom
