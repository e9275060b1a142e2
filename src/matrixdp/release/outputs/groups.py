"""Means, counts and shares of groups, from noisy sums and counts of their records.

A record counts in the group of its category alone, so that the noise does not grow with the number
of groups. What is of none of the public categories counts in no group, and nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.release import Release
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.privacy.sensitivity import Query
from matrixdp.release import notation
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.mean import Mean
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import UNCLIPPED, Output
from matrixdp.release.ratios import Ratios, ratios, reach_of_sum, share_ends
from matrixdp.release.uncertainty import KEY, LEVEL
from matrixdp.release.words import by_name, join_columns, plain

#: Key of counts as the noise left them, in details.
UNCLIPPED_COUNTS = "unclipped_count"


@dataclass(frozen=True, kw_only=True)
class Grouped(Output):
    """An answer with a row per group.

    Attributes:
        by: the column of groups.
        categories: its public categories, one per group.
    """

    group_column: str
    categories: notation.Categories

    query_type: ClassVar[type[Query]] = GroupMeanQuery
    counts = True
    weighted = True
    named_rows = True
    headers: ClassVar[tuple[str, ...]] = ("count",)
    keys = ("by", "categories")
    beyond_bounds = (
        "a count or mean that noise takes beyond what it can be is put at the nearest that can be, "
        "and the details have it as the noise left it"
    )

    @property
    def options(self) -> dict[str, Any]:
        """What identifies a request: the column of groups, and its categories in their order."""
        return {"by": [self.group_column, *self.categories.names]}

    @property
    def row_names(self) -> Sequence[str]:
        """Names of the categories."""
        return self.categories.names

    @property
    def header(self) -> list[str]:
        """Names of the numbers of a row."""
        return [*self.headers]

    @property
    def layout(self) -> tuple[tuple[str, ...], Array, notation.CodeBook]:
        """Columns that are read, the last of them that of groups."""
        columns, fill, book = super().layout
        groups = {self.group_column: self.categories}
        return (*columns, self.group_column), np.append(fill, np.nan), {**book, **groups}

    def _query(self, columns: int) -> Query:
        return GroupMeanQuery.of(
            *(len(self.categories.names), columns, self.records, self.adjacency),
            gaussian=self.mechanism == "gaussian",
            per_person=self.per_person,
        )

    def scaled(self, rows: Array) -> Array:
        """Return what rows (n, m + 1) add, the last of whose numbers is the place of a group."""
        assert isinstance(self.query, GroupMeanQuery)
        return self.query.terms(np.column_stack([self._values(rows[:, :-1]), rows[:, -1]]))

    def _values(self, rows: Array) -> Array:
        """Return the values (n, m) of rows in half ranges."""
        return rows

    @property
    def draw_title(self) -> str:  # type: ignore[override]
        """What is drawn: counts with their weight, and sums of scaled values, over the number."""
        assert isinstance(self.query, GroupMeanQuery)
        return (
            f"{self.query.weight!r} times the count of each group, and its sums of values minus "
            f"middle, over half, as the details state them, all over {self.query.n_records}"
        )

    @property
    def draw_header(self) -> list[str]:
        """Names of the numbers of a row of what is drawn."""
        assert isinstance(self.query, GroupMeanQuery)
        numbers = ["count", *self.columns[: self.query.columns]]
        return [f"{number} of {name}" for name in self.row_names for number in numbers]

    def _parts_of(self, value: Array) -> tuple[Array, Array]:
        """Return the noisy weighted counts (G, 1) and sums (G, m) of a released value."""
        parts = value.reshape(len(self.row_names), -1)
        return parts[:, :1], parts[:, 1:]

    @property
    def _records(self) -> float:
        """How many records a weighted count of 1 over the stated number stands for."""
        assert isinstance(self.query, GroupMeanQuery)
        return self.query.n_records / self.query.weight

    @property
    def _level(self) -> float:
        """Level at which the bounds on the noise of all numbers of the release hold."""
        return LEVEL

    def _counts(self, noisy: Noisy) -> tuple[Array, Array]:
        """Return noisy numbers of records (G,), and bounds on their noise."""
        counts, _ = self._parts_of(noisy.value)
        widths, _ = self._parts_of(noisy.part.interval(self._level))
        return counts[:, 0] * self._records, widths[:, 0] * self._records

    def _possible_counts(self, noisy: Noisy) -> Array:
        """Return noisy numbers of records (G,), clipped to what they can be."""
        counts, _ = self._counts(noisy)
        return np.clip(counts, 0, self._most)

    @property
    def _most(self) -> float:
        """The largest number of records of a group; no one knows where it is private."""
        return np.inf if self.query.add_or_remove else float(self.records)

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the counts that were clipped, as the noise left them."""
        counts, _ = self._counts(noisy)
        beyond = (counts < 0) | (counts > self._most)
        names = np.array(self.row_names)[beyond].tolist()
        return {UNCLIPPED_COUNTS: by_name(names, counts[beyond])} if names else {}

    @property
    def has_intervals(self) -> bool:
        """Always: they are of counts and ratios, whatever the number of records."""
        return True

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of the counts of all groups."""
        counts, widths = self._counts(noisy)
        ends = np.clip([counts - widths, counts + widths], 0, self._most).T
        return {KEY: {"count": by_name(self.row_names, ends)}}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return public bounds on the noise of a count; of means they depend on the counts."""
        widths, _ = self._parts_of(part.interval(self._level))
        return {f"{KEY}_plus_or_minus_of_counts": float(widths.max()) * self._records}

    @property
    def share(self) -> float:
        """Number of records of a group that has an even share of the stated number."""
        return self.records / len(self.row_names)

    def _count_std(self, option: Option) -> float:
        part = option.release.widest
        return float(part.noise_std * part.rounding_factor) * self._records

    def noise_of(self, option: Option) -> dict[str, Any]:
        """Return the entries of a receipt on the noise, and on which records count."""
        return {
            **super().noise_of(option),
            "noise_std_of_counts": self._count_std(option),
            "records_of_a_group_of_an_even_share": self.share,
            "groups": self.rule,
        }

    @property
    def rule(self) -> str:
        """Which records count in which group, as a sentence."""
        return (
            f"a record counts in the group of its {self.group_column}, one of "
            f"{len(self.row_names)} public categories; one of none of them counts in no group, "
            "and how many these are is not said"
        )

    @property
    def _of_even_share(self) -> str:
        return f"for a group of {plain(self.share, 3)} records, an even share of all"

    def count_in_words(self, option: Option) -> str:
        """Return the noise of a count."""
        return f"+- {plain(self._count_std(option), 3)} in the count"


