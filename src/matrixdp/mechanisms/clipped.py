"""Second moments of clipped records: noise for a ball that is smaller than the public box.

Clipping shrinks long records and preserves their direction. For clipped records C, the sensitivity
of C C^T / n falls with the square of the radius R. It is sqrt(2) R^2 / n under replacement (for
orthogonal records on the sphere) and R^2 / n under zero-out. The radius is public, or a private
choice from the same budget.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveGaussian, Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.gaussian import GOE, orthogonal_ensemble
from matrixdp.mechanisms.ridge import lifted, moments_ridge
from matrixdp.noise.distributions import Streams, normals
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Ball, squared_norms
from matrixdp.privacy.sensitivity import IdentityQuery, Query, SecondMomentQuery

#: The public choice of R^2, as a share of the largest squared norm in the box. It was chosen after
#: looking at results on the data of both papers.
PUBLIC = 1 / 16


@dataclass(frozen=True)
class ClippedMoments(Mechanism):
    """Noise of the Gaussian orthogonal ensemble on the second moments of clipped records.

    ``squared_radius_fraction`` is R^2 over the largest squared norm of a record, at most 1. At 1
    nothing is clipped, and the release is that of :class:`~matrixdp.mechanisms.gaussian.GOE`.
    """

    squared_radius_fraction: float = PUBLIC
    queries = frozenset({SecondMomentQuery})
    by_sensitivity = True

    def __post_init__(self) -> None:
        checks.fraction(squared_radius_fraction=self.squared_radius_fraction)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release of :func:`clipped` second moments."""
        self._require(query)
        release = GOE().calibrate(
            clipped(query, self.squared_radius_fraction), epsilon=epsilon, delta=delta
        )
        reached = self.squared_radius_fraction == 1 or attained(query, release.query.domain.radius)
        return replace(release, mu_exact=release.mu_exact and reached)


def clipped(query: Query, squared_radius_fraction: float) -> SecondMomentQuery:
    """Return the second moments of records clipped to this fraction of the largest R^2."""
    if squared_radius_fraction == 1 and isinstance(query, SecondMomentQuery):
        return query
    radius = float(np.sqrt(squared_radius_fraction)) * query.domain.radius
    ball = Ball(radius, query.features)
    return SecondMomentQuery(ball, query.n_records, query.adjacency, per_person=query.per_person)


def records_of(query: Query) -> IdentityQuery:
    """Return the records of a query, which a simulated release reads, as many as are stated."""
    adjacency = "zero_out" if query.private_count else query.adjacency
    return IdentityQuery(query.domain, query.n_records, adjacency, per_person=query.per_person)


def squared_move(query: Query) -> int:
    """Return the squared l2 norm of what one record changes in counts: it comes, or it moves."""
    return 1 if query.private_count else 2


def attained(query: Query, radius: float) -> bool:
    """Return whether neighbours in the domain attain the sensitivity of clipped second moments.

    Such neighbours are two orthogonal records of norm ``radius``; with one feature, a record and
    zero. It suffices that the features split into two groups that each reach the radius alone. The
    split is greedy, so that ``False`` does not exclude such neighbours.
    """
    if isinstance(query.domain, Ball) or query.adjacency != "replace":
        return radius <= query.domain.radius
    if query.features == 1:
        return query.domain.contains_zero and radius <= query.domain.radius
    piles = [0.0, 0.0]
    for square in sorted(query.domain.magnitudes**2, reverse=True):
        piles[int(piles[1] < piles[0])] += square
    return query.domain.contains_zero and min(piles) >= radius**2


@dataclass(frozen=True, kw_only=True)
class Chosen(CalibratedMechanism):
    """Second moments of records clipped to a radius that each trial first chooses privately.

    ``query`` is the identity query, because the release reads the records. Only the mechanism knows
    the size of its noise, so that it adds the ridge of
    :func:`~matrixdp.mechanisms.ridge.moments_ridge` itself. The ridge is a multiple of the
    identity, which changes no eigenvector.
    """

    yields = "second_moments"

    @abc.abstractmethod
    def choose(self, records: Array, streams: Streams) -> Array:
        """Return the number of the radius that each trial chooses, shape (trials,)."""

    @abc.abstractmethod
    def part(self, number: int) -> tuple[AdditiveGaussian, CalibratedMechanism]:
        """Return two releases at a radius: of moments, for the noise's size, and of the result.

        They are often the same.
        """

    def _draw(self, value: Array, streams: Streams) -> Array:
        numbers = self.choose(value, streams)
        released = np.empty((len(streams), self.query.features, self.query.features))
        for number in np.unique(numbers):
            trials = np.flatnonzero(numbers == number)
            scale, part = self.part(int(number))
            moments = part.query.value(value[trials] if value.ndim == 3 else value)
            noisy = part.simulate(moments, [streams[int(trial)] for trial in trials])
            released[trials] = lifted(noisy, np.full(len(trials), self.added_ridge(scale)))
        return released

    def added_ridge(self, scale: AdditiveGaussian) -> float:
        """Return the ridge, a multiple of the identity, for the noise of the release ``scale``."""
        return moments_ridge(scale.noise_std, self.query.features)


