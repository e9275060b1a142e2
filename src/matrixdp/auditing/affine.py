"""What replays of a function show: with the same random bits, and with chosen numbers.

A function that draws other numbers for other records is objected to. Where it draws normal or
Laplace numbers alone, and its answer is a matrix times the numbers plus an answer without noise,
the epsilon that neighbours attain is computed and not estimated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from matrixdp.auditing.answers import Runs
from matrixdp.auditing.gaussian import epsilon_of
from matrixdp.auditing.places import Pair
from matrixdp.auditing.recorder import EQUAL, MoreNumbers, Recorder
from matrixdp.checks import Array
from matrixdp.mechanisms.base import Budget

#: Replays of each pair, and of the first ones.
REPLAYS, MORE, SOME = 2, 20, 24

#: Largest number of drawn numbers, and of the matrix's entries, that are replayed one by one.
DRAWS, MATRIX = 2000, 4e6

#: Draws, and factors of a draw, at which an affine answer is tried. Of answers that are no such
#: for a share of 5 % of the noise, one in 10^6 is taken for affine.
PROBES, FACTORS = 270, (1.0, 10.0, 100.0)

#: The number that shows cuts of the noise, and the least probability of an event beyond, which
#: numbers of 64 bits have.
FARTHEST, RARE = 1e6, 1e-12

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
                return ["it has randomness besides its Generator"]
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
    def of(cls, runs: Runs, records: Array) -> _Law | None:
        """Return the law of what is drawn on records; None for another, or for too many numbers."""
        recorder = Recorder(0)
        answer, failure = runs(records, recorder)
        tape = recorder.tape
        if failure or not tape.plain or tape.signs is not None or len(tape.laws) != 1:
            return None
        if not 0 < tape.count <= min(DRAWS, MATRIX / answer.size):
            return None
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
        try:
            answer, failure = self.runs(records, chosen)
        except MoreNumbers:
            raise _NotAffine from None
        if failure or not chosen.tape.finished:
            raise _NotAffine
        return answer.ravel()

    def matrix(self, records: Array) -> tuple[Array, Array]:
        """Return the answer without noise (d,), and what each number adds to it (d, count)."""
        centre = self.answer(records, np.zeros(self.count))
        units = [self.answer(records, unit) - centre for unit in np.eye(self.count)]
        return centre, np.stack(units, axis=1)


@dataclass(frozen=True)
class Affine:
    """An answer c(records) + A z with standard normal, or Laplace, numbers z.

    Attributes:
        matrix: A (d, numbers), the same for all records that were tried.
        laplace: whether numbers are Laplace ones.
        centres: c of both neighbours (d,), by pair.
    """

    matrix: Array
    laplace: bool
    pairs: Sequence[Pair]
    centres: list[list[Array]]

    def centres_of(self, pair: Pair) -> list[Array]:
        """Return the answers without noise to a pair."""
        return next(c for p, c in zip(self.pairs, self.centres, strict=True) if p is pair)

    @classmethod
    def of(cls, runs: Runs, pairs: Sequence[Pair]) -> Affine | None:
        """Return the affine answer of a function; None where it is no such.

        Raises:
            DependentNoise: A depends on the records.
        """
        law = _Law.of(runs, pairs[0].first)
        if law is None:
            return None
        try:
            matrix, centres = _affine(law, pairs)
        except _NotAffine:
            return None
        return cls(matrix, law.laplace, pairs, centres)

    def losses(self, claim: Budget) -> list[float]:
        """Return the epsilon that each pair attains.

        A privacy loss is that of the shift c - c' (Dong, Roth & Su 2022). The list is empty where
        Laplace numbers outnumber what the answer shows of them.
        """
        if self.laplace:
            return self._sizes(1)
        return [epsilon_of(claim.delta, mu) for mu in self._sizes(2)]

    @property
    def mu(self) -> float:
        """Largest norm of a shift in terms of normal numbers; NaN for Laplace ones."""
        return float("nan") if self.laplace else max(self._sizes(2))

    def _sizes(self, order: int) -> list[float]:
        """Return the norm of each pair's shift in terms of the numbers."""
        left, values, right = np.linalg.svd(self.matrix, full_matrices=False)
        seen = values > 1e-10 * values[0]
        if self.laplace and seen.sum() < np.any(self.matrix != 0, axis=0).sum():
            return []
        sizes = []
        for first, second in self.centres:
            change = first - second
            part = left[:, seen].T @ change
            rest = np.linalg.norm(change - left[:, seen] @ part)
            numbers = right[seen].T @ (part / values[seen])
            exact = rest > EXACT * max(np.abs(first).max(), np.abs(second).max())
            sizes.append(float("inf") if exact else float(np.linalg.norm(numbers, order)))
        return sizes


