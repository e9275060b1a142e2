"""Bounds of columns that nobody knows, from a noisy histogram, and a query within them.

A column has fixed public bins, in the order of their values: ``SIDE`` bins of negative values, one
of zero, which has all sizes below 2^``SMALLEST``, and ``SIDE`` bins of positive values. Those are
[2^k, 2^(k + 1)) for k from ``SMALLEST`` to ``LARGEST``, and likewise below zero; sizes beyond,
infinite ones included, are in the outermost bin. The bounds of a column are the ends of the
outermost bins whose noisy count is above a threshold, see :meth:`PrivatelyBounded.bounds`. Bins
are fixed, so that the histogram needs no delta. Karwa & Vadhan (ITCS 2018) find the range of a
normal sample by a noisy histogram, and Wilson et al. (PoPETs 2020) that of any numbers by one over
powers; Smith (STOC 2011) clips a sample to a range that he first finds in private.

The query within the bounds is calibrated beforehand, to records in units of whatever bounds are
found. Both parts are a composition: epsilons add up, and so does mu^2 (Dong, Roth & Su, JRSS B
2022, Corollary 3.3), even where the bounds decide what the second part reads. Under every relation
both parts see the same two neighbours. A null record is in no bin, and adds nothing to any query,
whatever the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import Array, InputError, plural
from matrixdp.mechanisms.base import AdditiveGaussian, AdditiveMechanism, Budget, NoGuarantee
from matrixdp.mechanisms.composed import InParts
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.quadratic import UPWARDS
from matrixdp.privacy.sensitivity import MeanQuery, Query

#: Powers of two of the smallest and the largest bin: sizes from 2e-10 to 2e19.
SMALLEST, LARGEST = -32, 63
#: Bins of one sign, and of a column.
SIDE = LARGEST - SMALLEST + 1
BINS = 2 * SIDE + 1

#: The histogram's share of epsilon, or of mu^2 where there is a delta.
SHARE = 1 / 4
#: Probability that any empty bin of any column is above the threshold for the largest count of a
#: column, and above the one for other counts: one outlier far away would make bounds useless.
BETA, OTHERS = 0.01, 1e-4

#: This number stands for a missing value, which is in no bin.
MISSING = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class SizeQuery(MeanQuery):
    """Numbers of records by bin, (columns x ``BINS``, 1): sums of indicators, each from 0 to n.

    A record is in one bin of each column, and in none where its value is missing. Of m columns,
    one that is added, removed or zeroed out changes m counts by 1 at most. One that is replaced
    leaves m bins and enters m others: 2 m counts change by 1 at most. All k records of a person may
    be in the same bins, so that k multiplies both norms.
    """

    name = "sizes"

    @classmethod
    def of(cls, query: Query, columns: int) -> SizeQuery:
        """Return the query of private columns beside a query of the same records."""
        domain = Box.cube(columns * BINS, 0.0, float(query.n_records))
        return cls(domain, query.n_records, query.adjacency, per_person=query.per_person)

    @property
    def columns(self) -> int:
        """Number of private columns."""
        return self.features // BINS

    @property
    def _changed(self) -> int:
        """Largest number of counts that one record changes."""
        return self.columns * (2 if self.adjacency == "replace" else 1)

    @property
    def l1_sensitivity(self) -> float:
        """L1 sensitivity: 2 m under ``replace``, otherwise m, times the records of a person."""
        return float(self.group * self._changed)

    @property
    def l2_sensitivity(self) -> float:
        """L2 sensitivity: sqrt(2 m), otherwise sqrt(m), times the records of a person."""
        return self.group * float(np.sqrt(self._changed))

    def counts(self, blocks: Iterable[Array]) -> Array:
        """Return the exact counts (columns x ``BINS``, 1) of records in blocks (k, columns).

        Raises:
            InputError: a block has another shape, in which a record would count more than once.
        """
        total = np.zeros(self.features)
        for block in blocks:
            if np.ndim(block) != 2 or block.shape[1] != self.columns:
                raise InputError(
                    f"records have shape {np.shape(block)}; give one record per row, with "
                    f"{plural(self.columns, 'column')}"
                )
            places = bins(block)
            numbers = places + BINS * np.arange(self.columns)
            # Whole numbers, which float64 adds up without rounding.
            total += np.bincount(numbers[places >= 0], minlength=self.features)
        return total[:, None]

    def value(self, records: Array) -> Array:
        """Return the numbers of records (columns, n) by bin."""
        return self.counts([records.T])


def bins(values: Array) -> NDArray[np.intp]:
    """Return the number of the bin of each value, of the same shape; -1 where it is missing.

    The exponents are those of float64 itself: a computed logarithm may be off at a power of two.
    """
    sizes = np.minimum(np.abs(values), 2.0**LARGEST)
    powers = np.frexp(sizes)[1].astype(np.intp) - 1 - SMALLEST
    places = np.where(values > 0, SIDE + 1 + powers, SIDE - 1 - powers)
    places = np.where(sizes < 2.0**SMALLEST, SIDE, places)
    return np.where(np.isnan(values) | (values == MISSING), -1, places)


def edges(number: int) -> tuple[float, float]:
    """Return the ends of a bin; those of zero are both 0."""
    if number == SIDE:
        return 0.0, 0.0
    if number < SIDE:
        low, high = edges(BINS - 1 - number)
        return -high, -low
    power = 2.0 ** (number - SIDE - 1 + SMALLEST)
    return power, 2 * power


def laplace(query: SizeQuery, epsilon: float) -> AdditiveMechanism:
    """Return the histogram with Laplace noise that spends ``epsilon``."""
    scale = query.l1_sensitivity / epsilon
    return AdditiveMechanism(
        query=query,
        epsilon=epsilon,
        epsilon_delivered=epsilon,
        epsilon_exact=True,
        noise_std=float(np.sqrt(2) * scale),
        noise=Noise.of(safe.LAPLACE, scale, query.shape),
    )


def normal(query: SizeQuery, mu: float, budget: Budget) -> AdditiveGaussian:
    """Return the histogram with Gaussian noise that spends ``mu``, part of a whole budget."""
    std = query.l2_sensitivity / mu
    noise = Noise.of(safe.NORMAL, std, query.shape)
    return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=std)


@dataclass(frozen=True)
class PrivatelyBounded:
    """A query within bounds that a noisy histogram finds first.

    Attributes:
        search: the histogram, of a :class:`SizeQuery`.
        inner: the release of the query, on records in units of the bounds.
        epsilon, delta: the guarantee of both, which includes the sampler's part of delta; a delta
            of 0 is pure.

    Raises:
        NoGuarantee: the parts protect different neighbours, have less noise than their queries
            need, or spend more than the guarantee together.
    """

    search: AdditiveMechanism
    inner: AdditiveMechanism | InParts
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        first, second = self._sizes, self.inner.query
        names = ("adjacency", "n_records", "group")
        if any(getattr(first, name) != getattr(second, name) for name in names):
            raise NoGuarantee("the histogram and the query protect different neighbours")
        pure = not self.delta
        if pure != (self.search.mu is None) or pure != (self.inner.mu is None):
            raise NoGuarantee("the parts are not both pure, or not both Gaussian, as delta says")
        (noise, *_), size = (
            self.search.whitened,
            first.l1_sensitivity if pure else first.l2_sensitivity,
        )
        cost = size * float(np.max(noise.whiten(np.ones(noise.shape))))
        claim = self.search.epsilon_delivered if self.search.mu is None else self.search.mu
        if not cost <= claim * UPWARDS:
            raise NoGuarantee(f"the histogram spends {cost:.6g}, and states {claim:.6g}")
        if not self.epsilon_delivered <= self.epsilon * UPWARDS:
            raise NoGuarantee(
                f"the histogram and the query spend epsilon {self.epsilon_delivered:.6g} of "
                f"{self.epsilon:g} together"
            )

    @property
    def of_library(self) -> bool:
        """Whether the second part is, and nobody else has calibrated the search."""
        return self.inner.of_library and not self.search.author

    @property
    def _sizes(self) -> SizeQuery:
        assert isinstance(self.search.query, SizeQuery)
        return self.search.query

    @property
    def query(self) -> Any:
        """The query within the bounds."""
        return self.inner.query

    @property
    def mu(self) -> float | None:
        """The mu of both parts together, or None where both are pure."""
        if self.search.mu is None or self.inner.mu is None:
            return None
        return float(np.hypot(self.search.mu, self.inner.mu))

    @property
    def epsilon_delivered(self) -> float:
        """The epsilon that is delivered at ``delta``."""
        if self.mu is None:
            return self.search.epsilon_delivered + self.inner.epsilon_delivered
        remainder = self.delta - safe.extra_delta(self.epsilon, self.numbers)
        return float(gaussian.epsilon(remainder, self.mu))

    @property
    def numbers(self) -> int:
        """The largest number of random numbers of both parts."""
        return self.search.numbers + self.inner.numbers

    @property
    def extra_delta(self) -> float:
        """The sampler's part of delta, at ``epsilon``."""
        return safe.extra_delta(self.epsilon, self.numbers)

    @property
    def costs(self) -> list[dict[str, Any]]:
        """What each part spends, as receipts and accounts state it; shares of epsilon or mu^2."""
        parts = {"bounds": self.search, "answer": self.inner}
        unit, power = ("epsilon", 1) if self.mu is None else ("mu", 2)
        costs = [float(part.mu or part.epsilon_delivered) for part in parts.values()]
        whole = self.mu or self.epsilon_delivered
        return [
            {"part": name, unit: size, "share": float(size / whole) ** power}
            for name, size in zip(parts, costs, strict=True)
        ]

    @cached_property
    def thresholds(self) -> tuple[float, float]:
        """What any empty bin of all exceeds with probability ``BETA``, and with ``OTHERS``.

        Raises:
            InputError: as :attr:`matrixdp.mechanisms.base.AdditiveMechanism.rounding_factor`.
        """
        # An interval has two sides.
        high, low = (float(self.search.interval(1 - 2 * beta)[0, 0]) for beta in (BETA, OTHERS))
        return high, low

    def bounds(self, noisy: Array) -> list[tuple[float, float] | None]:
        """Return the bounds of each column that noisy counts (columns x ``BINS``, 1) give.

        A column whose largest count is at most the first threshold has none. The outermost of that
        bin and of those above the second threshold are the bounds, and so are further bins next to
        these, one after another, while their counts are above half of the first threshold. An
        empty bin there seldom is, and would no more than double the bounds. All of this is
        post-processing.
        """
        return [self._outermost(counts) for counts in noisy.reshape(self._sizes.columns, BINS)]

    def _outermost(self, counts: Array) -> tuple[float, float] | None:
        """Return the bounds that the noisy counts of a column (``BINS``,) give."""
        lone, threshold = self.thresholds
        largest = int(counts.argmax())
        if not counts[largest] > lone:
            return None
        bins = [largest, *np.flatnonzero(counts > threshold).tolist()]
        first, last = min(bins), max(bins)
        while first and counts[first - 1] > lone / 2:
            first -= 1
        while last < BINS - 1 and counts[last + 1] > lone / 2:
            last += 1
        return _ends(first, last)


def _ends(first: int, last: int) -> tuple[float, float]:
    """Return the ends of a range of bins."""
    low, high = edges(first)[0], edges(last)[1]
    # Zero alone has no width.
    return (low, high) if low < high else (-(2.0**SMALLEST), 2.0**SMALLEST)
