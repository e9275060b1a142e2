"""Cases of the audit's test: a wrong mechanism, its correct twin, and what proves it wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from matrixdp.checks import Array
from matrixdp.mechanisms.base import (
    AdditiveGaussian,
    AdditiveMechanism,
    Budget,
    CalibratedMechanism,
    Mechanism,
)
from matrixdp.noise.distributions import GaussianDistribution, NoiseDistribution, Streams, normals
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import (
    Box,
    IdentityQuery,
    MeanQuery,
    Mu,
    Query,
    SecondMomentQuery,
)
from reproduction.mechanisms.adassp import NormalEquations

#: Small queries by kind; neighbours of the last word differ by a record that is zeroed out.
QUERIES: dict[str, Query] = {
    "records": IdentityQuery(Box.cube(3, -1, 1), 20),
    "records, zeroed": IdentityQuery(Box.cube(3, 0, 1), 20, "zero_out"),
    "one number": IdentityQuery(Box.cube(1, -1, 1), 1, "zero_out"),
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
        self._require(query)
        return self.build(query, epsilon, delta)


@dataclass(frozen=True)
class Case:
    """A wrong mechanism and its correct twin.

    Attributes:
        name: of the case.
        mistake: what leaks, or is declared falsely.
        wrong, right: the mechanisms.
        query_kind: key of ``QUERIES``.
        epsilon, delta: the guarantee that is wanted.
        evidence: why the wrong one is wrong.
        proof: function of a release and this case: what the release attains over what it promises,
            a lower bound computed without the audit. It is above 1 where the release is wrong.
        visible: whether draws of the noise, or releases on neighbours, can show it.
        goal: the status that a good audit gives the wrong one: ``refuted``, or ``declared``.
    """

    name: str
    mistake: str
    wrong: Mechanism
    right: Mechanism
    query_kind: str
    epsilon: float
    delta: float
    evidence: str
    proof: Callable[[CalibratedMechanism, Case], float]
    visible: bool = True
    goal: str = "refuted"

    @property
    def query(self) -> Query:
        """The query that is asked."""
        return QUERIES[self.query_kind]


def case(
    name: str,
    mistake: str,
    query_kind: str,
    sides: tuple[Build | Mechanism, Build | Mechanism],
    evidence: str,
    proof: Callable[[CalibratedMechanism, Case], float],
    *,
    epsilon: float = 1.0,
    delta: float = 1e-3,
    visible: bool = True,
    goal: str = "refuted",
) -> Case:
    """Return the case of two ``sides``, the wrong one first."""
    kind = type(QUERIES[query_kind])
    wrong, right = (side if isinstance(side, Mechanism) else Author(kind, side) for side in sides)
    about = (query_kind, epsilon, delta, evidence, proof, visible, goal)
    return Case(name, mistake, wrong, right, *about)


def normal_release(
    query: Query, epsilon: float, delta: float, noise: GaussianDistribution, **declared: Any
) -> AdditiveGaussian:
    """Return value plus noise, which declares the whole mu of its budget, or what is given."""
    most = gaussian.mu(epsilon, delta)
    declared = {"noise_std": getattr(noise, "std", np.nan), **declared}
    mu = declared.pop("mu", Mu(most, query.l2_exact))
    return AdditiveGaussian.from_mu(
        mu, Budget(epsilon, delta), query=query, noise=noise, **declared
    )


def pure_release(
    query: Query, epsilon: float, noise: NoiseDistribution, **declared: Any
) -> AdditiveMechanism:
    """Return value plus noise, which declares epsilon and a delta of 0."""
    declared = {"epsilon_delivered": epsilon, **declared}
    return AdditiveMechanism(query=query, epsilon=epsilon, noise=noise, **declared)


def standard(query: Query, epsilon: float, delta: float) -> float:
    """Return the standard deviation of equal, independent noise that is just private."""
    return float(query.l2_sensitivity / gaussian.mu(epsilon, delta))


@dataclass(frozen=True, eq=False)
class Independent(GaussianDistribution):
    """Independent entries of one standard deviation."""

    std: float
    identical_columns = True

    def _draw(self, streams: Streams, stack: Array) -> None:
        normals(streams, self.shape, stack)
        stack *= self.std

    def whiten(self, z: Array) -> Array:
        """Return the entries over their standard deviation."""
        return (z / self.std).reshape(*z.shape[:-2], -1)

    def colour(self, white: Array) -> Array:
        """Return the inverse of :meth:`whiten`."""
        return self.std * white.reshape(self.shape)


@dataclass(frozen=True, kw_only=True)
class Program(CalibratedMechanism):
    """A release that any function of the value and standard normals computes.

    ``program`` maps values and normals, shape (trials, m, n) each, to releases of that shape.
    """

    program: Callable[[Array, Array], Array]

    def _draw(self, value: Array, streams: Streams) -> Array:
        draws = normals(streams, value.shape[-2:])
        return self.program(np.broadcast_to(value, draws.shape), draws)


def program_release(
    query: Query,
    epsilon: float,
    delta: float,
    program: Callable[[Array, Array], Array],
    **declared: Any,
) -> Program:
    """Return the release of a program that declares its budget."""
    budget = Budget(epsilon, delta)._asdict()
    return Program(query=query, program=program, epsilon_delivered=epsilon, **budget, **declared)


def laplace_of(draws: Array) -> Array:
    """Return Laplace numbers of scale 1 from standard normals."""
    return -np.sign(draws) * (special.log_ndtr(-np.abs(draws)) + np.log(2))
