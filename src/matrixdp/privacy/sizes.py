"""Numbers of records by the size of their values, in fixed bins of powers of two."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from matrixdp import checks
from matrixdp.checks import Array, InputError, plural
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery, Mu

#: Powers of two of the smallest and the largest bin: sizes from 2e-10 to 2e19.
SMALLEST, LARGEST = -32, 63
#: Bins of one sign, and of a column.
SIDE = LARGEST - SMALLEST + 1
BINS = 2 * SIDE + 1


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
    def _changed_counts(self) -> int:
        """Largest number of counts that one record changes."""
        return self.columns * (2 if self.adjacency == "replace" else 1)

    @property
    def l1_sensitivity(self) -> float:
        """L1 sensitivity: 2 m under ``replace``, otherwise m, times the records of a person."""
        return float(self.group * self._changed_counts)

    @property
    def l2_sensitivity(self) -> float:
        """L2 sensitivity: sqrt(2 m), otherwise sqrt(m), times the records of a person."""
        return self.group * float(np.sqrt(self._changed_counts))

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
