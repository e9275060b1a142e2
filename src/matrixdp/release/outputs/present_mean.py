"""Means of the values present and their intervals, from noisy sums and counts.

Post-processing: nothing here reads the records. An interval covers the mean of the values present,
clipped to their bounds, without noise. All intervals of a release hold together at the level, by a
union bound over the columns. The mean of a column whose count is not clearly above 0 stays empty:
no bounded interval covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import Query
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.mean import Mean
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.ratios import Ratios, ratios
from matrixdp.release.uncertainty import KEY, LEVEL, MomentNoise
from matrixdp.release.words import by_name


def means(release: AdditiveMechanism, private: Array) -> Ratios:
    """Return the means (k, m) that a release of sums and weighted counts gives.

    Args:
        release: calibrated mechanism of a :class:`PresentMeanQuery`.
        private: released sums and counts, (k, 2m).
    """
    assert isinstance(release.query, PresentMeanQuery)
    sums, counts = np.split(private, 2, axis=-1)
    return ratios(release, sums, counts, (1 - LEVEL) / release.query.columns)


@dataclass(frozen=True, kw_only=True)
class PresentMean(Mean):
    """Means of the values present, (1, m); NaN where a count is not clearly above 0."""

    query_type = PresentMeanQuery
    leaves_missing_out = True
    weighted = True

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

    @property
    def draw_title(self) -> str:  # type: ignore[override]
        """What is drawn: sums of scaled values and counts with their weight, over the number."""
        assert isinstance(self.query, PresentMeanQuery)
        return (
            "the sum of each column's values minus middle, over half, as the details state them, "
            f"and {self.query.weight!r} times their count, all over {self.query.n_records}"
        )

    @property
    def draw_header(self) -> list[str]:
        """Names of the numbers of a row of what is drawn."""
        return [*self.columns, *(f"count of {name}" for name in self.columns)]

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
        ends = self.unscale(noisy.value[1:]).T
        has_mean = ~np.isnan(noisy.value[0])
        return {KEY: {"mean": by_name(np.array(self.columns)[has_mean].tolist(), ends[has_mean])}}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return nothing: bounds on the noise depend on the noisy counts."""
        return {}
