"""The audit of a function of records and random bits, of which nothing else is known.

Replays give a function the same random bits on two neighbours. They object where what it draws
depends on the records, as Re:cord-play does (Cebere et al. 2026). They go further where a function
draws normal or Laplace numbers alone: chosen numbers in place of drawn ones show its answer as a
matrix times the numbers plus an answer without noise, so that the epsilon which neighbours attain
is computed and not estimated.

Bets on runs follow (:mod:`matrixdp.auditing.blackbox`), whatever the function draws. They hold for
any event and any neighbours, which pilot runs choose. An answer that is not finite, an exception,
another shape and an exact repeat are events as others are. Runs of a pair share their bits, which
raises the power; a function with randomness of its own shares nothing.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy import special

from matrixdp import checks
from matrixdp.auditing.base import ROUNDING
from matrixdp.auditing.blackbox import Proof, prove, strength
from matrixdp.auditing.gaussian import epsilon_of
from matrixdp.auditing.places import Pair, Places
from matrixdp.auditing.recorder import CLOSE, MoreNumbers, Recorder
from matrixdp.auditing.statistics import Sample, Statistic, statistics
from matrixdp.auditing.status import NOT_REFUTED, REFUTED
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import Budget
from matrixdp.privacy.sensitivity import Query

#: Runs that score each pair, replays of each and of some; runs that show the size of the noise.
SCORED, REPLAYS, MORE, SOME, SPREAD = 4, 2, 20, 24, 200

#: Pairs of each score that pilot runs compare, and runs on each of these.
COMPARED, FEW = 3, 100

#: Pilot runs on a pair that is bet on at most, and the numbers that they may have; pairs that are
#: bet on at most, the second one and later ones above a strength.
PILOT, NUMBERS, BETS, STRONG = 1000, 1e7, 3, 4.0

#: Runs that are bet on where epsilon is computed.
CONFIRMED = 2000

#: Values of a statistic that are few, as those of exact repeats are, and the share of the largest
#: power above which such a statistic is taken.
VALUES, NEARLY = 3, 0.9

#: Largest number of drawn numbers, and of the matrix's entries, that are replayed one by one.
DRAWS, MATRIX = 2000, 4e6

#: Largest number of an answer, whose squares are finite.
LARGEST = 1e100

#: Draws, and factors of a draw, at which an affine answer is tried. Of answers that are no such
#: for a share of 5 % of the noise, one in 10^6 is taken for affine.
PROBES, FACTORS = 270, (1.0, 10.0, 100.0)

#: Pairs on which cuts of the noise are looked for, the number that shows them, and the least
#: probability of an event beyond, which numbers of 64 bits have.
ENDS, FARTHEST, RARE = 5, 1e6, 1e-12

#: Relative error of an answer without noise.
EXACT = 1e-10

#: Share of missing noise that an epsilon shows which is computed.
ANY = 1e-9

#: What no audit of a function sees.
BLIND = (
    "neighbours that were not tried; records out of bounds; rare events; whatever the function "
    "keeps between runs, or does only in real use; the last bits of floating-point numbers"
)


@dataclass
class Runs:
    """Runs of a function, with answers (r, c) of one shape.

    Attributes:
        many: function of records and several Generators, which gives as many answers at once.
        slow: whether runs take long, so that fewer choose the neighbours and the event.
        hidden: whether the function takes no Generator and has randomness of its own.
        density: function of a pair that returns the log likelihood ratio (k,) of answers (k, d),
            as a class states it; it only helps to choose an event.
        shape: shape of an answer; others are failures.
    """

    function: Callable[..., Any]
    many: Callable[[Array, Sequence[Generator]], Array] | None = None
    slow: bool = False
    density: Callable[[Pair], Callable[[Array], Array]] | None = None
    hidden: bool = field(init=False)
    shape: tuple[int, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.hidden = not _takes_generator(self.function)

    def start(self, pairs: Sequence[Pair]) -> None:
        """Run once on each data set until an answer is an array of finite numbers.

        Raises:
            InputError: no answer is.
        """
        failures: dict[str, None] = {}
        for number, records in enumerate(records for pair in pairs for records in pair.sides):
            failures[self(records, np.random.default_rng(number))[1]] = None
            if self.shape is not None:
                return
        raise InputError(
            f"{next(iter(failures))} on all {2 * len(pairs)} data sets in bounds that were tried; "
            "return an array of finite numbers, or a number"
        )

    def __call__(self, records: Array, generator: Generator) -> tuple[Array, str]:
        """Return the answer to a copy of records (n, m), and in words why there is none.

        An answer that is not finite, and an exception, tell of the records as any answer does.
        """
        nothing = np.zeros((1, 1) if self.shape is None else _table(self.shape))
        args = (records.copy(),) if self.hidden else (records.copy(), generator)
        try:
            answer = np.asarray(self.function(*args))
        except MoreNumbers:
            raise
        except Exception as error:
            words = "" if self.shape else f": {checks.why(error)}"
            return nothing, f"the function raises an error, {type(error).__name__}{words}"
        if answer.dtype.kind not in "biuf" or not answer.size:
            words = f"type {answer.dtype} and shape {answer.shape}"
            return nothing, f"the function's answer has {words}"
        answer = answer.astype(float)
        if not np.abs(answer).max() <= LARGEST:
            wrong = ~(np.abs(answer) <= LARGEST)
            which = ", ".join(map(str, np.flatnonzero(wrong)[:4].tolist()))
            return (
                nothing,
                f"the function's answer is not finite, or beyond 1e100, in entry {which}",
            )
        if self.shape is None:
            self.shape = answer.shape
        if answer.shape != self.shape:
            return nothing, f"the function's answer has shape {answer.shape}"
        return answer.reshape(_table(answer.shape)), ""

    def sample(self, records: Array, seeds: Sequence[int]) -> Sample:
        """Return runs on records with bits of these seeds."""
        generators = [np.random.default_rng(seed) for seed in seeds]
        if self.many is not None and self.shape is not None:
            with contextlib.suppress(Exception):
                answers = np.asarray(self.many(records, generators), float)
                if answers.shape[1:] == self.shape and np.abs(answers).max() <= LARGEST:
                    shape = (len(answers), *_table(self.shape))
                    return Sample(answers.reshape(shape), np.full(len(answers), ""))
            generators = [np.random.default_rng(seed) for seed in seeds]
        results = [self(records, generator) for generator in generators]
        return Sample(
            np.stack([answer for answer, _ in results]), np.array([words for _, words in results])
        )

    def fit(
        self, pair: Pair, count: int, stream: Generator, centres: Sequence[Array] | None = None
    ) -> dict[str, Statistic]:
        """Return statistics by name, fitted to runs on both neighbours."""
        density = None
        if self.density is not None:
            with contextlib.suppress(Exception):
                density = self.density(pair)
        first, second = self.pair(pair, count, stream)
        return statistics(first, second, centres, density)

    def pair(self, pair: Pair, count: int, stream: Generator) -> list[Sample]:
        """Return runs on both neighbours; run k of both has the same bits."""
        seeds = stream.integers(2**63, size=count).tolist()
        return [self.sample(records, seeds) for records in pair.sides]


def _table(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape (r, c) of an answer."""
    return shape if len(shape) == 2 else (math.prod(shape), 1)