@dataclass(frozen=True, kw_only=True)
class GroupMean(Grouped, Mean):
    """Numbers of records and means by group, (G, 1 + m); NaN where a count is not above 0."""

    title = "means by group"

    @property
    def header(self) -> list[str]:
        """Names of the numbers of a row."""
        return [*self.headers, *self.columns]

    def _scaling(self) -> tuple[Query, Array, Array]:
        """Return the query of sums and counts; each noise has a weight of the counts."""
        return self._query(len(self.columns)), self.box.middle, self.box.widths / 2

    def _values(self, rows: Array) -> Array:
        return Mean.scaled(self, rows)

    def noisy(self, noise: Any, value: Array) -> Noisy:
        """Return the released sums and counts as they are."""
        return Noisy(value, noise.release, noise)

    def _means(self, noisy: Noisy) -> Ratios:
        """Return noisy means (G, m) in half ranges, and their intervals."""
        counts, sums = self._parts_of(noisy.value)
        chance = (1 - LEVEL) / noisy.part.query.features
        return ratios(noisy.part, sums, counts, chance)

    def answer(self, noisy: Noisy) -> Array:
        """Return counts, and means in the columns' units, clipped to what they can be."""
        counts = self._possible_counts(noisy)
        return np.column_stack([counts, self.means(self._means(noisy).values)])

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return what was clipped, and a sentence on each group without means."""
        means = self._means(noisy).values
        beyond = {
            f"{column} of {group}": number
            for group, row in zip(self.row_names, means, strict=True)
            for column, number in self.unclipped(row).get(UNCLIPPED, {}).items()
        }
        sentences = [
            f"{name} has no mean: its noisy count is not clearly above 0, so that no interval "
            "would hold it, and its cells are empty"
            for name in np.array(self.row_names)[np.isnan(means[:, 0])]
        ]
        more = {UNCLIPPED: beyond} if beyond else {}
        return {**super().details(noisy), **more, **({"empty": sentences} if sentences else {})}

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of counts, and of the means of each group that has some."""
        means = self._means(noisy)
        ends = np.stack([*map(self.unscale, (means.low, means.high))], axis=-1)
        by_group = {
            name: by_name(self.columns, row)
            for name, row in zip(self.row_names, ends, strict=True)
            if not np.isnan(row).any()
        }
        intervals: dict[str, Any] = super().interval(noisy)[KEY]
        return {KEY: {**intervals, "mean": by_group}}

    @property
    def _noise_key(self) -> str:
        return "noise_std_for_a_group_of_an_even_share"

    def condition(self, release: Release) -> str:
        """Return on what the sizes of noise depend."""
        more = super().condition(release)
        return f"{self._of_even_share}, and 1 / k of it for k times as many" + f"; {more}" * bool(
            more
        )

    def headline(self, option: Option) -> str:
        """Return the noise of a group of an even share, and how it depends on the group."""
        sizes = (self.deviations(option.release)[1] * self.sizes).tolist()
        means = join_columns(
            [
                f"+- {plain(size, 3)} in the mean of {name}"
                for size, name in zip(sizes, self.columns, strict=True)
            ]
        )
        return (
            f"noise of {self.count_in_words(option)}, {means} {self._of_even_share}, and in means "
            "1 / k of it for k times as many"
        )

    def noise_in_words(self, option: Option) -> list[str]:
        """Return the noise of means beside the range of their values, and of counts."""
        count = self._count_std(option)
        return [
            f"count of a group: noise of +- {plain(count, 3)}, where an even share has "
            f"{plain(self.share, 3)} records; a {self.small} below {plain(2 * count, 3)} drowns in "
            "it",
            *super().noise_in_words(option),
        ]


