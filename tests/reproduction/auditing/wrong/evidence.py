"""Proofs that a release is not what it says, by formulas and runs that owe nothing to the audit.

Each returns a function of a release and its case: a lower bound on what the release attains, over
what it promises. Runs give bounds at a level of 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats
from wrong.base import Case

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism, CalibratedMechanism
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import ADJACENCIES, Query

#: Error probability of a bound, and the standard deviations that correspond to it.
LEVEL, SIGMAS = 1e-6, 5.0

Proof = Callable[[CalibratedMechanism, Case], float]
#: Record by the number of features: the same number for all of them, or one each.
Record = float | Callable[[int], Array]
#: Returns two neighbouring data matrices (m, n).
Pair = Callable[[CalibratedMechanism], tuple[Array, Array]]


def alternating(features: int) -> Array:
    """Return 1, -1, 1, ..."""
    return (-1.0) ** np.arange(features)


def unlike(record: Record = 1.0, other: Record = -1.0, rest: float = 0.0) -> Pair:
    """Return two data sets that differ in their first record; all others are ``rest``."""

    def pair(release: CalibratedMechanism) -> tuple[Array, Array]:
        query = release.query
        sides = []
        for first in (record, other):
            data = np.full((query.features, query.n_records), rest)
            data[:, 0] = first(query.features) if callable(first) else first
            sides.append(data)
        return sides[0], sides[1]

    return pair


def _answers(release: CalibratedMechanism, pair: Pair) -> tuple[Array, Array]:
    query: Query = release.query
    first, second = (query.value(data) for data in pair(release))
    return first, second


def runs_of(release: CalibratedMechanism, value: Array, count: int, seed: int = 0) -> Array:
    """Return releases of a value, with noise of the author's own sampler where there is one."""
    streams = [np.random.default_rng(seed)] * count
    if isinstance(release, AdditiveMechanism) and release.coloured:
        # As its author has it. A simulated release draws noise of the library in its place.
        return value + release.noise.sample(streams)
    return release.simulate(value, streams)


def _symmetric(stack: Array) -> bool:
    m, n = stack.shape[1:]
    return m == n and np.allclose(stack, np.swapaxes(stack, 1, 2))


def event(
    sees: Callable[[Array, Array, Array], Array], pair: Pair | None = None, runs: int = 20_000
) -> Proof:
    """Bound epsilon by an event that one neighbour has more often.

    ``sees`` maps releases (k, m, n) and the exact answers of both neighbours to booleans (k,).
    """

    def proof(release: CalibratedMechanism, case: Case) -> float:
        answers = _answers(release, pair or unlike())
        hits = [
            int(np.count_nonzero(sees(runs_of(release, value, runs, seed), *answers)))
            for seed, value in enumerate(answers)
        ]
        low = [stats.beta.ppf(LEVEL, hit, runs - hit + 1) if hit else 0.0 for hit in hits]
        high = [stats.beta.ppf(1 - LEVEL, hit + 1, runs - hit) if hit < runs else 1 for hit in hits]
        above = np.array([low[0] / high[1], low[1] / high[0]])
        above -= release.delta / np.array([high[1], high[0]])
        return float(np.log(max(above.max(), 1.0)) / release.epsilon)

    return proof


def projection(
    weights: Callable[[CalibratedMechanism], Array] | None = None,
    pair: Pair | None = None,
    runs: int = 20_000,
    against: Callable[[CalibratedMechanism, float], float] | None = None,
) -> Proof:
    """Bound epsilon by a weighted sum of a release's entries, whose noise is Gaussian.

    Without ``weights`` they are the best ones for independent entries, by the entries' variances.
    ``against`` maps the release and its attained mu to the ratio; by default that of epsilon.
    """

    def proof(release: CalibratedMechanism, case: Case) -> float:
        answers = _answers(release, pair or unlike())
        first, second = (runs_of(release, value, runs) for value in answers)
        change = first - second
        if weights is not None:
            weight = weights(release)
        else:
            weight = change.mean(axis=0)
            if _symmetric(second):
                weight = np.triu(weight)
            spread = second.std(axis=0)
            size = np.abs(second).max()
            if (np.abs(weight) > 1e-9 * size)[spread < 1e-9 * size].any():
                return float("inf")
            weight = weight / np.where(spread > 0, spread, 1.0) ** 2
        moved = np.tensordot(change, weight, 2)
        noise = np.tensordot(second, weight, 2).std() * (1 + SIGMAS / np.sqrt(2 * runs))
        shift = abs(moved.mean()) - SIGMAS * moved.std() / np.sqrt(runs)
        if noise < 1e-9 * abs(shift):
            return float("inf")
        mu = max(float(shift / noise), 0.0)
        if against is not None:
            return against(release, mu)
        if not release.delta:
            return float("inf") if mu > 1e-3 else 0.0
        return float(gaussian.epsilon(release.delta, mu) / release.epsilon)

    return proof


def promise(release: CalibratedMechanism, case: Case) -> float:
    """Return the largest factor by which the answer promises less than was asked."""
    weaker = ADJACENCIES.index(release.query.adjacency) > ADJACENCIES.index(case.query.adjacency)
    ratios = (release.epsilon / case.epsilon, release.delta / (case.delta or 1), 1.0 + weaker)
    return float(max(ratios))


def size_of_noise(release: CalibratedMechanism, case: Case) -> float:
    """Return the least size of an entry's noise in runs, over the declared one."""
    value = release.query.value(np.zeros((release.query.features, release.query.n_records)))
    noise = runs_of(release, value, 20_000) - value
    size = np.sqrt((noise**2).mean()) * (1 - SIGMAS / np.sqrt(2 * noise.size))
    return float(size / release.noise_std)


def losses(pair: Pair | None = None) -> Proof:
    """Bound epsilon by the largest loss of noise whose density is exp(-size)."""

    def proof(release: CalibratedMechanism, case: Case) -> float:
        assert isinstance(release, AdditiveMechanism)
        first, second = _answers(release, pair or unlike())
        noise = release.noise.sample([np.random.default_rng(0)] * 4000)
        moved = noise + (first - second)
        loss = np.abs(release.noise.size(moved) - release.noise.size(noise))
        return float(loss.max() / release.epsilon * (1 - 1e-9))

    return proof


class Extreme(np.random.Generator):
    """A stream whose exponential numbers are 50: possible, though nobody sees it happen."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_exponential(self, *_: object, out: Array) -> Array:
        """Fill an array with 50."""
        out[...] = 50.0
        return out


def within_support(release: CalibratedMechanism, case: Case) -> float:
    """Return infinity if Laplace noise never exceeds 49 scales: neighbours differ in support."""
    assert isinstance(release, AdditiveMechanism)
    noise = np.abs(release.noise.sample([Extreme()])).max()
    return float("inf") if noise < 49 * release.noise.scale else 0.0


def near(share: float) -> Callable[[Array, Array, Array], Array]:
    """Return the event that a release is near the first answer, in shares of the change."""

    def sees(y: Array, a: Array, b: Array) -> Array:
        return np.linalg.norm(y - a, axis=(1, 2)) < share * np.linalg.norm(a - b)

    return sees
