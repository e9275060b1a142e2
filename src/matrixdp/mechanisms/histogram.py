"""Bounds of columns that nobody knows, from a noisy histogram.

A column has fixed public bins, in the order of their values: ``SIDE`` bins of negative values, one
of zero, which has all sizes below 2^``SMALLEST``, and ``SIDE`` bins of positive values. Those are
[2^k, 2^(k + 1)) for k from ``SMALLEST`` to ``LARGEST``, and likewise below zero; sizes beyond,
infinite ones included, are in the outermost bin. The bounds of a column are the ends of the
outermost bins whose noisy count is above a threshold, see :func:`bounds`. Bins are fixed, so that
the histogram needs no delta. Karwa & Vadhan (ITCS 2018) find the range of a normal sample by a
noisy histogram, and Wilson et al. (PoPETs 2020) that of any numbers by one over powers; Smith (STOC
2011) clips a sample to a range that he first finds in private.

The histogram is a release of its own. A query within the bounds is another one, of an account that
adds both up, also where the bounds decide what the second one reads (Dong, Roth & Su, JRSS B 2022,
Corollary 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError, plural
from matrixdp.mechanisms.additive import AdditiveGaussian, AdditiveMechanism
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import Budget, Mechanism
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery, Mu

#: Powers of two of the smallest and the largest bin: sizes from 2e-10 to 2e19.
SMALLEST, LARGEST = -32, 63
#: Bins of one sign, and of a column.
SIDE = LARGEST - SMALLEST + 1
BINS = 2 * SIDE + 1

#: Probability that any empty bin of any column is above the threshold for the largest count of a
#: column, and above the one for other counts: one outlier far away would make bounds useless.
BETA, OTHERS = 0.01, 1e-4


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
    def of(
        cls,
        columns: int,
        n_records: int,
        adjacency: str = "replace",
        *,
        per_person: int | None = None,
    ) -> SizeQuery:
        """Return the query of so many columns."""
        domain = Box.cube(columns * BINS, 0.0, float(n_records))
        return cls(domain, n_records, adjacency, per_person=per_person)

    @property
    def columns(self) -> int:
        """Number of columns, of which each has ``BINS`` bins."""
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

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Gaussian noise by its least variance, an upper bound where others differ."""
        least = float(np.min(checks.array(variances=variances, shape=(self.features,))))
        return Mu(self.l2_sensitivity / np.sqrt(least), False)

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
    return np.where(np.isnan(values), -1, places)


def edges(number: int) -> tuple[float, float]:
    """Return the ends of a bin; those of zero are both 0."""
    if number == SIDE:
        return 0.0, 0.0
    if number < SIDE:
        low, high = edges(BINS - 1 - number)
        return -high, -low
    power = 2.0 ** (number - SIDE - 1 + SMALLEST)
    return power, 2 * power


def calibrated(
    query: SizeQuery, epsilon: float, delta: float
) -> Iterator[tuple[Mechanism, AdditiveMechanism]]:
    """Yield the mechanisms that answer a query of sizes, each with its release.

    Args:
        query: the query.
        epsilon, delta: the guarantee; a delta of 0 leaves Laplace noise alone.
    """
    scale = query.l1_sensitivity / epsilon
    yield (
        Laplace(),
        AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=epsilon,
            epsilon_exact=True,
            noise_std=float(np.sqrt(2) * scale),
            noise=Noise.of(safe.LAPLACE, scale, query.shape),
        ),
    )
    if delta:
        mu = float(gaussian_dp.mu(epsilon, delta))
        std, budget = query.l2_sensitivity / mu, Budget(epsilon, delta)
        noise = Noise.of(safe.NORMAL, std, query.shape)
        yield (
            Gaussian(),
            AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=std),
        )


def thresholds(release: AdditiveMechanism) -> tuple[float, float]:
    """Return what any empty bin of all exceeds with probability ``BETA``, and with ``OTHERS``.

    Raises:
        InputError: as :attr:`matrixdp.mechanisms.additive.AdditiveMechanism.rounding_factor`.
    """
    # An interval has two sides.
    lone, other = (float(release.interval(1 - 2 * beta)[0, 0]) for beta in (BETA, OTHERS))
    return lone, other


def bounds(release: AdditiveMechanism, noisy: Array) -> list[tuple[float, float] | None]:
    """Return the bounds of each column that noisy counts, columns x ``BINS`` in all, give.

    A column whose largest count is at most the first threshold has none. The outermost of that bin
    and of those above the second threshold are the bounds, and so are further bins next to these,
    one after another, while their counts are above half of the first threshold. An empty bin there
    seldom is, and would no more than double the bounds. All of this is post-processing.
    """
    limits = thresholds(release)
    return [_outermost(counts, *limits) for counts in noisy.reshape(-1, BINS)]


def _outermost(counts: Array, lone: float, other: float) -> tuple[float, float] | None:
    """Return the bounds that the noisy counts of a column (``BINS``,) give."""
    largest = int(counts.argmax())
    if not counts[largest] > lone:
        return None
    inside = [largest, *np.flatnonzero(counts > other).tolist()]
    first, last = min(inside), max(inside)
    while first and counts[first - 1] > lone / 2:
        first -= 1
    while last < BINS - 1 and counts[last + 1] > lone / 2:
        last += 1
    low, high = edges(first)[0], edges(last)[1]
    # Zero alone has no width.
    return (low, high) if low < high else (-(2.0**SMALLEST), 2.0**SMALLEST)
