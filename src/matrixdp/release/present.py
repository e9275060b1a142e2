"""Means of the values present and their intervals, from noisy sums and counts.

Post-processing: nothing here reads the records. An interval covers the mean of the values present,
clipped to their bounds, without noise. All intervals of a release hold together at the level, by a
union bound over the columns. The mean of a column whose count is not clearly above 0 stays empty:
no bounded interval covers it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import lambertw, ndtri

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.noise import safe
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.release.uncertainty import LEVEL

#: Largest distance of the rounding of a sum from the ideal one, in scales of the noise.
_STEPS = 2 * safe.STEP


class PresentMeans(NamedTuple):
    """Noisy means (k, m) in half ranges, and the ends of their intervals; NaN without an answer."""

    values: Array
    low: Array
    high: Array


def means(release: AdditiveMechanism, private: Array, level: float = LEVEL) -> PresentMeans:
    """Return the means that a release of sums and weighted counts gives.

    Let S and C be the exact sum and weighted count, y = S + e and x = C + f the released ones, and
    t = S / C, within [-1, 1] as the weight is at least 1. Then y - t x = e - t f, whatever S and C
    are, and the interval holds all t for which |y - t x| is at most a quantile of |e - t f|.

    Of Gaussian noise this quantile is z sqrt(1 + t^2), and the interval is that of Fieller (1954),
    bounded where x is above z. Of Laplace noise it is convex in t: the norm of (1, t) that a
    log-concave law gives (Bobkov, Geometriae Dedicata 2010). So the chord from t = 0 to |t| = 1 is
    above it. At 0 the tail is e^-q, at 1 it is (1 + q / 2) e^-q.

    Args:
        release: calibrated mechanism of a :class:`PresentMeanQuery`.
        private: released sums and counts, (k, 2m).
        level: probability that all intervals cover.
    """
    query, (noise, *_) = release.query, release.whitened
    assert isinstance(query, PresentMeanQuery)
    sums, counts = np.split(private, 2, axis=-1)
    unit, chance = release.rounding_factor, (1 - level) / query.columns
    if noise.unit == safe.LAPLACE:
        unit *= np.max(noise.size)
        quantiles = -np.log(chance), -2 - lambertw(-2 * chance * np.exp(-2), -1).real
        reach, slope = unit * (quantiles[0] + _STEPS), unit * (np.diff(quantiles)[0] + _STEPS)
    else:
        # All entries have the same deviation; the roundings of both are at most sqrt(2) times one.
        reach = unit * release.noise_std * (-ndtri(chance / 2) + np.sqrt(2) * _STEPS)
    divisor = np.where(counts > reach, counts, np.nan)
    if noise.unit == safe.LAPLACE:
        lower, upper = sums - reach, sums + reach
        low = lower / (divisor + slope * np.sign(lower))
        high = upper / (divisor - slope * np.sign(upper))
    else:
        room = divisor**2 - reach**2
        spread = reach * np.sqrt(sums**2 + room)
        low, high = ((sums * divisor + side * spread) / room for side in (-1, 1))
    low, high = (np.clip(query.weight * end, -1, 1) for end in (low, high))
    return PresentMeans(query.weight * sums / divisor, low, high)