def _takes_generator(function: Callable[..., Any]) -> bool:
    """Return whether a function has a second argument without a default, or one named so."""
    try:
        arguments = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        raise InputError(
            "the arguments of the function are unknown; write one that calls it, as lambda "
            "records, generator: ..."
        ) from None
    second = arguments[1:2]
    names = ("generator", "rng")
    return any(one.default is one.empty or one.name in names for one in second) and all(
        one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in second
    )


class Findings(NamedTuple):
    """What an audit of a function saw.

    Attributes:
        attained: epsilon that neighbours attain, computed; NaN where runs alone tell.
        proof: result of bets on runs.
        pair: the neighbours of the largest epsilon.
        event: the event that tells them apart, in words.
        objections: what replays say against the function.
        tried: how many neighbours, places and runs were tried, in words.
        mu: Gaussian-DP parameter that neighbours attain; NaN for other noise.
    """

    attained: float
    proof: Proof
    pair: Pair
    event: str
    objections: list[str]
    tried: str
    mu: float = float("nan")

    @property
    def tool(self) -> str:
        """Method of the verdict."""
        return "black box" if np.isnan(self.attained) else "replay of draws"

    @property
    def lower(self) -> float:
        """The largest epsilon that is shown."""
        return max(np.nan_to_num(self.attained, nan=0.0, posinf=np.inf), self.proof.epsilon)

    def refutes(self, claim: Budget) -> bool:
        """Return whether the claim does not hold."""
        return self.proof.refuted or self.attained > claim.epsilon * (1 + ROUNDING)

    def verdict(self, claim: Budget) -> str:
        """Return the verdict in words."""
        if self.refutes(claim):
            return f"{REFUTED}: {self.pair.explain()}; {self.event}"
        return f"{NOT_REFUTED}{': ' * bool(self.objections)}{'; '.join(self.objections)}"