def _affine(law: _Law, pairs: Sequence[Pair]) -> tuple[Array, list[list[Array]]]:
    """Return the matrix (d, count) of an affine answer, and answers without noise by pair.

    Draws of the noise's own law show what holds for a share of it, and large ones an answer that is
    cut far out.

    Raises:
        _NotAffine: it is not affine.
        DependentNoise: it is, with another matrix for other records.
    """
    stream, base = np.random.default_rng(0), pairs[0].first
    start, matrix = law.matrix(base)
    if not np.any(matrix):
        raise _NotAffine
    for _ in range(PROBES):
        noise = law.draw(stream)
        part = law.answer(base, noise) - start
        if np.abs(part - matrix @ noise).max() > EQUAL * (np.abs(part).max() + np.abs(start).max()):
            raise _NotAffine
    centres, dependent = [], False
    for number, pair in enumerate(pairs):
        sides = []
        for records in pair.sides:
            centre = law.answer(records, np.zeros(law.count))
            for factor in FACTORS if number < SOME else FACTORS[-1:]:
                noise = factor * law.draw(stream)
                part = law.answer(records, noise) - centre
                far = law.answer(records, 2 * noise) - centre
                close = EQUAL * (np.abs(part).max() + np.abs(centre).max())
                if np.abs(far - 2 * part).max() > 2 * close:
                    raise _NotAffine
                dependent |= bool(np.abs(part - matrix @ noise).max() > close)
            sides.append(centre)
        centres.append(sides)
    if dependent:
        raise DependentNoise
    return matrix, centres


def beyond(runs: Runs, pair: Pair, claim: Budget) -> tuple[Pair, str] | None:
    """Return a pair and an event that only one side has, more often than delta; None for none.

    An entry c + a z of one standard normal or Laplace number z each may be cut somewhere. Where the
    cuts of both sides are apart, answers between them exclude a side. Draws of several sizes verify
    the form, also far out.
    """
    law = _Law.of(runs, pair.first)
    if law is None:
        return None
    try:
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
                return pair, (
                    f"{words} with a probability of {chances[entry]:.2g} on one side and never on "
                    "the other, as computed from the noise"
                )
    return None


def _ends(law: _Law, records: Array) -> tuple[Array, Array, Array, Array]:
    """Return the centre, the scales, and the largest and least values of an answer's entries.

    Raises:
        _NotAffine: entries are not each a number times a scale plus a centre, cut at some values.
    """
    centre, matrix = law.matrix(records)
    entries, numbers = np.nonzero(matrix)
    if not np.array_equal(entries, np.arange(len(centre))):
        raise _NotAffine
    slopes = matrix[entries, numbers]
    up, down = (law.answer(records, sign * FARTHEST * np.ones(law.count)) for sign in (1, -1))
    top, bottom = np.where(slopes > 0, up, down), np.where(slopes > 0, down, up)
    stream = np.random.default_rng(0)
    for factor in (1.0, 4.0, *FACTORS[1:]):
        for _ in range(PROBES):
            noise = factor * law.draw(stream)
            model = np.clip(centre + slopes * noise[numbers], bottom, top)
            close = EQUAL * (np.abs(model).max() + np.abs(centre).max())
            if np.abs(law.answer(records, noise) - model).max() > close:
                raise _NotAffine
    return centre, np.abs(slopes), top, bottom
