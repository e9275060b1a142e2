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

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy.sizes import BINS, SMALLEST, edges

#: Probability that any empty bin of any column is above the threshold for the largest count of a
#: column, and above the one for other counts: one outlier far away would make bounds useless.
BETA, OTHERS = 0.01, 1e-4


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
