"""Second moments of clipped records: noise for a ball that is smaller than the public box.

Clipping shrinks long records and preserves their direction. For clipped records C, the sensitivity
of C C^T / n falls with the square of the radius R. It is sqrt(2) R^2 / n under replacement (for
orthogonal records on the sphere) and R^2 / n under zero-out. The radius is public, or a private
choice from the same budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import orthogonal_ensemble
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.moments import LEAST
from matrixdp.mechanisms.programs import (
    Ask,
    Block,
    Columns,
    Part,
    Program,
    Records,
    answered,
)
from matrixdp.mechanisms.ridge import lifted, moments_ridge
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Ball, Box, squared_norms
from matrixdp.privacy.sensitivity import (
    MeanQuery,
    Mu,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)


def clipped(query: Query, squared_radius_fraction: float) -> SecondMomentQuery:
    """Return the second moments of records clipped to this fraction of the largest R^2."""
    if squared_radius_fraction == 1 and isinstance(query, SecondMomentQuery):
        return query
    radius = float(np.sqrt(squared_radius_fraction)) * query.domain.radius
    ball = Ball(radius, query.features)
    return SecondMomentQuery(ball, query.n_records, query.adjacency, per_person=query.per_person)


def records_of(query: Query) -> RecordsQuery:
    """Return the records of a query, which a simulated release reads, as many as are stated."""
    adjacency = "zero_out" if query.add_or_remove else query.adjacency
    return RecordsQuery(query.domain, query.n_records, adjacency, per_person=query.per_person)


def squared_move(query: Query) -> int:
    """Return the squared l2 norm of what one record changes in counts: it comes, or it moves."""
    return 1 if query.add_or_remove else 2


@dataclass(frozen=True)
class ShellQuery(MeanQuery):
    """Numbers of records by length, (shells, 1): sums of indicators, each from 0 to n.

    ``radius`` is that of the outermost shell. A changed record moves from one shell to another. One
    that is added or removed changes the number of its own shell.
    """

    radius: float = 1.0
    name = "shells"

    @property
    def l2_sensitivity(self) -> float:
        """L2 sensitivity: sqrt(2), or 1 where their number is private, times a person's records."""
        return self.group * float(np.sqrt(squared_move(self)))

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Gaussian noise by its least variance, an upper bound where others differ."""
        least = float(np.min(checks.array(variances=variances, shape=(self.features,))))
        return Mu(self.l2_sensitivity / np.sqrt(least), False)

    def value(self, records: Array) -> Array:
        """Return the numbers of records (..., m, n) by length."""
        return shells(records, self.radius, self.features)[..., None]


class Selection(NamedTuple):
    """Second moments (m, m) of records clipped to a radius that was chosen in private.

    Of many releases, arrays have these along their first axis, but for a centre that all share.

    Attributes:
        number: of the radius.
        moments: the noisy second moments.
        ridge: what their noise requires, a multiple of the identity.
        weight: the noisy number of records over the stated one, 1 where it is public.
        centre: the point (m,) from which lengths are measured.
    """

    number: Any
    moments: Array
    ridge: Any
    weight: Any
    centre: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivatelyClippedMoments(Program):
    """Second moments of records clipped to a radius that each release first chooses privately.

    The radius follows from a histogram of squared norms, with noise of ``count_std`` on each count.
    ``candidates`` are releases by radius, the largest first: R^2 is 2^-j of the largest squared
    norm.

    ``query`` is the identity query, because the release reads the records. Only the mechanism knows
    the size of its noise, so that it adds the ridge of
    :func:`~matrixdp.mechanisms.ridge.moments_ridge` itself. The ridge is a multiple of the
    identity, which changes no eigenvector.
    """

    output_type = "second_moments"
    batches = True
    candidates: tuple[AdditiveGaussian, ...]
    count_std: float

    @property
    def add_or_remove(self) -> bool:
        """Whether the number of records is private."""
        return self.candidates[0].query.add_or_remove

    @LazyProperty
    def lengths(self) -> AdditiveGaussian:
        """The first part, the histogram."""
        query, domain = self.query, self.query.domain
        box = Box.cube(len(self.candidates), 0.0, float(query.n_records))
        shell = ShellQuery(
            box, query.n_records, self.adjacency, domain.radius, per_person=query.per_person
        )
        return self.noisy_mean(shell, self.count_std)

    @property
    def parts(self) -> list[Part]:
        """The numbers of records by length, and the second moments."""
        return [Part("lengths", (self.lengths,)), Part("moments", self.candidates)]

    def run(self, records: Records, ask: Ask) -> Selection:
        """Return the noisy second moments at the radius, about 0."""
        number, weight = self.choose(records, ask)
        centre = np.zeros(self.query.features)
        if np.ndim(number):
            moments = self._of_many(number, records, ask)
            return Selection(number, moments, self._ridges[number], weight, centre)
        number = int(number)
        moments = answered(self.release_at(number), records, ask)
        return Selection(number, moments, self.ridge_at(number), float(weight), centre)

    def _of_many(self, numbers: Array, records: Records, ask: Ask) -> Array:
        """Return what the parts release of many simulated releases, by their radius (k,)."""
        moments = np.empty((len(numbers), *[self.query.features] * 2))
        assert isinstance(records, Columns)
        assert isinstance(ask, Block)
        for number in np.unique(numbers).tolist():
            which = numbers == number
            few = records.of(which), ask.of(which)
            moments[which] = answered(self.release_at(number), *few)
        return moments

    @property
    def drawn(self) -> int:
        """How many normal numbers a release draws: those of the parts are as many at any radius."""
        return sum(math.prod(part.releases[0].noise.shape) for part in self.parts)

    def released(self, outcome: Selection) -> Array:
        """Return the second moments with their ridge."""
        return lifted(outcome.moments, outcome.ridge)

    def release_at(self, number: int) -> CalibratedMechanism:
        """Return the release at a radius."""
        return self.candidates[number]

    def ridge_at(self, number: int) -> float:
        """Return the ridge that the noise at a radius requires."""
        return moments_ridge(self.candidates[number].noise_std, self.query.features)

    def choose(self, records: Records, ask: Ask) -> tuple[Any, Any]:
        """Return the number of the radius, and the weight, see :class:`Selection`."""
        counts = ask(self.lengths, records.value(self.lengths.query))[..., 0]
        if not self.add_or_remove:
            return self.best(counts), 1.0
        n_records = self.query.n_records
        return self.best(counts, n_records), np.maximum(counts.sum(axis=-1) / n_records, LEAST)

    @LazyProperty
    def _clipped_squares(self) -> Array:
        """Squared norms of a clipped record by radius (rows) and shell (columns)."""
        squares = 2.0 ** -np.arange(len(self.candidates))
        return np.minimum(0.75 * squares, squares[:, None]) * self.query.domain.radius**2

    @LazyProperty
    def _ridges(self) -> Array:
        return np.array([self.ridge_at(number) for number in range(len(self.candidates))])

    def best(self, counts: Array, divisor: float | None = None) -> Any:
        """Return the number of the radius (...) for noisy counts (..., shells).

        ``divisor`` is that of the second moments, if it is not the number of records.
        """
        counts = np.maximum(counts, 0)
        counts = np.where(counts.any(axis=-1, keepdims=True), counts, 1.0)
        shares = counts / (divisor or counts.sum(axis=-1, keepdims=True))
        ratio = self._ridges * self.query.features / (shares @ self._clipped_squares.T)
        least = ratio.min(axis=-1, keepdims=True)
        return (ratio <= np.maximum(TOLERATED, NEARLY * least)).argmax(axis=-1)


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
    sensitivity_only = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> PrivatelyClippedMoments:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        return self.spending(query, gaussian_dp.mu(*budget), budget)

    def spending(self, query: Query, mu: float, budget: Budget) -> PrivatelyClippedMoments:
        """Return the release that spends ``mu``."""
        rest = float(np.sqrt(1 - self.budget_fraction) * mu)
        balls = (clipped(query, 2.0**-j) for j in range(self.radii))
        candidates = (orthogonal_ensemble(ball, rest, budget) for ball in balls)
        return PrivatelyClippedMoments.from_mu(
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
    # x = f 2^e with 1/2 <= f < 1.
    fractions, exponents = np.frexp(numbers)
    return np.where(numbers > 0, (fractions == 0.5) - exponents, np.inf)


def tallies(numbers: Array, count: int) -> Array:
    """Return how many of the numbers (..., n) are 0, 1, ..., ``count`` - 1, shape (..., count)."""
    # There may be no number: of no records.
    rows = numbers.reshape(math.prod(numbers.shape[:-1]), numbers.shape[-1]).astype(int)
    # One range of numbers per row.
    rows += count * np.arange(len(rows))[:, None]
    total = np.bincount(rows.ravel(), minlength=count * len(rows))
    return total.reshape(*numbers.shape[:-1], count).astype(float)
