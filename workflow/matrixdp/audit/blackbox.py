"""What runs of a release prove: an event is chosen on some runs and counted on others.

The event is a threshold on a statistic, best the likelihood ratio of the two neighbours, in either
direction. A release is called refuted only if a second, independent set of runs with the same event
proves it again: a correct release then fails with a probability of at most (1 - confidence)^2, and
in fact much more rarely, although a report judges hundreds of releases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np

from matrixdp.audit import evidence
from matrixdp.checks import Array

#: ``statistic(count, stream)`` returns it for ``count`` runs on each of the two neighbours; it is
#: large where the first is the likelier.
Statistic = Callable[[int, np.random.Generator], tuple[Array, Array]]

#: Runs held at once, and candidates for a threshold.
BLOCK, CANDIDATES = 1 << 15, 400

#: Runs on which the event is chosen, as a share of those that are counted, and at least how many.
PILOT, FEWEST = 0.2, 2000


class Event(NamedTuple):
    """The statistic is above ``threshold``, or below it and the neighbours swapped."""

    threshold: float
    swapped: bool

    def hits(self, first: Array, second: Array) -> tuple[int, int]:
        """Return how many runs on the likelier, and on the other neighbour, are in the event."""
        if self.swapped:
            return int((second < self.threshold).sum()), int((first < self.threshold).sum())
        return int((first > self.threshold).sum()), int((second > self.threshold).sum())


class Proof(NamedTuple):
    """What was proved.

    Attributes:
        epsilon: lower bound at the nominal delta, with confidence ``evidence.CONFIDENCE``.
        mu: the same for Gaussian DP, from an event of its own.
        largest: the epsilon that the event could have proved at most with these runs.
        runs: counted runs on each neighbour.
        refuted: whether two independent sets of runs each prove more than the nominal epsilon.
    """

    epsilon: float
    mu: float
    largest: float
    runs: int
    refuted: bool


def prove(
    statistic: Statistic,
    *,
    nominal: float,
    delta: float,
    runs: int,
    streams: Sequence[np.random.Generator],
) -> Proof:
    """Return what ``runs`` runs on each neighbour prove about a release.

    Args:
        statistic: see ``Statistic``.
        nominal, delta: the guarantee to refute.
        runs: counted runs on each neighbour.
        streams: three Generators: to choose the events, to count, to confirm.
    """
    pilot = max(FEWEST, round(PILOT * runs))
    sample = np.concatenate([*map(np.stack, _blocks(statistic, pilot, streams[0]))], axis=1)
    events = [_best(sample, delta, gaussian) for gaussian in (False, True)]
    counted = _count(statistic, events, runs, streams[1])
    bound = float(evidence.epsilon(*counted[0], runs, delta))
    refuted = bound > nominal
    if refuted:
        again = _count(statistic, events[:1], runs, streams[2])[0]
        refuted = bool(evidence.epsilon(*again, runs, delta) > nominal)
    return Proof(
        epsilon=bound,
        mu=float(evidence.mu(*counted[1], runs)),
        largest=float(evidence.largest(runs, delta, event=counted[0][0] / runs)),
        runs=runs,
        refuted=refuted,
    )


def _blocks(
    statistic: Statistic, runs: int, stream: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    for start in range(0, runs, BLOCK):
        yield statistic(min(BLOCK, runs - start), stream)


def _count(
    statistic: Statistic, events: Sequence[Event], runs: int, stream: np.random.Generator
) -> list[tuple[int, int]]:
    """Return how often each event happened in all blocks, see :meth:`Event.hits`."""
    blocks = _blocks(statistic, runs, stream)
    totals = np.sum([[event.hits(*both) for event in events] for both in blocks], axis=0)
    return [(int(hits), int(neighbour)) for hits, neighbour in totals]


def _best(sample: Array, delta: float, gaussian: bool) -> Event:
    """Return the event of the highest bound on this sample, shape (2, runs).

    The bound is that of the sample's own size, which shies away from events of few hits: scaled up
    to the runs that will be counted, their luck would be taken for a law.
    """
    first, second = np.sort(sample, axis=1)
    size = len(first)
    # Evenly spaced in probability, and densely where events are rare.
    rare = np.geomspace(1, size, CANDIDATES // 4)
    ranks = np.concatenate([np.linspace(0, 2 * size - 1, CANDIDATES), rare - 1, 2 * size - rare])
    thresholds = np.sort(np.concatenate([first, second]))[np.unique(ranks.astype(int))]
    found = []
    for swapped in (False, True):
        side: Literal["left", "right"] = "left" if swapped else "right"
        own, other = (np.searchsorted(part, thresholds, side=side) for part in (first, second))
        hits, neighbour = (other, own) if swapped else (size - own, size - other)
        counted = hits, neighbour, size
        bound = evidence.mu(*counted) if gaussian else evidence.epsilon(*counted, delta)
        # Where nothing tells the neighbours apart, the event in the middle could prove most.
        best = int(bound.argmax()) if bound.any() else len(thresholds) // 2
        found.append((float(bound[best]), Event(float(thresholds[best]), swapped)))
    return max(found)[1]
