"""Means of the columns: of all values, missing ones filled, or of the values present alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.mechanisms.moments import CONSTANT, LEAST
from matrixdp.privacy.domain import Box
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import MeanQuery, Query
from matrixdp.release import present
from matrixdp.release.outputs.output import NEAREST, Noisy, Output, by_name
from matrixdp.release.recommend import Option
from matrixdp.release.uncertainty import KEY, LEVEL, MomentNoise


@dataclass(frozen=True, kw_only=True)
class Mean(Output):
    """Means, (1, m), within their bounds."""

    name = "mean"
    title = "means"
    query_type: ClassVar[type[Query]] = MeanQuery
    counts = True
    beyond_bounds = NEAREST
    has_details = True
    number, small = "mean", "difference"

    @classmethod
    def of_present_values(cls) -> type[Output] | None:
        """Return the class of means of the values present."""
        return PresentMean

    def noisy(
        self, part: AdditiveMechanism, value: Array, noise: Callable[[], MomentNoise]
    ) -> Noisy:
        """Return noisy means over their noisy weight, where they have one."""
        if self.constant:
            weight = np.maximum(value[:, CONSTANT, None], LEAST)
            value = np.delete(value, CONSTANT, axis=1) / weight
        return Noisy(value, part, noise)

    def answer(self, noisy: Noisy) -> Array:
        """Return means (1, m) in the columns' units, clipped to their bounds."""
        return self.means(noisy.value)

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the means that were clipped, as the noise left them."""
        return self.unclipped(noisy.value[0])

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return bounds on the noise by column; none where a private number divides."""
        if self.query.private_count:
            return {}
        return {f"{KEY}_plus_or_minus": by_name(self.columns, part.interval(LEVEL)[0] * self.half)}


@dataclass(frozen=True, kw_only=True)
class PresentMean(Mean):
    """Means of the values present, (1, m); NaN where a count is not clearly above 0."""

    query_type = PresentMeanQuery
    leaves_missing_out = True

    @classmethod
    def build_query(
        cls,
        box: Box,
        records: int,
        adjacency: str,
        *,
        mechanism: str,
        in_parts: bool,
        per_person: int | None,
        max_norm: object,
    ) -> tuple[Query, Array, Array]:
        """Return the query of sums and counts; each noise has a weight of the counts."""
        query = PresentMeanQuery.of(
            *(box.features, records, adjacency),
            gaussian=mechanism == "gaussian",
            per_person=per_person,
        )
        return query, box.middle, box.widths / 2

    def scaled(self, rows: Array) -> Array:
        """Return scaled values and whether they are present, (n, 2m)."""
        assert isinstance(self.query, PresentMeanQuery)
        return self.query.terms(super().scaled(rows))

    @property
    def constant(self) -> bool:
        """No constant: every column has its count."""
        return False

    def noisy(
        self, part: AdditiveMechanism, value: Array, noise: Callable[[], MomentNoise]
    ) -> Noisy:
        """Return noisy sums and counts (1, 2m)."""
        return Noisy(value, part, noise)

    def answer(self, noisy: Noisy) -> Array:
        """Return means (1, m) in the columns' units, clipped to their bounds."""
        return self.means(present.means(noisy.part, noisy.value).values)

    def headline(self, option: Option) -> str:
        """Return the noise where no value is missing, and what missing ones add."""
        condition = ", if no value is missing; 1 / p times as much if a share p is present"
        return super().headline(option) + condition

    def table(self, answer: Array) -> tuple[list[str], list[list[Any]]]:
        """Return the header and one row, whose cells without an answer are empty."""
        header, rows = super().table(answer)
        return header, [["" if np.isnan(value) else value for value in row] for row in rows]

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the means that were clipped, and a sentence on each column without a mean."""
        values = present.means(noisy.part, noisy.value).values[0]
        sentences = [
            f"{name} has no mean: its noisy count of values present is not clearly above 0, so "
            "that no interval would hold it, and its cell is empty"
            for name in np.array(self.columns)[np.isnan(values)]
        ]
        return {**self.unclipped(values), **({"empty": sentences} if sentences else {})}

    @property
    def has_intervals(self) -> bool:
        """Intervals depend on the noisy counts."""
        return True

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the interval of each column that has a mean."""
        estimate = present.means(noisy.part, noisy.value)
        ends = np.column_stack([estimate.low[0], estimate.high[0]])
        ends = ends * self.half[:, None] + self.middle[:, None]
        has_mean = ~np.isnan(estimate.values[0])
        return {KEY: {"mean": by_name(np.array(self.columns)[has_mean].tolist(), ends[has_mean])}}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return nothing: bounds on the noise depend on the noisy counts."""
        return {}
