"""Noise for real releases: integers made from random bits.

Float64 samples of a continuous distribution leak through their low bits, and so does the addition
(Mironov, CCS 2012). Here noise of unit scale is an integer number of steps of 2^-26: an ideal
sample, rounded down. The value is also rounded to such steps, and both are added as integers. The
sum is a function of value plus ideal noise, so it has the same guarantee. No floating-point
operation lies between the noise and the sum.

A draw looks up a cell of width 2^-8 for the sample's absolute value in a table of 64-bit
thresholds. Rejection sampling then picks the step within the cell. The distribution differs from
the ideal one by at most ``TOTAL_VARIATION`` per number: 2^-64 for each of 2,432 (12,096) cells and
3e-21 for the tail beyond the table. The rest is a few units in the last place of the probability of
a rejection.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from matrixdp.checks import InputError
from matrixdp.isolation import isolate

#: Function from n to n random bytes.
Bits = Callable[[int], bytes]
Whole = NDArray[np.int64]

#: Width of a step, for noise of unit scale.
STEP = 2.0**-26
#: Upper bound of the total variation distance of one number's distribution from the ideal one.
TOTAL_VARIATION = 2.0**-49

_CELL_BITS = 8
_FINE_BITS = 18
_GUIDE_BITS = 16
_CHANCE_BITS = 63 - _FINE_BITS
#: Numbers per block of draws, few enough for the second-level cache.
_BLOCK = 1 << 14


#: Laws of numbers of unit scale: the normal one of variance 1, and that of density exp(-|x|) / 2.
NORMAL, LAPLACE = "normal", "laplace"


class Law(NamedTuple):
    """A symmetric distribution of unit scale, by the density of the absolute value.

    Attributes:
        minus_log: function from an absolute value, of any numeric type, to minus the log-density.
        reach: absolute value above which the probability is less than 3e-21.
    """

    minus_log: Callable
    reach: float


LAWS = {NORMAL: Law(lambda x: x * x / 2, 9.5), LAPLACE: Law(lambda x: x, 47.25)}


def noise(law: str, count: int, bits: Bits = os.urandom) -> Whole:
    """Return independent noise in steps of 2^-26, rounded down, shape (count,).

    Args:
        law: law of the numbers, ``NORMAL`` or ``LAPLACE``.
        count: number of draws.
        bits: source of random bytes; the operating system unless a test needs a seed.
    """
    result = np.empty(count, dtype=np.int64)
    for start in range(0, count, _BLOCK):
        part = result[start : start + _BLOCK]
        part[...] = _draw(law, len(part), bits)
    return result


def rounded(white: NDArray[np.float64]) -> Whole:
    """Return numbers as integer multiples of 2^-26, rounded to the nearest."""
    return np.rint(white / STEP).astype(np.int64)


def extra_delta(epsilon: float, count: int) -> float:
    """Return the delta that safe noise adds to a release of N = ``count`` numbers.

    It is (1 + e^epsilon) N TV for the total variation distance TV of one number.
    """
    with np.errstate(over="ignore"):
        return float((1 + np.exp(epsilon)) * count * TOTAL_VARIATION)


def largest_epsilon(delta: float, count: int) -> float:
    """Return the largest epsilon at which :func:`extra_delta` is at most ``delta``; 0 for none.

    It is rounded down to hundredths, as messages state it.
    """
    odds = delta / (count * TOTAL_VARIATION) - 1
    return float(np.floor(100 * np.log(odds)) / 100) if odds > 1 else 0.0


def _draw(law: str, count: int, bits: Bits) -> Whole:
    minus_log = LAWS[law].minus_log
    thresholds, guide = table(law)
    words = np.minimum(_words(count, bits), thresholds[-1] - np.uint64(1))
    cell = guide[words >> np.uint64(64 - _GUIDE_BITS)]
    # The guide has the first possible cell of a word's leading bits; a few words need a later one.
    behind = np.flatnonzero(words >= thresholds[cell])
    cell[behind] = np.searchsorted(thresholds, words[behind], side="right")
    result = np.empty(count, dtype=np.int64)
    pending = np.arange(count)
    while pending.size:
        words = _words(pending.size, bits)
        fine = (words & np.uint64((1 << _FINE_BITS) - 1)).astype(np.int64)
        size = (cell[pending] << _FINE_BITS) + fine
        start = cell[pending] * 2.0**-_CELL_BITS
        # Log density at the start of the cell minus that in the middle of the step.
        excess = minus_log(start + (fine + 0.5) * STEP) - minus_log(start)
        accepted = _below(words >> np.uint64(_FINE_BITS + 1), np.exp(-excess), bits)
        negative = (words >> np.uint64(_FINE_BITS)) & np.uint64(1) == 1
        # -x in [k, k + 1) rounds down to -k - 1.
        result[pending[accepted]] = np.where(negative, ~size, size)[accepted]
        pending = pending[~accepted]
    return result


def _below(uniform: NDArray[np.uint64], probability: NDArray[np.float64], bits: Bits) -> NDArray:
    """Return whether uniform integers of ``_CHANCE_BITS`` bits lie below a probability.

    Further random bits break ties.
    """
    floor = np.floor(probability * 2.0**_CHANCE_BITS)
    numbers = uniform.astype(np.float64)
    below = numbers < floor
    for tie in np.flatnonzero(numbers == floor):
        rest = int(_words(1, bits)[0]) * 2.0**-64
        below[tie] = rest < probability[tie] * 2.0**_CHANCE_BITS - floor[tie]
    return below


def _words(count: int, bits: Bits) -> NDArray[np.uint64]:
    return np.frombuffer(bits(8 * count), dtype="<u8")


class _Table(NamedTuple):
    """The first word beyond each cell, and the first cell for each value of leading bits."""

    thresholds: NDArray[np.uint64]
    guide: NDArray[np.int64]

    @property
    def checksum(self) -> str:
        """SHA-256 of all its integers."""
        parts = self.thresholds.astype("<u8"), self.guide.astype("<i8")
        return hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()


#: Checksums of the tables. They come from decimals alone, and are the same on every machine.
_CHECKSUMS = {
    NORMAL: "6a0054428069dfa9d00ca86bff2a765f129db2701dfe8bcd5e574580ca6cb90a",
    LAPLACE: "d846491efc4f3ccb05aff3ba96c7b604234be86ac2d70096f98a39158160efd0",
}


@functools.cache
def table(law: str) -> _Table:
    """Return the table of a law, which is computed once.

    Raises:
        InputError: it is not the one of this version, so that its noise would have another law.
    """
    result = _compute_table(law)
    if result.checksum != _CHECKSUMS[law]:
        raise InputError(
            f"the table of {law} noise has the checksum {result.checksum[:12]} and not "
            f"{_CHECKSUMS[law][:12]}, as this Python computes other decimals; release nothing "
            "with it, and install another Python"
        )
    return result


@isolate
def _compute_table(law: str) -> _Table:
    """Return the table of a law, computed in decimals.

    A cell's probability comes from Gauss's rule with three nodes, in 28-digit decimals.
    """
    shape, width = LAWS[law], Decimal(1) / (1 << _CELL_BITS)
    node, thirds = (Decimal(3) / 5).sqrt() / 2, (Decimal(5), Decimal(8), Decimal(5))
    total, cumulative = Decimal(0), []
    for cell in range(int(shape.reach * (1 << _CELL_BITS))):
        nodes = (width * (cell + Decimal(1) / 2 + node * side) for side in (-1, 0, 1))
        total += sum(w * (-shape.minus_log(x)).exp() for w, x in zip(thirds, nodes, strict=True))
        cumulative.append(total)
    # The last cell ends with the largest 64-bit word.
    ends = [min(int(weight / total * 2**64), 2**64 - 1) for weight in cumulative]
    thresholds = np.array(ends, dtype=np.uint64)
    starts = np.arange(1 << _GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - _GUIDE_BITS)
    guide = np.searchsorted(thresholds, starts, side="right")
    return _Table(thresholds, np.minimum(guide, len(ends) - 1))
