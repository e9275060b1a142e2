"""Wrong mechanisms and their honest twins, and what proves that one is wrong and the other not.

A corruption is a function of a draw. A proof owes nothing to the audit: it maps a release and its
case to what the release attains over what it promises, a lower bound at a level of 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import stats

from matrixdp.auditing.audit import size_of
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian, AdditiveMechanism
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism, Mechanism
from matrixdp.noise.distributions import GaussianDistribution, NoiseDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import (
    Box,
    MeanQuery,
    Mu,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)
from reproduction.mechanisms.adassp import NormalEquations

#: Small queries by name; neighbours of the last word differ by a record that is zeroed out.
QUERIES: dict[str, Query] = {
    "records": RecordsQuery(Box.cube(3, -1, 1), 20),
    "records, zeroed": RecordsQuery(Box.cube(3, 0, 1), 20, "zero_out"),
    "one number": RecordsQuery(Box.cube(1, -1, 1), 1, "zero_out"),
    "mean": MeanQuery(Box.cube(4, -1, 1), 50),
    "mean of 2": MeanQuery(Box.cube(2, -1, 1), 50),
    "mean of 12": MeanQuery(Box.cube(12, -1, 1), 50),
    "mean of 1, zeroed": MeanQuery(Box.cube(1, 0, 1), 20, "zero_out"),
    "moments": SecondMomentQuery(Box.cube(6, -1, 1), 50),
    "moments, zeroed": SecondMomentQuery(Box.cube(6, -1, 1), 50, "zero_out"),
    "moments of 21": SecondMomentQuery(Box.cube(21, -1, 1), 50),
    "moments of 30, zeroed": SecondMomentQuery(Box.cube(30, -1, 1), 50, "zero_out"),
    "equations": NormalEquations(Box.cube(4, -1, 1), 50, target=3),
    "equations of 6": NormalEquations(Box.cube(6, -1, 1), 200, target=5),
}

#: Function of a query, epsilon and delta: how an author calibrates.
Build = Callable[[Any, float, float], CalibratedMechanism]
Proof = Callable[[CalibratedMechanism, "Case"], float]


@dataclass(frozen=True)
class Author(Mechanism):
    """A mechanism for one kind of query, calibrated as its author does."""

    kind: type[Query]
    build: Build

    @property
    def queries(self) -> frozenset[type[Query]]:
        """The kind."""
        return frozenset({self.kind})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> CalibratedMechanism:
        """Return what the author's function returns."""
        return self.build(query, epsilon, delta)


@dataclass(frozen=True)
class Case:
    """A wrong mechanism and its honest twin.

    Attributes:
        name: what leaks, or is declared falsely.
        query_name: key of ``QUERIES``.
        sides: the wrong one and the honest one.
        proof: see this module; it is above 1 for the wrong one alone.
        epsilon, delta: the guarantee that is wanted.
        refutable: whether the audit refutes the wrong one; it never certifies it.
        reason: why the wrong one is wrong, where its name does not say it.
    """

    name: str
    query_name: str
    sides: tuple[Build | Mechanism, Build | Mechanism]
    proof: Proof
    epsilon: float = 1.0
    delta: float = 1e-3
    refutable: bool = True
    reason: str = ""

    @property
    def query(self) -> Query:
        """The query that is asked."""
        return QUERIES[self.query_name]

    def mechanism(self, wrong: bool) -> Mechanism:
        """Return one of the sides."""
        side = self.sides[0 if wrong else 1]
        return side if isinstance(side, Mechanism) else Author(type(self.query), side)

    def release(self, wrong: bool) -> CalibratedMechanism:
        """Return one of the sides, calibrated."""
        budget = {"epsilon": self.epsilon, "delta": self.delta}
        return self.mechanism(wrong).calibrate(self.query, **budget)


