"""Bounds of columns that nobody knows, see :mod:`matrixdp.mechanisms.histogram`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms import histogram
from matrixdp.mechanisms.histogram import BETA, OTHERS
from matrixdp.privacy.sensitivity import Query
from matrixdp.privacy.sizes import BINS, SizeQuery
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import Output


@dataclass(frozen=True, kw_only=True)
class Bounds(Output):
    """Bounds, (m, 2), the lowest and the highest of each column; NaN where none are found."""

    name = "bounds"
    title = "bounds of columns"
    query_type: ClassVar[type[Query]] = SizeQuery
    keys = ("columns",)
    counts = True
    lacks = ("bounds", "max_norm")
    leaves_missing_out = True
    headers = ("lowest", "highest")
    named_rows = True
    beyond_bounds = ""
    draw_title = "numbers of records by the size of their values, in bins from the least up"

    @property
    def draw_header(self) -> list[str]:
        """Names of the numbers of a row of what is drawn."""
        return [f"bin {k} of {name}" for name in self.columns for k in range(BINS)]

    def _scaling(self) -> tuple[Query, Array, Array]:
        """Return the query of sizes; records are not scaled."""
        count = len(self.columns)
        more = {"per_person": self.per_person}
        query = SizeQuery.of(count, self.records, self.adjacency, **more)
        return query, np.zeros(count), np.ones(count)

    def scaled(self, rows: Array) -> Array:
        """Return rows (n, m) as they are."""
        return rows

    @property
    def remedies(self) -> str:
        """What helps where noise hides everything; of two records no safe noise finds bounds."""
        return (
            "state bounds that are public, take more records"
            + ", "
            + ("give a larger epsilon, " * (self.records > 2))
        )

    @property
    def header(self) -> list[str]:
        """Names of the numbers of a row."""
        return [*self.headers]

    def answer(self, noisy: Noisy) -> Array:
        """Return the lowest and highest value of each column, (m, 2)."""
        sides = histogram.bounds(noisy.part, noisy.value)
        return np.array([pair or (np.nan, np.nan) for pair in sides])

    def noise_of(self, option: Option) -> dict[str, Any]:
        """Return the entries of a receipt on the noise of the counts."""
        release = option.release.widest
        return {
            "private_bounds": "bounds are the ends of the outermost bins of a noisy histogram over "
            "powers of two whose counts are above thresholds; what lies beyond them is not said",
            "thresholds_of_counts": [*histogram.thresholds(release)],
            "noise_std_of_counts": release.noise_std * release.rounding_factor,
            "probabilities_that_an_empty_bin_is_above": [BETA, OTHERS],
        }

    def headline(self, option: Option) -> str:
        """Return what bounds need, in plain words."""
        count = self.query.n_records
        return (
            f"private bounds need about {option.error * count:,.0f} records that share a power of "
            f"two, and there are {count:,}"
        )
