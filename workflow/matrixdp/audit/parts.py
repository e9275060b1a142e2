"""Real releases in several parts under audit: what each part adds, and what the whole executes.

The records of a release in parts may enter it through the answers of its parts alone. So a program
that gets the same noisy answers on other records must release the same; one that looks at the data
once more, or adds less noise than it says, does not. What the parts are asked on neighbours, over
their noise, gives mu.
"""

from __future__ import annotations

import numpy as np

from matrixdp.audit import composition, real
from matrixdp.audit.base import Finding, Scale
from matrixdp.audit.neighbours import worst
from matrixdp.checks import Array
from matrixdp.mechanisms.base import GaussianRelease
from matrixdp.mechanisms.composed import Composed, Outcome, Part, ShellQuery
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import IdentityQuery, SecondMomentQuery

#: Pairs of data sets that are far apart, and of neighbours, that are replayed; and the sizes, in
#: turns, of the records that neighbours share.
PAIRS, NEIGHBOURS = 16, 12
SIZES = 1.0, 0.1, 0.01


class Answers:
    """Answers of parts: with noise of a seed, or those of an earlier run once more."""

    def __init__(self, release: Composed, seed: int, noisy: list[Array] | None = None) -> None:
        self._parts = iter(release.parts)
        self._stream = np.random.default_rng(seed)
        self._repeated = None if noisy is None else iter(noisy)
        #: Noisy answers, and exact ones over the noise, in the order of the parts.
        self.noisy: list[Array] = []
        self.white: list[Array] = []

    def __call__(self, part: GaussianRelease, value: Array) -> Array:
        """Return the noisy answer of a part; Undeclared for one that is not in its turn."""
        declared = next(self._parts, None)
        if declared is None or not any(one is part for one in declared.releases):
            raise composition.Undeclared
        self.white.append(part.noise.whiten(value))
        if self._repeated is None:
            noise = self._stream.standard_normal(self.white[-1].shape)
            self.noisy.append(value + part.noise.colour(noise))
        else:
            self.noisy.append(next(self._repeated))
        return self.noisy[-1]


def executed(release: Composed, stream: np.random.Generator) -> Finding:
    """Return what replays show: the share of other releases, and mu over the declared one.

    The latter is of the worst neighbours of each part, found apart, or of replayed ones. A null
    record can be replayed as one of zeros, where these lie within the bounds.
    """
    query = release.query
    other = []
    for _ in range(PAIRS):
        first, second = (composition._records(query, stream) for _ in range(2))
        other.append(_apart(release, first, second, int(stream.integers(2**32))) is None)
    found = [float(np.linalg.norm([_worst(part, stream) for part in release.parts]))]
    identity = IdentityQuery(query.domain, query.records, query.adjacency)
    moments = SecondMomentQuery(query.domain, query.records, query.adjacency)
    pairs = [
        worst(one, lambda d: np.linalg.norm(d, axis=(-2, -1)), stream)[:2]
        for one in (identity, moments)
    ]
    # What looks at sizes alone moves by a record and one of none.
    pairs.append((pairs[1][0], np.zeros(query.features)))
    within = isinstance(query.domain, Ball) or query.domain.contains_zero
    for number in range(NEIGHBOURS if within or query.adjacency == "replace" else 0):
        first = SIZES[number % len(SIZES)] * composition._records(query, stream)
        second = first.copy()
        first[:, 0], second[:, 0] = pairs[number // len(SIZES) % len(pairs)]
        apart = _apart(release, first, second, int(stream.integers(2**32)))
        found.append(np.inf if apart is None else apart)
    return Finding(float(np.mean(other)), max(found) / release.mu, composition.SHORTFALL)


def scale(release: Composed, stream: np.random.Generator) -> Scale:
    """Return the test of the real noise of the part that fails it, or of the last one."""
    for part in release.parts:
        for one in part.releases:
            result = real.scale(one, stream)
            if result.verdict != "right":
                return result
    return result


def _apart(release: Composed, first: Array, second: Array, seed: int) -> float | None:
    """Return how far the parts' answers are apart, over their noise; None: another release."""
    try:
        answers = Answers(release, seed)
        released = release.run(lambda: [first.T], answers)
        repeated = Answers(release, seed, answers.noisy)
        again = release.run(lambda: [second.T], repeated)
    except (composition.Undeclared, StopIteration):
        return None
    if len(answers.white) != len(release.parts) or not _same(released, again):
        return None
    moved = zip(answers.white, repeated.white, strict=True)
    return float(np.linalg.norm([np.linalg.norm(one - other) for one, other in moved]))


def _same(first: Outcome, second: Outcome) -> bool:
    one, other = (np.concatenate([np.ravel(x) for x in outcome]) for outcome in (first, second))
    return bool(np.array_equal(one, other))


def _worst(part: Part, stream: np.random.Generator) -> float:
    """Return how far a search finds the answers of a part apart, over its noise, at most."""

    def white(one: GaussianRelease) -> float:
        if isinstance(one.query, ShellQuery):
            # One record in one shell, or in another one.
            indicators = np.eye(one.query.features)[:, :2] / one.query.records
            change = indicators[:, :1] - indicators[:, 1:]
            return float(np.linalg.norm(one.noise.whiten(change)))
        return worst(one.query, lambda d: np.linalg.norm(one.noise.whiten(d), axis=-1), stream).size

    return max(white(one) for one in part.releases)
