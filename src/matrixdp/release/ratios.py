"""Intervals of ratios of noisy sums to noisy weighted counts, from the noise alone.

Post-processing: nothing here reads the records. A ratio whose count is not clearly above 0 stays
empty: no bounded interval covers it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import lambertw, ndtri

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.noise import safe
from matrixdp.privacy.ratios import RatioQuery

#: Largest distance of the rounding of a sum from the ideal one, in scales of the noise.
_STEPS = 2 * safe.STEP


class Ratios(NamedTuple):
    """Noisy means in half ranges, and the ends of their intervals; NaN without an answer."""

    values: Array
    low: Array
    high: Array


def ratios(release: AdditiveMechanism, sums: Array, counts: Array, chance: float) -> Ratios:
    """Return the means that noisy sums and weighted counts give.

    Let S and C be the exact sum and weighted count, y = S + e and x = C + f the released ones, and
    t = S / C, within [-1, 1] as the weight is at least 1. Then y - t x = e - t f, whatever S and C
    are, and the interval holds all t for which |y - t x| is at most a quantile of |e - t f|.

    Of Gaussian noise this quantile is z sqrt(1 + t^2), and the interval is that of Fieller (1954),
    bounded where x is above z. Of Laplace noise it is convex in t: the norm of (1, t) that a
    log-concave law gives (Bobkov, Geometriae Dedicata 2010). So the chord from t = 0 to |t| = 1 is
    above it. At 0 the tail is e^-q, at 1 it is (1 + q / 2) e^-q.

    Args:
        release: calibrated mechanism of a :class:`RatioQuery`, with noise of one size.
        sums, counts: of its entries, arrays of shapes that go together.
        chance: probability at most that one interval does not hold.
    """
    query, (noise, *_) = release.query, release.whitened
    assert isinstance(query, RatioQuery)
    unit = release.rounding_factor
    if noise.law == safe.LAPLACE:
        unit *= np.max(noise.size)
        quantiles = -np.log(chance), -2 - lambertw(-2 * chance * np.exp(-2), -1).real
        reach, slope = unit * (quantiles[0] + _STEPS), unit * (np.diff(quantiles)[0] + _STEPS)
    else:
        # All entries have the same deviation; the roundings of both are at most sqrt(2) times one.
        reach = unit * release.noise_std * (-ndtri(chance / 2) + np.sqrt(2) * _STEPS)
    divisor = np.where(counts > reach, counts, np.nan)
    if noise.law == safe.LAPLACE:
        lower, upper = sums - reach, sums + reach
        low = lower / (divisor + slope * np.sign(lower))
        high = upper / (divisor - slope * np.sign(upper))
    else:
        room = divisor**2 - reach**2
        spread = reach * np.sqrt(sums**2 + room)
        low, high = ((sums * divisor + side * spread) / room for side in (-1, 1))
    low, high = (np.clip(query.weight * end, -1, 1) for end in (low, high))
    return Ratios(query.weight * sums / divisor, low, high)


def reach_of_sum(release: AdditiveMechanism, numbers: int, chance: float) -> float:
    """Return what the noise of a sum of so many entries exceeds with at most this probability.

    Of k Laplace numbers of scale b it is the least over a of b (log(2 / chance) - k log(1 - a^2)) /
    a, as the moment-generating function at a / b is (1 - a^2)^-k (Chernoff's bound).
    """
    noise, *_ = release.whitened
    unit = release.rounding_factor
    if noise.law == safe.NORMAL:
        steps = np.sqrt(numbers) * _STEPS
        size = unit * release.noise_std * np.sqrt(numbers) * (-ndtri(chance / 2) + steps)
        return float(size)
    a = np.linspace(0, 1, 1001)[1:-1]
    quantile = np.min((np.log(2 / chance) - numbers * np.log1p(-(a**2))) / a)
    # Of one number, and of few, all of them within their own quantiles may be less.
    quantile = min(quantile, -numbers * np.log(chance / numbers))
    return float(unit * np.max(noise.size) * (quantile + numbers * _STEPS))


def share_ends(counts: Array, widths: Array, reach: float) -> Array:
    """Return the ends of the share of each count in the sum of all, (..., G, 2).

    A share a / (a + b) grows in its count a, and falls in the sum b of all other counts.

    Args:
        counts: noisy counts, (..., G).
        widths: bounds on the noise of each.
        reach: bound on the noise of the sum of all but one.
    """
    others = counts.sum(axis=-1, keepdims=True) - counts
    low, high = (np.maximum(counts + side * widths, 0) for side in (-1, 1))
    least, most = (np.maximum(others + side * reach, 0) for side in (-1, 1))
    with np.errstate(invalid="ignore"):
        ends = np.stack([low / (low + most), high / (high + least)], axis=-1)
    # Of no record at all a share may be anything.
    return np.where(np.isnan(ends), [0.0, 1.0], ends)
