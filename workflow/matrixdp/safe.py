"""Noise for releases that leave the building: whole numbers made from random bits.

Samples of a continuous law in float64 leak through their low bits, and so does the addition
(Mironov, CCS 2012). Here a number of unit scale is drawn as a whole number of steps of 2^-26: that
of an ideal sample, rounded down. It is added to a value that was rounded to such steps too, as
whole numbers, so that the sum is a rounding of value plus ideal noise, whose guarantee it has. No
floating-point operation stands between the noise and the sum.

A draw takes the cell of width 2^-8 that the sample's size falls into from a table of 64-bit
thresholds, and then the step within the cell by rejection. The law is off the ideal one by at most
``TOTAL_VARIATION`` a number: for 2,432 (12,096) cells 2^-64 each and 3e-21 for what lies beyond
the table; the rest is a few units in the last place of the probability of a rejection.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: From a number of bytes to that many random ones.
Bits = Callable[[int], bytes]
Whole = NDArray[np.int64]

#: Width of a step, for noise of unit scale.
STEP = 2.0**-26
#: Distance in total variation of one number's law from the ideal one, at most.
TOTAL_VARIATION = 2.0**-49

_CELL_BITS = 8
_FINE_BITS = 18
_GUIDE_BITS = 16
_CHANCE_BITS = 63 - _FINE_BITS
#: Numbers drawn at once, which stay in the second-level cache.
_BLOCK = 1 << 14


class Unit(NamedTuple):
    """A symmetric law of unit scale, by the density of its size.

    Attributes:
        minus_log: from a size to minus the log-density; for numbers of any type.
        reach: the size beyond which lies less than 3e-21.
    """

    minus_log: Callable
    reach: float


NORMAL = Unit(lambda x: x * x / 2, 9.5)
LAPLACE = Unit(lambda x: x, 47.25)


def noise(law: Unit, count: int, bits: Bits = os.urandom) -> Whole:
    """Return independent numbers of a law in steps of 2^-26, rounded down, shape (count,).

    Args:
        law: ``NORMAL``, of variance 1, or ``LAPLACE``, of density exp(-|x|) / 2.
        count: how many.
        bits: where randomness comes from; the operating system unless a test needs a seed.
    """
    result = np.empty(count, dtype=np.int64)
    for start in range(0, count, _BLOCK):
        part = result[start : start + _BLOCK]
        part[...] = _draw(law, len(part), bits)
    return result


def rounded(white: NDArray[np.float64]) -> Whole:
    """Return numbers in steps of 2^-26, rounded to the nearest."""
    return np.rint(white / STEP).astype(np.int64)


def extra_delta(epsilon: float, count: int) -> float:
    """Return what a release of ``count`` numbers adds to its delta: (1 + e^epsilon) N TV."""
    with np.errstate(over="ignore"):
        return float((1 + np.exp(epsilon)) * count * TOTAL_VARIATION)


def _draw(law: Unit, count: int, bits: Bits) -> Whole:
    thresholds, guide = _table(law)
    words = np.minimum(_words(count, bits), thresholds[-1] - np.uint64(1))
    cell = guide[words >> np.uint64(64 - _GUIDE_BITS)]
    # A guide's entry is the first cell that its words may fall into; the few others follow it.
    late = np.flatnonzero(words >= thresholds[cell])
    while late.size:
        cell[late] += 1
        late = late[words[late] >= thresholds[cell[late]]]
    result = np.empty(count, dtype=np.int64)
    left = np.arange(count)
    while left.size:
        words = _words(left.size, bits)
        fine = (words & np.uint64((1 << _FINE_BITS) - 1)).astype(np.int64)
        size = (cell[left] << _FINE_BITS) + fine
        start = cell[left] * 2.0**-_CELL_BITS
        # The density in the middle of a step over that at the start of its cell.
        excess = law.minus_log(start + (fine + 0.5) * STEP) - law.minus_log(start)
        kept = _below(words >> np.uint64(_FINE_BITS + 1), np.exp(-excess), bits)
        negative = (words >> np.uint64(_FINE_BITS)) & np.uint64(1) == 1
        # -x in [k, k + 1) rounds down to -k - 1.
        result[left[kept]] = np.where(negative, ~size, size)[kept]
        left = left[~kept]
    return result


def _below(uniform: NDArray[np.uint64], chance: NDArray[np.float64], bits: Bits) -> NDArray:
    """Return whether uniform numbers of ``_CHANCE_BITS`` bits, continued at need, are below."""
    whole = np.floor(chance * 2.0**_CHANCE_BITS)
    drawn = uniform.astype(np.float64)
    below = drawn < whole
    for tie in np.flatnonzero(drawn == whole):
        more = int(_words(1, bits)[0]) * 2.0**-64
        below[tie] = more < chance[tie] * 2.0**_CHANCE_BITS - whole[tie]
    return below


def _words(count: int, bits: Bits) -> NDArray[np.uint64]:
    return np.frombuffer(bits(8 * count), dtype="<u8")


@functools.cache
def _table(law: Unit) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the first word beyond each cell, and the first cell of words by their first bits.

    A cell's probability is Gauss's rule with three nodes in decimal numbers of 28 digits.
    """
    width = Decimal(1) / (1 << _CELL_BITS)
    node, thirds = (Decimal(3) / 5).sqrt() / 2, (Decimal(5), Decimal(8), Decimal(5))
    total, cumulative = Decimal(0), []
    for cell in range(int(law.reach * (1 << _CELL_BITS))):
        places = (width * (cell + Decimal(1) / 2 + node * side) for side in (-1, 0, 1))
        total += sum(w * (-law.minus_log(x)).exp() for w, x in zip(thirds, places, strict=True))
        cumulative.append(total)
    # The last cell ends where 64-bit words do.
    ends = [min(int(one / total * 2**64), 2**64 - 1) for one in cumulative]
    thresholds = np.array(ends, dtype=np.uint64)
    starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - _GUIDE_BITS)
    guide = np.searchsorted(thresholds, starts, side="right")
    return thresholds, np.minimum(guide, len(ends) - 1)