@dataclass(frozen=True, kw_only=True)
class Counts(Grouped):
    """Numbers of records by group, and their shares of all groups together, (G, 2)."""

    name = "counts"
    title = "numbers and shares of records"
    headers = ("count", "share")
    lacks = ("bounds", "max_norm", "missing", "missing_values")
    cell = ""

    @property
    def layout(self) -> tuple[tuple[str, ...], Array, notation.CodeBook]:
        """The column of groups alone is read."""
        return self.columns, self.fill, {self.group_column: self.categories}

    def _scaling(self) -> tuple[Query, Array, Array]:
        """Return the query of counts; the column of groups has no other numbers."""
        return self._query(0), np.zeros(1), np.ones(1)

    @property
    def _level(self) -> float:
        """Counts, and the sums of all other groups' counts, share the level."""
        return (1 + LEVEL) / 2

    def answer(self, noisy: Noisy) -> Array:
        """Return counts and shares, clipped to what they can be; shares of nothing are NaN."""
        counts = self._possible_counts(noisy)
        total = counts.sum()
        return np.column_stack([counts, counts / total if total else np.full(len(counts), np.nan)])

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of counts and shares."""
        counts, widths = self._counts(noisy)
        reach = reach_of_sum(noisy.part, len(counts) - 1, (1 - self._level) / len(counts))
        ends = share_ends(counts, widths, reach * self._records)
        intervals = super().interval(noisy)[KEY]
        return {KEY: {**intervals, "share": by_name(self.row_names, ends)}}

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the counts that were clipped, and a sentence where there are no shares."""
        empty = np.isnan(self.answer(noisy)).any()
        sentence = "no group has a share, as no noisy count is above 0, and its cells are empty"
        return {**super().details(noisy), **({"empty": [sentence]} if empty else {})}

    @property
    def remedies(self) -> str:
        """What helps where noise hides everything."""
        return "give a larger epsilon or fewer categories, "

    @property
    def missing_rule(self) -> str:
        """What becomes of a missing value: it is of no category."""
        return "a missing value is of no category"

    def headline(self, option: Option) -> str:
        """Return the noise of each count beside an even share."""
        std = self._count_std(option)
        return (
            f"noise of {self.count_in_words(option)} of each group, {std / self.share:.2g} of an "
            f"even share of {plain(self.share, 3)} records"
        )

    def noise_of(self, option: Option) -> dict[str, Any]:
        """Return the entries of a receipt on the noise of counts."""
        entries = super().noise_of(option)
        return {name: part for name, part in entries.items() if name != "noise_std"}

    def noise_in_words(self, option: Option) -> list[str]:
        """Return what noise hides in counts and shares."""
        std = self._count_std(option)
        return [
            f"count of a group: noise of +- {plain(std, 3)}, where an even share has "
            f"{plain(self.share, 3)} records; a difference below {plain(2 * std, 3)} drowns in it",
            ", ".join(
                ["+- is a standard deviation", *filter(None, [self.condition(option.release)])]
            ),
        ]
