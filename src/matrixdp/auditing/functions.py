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
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from matrixdp.auditing.affine import NOT_REPLAYED, DependentNoise, clips, computed, objections
from matrixdp.auditing.audit import ROUNDING, of_proofs
from matrixdp.auditing.blackbox import Proof, prove, strength
from matrixdp.auditing.places import Pair, Places
from matrixdp.auditing.recorder import Recorder, TooManyDraws
from matrixdp.auditing.runs import Runs
from matrixdp.auditing.statistics import Sample, Statistic, statistics
from matrixdp.checks import Array
from matrixdp.mechanisms.mechanism import Budget
from matrixdp.privacy.sensitivity import Query
from matrixdp.status import NOT_REFUTED, REFUTED

#: Runs that score each pair, and runs that show the size of the noise.
SCORED, SPREAD = 4, 200

#: Pairs of each score that pilot runs compare, and runs on each of these.
COMPARED, FEW = 3, 100

#: Pilot runs on a pair that is bet on at most, and the numbers that they may have; pairs that are
#: bet on at most, the second one and later ones above a strength: four standard errors of the
#: few runs that compare pairs.
PILOT, PILOT_NUMBERS, BETS, STRONG = 1000, 1e7, 3, 4 / FEW**0.5

#: Runs that are bet on where epsilon is computed.
CONFIRMED = 2000

#: Values of a statistic that are few, as those of exact repeats are, and the share of the largest
#: power above which such a statistic is taken.
VALUES, NEARLY = 3, 0.9

#: Share of missing noise that an epsilon shows which is computed.
ANY = 1e-9

#: What no audit of a function sees, besides records out of bounds.
BLIND = (
    "neighbours that were not tried",
    "rare events",
    "whatever the function keeps between runs, or does only in real use",
    "the last bits of floating-point numbers",
)

#: What it does not see of records out of bounds: where none were tried, where draws are not
#: replayed, and where answers are others than those to clipped records.
UNTRIED = "records out of bounds"
UNSEEN, UNCLIPPED = f"{UNTRIED}, of which runs alone tell", f"{UNTRIED}, which it does not clip"
UNENDING = f"{UNTRIED}, on which it draws without end"