def examine(
    runs: Runs, query: Query, claim: Budget, streams: Sequence[Generator], count: int
) -> Findings:
    """Return what replays and bets on at most ``count`` runs on each neighbour see of a function.

    Args:
        runs: runs of the function.
        query: what a record is, and what neighbours differ in.
        claim: claimed guarantee.
        streams: four Generators: two for bets, one for neighbours, one for pilot runs.
        count: largest number of counted runs on each neighbour.

    Raises:
        InputError: the function fails on all records, or a record cannot be zeroed out.
    """
    places = Places(query, streams[2])
    runs.start(places.pairs)
    pairs, against, losses, affine = [*places.pairs], [], [], None
    if not runs.hidden:
        pairs += [*places.steepest(lambda records: _replayed(runs, records))]
        against = objections(runs, pairs)
    if not runs.hidden and not against:
        try:
            affine = Affine.of(runs, pairs)
        except DependentNoise:
            against = ["the noise's scale depends on the records"]
    if affine is not None:
        losses = affine.losses(claim)
    attained, ranked = float("nan"), []
    beyond = None
    if affine is None and not runs.hidden and not against:
        beyond = next(filter(None, (_beyond(runs, pair, claim) for pair in pairs[:ENDS])), None)
    if losses:
        attained = max(losses)
        worst = pairs[int(np.argmax(losses))]
        proof, event = _bet(runs, worst, claim, streams, min(count, CONFIRMED), affine)
        ranked = [(worst, proof, event)]
        if attained > claim.epsilon:
            event = f"they attain epsilon {attained:.4g}, as computed from the noise"
            ranked = [(worst, proof, event)]
    elif beyond is not None:
        attained, (worst, event) = float("inf"), beyond
        proof, _ = _bet(runs, worst, claim, streams, min(count, CONFIRMED), None)
        ranked = [(worst, proof, event)]
    else:
        for number, (power, pair) in enumerate(_strongest(runs, pairs, claim, streams[3])):
            if number and (power < STRONG or ranked[-1][1].refuted or number == BETS):
                break
            ranked.append((pair, *_bet(runs, pair, claim, streams, count, None)))
    pair, proof, event = max(ranked, key=lambda one: (one[1].refuted, one[1].epsilon))
    tried = f"{len(pairs)} neighbours, at {places.count} of {query.n_records} places"
    mu = float("nan") if not losses or affine is None else affine.mu
    return Findings(attained, proof, pair, event, against, tried, mu)