@dataclass(frozen=True, kw_only=True)
class ChosenByHistogram(Chosen):
    """The radius from a histogram of squared norms, with noise of ``count_std`` on each count.

    ``candidates`` are releases by radius, the largest first: R^2 is 2^-j of the largest squared
    norm.
    """

    candidates: tuple[AdditiveGaussian, ...]
    count_std: float
    stream = "ChosenByHistogram"

    def part(self, number: int) -> tuple[AdditiveGaussian, CalibratedMechanism]:
        """Return the release at a radius."""
        return self.candidates[number], self.candidates[number]

    def choose(self, records: Array, streams: Streams) -> Array:
        """Return the number of the radius that each trial chooses."""
        exact = shells(records, self.query.domain.radius, len(self.candidates))
        noise = normals(streams, exact.shape[-1:])
        return self._best(exact + self.count_std * noise)

    @cached_property
    def _clipped_squares(self) -> Array:
        """Squared norms of a clipped record by radius (rows) and shell (columns)."""
        squares = 2.0 ** -np.arange(len(self.candidates))
        return np.minimum(0.75 * squares, squares[:, None]) * self.query.domain.radius**2

    @cached_property
    def _ridges(self) -> Array:
        return np.array(self.needed_ridges())

    def needed_ridges(self) -> list[float]:
        """Return the ridge that the noise at each radius requires."""
        return [self.added_ridge(candidate) for candidate in self.candidates]

    def _best(self, counts: Array, divisor: float | None = None) -> Array:
        """Return the number of the radius for noisy counts (trials, shells).

        ``divisor`` is that of the second moments, if it is not the number of records.
        """
        counts = np.maximum(counts, 0)
        counts = counts + (counts.sum(axis=-1, keepdims=True) == 0)
        shares = counts / (divisor or counts.sum(axis=-1, keepdims=True))
        ratio = self._ridges * self.query.features / (shares @ self._clipped_squares.T)
        limit = np.maximum(TOLERATED, NEARLY * ratio.min(axis=-1, keepdims=True))
        return np.asarray((ratio <= limit).argmax(axis=-1))


#: A radius is acceptable if its ratio of ridge to mean eigenvalue is at most the first number, or
#: at most the second times the least ratio.
TOLERATED, NEARLY = 0.05, 1.1


@dataclass(frozen=True)
class PrivatelyClipped(Mechanism):
    """Clipped second moments with a privately chosen radius, from the same budget.

    First a histogram of the squared norms over dyadic shells is released: a replaced record changes
    two counts by 1, an added or removed one a single count. The rest of mu^2 is for the moments.
    mu^2 adds up even where the second release depends on the first (Dong, Roth & Su, JRSS B 2022,
    Corollary 3.3).

    The rule compares, at each radius, the ridge that the noise requires with the mean eigenvalue of
    the clipped moments (from the histogram). It takes the largest radius whose ratio is at most
    ``TOLERATED``, or within a tenth of the least ratio. Where all records are clipped, smaller
    radii are no better. This rule, too, was made after looking at results on the papers' data.

    The histogram has ``budget_fraction`` of mu^2, and ``radii`` shells.
    """

    budget_fraction: ClassVar[float] = 0.1
    radii: ClassVar[int] = 9
    queries = frozenset({SecondMomentQuery})
    by_sensitivity = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> ChosenByHistogram:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        return self.spending(query, gaussian.mu(*budget), budget)

    def spending(self, query: Query, mu: float, budget: Budget) -> ChosenByHistogram:
        """Return the release that spends ``mu``."""
        rest = float(np.sqrt(1 - self.budget_fraction) * mu)
        balls = (clipped(query, 2.0**-j) for j in range(self.radii))
        candidates = (orthogonal_ensemble(ball, rest, budget) for ball in balls)
        return ChosenByHistogram.by_mu(
            mu,
            budget,
            query=records_of(query),
            candidates=tuple(candidates),
            count_std=self.count_deviation(query, mu),
        )

    def count_deviation(self, query: Query, mu: float) -> float:
        """Return the deviation of a count's noise, where the whole release spends ``mu``."""
        return query.group * float(np.sqrt(squared_move(query) / self.budget_fraction) / mu)


def shells(records: Array, radius: float, count: int) -> Array:
    """Return the number of records (..., m, n) in each dyadic shell, shape (..., count).

    Shell j has squared norms in (2^-(j + 1), 2^-j] times ``radius`` squared; the last shell also
    has all smaller ones. No record may exceed the radius.
    """
    numbers = np.clip(halvings(squared_norms(records) / radius**2), 0, count - 1)
    return tallies(numbers, count)


def halvings(numbers: Array) -> Array:
    """Return floor(-log2 x) of numbers x >= 0, of the same shape; infinite for 0.

    They are exact: a computed logarithm may depend on what stands beside a number.
    """
    fractions, exponents = np.frexp(numbers)
    return np.where(numbers > 0, (fractions == 0.5) - exponents, np.inf)


def tallies(numbers: Array, count: int) -> Array:
    """Return how many of the numbers (..., n) are 0, 1, ..., ``count`` - 1, shape (..., count)."""
    rows = numbers.reshape(-1, numbers.shape[-1]).astype(int)
    # One range of numbers per row.
    rows += count * np.arange(len(rows))[:, None]
    total = np.bincount(rows.ravel(), minlength=count * len(rows))
    return total.reshape(*numbers.shape[:-1], count).astype(float)