def standard(query: Query, epsilon: float, delta: float) -> float:
    """Return the standard deviation of equal, independent noise that is just private."""
    return float(query.l2_sensitivity / gaussian_dp.mu(epsilon, delta))


def normal_release(
    query: Query, epsilon: float, delta: float, noise: Noise | GaussianDistribution, **declared: Any
) -> AdditiveGaussian:
    """Return value plus noise, which declares the whole mu of its budget, or another one."""
    declared = {"noise_std": getattr(noise, "std", np.nan), **declared}
    mu = declared.pop("mu", Mu(gaussian_dp.mu(epsilon, delta), query.l2_tight))
    return AdditiveGaussian.from_mu(
        mu, Budget(epsilon, delta), query=query, noise=noise, **declared
    )


def pure_release(
    query: Query, epsilon: float, noise: Noise | NoiseDistribution, std: float
) -> AdditiveMechanism:
    """Return value plus noise, which declares epsilon and a delta of 0."""
    declared = {"epsilon": epsilon, "epsilon_delivered": epsilon, "noise_std": float(std)}
    return AdditiveMechanism(query=query, noise=noise, **declared)


@dataclass(frozen=True, eq=False)
class Independent(GaussianDistribution):
    """Independent normal entries of one standard deviation."""

    std: float
    identical_columns = True

    def sample(self, generator: Generator, count: int) -> Array:
        """Return independent draws, shape (count, m, n)."""
        return self.std * generator.standard_normal((count, *self.shape))

    def whiten(self, z: Array) -> Array:
        """Return the entries over their standard deviation."""
        return (z / self.std).reshape(*z.shape[:-2], -1)

    def colour(self, white: Array) -> Array:
        """Return the inverse of :meth:`whiten`."""
        return self.std * white.reshape(self.shape)


#: Changes draws (k, m, n) of a noise in place; draws more from the Generator.
Change = Callable[[Array, Any, Generator], None]


def corrupted(kind: type[Any], change: Change | None) -> type[Any]:
    """Return a class of noise whose draws are those of another class, changed; None: itself."""

    class Corrupted(kind):  # type: ignore[valid-type, misc]
        def sample(self, generator: Generator, count: int) -> Array:
            stack: Array = super().sample(generator, count)
            change(stack, self, generator)
            return stack

    return Corrupted if change else kind


def normal(change: Change | None) -> Build:
    """Return the calibration of independent normal noise, whose draws are changed."""
    kind = corrupted(Independent, change)

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        noise = kind(query.shape, standard(query, epsilon, delta))
        return normal_release(query, epsilon, delta, noise)

    return build


@dataclass(frozen=True, kw_only=True)
class Program(CalibratedMechanism):
    """A release that a function computes from values and standard normals, both (k, m, n)."""

    program: Callable[[Array, Array], Array]

    def _draw(self, value: Array, generator: Generator, count: int) -> Array:
        draws = generator.standard_normal((count, *value.shape[-2:]))
        return self.program(np.broadcast_to(value, draws.shape), draws)


#: Error probability of a bound, and the standard deviations that correspond to it.
LEVEL, SIGMAS = 1e-6, 5.0

#: A record by the number of features: the same number for all of them, or one each.
Record = float | Callable[[int], Array]
#: Returns two neighbouring data matrices (m, n).
Pair = Callable[[CalibratedMechanism], tuple[Array, Array]]


def alternating(features: int) -> Array:
    """Return 1, -1, 1, ..."""
    return (-1.0) ** np.arange(features)


def unlike(record: Record = 1.0, other: Record = -1.0, rest: float = 0.0) -> Pair:
    """Return two data sets that differ in their first record; all others are ``rest``."""

    def pair(release: CalibratedMechanism) -> tuple[Array, Array]:
        query, sides = release.query, []
        for first in (record, other):
            data = np.full((query.features, query.n_records), rest)
            data[:, 0] = first(query.features) if callable(first) else first
            sides.append(data)
        return sides[0], sides[1]

    return pair