def _replayed(runs: Runs, records: Array) -> Array | None:
    answer, failure = runs(records, Recorder(0))
    return None if failure else answer


def _bet(
    runs: Runs,
    pair: Pair,
    claim: Budget,
    streams: Sequence[Generator],
    count: int,
    affine: Affine | None,
) -> tuple[Proof, str]:
    """Return the proof of bets on a pair, and the event that they are about.

    Pilot runs fit statistics, others choose one of them, and bets are on further runs.
    """
    size = math.prod(runs.shape or ())
    held = int(np.clip(min(NUMBERS / size, count), FEW, PILOT)) // (5 if runs.slow else 1)
    centres = None if affine is None else affine.centres_of(pair)
    fitted = runs.fit(pair, held, streams[3], centres)
    name, statistic, _ = _choose(fitted, runs.pair(pair, held, streams[3]), claim)
    step = max(1, int(NUMBERS / 10 / size))

    def evaluate(number: int, stream: Generator) -> tuple[Array, Array]:
        parts = []
        for start in range(0, number, step):
            samples = runs.pair(pair, min(step, number - start), stream)
            parts.append([statistic(sample) for sample in samples])
        first, second = (np.concatenate(side) for side in zip(*parts, strict=True))
        return first, second

    proof = prove(
        evaluate, claimed_epsilon=claim.epsilon, delta=claim.delta, runs=count, streams=streams[:2]
    )
    return proof, f"runs tell them apart by {name}"


def _choose(
    fitted: dict[str, Statistic], samples: Sequence[Sample], claim: Budget
) -> tuple[str, Statistic, float]:
    """Return the statistic that refutes a claim most clearly on runs, with its name and power."""
    values = {name: [statistic(sample) for sample in samples] for name, statistic in fitted.items()}
    powers = {
        (name, sign): strength(sign * np.stack(both), claim.epsilon, claim.delta)
        for name, both in values.items()
        for sign in (1, -1)
    }
    best = max(powers, key=lambda key: powers[key])
    # A threshold among many values wins by luck too; one among a few, as of repeats, hardly does.
    few = [key for key in powers if len(np.unique(values[key[0]])) <= VALUES]
    name, sign = max(
        [key for key in few if powers[key] > NEARLY * powers[best]] or [best],
        key=lambda key: powers[key],
    )
    chosen = fitted[name]
    return name, lambda sample: sign * chosen(sample), powers[name, sign]