class Outside(NamedTuple):
    """What an audit of a function saw of records out of bounds, of which a claim says nothing.

    Attributes:
        beyond: neighbours beyond the bounds that refute the claim, in words; empty for none.
        not_finite: such neighbours with what is no finite number.
        unseen: what is not seen of records out of bounds; empty where the function clips them.
    """

    beyond: str
    not_finite: str
    unseen: str


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
        outside: what was seen of records out of bounds; None where they were not tried.
    """

    attained: float
    proof: Proof
    pair: Pair
    event: str
    objections: list[str]
    tried: str
    mu: float = float("nan")
    outside: Outside | None = None

    def refutes(self, claim: Budget) -> bool:
        """Return whether the claim does not hold."""
        return self.proof.refuted or self.attained > claim.epsilon * (1 + ROUNDING)

    def verdict(self, claim: Budget) -> str:
        """Return the verdict in words."""
        if self.refutes(claim):
            return f"{REFUTED}: {self.pair.explain()}; {self.event}"
        return f"{NOT_REFUTED}{': ' * bool(self.objections)}{'; '.join(self.objections)}"


def examine(
    runs: Runs,
    query: Query,
    claim: Budget,
    streams: Sequence[Generator],
    count: int,
    find_outside: bool = True,
) -> Findings:
    """Return what replays and bets on at most ``count`` runs on each neighbour see of a function.

    Args:
        runs: runs of the function.
        query: what a record is, and what neighbours differ in.
        claim: claimed guarantee.
        streams: four Generators: two for bets, one for neighbours, one for pilot runs.
        count: largest number of counted runs on each neighbour.
        find_outside: whether records out of bounds are tried too.

    Raises:
        InputError: the function fails on all records, or a record cannot be zeroed out.
    """
    places = Places(query, streams[2])
    runs.start(places.pairs)
    findings = _inside(runs, places, claim, streams, count)
    if not find_outside or findings.refutes(claim):
        return findings
    replayed = not (runs.hidden or NOT_REPLAYED in findings.objections)
    runs.limit(places.pairs[0])
    # What records out of bounds overflow is an event, and no warning.
    try:
        with np.errstate(all="ignore"):
            outside = _outside(runs, places, claim, streams, count, replayed)
    except TooManyDraws:
        outside = Outside(beyond="", not_finite="", unseen=UNENDING)
    return findings._replace(outside=outside)


def _inside(
    runs: Runs, places: Places, claim: Budget, streams: Sequence[Generator], count: int
) -> Findings:
    """Return what is seen of records in bounds."""
    pairs, against, result = [*places.pairs], list[str](), None
    if not runs.hidden:
        pairs += [*places.steepest(lambda records: _replay(runs, records))]
        against = objections(runs, pairs)
        if not against:
            try:
                # An answer of the query's shape may be the query's value plus noise.
                alike = runs.table == places.query.shape
                result = computed(runs, pairs, claim, places.worst if alike else None)
            except DependentNoise:
                against = ["the noise's scale depends on the records"]
    tried = f"{len(pairs)} neighbours, at {places.count} of {places.records} places"
    if result is not None:
        confirmed = min(count, CONFIRMED)
        proof, event = _bet(runs, result.pair, claim, streams, confirmed, result.centres)
        words = result.event or event
        return Findings(result.attained, proof, result.pair, words, against, tried, result.mu)
    bets: list[tuple[Pair, Proof, str]] = []
    for number, (power, pair) in enumerate(_strongest(runs, pairs, claim, streams[3])):
        if number and (power < STRONG or bets[-1][1].refuted or number == BETS):
            break
        bets.append((pair, *_bet(runs, pair, claim, streams, count)))
    pair, proof, event = max(bets, key=lambda bet: (bet[1].refuted, bet[1].epsilon))
    return Findings(float("nan"), proof, pair, event, against, tried)


def _outside(
    runs: Runs,
    places: Places,
    claim: Budget,
    streams: Sequence[Generator],
    count: int,
    replayed: bool,
) -> Outside:
    """Return what is seen of records out of bounds, of a claim that holds as far as was seen."""

    def refutation(pairs: Sequence[Pair]) -> str:
        result = None
        if replayed:
            with contextlib.suppress(DependentNoise):
                # The first pair lies in bounds: the law of the noise is measured on its records.
                result = computed(runs, [places.pairs[0], *pairs], claim)
        if result is not None:
            refuted = result.attained > claim.epsilon * (1 + ROUNDING)
            return f"{result.pair.explain()}; {result.event}" if refuted else ""
        # What is far out of bounds shows at once, so that few runs suffice.
        power, pair = _strongest(runs, pairs, claim, streams[3], few=True)[0]
        if power < STRONG:
            return ""
        proof, event = _bet(runs, pair, claim, streams, count)
        return f"{pair.explain()}; {event}" if proof.refuted else ""

    pairs, not_finite = [*places.beyond()], [*places.not_finite()]
    if replayed and clips(runs, places.domain, pairs):
        return Outside(beyond="", not_finite=refutation(not_finite), unseen="")
    beyond = refutation(pairs)
    unseen = "" if beyond else UNCLIPPED if replayed else UNSEEN
    return Outside(beyond=beyond, not_finite=refutation(not_finite), unseen=unseen)


def _replay(runs: Runs, records: Array) -> Array | None:
    answer, failure = runs(records, Recorder(0))
    return None if failure else answer


def _bet(
    runs: Runs,
    pair: Pair,
    claim: Budget,
    streams: Sequence[Generator],
    count: int,
    centres: Sequence[Array] | None = None,
) -> tuple[Proof, str]:
    """Return the proof of bets on a pair, and the event that they are about.

    Pilot runs fit statistics, others choose one of them, and bets are on further runs. ``centres``
    are answers without noise (d,), where they are known.
    """
    size = math.prod(runs.shape or ())
    held = int(np.clip(min(PILOT_NUMBERS / size, count), FEW, PILOT)) // (5 if runs.slow else 1)
    fitted = statistics(runs.pair(pair, held, streams[3]), centres)
    name, statistic, _ = _choose(fitted, runs.pair(pair, held, streams[3]), claim)
    step = max(1, int(PILOT_NUMBERS / 10 / size))

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
    runs: Runs, pairs: Sequence[Pair], claim: Budget, stream: Generator, few: bool = False
) -> list[tuple[float, Pair]]:
    """Return pairs by how clearly a few runs refute the claim, the clearest first.

    Compared are the farthest pairs, and those with the largest scores of fewer runs yet. ``few``:
    by few runs, as of a function that is slow.
    """
    few = few or runs.slow
    scored, compared, count = (1, 1, FEW // 2) if few else (SCORED, COMPARED, FEW)
    seeds = range(scored)
    spread = runs.sample(pairs[0].first, range(SPREAD // 4 if few else SPREAD)).flat.std(axis=0)
    scores = np.array(
        [
            _scores(runs.sample(pair.first, seeds), runs.sample(pair.second, seeds), spread)
            for pair in pairs
        ]
    )
    chosen = dict.fromkeys(range(min(compared, len(pairs))))
    for score in scores.T:
        best = np.argsort(-score, kind="stable")[:compared]
        chosen |= dict.fromkeys(int(number) for number in best if score[number] > 0)
    powers = []
    for number in chosen:
        fitted = statistics(runs.pair(pairs[number], count, stream))
        samples = runs.pair(pairs[number], count, stream)
        powers.append((_choose(fitted, samples, claim)[2], pairs[number]))
    return sorted(powers, key=lambda one: -one[0])


def _scores(first: Sample, second: Sample, spread: Array) -> tuple[float, ...]:
    """Return how far apart a few runs on neighbours are: failures, means, one entry, scales.

    Run k of both has the same seed, so that their difference is what the records move. ``spread``
    (d,) is the standard deviation of each entry over runs on one data set.
    """
    failures = {*first.failures, *second.failures}
    apart = [abs(np.mean(first.failures == f) - np.mean(second.failures == f)) for f in failures]
    moves = np.abs(first.flat - second.flat)
    small = 1e-12 * (np.abs(first.flat).max(axis=0) + np.abs(second.flat).max(axis=0)) + 1e-300
    moved = moves.mean(axis=0) / np.maximum(spread, small)
    moved[moves.max(axis=0) <= small] = 0.0
    uneven = np.ptp(moves, axis=0) / np.maximum(spread, small)
    uneven[moves.max(axis=0) <= small] = 0.0
    sizes = (float(np.linalg.norm(moved, order)) for order in (1, np.inf))
    return max(apart), *sizes, float(uneven.max())


def judge(
    function: Callable[..., Any],
    query: Query,
    epsilon: float,
    delta: float,
    generators: Sequence[Generator],
    runs: int,
) -> dict[str, Any]:
    """Return the row of an audit of a function."""
    claim = Budget(epsilon, delta)
    findings = examine(Runs(function), query, claim, generators[:4], runs)
    return columns([findings], findings.verdict(claim))


def not_seen(outside: Iterable[str] = (UNTRIED,)) -> str:
    """Return what an audit does not see, with what it does not see of records out of bounds."""
    return "; ".join(dict.fromkeys([BLIND[0], *filter(None, outside), *BLIND[1:]]))


def largest(numbers: Iterable[float]) -> float:
    """Return the largest number that is not NaN; NaN for none."""
    return max((number for number in numbers if not math.isnan(number)), default=float("nan"))


def columns(results: Sequence[Findings], verdict: str) -> dict[str, Any]:
    """Return the columns of an audit, of what some functions showed."""
    attained = largest(result.attained for result in results)
    computed = bool(results) and not any(math.isnan(result.attained) for result in results)
    outside = [result.outside for result in results if result.outside is not None]
    return {
        "verdict": verdict,
        "tool": "black box" if math.isnan(attained) else "replay of draws",
        **of_proofs([result.proof for result in results]),
        "epsilon_attained": attained,
        "mu": largest(result.mu for result in results),
        "detectable_effect": ANY if computed else float("nan"),
        "beyond": next((one.beyond for one in outside if one.beyond), ""),
        "not_finite": next((one.not_finite for one in outside if one.not_finite), ""),
        "note": not_seen([one.unseen for one in outside] or [UNTRIED]),
        "tried": "; ".join(dict.fromkeys(result.tried for result in results)),
    }
