"""Means of the values present and their intervals, from noisy sums and counts.

Post-processing: nothing here reads the records. An interval covers the mean of the values present,
clipped to their bounds, without noise. All intervals of a release hold together at the level, by a
union bound over the columns. The mean of a column whose count is not clearly above 0 stays empty:
no bounded interval covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import lambertw, ndtri

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.noise import safe
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import Query
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.mean import Mean
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.uncertainty import KEY, LEVEL, MomentNoise
from matrixdp.release.words import by_name

#: Largest distance of the rounding of a sum from the ideal one, in scales of the noise.
_STEPS = 2 * safe.STEP


class PresentMeans(NamedTuple):
    """Noisy means (k, m) in half ranges, and the ends of their intervals; NaN without an answer."""

    values: Array
    low: Array
    high: Array


def means(release: AdditiveMechanism, private: Array) -> PresentMeans:
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
    """
    query, (noise, *_) = release.query, release.whitened
    assert isinstance(query, PresentMeanQuery)
    sums, counts = np.split(private, 2, axis=-1)
    unit, chance = release.rounding_factor, (1 - LEVEL) / query.columns
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
    return PresentMeans(query.weight * sums / divisor, low, high)


@dataclass(frozen=True, kw_only=True)
class PresentMean(Mean):
    """Means of the values present, (1, m); NaN where a count is not clearly above 0."""

    query_type = PresentMeanQuery
    leaves_missing_out = True

    def _scaling(self) -> tuple[Query, Array, Array]:
        """Return the query of sums and counts; each noise has a weight of the counts."""
        query = PresentMeanQuery.of(
            *(self.box.features, self.records, self.adjacency),
            gaussian=self.mechanism == "gaussian",
            per_person=self.per_person,
        )
        return query, self.box.middle, self.box.widths / 2

    def scaled(self, rows: Array) -> Array:
        """Return scaled values and whether they are present, (n, 2m)."""
        assert isinstance(self.query, PresentMeanQuery)
        return self.query.terms(super().scaled(rows))

    def noisy(self, noise: MomentNoise, value: Array) -> Noisy:
        """Return noisy means and the ends of their intervals, (3, m)."""
        return Noisy(np.concatenate(means(noise.release, value)), noise.release, noise)

    def headline(self, option: Option) -> str:
        """Return the noise where no value is missing, and what missing ones add."""
        condition = ", if no value is missing; 1 / p times as much if a share p is present"
        return super().headline(option) + condition

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the means that were clipped, and a sentence on each column without a mean."""
        sentences = [
            f"{name} has no mean: its noisy count of values present is not clearly above 0, so "
            "that no interval would hold it, and its cell is empty"
            for name in np.array(self.columns)[np.isnan(noisy.value[0])]
        ]
        return {**super().details(noisy), **({"empty": sentences} if sentences else {})}

    @property
    def has_intervals(self) -> bool:
        """Always: they are of a ratio, whatever the number of records."""
        return True

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the interval of each column that has a mean."""
        ends = noisy.value[1:].T * self.half[:, None] + self.middle[:, None]
        has_mean = ~np.isnan(noisy.value[0])
        return {KEY: {"mean": by_name(np.array(self.columns)[has_mean].tolist(), ends[has_mean])}}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return nothing: bounds on the noise depend on the noisy counts."""
        return {}