def _strongest(
    runs: Runs, pairs: Sequence[Pair], claim: Budget, stream: Generator
) -> list[tuple[float, Pair]]:
    """Return pairs by how clearly a few runs refute the claim, the clearest first.

    Compared are the farthest pairs, and those with the largest scores of fewer runs yet.
    """
    scored, compared, few = (1, 1, FEW // 2) if runs.slow else (SCORED, COMPARED, FEW)
    seeds = range(scored)
    spread = runs.sample(pairs[0].first, range(SPREAD // 4 if runs.slow else SPREAD)).flat.std(
        axis=0
    )
    scores = np.array(
        [
            _scores(runs.sample(pair.first, seeds), runs.sample(pair.second, seeds), spread)
            for pair in pairs
        ]
    )
    chosen = dict.fromkeys(range(min(compared, len(pairs))))
    if runs.density is None:
        # Of noise with a stated density, many small moves may count as much as a large one.
        scores = np.delete(scores, 2, axis=1)
    for score in scores.T:
        best = np.argsort(-score, kind="stable")[:compared]
        chosen |= dict.fromkeys(int(number) for number in best if score[number] > 0)
    powers = []
    for number in chosen:
        fitted = runs.fit(pairs[number], few, stream)
        samples = runs.pair(pairs[number], few, stream)
        powers.append((_choose(fitted, samples, claim)[2], pairs[number]))
    return sorted(powers, key=lambda one: -one[0])


def _scores(first: Sample, second: Sample, spread: Array) -> tuple[float, ...]:
    """Return how far apart a few runs on neighbours are: failures, means, one entry, scales."""
    failures = {*first.failures, *second.failures}
    apart = [abs(np.mean(first.failures == f) - np.mean(second.failures == f)) for f in failures]
    moves = np.abs(first.flat - second.flat)
    small = 1e-12 * (np.abs(first.flat).max(axis=0) + np.abs(second.flat).max(axis=0)) + 1e-300
    moved = moves.mean(axis=0) / np.maximum(spread, small)
    moved[moves.max(axis=0) <= small] = 0.0
    uneven = np.ptp(moves, axis=0) / np.maximum(spread, small)
    sizes = (float(np.linalg.norm(moved, order)) for order in (1, 2, np.inf))
    return max(apart), *sizes, float(uneven.max())


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
        recorder = Recorder(0)
        answer, failure = runs(pairs[0].first, recorder)
        tape = recorder.tape
        if failure or not tape.plain or tape.signs is not None or len(tape.laws) != 1:
            return None
        if not 0 < tape.count <= min(DRAWS, MATRIX / answer.size):
            return None
        laplace = tape.laws == {"laplace"}
        try:
            matrix, centres = _affine(runs, pairs, tape.count, laplace)
        except _NotAffine:
            return None
        return cls(matrix, laplace, pairs, centres)

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


class _NotAffine(Exception):
    """An answer is not affine in what is drawn, or draws other numbers without noise."""


def _affine(
    runs: Runs, pairs: Sequence[Pair], count: int, laplace: bool
) -> tuple[Array, list[list[Array]]]:
    """Return the matrix (d, count) of an affine answer, and answers without noise by pair.

    Draws of the noise's own law show what holds for a share of it, and large ones an answer that is
    cut far out.

    Raises:
        _NotAffine: it is not affine.
        DependentNoise: it is, with another matrix for other records.
    """

    def answer_of(records: Array, noise: Array) -> Array:
        chosen = Recorder(0, noise)
        try:
            answer, failure = runs(records, chosen)
        except MoreNumbers:
            raise _NotAffine from None
        if failure or not chosen.tape.finished:
            raise _NotAffine
        return answer.ravel()

    stream = np.random.default_rng(0)
    draw = stream.laplace if laplace else stream.standard_normal
    base, start = pairs[0].first, answer_of(pairs[0].first, np.zeros(count))
    units = [answer_of(base, unit) - start for unit in np.eye(count)]
    matrix = np.stack(units, axis=1)
    if not np.any(matrix):
        raise _NotAffine
    for _ in range(PROBES):
        noise = draw(size=count)
        part = answer_of(base, noise) - start
        if np.abs(part - matrix @ noise).max() > CLOSE * (np.abs(part).max() + np.abs(start).max()):
            raise _NotAffine
    centres, dependent = [], False
    for number, pair in enumerate(pairs):
        sides = []
        for records in pair.sides:
            centre = answer_of(records, np.zeros(count))
            for factor in FACTORS if number < SOME else FACTORS[-1:]:
                noise = factor * draw(size=count)
                part = answer_of(records, noise) - centre
                far = answer_of(records, 2 * noise) - centre
                close = CLOSE * (np.abs(part).max() + np.abs(centre).max())
                if np.abs(far - 2 * part).max() > 2 * close:
                    raise _NotAffine
                dependent |= bool(np.abs(part - matrix @ noise).max() > close)
            sides.append(centre)
        centres.append(sides)
    if dependent:
        raise DependentNoise
    return matrix, centres


def _beyond(runs: Runs, pair: Pair, claim: Budget) -> tuple[Pair, str] | None:
    """Return a pair and an event that only one side has, more often than delta; None for none.

    An entry c + a z of one standard normal or Laplace number z each may be cut somewhere. Where the
    cuts of both sides are apart, answers between them exclude a side. Draws of several sizes verify
    the form, also far out.
    """
    recorder = Recorder(0)
    if runs(pair.first, recorder)[1]:
        return None
    tape = recorder.tape
    if not tape.plain or tape.signs is not None or len(tape.laws) != 1:
        return None
    if not 0 < tape.count <= DRAWS:
        return None
    laplace = tape.laws == {"laplace"}
    try:
        sides = [_ends(runs, records, tape.count, laplace) for records in pair.sides]
    except _NotAffine:
        return None
    for (centre, scale, *ends), (other, _, *others) in (sides, sides[::-1]):
        size = CLOSE * (np.abs(centre).max() + np.abs(other).max())
        for sign, end, limit in zip((1, -1), ends, others, strict=True):
            outside = sign * (end - limit) > size
            with np.errstate(divide="ignore", invalid="ignore"):
                least = np.where(outside, sign * (limit - centre) / scale, np.inf)
            chances = np.exp(-np.maximum(least, 0)) / 2 if laplace else special.ndtr(-least)
            entry = int(np.argmax(chances))
            if chances[entry] > max(claim.delta, RARE):
                words = f"entry {entry} is {'above' if sign > 0 else 'below'} {limit[entry]:.6g}"
                return pair, (
                    f"{words} with a probability of {chances[entry]:.2g} on one side and never on "
                    "the other, as computed from the noise"
                )
    return None


def _ends(
    runs: Runs, records: Array, count: int, laplace: bool
) -> tuple[Array, Array, Array, Array]:
    """Return the centre, the scales, and the largest and least values of an answer's entries.

    Raises:
        _NotAffine: entries are not each a number times a scale plus a centre, cut at some values.
    """

    def answer_of(noise: Array) -> Array:
        chosen = Recorder(0, noise)
        try:
            answer, failure = runs(records, chosen)
        except MoreNumbers:
            raise _NotAffine from None
        if failure or not chosen.tape.finished:
            raise _NotAffine
        return answer.ravel()

    centre = answer_of(np.zeros(count))
    matrix = np.stack([answer_of(unit) - centre for unit in np.eye(count)], axis=1)
    entries, numbers = np.nonzero(matrix)
    if not np.array_equal(entries, np.arange(len(centre))):
        raise _NotAffine
    slopes = matrix[entries, numbers]
    up, down = (answer_of(sign * FARTHEST * np.ones(count)) for sign in (1, -1))
    top, bottom = np.where(slopes > 0, up, down), np.where(slopes > 0, down, up)
    stream = np.random.default_rng(0)
    draw = stream.laplace if laplace else stream.standard_normal
    for factor in (1.0, 4.0, *FACTORS[1:]):
        for _ in range(PROBES):
            noise = factor * draw(size=count)
            model = np.clip(centre + slopes * noise[numbers], bottom, top)
            close = CLOSE * (np.abs(model).max() + np.abs(centre).max())
            if np.abs(answer_of(noise) - model).max() > close:
                raise _NotAffine
    return centre, np.abs(slopes), top, bottom


def judge(
    function: Callable[..., Any],
    query: Query,
    epsilon: float,
    delta: float,
    generators: Sequence[Generator],
    runs: int,
) -> dict[str, Any]:
    """Return the facts of an audit of a function, by the names of ``public.AuditResult``."""
    claim = Budget(epsilon, delta)
    findings = examine(Runs(function), query, claim, generators[:4], runs)
    return facts(findings, claim)


def facts(findings: Findings, claim: Budget) -> dict[str, Any]:
    """Return findings by the names of ``public.AuditResult``."""
    proof = findings.proof
    return {
        "verdict": findings.verdict(claim),
        "tool": findings.tool,
        "epsilon_attained": findings.attained,
        "epsilon_lower": proof.epsilon,
        "epsilon_largest": proof.largest,
        "upper": None,
        "runs": proof.runs,
        "shortfall": float("nan") if np.isnan(findings.attained) else ANY,
        "tried": findings.tried,
        "unseen": BLIND,
    }
