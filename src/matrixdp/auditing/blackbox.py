"""Black-box audits by runs of a release: some runs choose an event, bets on other runs test it.

The event is a threshold on a statistic, ideally the likelihood ratio of the two neighbours, in
either direction. A report judges hundreds of releases, so a correct release is refuted with a
probability of at most ``evidence.ERROR``. Bets may stop at any time: as soon as the claimed epsilon
is refuted, or once further runs are futile. They may go on at any time too: a suspicion, which a
correct release raises with a probability of 1 - ``evidence.SUSPECTED``, takes more runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from matrixdp.auditing import evidence
from matrixdp.auditing.evidence import Counts
from matrixdp.checks import Array

#: ``statistic(count, stream)`` returns the statistic of ``count`` runs on each of two neighbours.
#: It is large where the first neighbour is the likelier one. Runs k of both may share their noise.
Statistic = Callable[[int, np.random.Generator], tuple[Array, Array]]

#: Runs in the first block, and in the largest; a block has half as many as all before it.
FIRST, BLOCK = 500, 1 << 15

#: Number of candidates for a threshold, and of epsilons at which they are judged.
CANDIDATES, VALUES = 120, 60

#: Runs that choose the event: their share of the runs that may be counted, and their minimum.
PILOT, FEWEST, LEAST = 0.1, 2000, 100

#: Largest multiple of the runs that a suspicion takes.
LONGER = 4

#: Further runs are futile under two conditions. They would not refute even with a mean ``UNLIKELY``
#: standard errors above the observed one. They would raise the certificate by less than ``GAIN``
#: times the claimed epsilon.
UNLIKELY, GAIN = 4.0, 0.04

#: Ratio of the frequencies of neighbouring events in :func:`_events`.
RARER = 1.6


class Event(NamedTuple):
    """The statistic is above ``threshold``; if ``swapped``, below it, with neighbours swapped."""

    threshold: float
    swapped: bool

    def counts(self, first: Array, second: Array) -> Counts:
        """Return the counts of the event in pairs of runs, the likelier neighbour first."""
        if self.swapped:
            hits, other_hits = second < self.threshold, first < self.threshold
        else:
            hits, other_hits = first > self.threshold, second > self.threshold
        both, likelier, other = map(np.count_nonzero, (hits & other_hits, hits, other_hits))
        return Counts(both, likelier - both, other - both, len(hits))


class Proof(NamedTuple):
    """Result of a black-box audit.

    Attributes:
        epsilon: lower bound at the claimed delta, with confidence ``evidence.CONFIDENCE``.
        largest: largest epsilon that the event could have proved with these runs.
        runs: number of counted runs on each neighbour.
        limit: largest number of runs that were allowed without a suspicion.
        refuted: whether the wealth refuted the claimed epsilon.
    """

    epsilon: float
    largest: float
    runs: int
    limit: int
    refuted: bool


def prove(
    statistic: Statistic,
    *,
    claimed_epsilon: float,
    delta: float,
    runs: int,
    streams: Sequence[np.random.Generator],
) -> Proof:
    """Return the bounds that runs on each neighbour prove about a release.

    Args:
        statistic: statistic of runs on both neighbours.
        claimed_epsilon, delta: claimed guarantee, to be refuted.
        runs: largest number of counted runs; of a suspicious release ``LONGER`` times as many.
        streams: two Generators, for the choice of events and for the counts.
    """
    # Of a release that takes long, few runs choose the event.
    pilot = max(LEAST, min(max(FEWEST, round(PILOT * runs)), 2 * runs))
    parts = (statistic(count, streams[0]) for count in _blocks(pilot))
    sample = np.concatenate([*map(np.stack, parts)], axis=1)
    bets = _Bets(_events(sample, claimed_epsilon, delta), claimed_epsilon, delta)
    for count in _blocks(runs):
        bets.add(*statistic(count, streams[1]))
        if bets.suspected:
            # The bound rests on a separate event and may need more runs.
            if bets.refuted and bets.epsilon > claimed_epsilon:
                break
        elif bets.exhausted(runs):
            break
    while bets.suspected and not bets.refuted and bets.runs < LONGER * runs:
        bets.add(*statistic(min(BLOCK, LONGER * runs - bets.runs), streams[1]))
    event = float(bets.counts.hits[0]) / bets.runs
    return Proof(
        epsilon=max(bets.epsilon, claimed_epsilon) if bets.refuted else bets.epsilon,
        largest=evidence.largest(bets.runs, delta, event=event),
        runs=bets.runs,
        limit=runs,
        refuted=bets.refuted,
    )


class _Bets:
    """Bets on events in counted runs, with their largest wealth so far.

    Args:
        events: events; bets on the first one prove a bound on epsilon, and bets on the others test
            the claimed epsilon.
        claimed_epsilon, delta: claimed guarantee.
    """

    def __init__(self, events: list[Event], claimed_epsilon: float, delta: float) -> None:
        self._events = events
        self._claimed_epsilon, self._delta = claimed_epsilon, delta
        self._lines = evidence.bets(np.exp(evidence.GRID), delta)
        self._claim = evidence.bets([np.exp(claimed_epsilon)], delta)
        self._totals = np.zeros((len(events), 4))
        self._largest = np.zeros(len(evidence.GRID))
        #: Whether the wealth made the claimed epsilon suspicious, and whether it refuted it.
        self.suspected = self.refuted = False

    def add(self, first: Array, second: Array) -> None:
        """Count the statistic of further runs on both neighbours, and update the wealth."""
        self._totals += np.array([event.counts(first, second) for event in self._events])
        self._largest = np.maximum(self._largest, evidence.log_wealth(self.counts, self._lines))
        wealth = evidence.log_wealth(self._against, self._claim)
        self.suspected |= _rejects(wealth, evidence.SUSPECTED)
        self.refuted |= _rejects(wealth, evidence.REFUTED)

    @property
    def runs(self) -> int:
        """Number of counted runs on each neighbour."""
        return int(self._totals[0, 3])

    @property
    def counts(self) -> Counts:
        """Counts of the event for epsilon."""
        return Counts(*self._totals[0])

    @property
    def epsilon(self) -> float:
        """Proved lower bound on epsilon."""
        return evidence.proved(self._largest, evidence.GRID)

    @property
    def _against(self) -> Counts:
        """Counts of the events that test the claimed epsilon."""
        return Counts(*self._totals[1:].T)

    def exhausted(self, limit: int) -> bool:
        """Return whether further runs, up to a limit, would neither refute nor raise the bound."""
        remaining = 1 - np.sqrt(self.runs / limit)
        gain = _shortfall(self.counts, self._delta, self.epsilon) * remaining if remaining else 0.0
        return gain < GAIN * self._claimed_epsilon and _futile(
            self._against, self._claimed_epsilon, self._delta, limit
        )


def _blocks(runs: int) -> Iterator[int]:
    done = 0
    while done < runs:
        count = min(max(FIRST, min(done // 2, BLOCK)), runs - done)
        yield count
        done += count


def _rejects(wealth: Array, confidence: float) -> bool:
    """Return whether the mean wealth of bets on several events rejects the claim."""
    mean = special.logsumexp(wealth) - np.log(len(wealth))
    return bool(mean >= -np.log1p(-confidence))


def _edge(counts: Counts, claimed_epsilon: float, delta: float) -> tuple[Array, Array]:
    """Return mean and mean square of a bet's payoff, with an allowance for rare later hits."""
    slope, (both, first, second, _) = np.exp(claimed_epsilon), counts.outcomes
    rare, runs = UNLIKELY**2, np.asarray(counts.runs)
    mean = (both + first - slope * (both + second)) / runs - delta
    return mean, (both * (1 - slope) ** 2 + first + second * slope**2 + rare) / runs