#: A record of ones, or zeros.
ONE = unlike(1.0, 0.0)


def answers(release: CalibratedMechanism, pair: Pair) -> tuple[Array, Array]:
    """Return the exact answers on two neighbours."""
    first, second = (release.query.value(data) for data in pair(release))
    return first, second


def runs_of(release: CalibratedMechanism, value: Array, count: int, seed: int = 0) -> Array:
    """Return releases of a value."""
    return release.simulate(value, np.random.default_rng(seed), count)


def event(
    sees: Callable[[Array, Array, Array], Array], pair: Pair | None = None, runs: int = 20_000
) -> Proof:
    """Bound epsilon by an event that one neighbour has more often.

    ``sees`` maps releases (k, m, n) and the exact answers of both neighbours to booleans (k,).
    """

    def proof(release: CalibratedMechanism, case: Case) -> float:
        sides = answers(release, pair or unlike())
        hits = np.array(
            [np.sum(sees(runs_of(release, x, runs, k), *sides)) for k, x in enumerate(sides)]
        )
        low = np.nan_to_num(stats.beta.ppf(LEVEL, hits, runs - hits + 1))
        high = np.nan_to_num(stats.beta.ppf(1 - LEVEL, hits + 1, runs - hits), nan=1.0)
        ratios = (low - release.delta) / high[::-1]
        return float(np.log(max(ratios.max(), 1.0)) / release.epsilon)

    return proof


def near(share: float) -> Callable[[Array, Array, Array], Array]:
    """Return the event that a release is near the first answer, in shares of the change."""

    def sees(y: Array, a: Array, b: Array) -> Array:
        return np.linalg.norm(y - a, axis=(1, 2)) < share * np.linalg.norm(a - b)

    return sees


def projection(
    weights: Callable[[CalibratedMechanism], Array] | None = None,
    pair: Pair | None = None,
    runs: int = 20_000,
    declares: str = "epsilon",
) -> Proof:
    """Bound epsilon, or mu, by a weighted sum of a release's entries, whose noise is Gaussian.

    Without ``weights`` they are the best ones for independent entries, by the entries' variances.
    ``declares`` is the attribute that is false.
    """

    def proof(release: CalibratedMechanism, case: Case) -> float:
        sides = answers(release, pair or unlike())
        first, second = (runs_of(release, value, runs) for value in sides)
        change = first - second
        if weights is not None:
            weight = weights(release)
        else:
            weight, spread = change.mean(axis=0), second.std(axis=0)
            if weight.shape[0] == weight.shape[1] and np.allclose(second[0], second[0].T):
                weight = np.triu(weight)
            size = 1e-9 * np.abs(second).max()
            if (np.abs(weight) > size)[spread < size].any():
                return float("inf")
            weight = weight / np.where(spread > 0, spread, 1.0) ** 2
        moved = np.tensordot(change, weight, 2)
        noise = np.tensordot(second, weight, 2).std() * (1 + SIGMAS / np.sqrt(2 * runs))
        shift = abs(moved.mean()) - SIGMAS * moved.std() / np.sqrt(runs)
        if noise < 1e-9 * abs(shift):
            return float("inf")
        mu = max(float(shift / noise), 0.0)
        if not release.delta:
            return float("inf") if mu > 1e-3 else 0.0
        attained = mu if declares == "mu" else gaussian_dp.epsilon(release.delta, mu)
        return float(attained / getattr(release, declares))

    return proof


def loss(release: CalibratedMechanism, case: Case) -> float:
    """Bound epsilon by the largest loss of noise whose density is exp(-size)."""
    assert isinstance(release, AdditiveMechanism)
    first, second = answers(release, unlike())
    noise = release.noise.sample(np.random.default_rng(0), 4000)
    size = size_of(release.noise)
    losses = size(noise + (first - second)) - size(noise)
    return float(np.abs(losses).max() / release.epsilon * (1 - 1e-9))