def _futile(counts: Counts, claimed_epsilon: float, delta: float, runs: int) -> bool:
    """Return whether the remaining runs would raise no suspicion.

    Stopping needs no correction, because bets are valid whenever they end. It only costs power.
    """
    done = np.asarray(counts.runs)
    mean, square = _edge(counts, claimed_epsilon, delta)
    mean += UNLIKELY * np.sqrt(square / done) + UNLIKELY**2 / done
    # Bets of the best size win about mean^2 / (2 square) per run.
    growth = np.maximum(mean, 0) ** 2 / (2 * square)
    wealth = evidence.log_wealth(counts, evidence.bets([np.exp(claimed_epsilon)], delta))
    return not _rejects(wealth + growth * (runs - done), evidence.SUSPECTED)


def _shortfall(counts: Counts, delta: float, bound: float) -> float:
    """Return the distance of a bound from the point estimate, which falls as 1 / sqrt(runs)."""
    p, q = (float(hits) / float(np.asarray(counts.runs)) for hits in counts.hits)
    if p <= delta:
        return 0.0
    return max(float(np.log((p - delta) / q)), 0.0) - bound if q else float("inf")


def _events(sample: Array, claimed_epsilon: float, delta: float) -> list[Event]:
    """Choose events on a sample, shape (2, runs).

    The first event gives the highest bound on epsilon that this sample could prove. Bounds that the
    more counted runs could prove would favour events with few hits here, which are extreme by luck.
    ``evidence.EVENTS`` more test the claimed epsilon: they lie around the event that contradicts it
    most. Their frequencies on the other neighbour differ by powers of ``RARER``.
    """
    candidates, counts, (as_sampled, negated) = _candidates(sample)
    size = sample.shape[1]
    per_direction = len(candidates) // 2
    # Never 0, or all powers of the ladder would be one place.
    shares = (counts.hits[1] + 1) / (size + 2)
    grid = np.geomspace(evidence.GRID[0], evidence.GRID[-1], VALUES)[:, None]
    best = _highest(evidence.log_wealth(counts, evidence.bets(np.exp(grid), delta)))
    # Where no event distinguishes the neighbours, the middle one could prove most.
    chosen = candidates[per_direction // 2 if best is None else best]
    centre = int(_clearness(counts, claimed_epsilon, delta).argmax())
    swapped = candidates[centre].swapped
    ladder = shares[centre] * RARER ** (np.arange(evidence.EVENTS) - (evidence.EVENTS - 1) / 2)
    places = np.clip(size * (1 - ladder), 0, size - 1).astype(int)
    against = -negated[places] if swapped else as_sampled[places]
    return [chosen, *(Event(float(t), swapped) for t in against)]


def strength(sample: Array, claimed_epsilon: float, delta: float) -> float:
    """Return how clearly the best event on a sample, shape (2, runs), refutes a guarantee."""
    return float(_clearness(_candidates(sample)[1], claimed_epsilon, delta).max())


def _clearness(counts: Counts, claimed_epsilon: float, delta: float) -> Array:
    """Return how clearly events contradict a guarantee: :func:`_edge` over its deviation."""
    mean, square = _edge(counts, claimed_epsilon, delta)
    return np.asarray(mean / np.sqrt(square))


def _thresholds(sample: Array) -> Array:
    """Return values of a sample (2, runs), evenly spaced in rank, denser towards both ends."""
    size = sample.shape[1]
    rare = np.geomspace(1, size, CANDIDATES // 3)
    ranks = np.concatenate([np.linspace(0, 2 * size - 1, CANDIDATES), rare - 1, 2 * size - rare])
    return np.sort(sample, axis=None)[np.unique(ranks.astype(int))]


def _candidates(sample: Array) -> tuple[list[Event], Counts, tuple[Array, Array]]:
    """Return threshold events on a sample, shape (2, runs), of the statistic on both neighbours.

    Returns:
        The events, in both directions; their counts; and two arrays of sorted statistics on the
        other neighbour, one for each direction: the second neighbour, and the first one negated.
    """
    first, second = sample
    size, thresholds = len(first), _thresholds(sample)
    others, hits = [], []
    # An event is a statistic above a limit; negation turns "below the threshold" into one.
    for likelier, other, limits in ((first, second, thresholds), (-second, -first, -thresholds)):
        # A run of the pair has the event in both if the smaller statistic is above the threshold.
        smaller = np.minimum(likelier, other)
        others.append(np.sort(other))
        first_hits, second_hits, both = (
            size - np.searchsorted(np.sort(values), limits, side="right")
            for values in (likelier, other, smaller)
        )
        # (3, thresholds) in each direction.
        hits.append((both, first_hits - both, second_hits - both))
    both, first_alone, second_alone = np.concatenate(hits, axis=1)
    counts = Counts(both, first_alone, second_alone, size)
    candidates = [Event(float(t), swapped) for swapped in (False, True) for t in thresholds]
    return candidates, counts, (others[0], others[1])


def _highest(wealth: Array) -> int | None:
    """Return the column that is rejected at the highest of the ascending values (rows), or None."""
    rejected = wealth >= evidence.GOAL
    if not rejected.any():
        return None
    last = int(np.flatnonzero(rejected.any(axis=1))[-1])
    # Choose the rejecting column that is closest to rejecting the next value.
    after = wealth[min(last + 1, len(wealth) - 1)]
    return int(np.where(rejected[last], after, -np.inf).argmax())
