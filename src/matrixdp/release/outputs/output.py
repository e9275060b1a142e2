"""What a release publishes: one frozen class per value of the key ``query``.

An output says which query of the records it needs, what a noisy value answers, how the answer
stands in a file, and what the noise means for it. To add one: a file with a subclass of
:class:`Output`, and its name in :data:`matrixdp.release.outputs.OUTPUTS`.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.moments import CONSTANT, with_constant
from matrixdp.mechanisms.release import Release
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, Query
from matrixdp.release import missing
from matrixdp.release.comparison import Option, variances
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.specification import Specification
from matrixdp.release.uncertainty import KEY, LEVEL, MomentNoise
from matrixdp.release.words import by_name, join_columns, plain

#: Shares of the bounds that simulated records fill, see :mod:`matrixdp.release.outlooks`; the
#: correlation of two of their columns, and the R^2 of their target's exact regression, both about.
FILLS, CORRELATION, EXPLAINED = (1.0, 0.5, 0.25, 0.1), 0.5, 0.5

#: Name of the mechanism of moments of records that are clipped to a private radius, about a private
#: mean where the output is about one, see :mod:`matrixdp.mechanisms.in_parts`.
CLIPPED = "clipped"

SIMULATED = (
    f"where columns fill {', '.join(f'{fill:.0%}' for fill in FILLS)} of their bounds (simulated "
    "from the bounds alone)"
)

#: Noise of a weight, from which on answers that are divided by it may be off by any factor.
FAITHFUL = 0.15

#: Key of the losses by share of the bounds that records fill, in receipts.
LOSSES = "loss_where_columns_fill"
#: Ends of keys of noise that depends on the means, in receipts; that of the worst case.
IN_THE_MIDDLE, AT_A_BOUND = "_with_means_in_the_middle_of_the_bounds", "_with_means_at_a_bound"
#: Key of means as the noise left them, in details.
UNCLIPPED = "unclipped_mean"
#: Key of sentences on numbers that may be noise alone, in details.
DOUBTS = "may_be_noise_alone"
#: What is said of numbers that noise takes beyond their bounds.
STAYS = "a number that noise takes beyond what the bounds allow stays there"
NEAREST = (
    "a mean that noise takes beyond its bounds is put at the nearest bound, and the details have "
    "it as the noise left it"
)

#: Notes of a receipt on clipping and on the ridge, beside the noise.
CLIPPING = (
    "records are shrunk to a radius that is chosen in private, see the details; what this takes "
    "from long records is no noise, and no interval covers it"
)
#: Notes beside an answer on the effect of the radius.
SHRUNK = (
    "records beyond the private radius are shrunk to it, which makes variances, eigenvalues and "
    "mean squares too small, perhaps several times, and draws coefficients of a regression towards "
    "0; the noisy share of these records, in the details, does not bound by how much; mechanism = "
    '"analyze_gauss" has more noise and none of this'
)
WHOLE = "none: the radius holds all records within the public bounds"


@dataclass(frozen=True, kw_only=True)
class Output(Specification):
    """A specification of a release, and what is read from its noisy numbers.

    Attributes:
        query: the query of scaled records, so that no column's unit matters.
        middle, half: shift and scale of the records, (m,) each, in the columns' units.
    """

    query: Query = field(init=False, compare=False)
    middle: Array = field(init=False, compare=False)
    half: Array = field(init=False, compare=False)

    #: What is released, for the receipt.
    title: ClassVar[str]
    #: The query of the library that it asks.
    query_type: ClassVar[type[Query]]
    #: Keys of a request that this output allows, beside those that all have.
    keys: ClassVar[tuple[str, ...]] = ()
    #: Whether moments of records with a constant 1 are released, which hold the mean too.
    about_mean: ClassVar[bool] = False
    #: Whether a private radius shrinks the records that it is read from.
    within_radius: ClassVar[bool] = True
    #: Whether the answer also serves a private number of records.
    counts: ClassVar[bool] = False
    #: Names that stand beside those of columns in the table, and whether its rows have names.
    headers: ClassVar[tuple[str, ...]] = ()
    named_rows: ClassVar[bool] = False
    #: What is said of numbers beyond their bounds; empty where there are none.
    beyond_bounds: ClassVar[str] = STAYS
    #: Entries of a receipt on what changes an answer and is no noise.
    effects: ClassVar[Mapping[str, str]] = {}
    #: What a column's number is, its unit, what is lost in noise where it is small; empty where
    #: the noise of moments says little about the answer.
    number: ClassVar[str] = ""
    unit: ClassVar[str] = "the unit of the column"
    small: ClassVar[str] = ""
    #: What the square root of a column's number is, of a number that is read as a value and not as
    #: a coefficient or direction; empty elsewhere.
    root: ClassVar[str] = ""
    #: The number in a sentence, where it is not "the ...".
    number_phrase: ClassVar[str] = ""
    #: Word for the number in the receipt's table.
    cell: ClassVar[str] = "answer"
    #: What a simulated loss is a loss of, empty where nothing is simulated; the loss above which
    #: an answer counts as lost.
    loss_unit: ClassVar[str] = ""
    lost: ClassVar[float] = 1.0

    # --- The query, before noise -----------------------------------------------------------------

    def __post_init__(self) -> None:
        scaling = zip(("query", "middle", "half"), self._scaling(), strict=True)
        for name, value in scaling:
            object.__setattr__(self, name, value)

    def _scaling(self) -> tuple[Query, Array, Array]:
        """Return the query, and the shift and scale (m,) of its records' columns."""
        add_or_remove = self.adjacency == ADD_OR_REMOVE
        constant = (self.about_mean or add_or_remove) and self.mechanism != CLIPPED
        features = self.box.features + constant
        domain, middle, half = self._units(features)
        if self.max_norm is not None:
            middle, half = np.zeros(len(middle)), np.full(len(half), self.max_norm)
            domain = Ball(np.sqrt(2) if constant else 1, features)
        more = {"per_person": self.per_person}
        return self.query_type(domain, self.records, self.adjacency, **more), middle, half

    def _units(self, features: int) -> tuple[Box | Ball, Array, Array]:
        """Return the bounds of scaled records, and the shift and scale of their columns."""
        return Box.cube(features, -1.0, 1.0), self.box.middle, self.box.widths / 2

    def scaled(self, rows: Array) -> Array:
        """Return the records of the query from rows (n, m) in the columns' units.

        A largest norm without a constant is enforced where sums are made, see
        :func:`matrixdp.privacy.exact_sums.clipped`.
        """
        # Clip first: a huge value would overflow below. No warning may depend on a record.
        with np.errstate(all="ignore"):
            clipped = np.clip(rows, self.box.lower, self.box.upper)
            records: Array = (clipped - self.middle) / self.half
        if not self.constant:
            return records
        if isinstance(self.query.domain, Ball):
            # Before the constant: shrunk together with it, a long record would only weigh less.
            records = Ball(1.0, len(self.columns)).clip(records.T).T
        return with_constant(records)

    @property
    def constant(self) -> bool:
        """Whether the query's records hold a constant 1, before their last column."""
        extra = self.query.features > len(self.columns)
        return extra and not (self.leaves_missing_out or self.weighted)

    #: What is drawn, for an answer that cannot be described; ``middle`` and ``half`` are those of
    #: the columns.
    draw_title: ClassVar[str] = "of records minus middle, over half, as the details state them"

    @property
    def draw_header(self) -> list[str]:
        """Names of the numbers of a row of what is drawn."""
        names = [*self.columns]
        if self.constant:
            names.insert(len(names) + 1 + CONSTANT, "the constant 1")
        return names

    @property
    def missing_rule(self) -> str:
        """What becomes of a missing value, as a part of a sentence."""
        return missing.describe_fill(
            *(self.columns, self.fill),
            left_out=self.skips_missing,
            shrinks=self.max_norm is not None,
        )

    @property
    def readings(self) -> tuple[Output, ...]:
        """The answers of the request: itself, or each of several that share a release."""
        return (self,)

    @property
    def remedies(self) -> str:
        """What helps where noise hides everything, as the beginning of a list."""
        return "give a larger epsilon, narrower bounds or fewer columns, "

    # --- The answer ------------------------------------------------------------------------------

    def noisy(self, noise: MomentNoise, value: Array) -> Noisy:
        """Return what is read from the noisy value of a release with additive noise."""
        return Noisy(value, noise.release, noise)

    @abc.abstractmethod
    def answer(self, noisy: Noisy) -> Array:
        """Return the answer that a noisy value gives, (rows, columns), in the columns' units."""

    def table(self, answer: Array) -> tuple[list[str], list[list[Any]]]:
        """Return the header and the rows of an answer, as its file has them; NaN is empty."""
        rows = [["" if cell != cell else cell for cell in row] for row in answer.tolist()]
        if self.named_rows:
            rows = [[name, *row] for name, row in zip(self.row_names, rows, strict=True)]
        return ["", *self.header][not self.named_rows :], rows

    @property
    def header(self) -> list[str]:
        """Names of the numbers of a row."""
        return [*self.headers, *self.columns]

    @property
    def row_names(self) -> Sequence[str]:
        """Names of the rows, where they have any."""
        return self.columns

    def unscale(self, numbers: Array) -> Array:
        """Return numbers (..., m) in the columns' units, of ones in half ranges."""
        return numbers * self.half + self.middle

    def means(self, private: Array) -> Array:
        """Return means (..., m) in the columns' units, of noisy ones in half ranges, clipped."""
        return self.unscale(np.clip(private, *self._sides))

    @property
    def _sides(self) -> tuple[Array | float, Array | float]:
        """What means can be, in half ranges: numbers, or arrays (m,)."""
        if isinstance(self.query.domain, Box):
            return -1.0, 1.0
        # A largest norm shrinks records within their bounds towards 0.
        low, high = (np.array(side) / self.half for side in (self.box.lower, self.box.upper))
        return np.clip(low, -1, 0), np.clip(high, 0, 1)

    def unclipped(self, private: Array) -> dict[str, dict[str, float]]:
        """Return what :meth:`means` clips of noisy means (m,), as details state it."""
        low, high = self._sides
        raw = self.unscale(private)
        mask = (private < low) | (private > high)
        means = {name: float(raw[k]) for k, name in enumerate(self.columns) if mask[k]}
        return {UNCLIPPED: means} if means else {}

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return what depends on an answer and stands beside it, without intervals."""
        return {}

    def described(self, noisy: Noisy) -> dict[str, Any]:
        """Return all that stands beside an answer: parts, intervals, and what may be noise."""
        content = self._parts(noisy) | self.details(noisy)
        if self.has_intervals:
            content |= self.interval(noisy)
        doubts = self.doubts(noisy)
        return {**content, DOUBTS: doubts} if doubts else content

    def _parts(self, noisy: Noisy) -> dict[str, Any]:
        """Return the answers of the parts of a release in several."""
        outcome = noisy.outcome
        if outcome is None:
            return {}
        content: dict[str, Any] = {
            "radius_in_half_ranges": outcome.radius,
            "clipping": SHRUNK if noisy.shrinks else WHOLE,
            "noise_of_moments_in_half_ranges": outcome.moments_std / outcome.weight,
        }
        if noisy.shrinks:
            content["noisy_share_of_records_beyond_the_radius"] = noisy.share_beyond
            content["noise_of_this_share"] = outcome.beyond_std / outcome.weight
        if outcome.centre_std and "mean" not in self.headers:
            content["mean"] = by_name(self.columns, self.unscale(outcome.centre))
        if self.query.add_or_remove:
            content["records"] = outcome.weight * self.query.n_records
        elif outcome.centre_std:
            content["noise_of_mean"] = by_name(self.columns, outcome.centre_std * self.half)
        return content

    def doubts(self, noisy: Noisy) -> list[str]:
        """Return a sentence on each released number that may be noise alone.

        It is a variance or mean square that :meth:`headline` says to be hidden.
        """
        if not self.root:
            return []
        numbers = np.diagonal(self.answer(noisy)[:, -len(self.columns) :])
        hidden = self._hidden(noisy.release, noisy.part)
        return [
            f"noise may be all there is in the {self.root} of {name}, "
            f"{plain(np.sqrt(max(number, 0.0)), 3)}: it hides those below {plain(np.sqrt(size), 3)}"
            for name, number, size in zip(self.columns, numbers, hidden, strict=True)
            if number < size
        ]

    # --- The noise -------------------------------------------------------------------------------

    @property
    def has_intervals(self) -> bool:
        """Whether answers have any: not where a private number of records divides them."""
        return not self.query.add_or_remove

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of an answer, as its details state them."""
        return {}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return public bounds on the noise of each column's number, as receipts state them."""
        return {f"{KEY}_plus_or_minus": by_name(self.columns, part.interval(LEVEL)[0] * self.half)}

    @property
    def sizes(self) -> Array:
        """Unit of each column's number (m,), in units of the file or their squares."""
        return self.half

    @property
    def _ends(self) -> tuple[Array, Array]:
        """The lowest and highest number of each column, (m,) each."""
        return self.middle - self.half, self.middle + self.half

    def weight_std(self, release: Release) -> float:
        """Return the standard deviation of the noise of the weight that divides answers, or 0."""
        if not (self.constant and self.query.add_or_remove):
            return release.weight_std
        spread = variances(release.widest)
        variance = spread[CONSTANT, CONSTANT if spread.shape[1] > 1 else 0]
        return float(release.widest.rounding_factor * np.sqrt(variance))

    def deviations(
        self,
        release: Release,
        part: AdditiveMechanism | None = None,
        *,
        small: bool = False,
    ) -> tuple[Array, Array]:
        """Return standard deviations of the noise of each column's number, two arrays (m,).

        The number is a value or a mean in half ranges, otherwise a mean square or a variance in
        their squares. The first array holds where the column's mean b is 0, the middle of the
        bounds, and the second one where it is 1 or -1, the worst case. Clipped moments are those of
        ``part``, by default at the largest radius. Of ``small`` moments in parts a noisy weight
        takes a share alone, which counts for nothing.

        In the terms of :mod:`matrixdp.release.uncertainty` a variance has the noise N - 2 b n -
        n^2, or N + n^2 about a mean that was released before. Of deviation s, n^2 has the variance
        2 s^4 for Gaussian noise and 5 s^4 for Laplace noise. Division by a noisy weight 1 + e, for
        as many records as were stated, adds - b e to the noise of a mean, and at most e to that of
        a variance. What is of second order in e is a share of at most 8 times the variance of e, up
        to a deviation of ``FAITHFUL``.
        """
        part = part or release.widest
        spread, weight = variances(part) * part.rounding_factor**2, self.weight_std(release) ** 2
        if small and release.costs:
            weight = 0.0
        columns, is_matrix = np.arange(len(self.columns)), spread.shape[1] > 1
        if self.constant:
            columns = np.delete(np.arange(len(spread)), CONSTANT)
        least = spread[columns, columns if is_matrix else 0] + weight * is_matrix
        largest = least + weight * (not is_matrix)
        if self.about_mean and self.number:
            mean = self._mean_variances(release)
            least = least + (5 if release.mu is None else 2) * mean**2
            largest = least + 4 * mean * self.constant
        return scale_deviations(least, largest, weight)

    def _mean_variances(self, release: Release) -> Array:
        """Return the variances of the noise of means about which moments are, in half ranges (m,).

        A mean is read from moments with a constant, or was released before, and is the same at each
        radius.
        """
        if not self.constant:
            return np.full(len(self.columns), release.centre_std**2)
        part = release.widest
        return np.delete(variances(part)[CONSTANT], CONSTANT) * part.rounding_factor**2

    def _hidden(self, release: Release, part: AdditiveMechanism | None = None) -> Array:
        """Return below what noise hides each column's number (m,), at two deviations of it."""
        return 2 * self.deviations(release, part, small=True)[1] * self.sizes

    def error(self, option: Option) -> float:
        """Return the noise over half of the range, as a root mean square, see :class:`Option`."""
        return option.error

    def noise_of(self, option: Option) -> dict[str, Any]:
        """Return the entries of a receipt on the noise; upper bounds for clipped moments."""
        release = option.release
        least, largest = (self.sizes * part for part in self.deviations(release))
        key, cases = self._noise_key, {"": least}
        entries: dict[str, Any] = {"noise_over_half_range": option.error}
        if release.costs:
            size = "filled_radius" if self.within_radius else "half_range"
            entries = {"parts": release.costs, f"noise_over_{size}": option.error}
        if release.costs and self.within_radius:
            key += "_at_the_largest_radius"
            intervals_or_clipping = {"clipping": CLIPPING}
        else:
            intervals_or_clipping = self.widths(release.widest) if self.has_intervals else {}
        if (largest > least).any():
            cases = {IN_THE_MIDDLE: least, AT_A_BOUND: largest}
        deviations = {key + case: by_name(self.columns, part) for case, part in cases.items()}
        holds = self.condition(release) or None
        fills = [f"{fill:.0%}" for fill in FILLS]
        losses = {LOSSES: dict(zip(fills, option.losses, strict=True))} if option.losses else {}
        return {
            **entries,
            **deviations,
            "noise_std_holds": holds,
            **intervals_or_clipping,
            **self.effects,
            **losses,
        }

    @property
    def _noise_key(self) -> str:
        return "noise_std"

    def condition(self, release: Release) -> str:
        """Return on what the sizes of noise depend, beside the bounds."""
        if not self.query.add_or_remove:
            return ""
        weight = self.weight_std(release)
        rough = (
            f"; that number has noise of {weight:.0%} itself, and answers that are divided by "
            "it may be off by any factor"
        )
        return (
            "if the file has the stated number of records: with half as many it is twice as "
            "large" + rough * (weight >= FAITHFUL)
        )

    def headline(self, option: Option) -> str:
        """Return what the noise means for this output, in its unit, in one line.

        It is that of the worst case of :meth:`deviations`.
        """
        release = option.release
        hidden = self._hidden(release)
        if not self.root:
            phrase = self.number_phrase or f"the {self.number}"
            sizes = [
                f"+- {plain(size, 3)} in {phrase} of {name}"
                for size, name in zip(hidden / 2, self.columns, strict=True)
            ]
            return f"noise of {join_columns(sizes)}"
        sizes = [
            f"of {name} below {plain(size, 3)}"
            for size, name in zip(np.sqrt(hidden), self.columns, strict=True)
        ]
        smaller = "; less where the private radius is smaller" * (release.widest is not release)
        return f"noise hides {self.root}s {join_columns(sizes)}{smaller}"

    def noise_in_words(self, option: Option) -> list[str]:
        """Return the noise of each column beside the range of its values, a sentence each.

        An output whose answer has other numbers says nothing.
        """
        if not self.number:
            return []
        lines = []
        sizes = (self.sizes * part for part in self.deviations(option.release))
        for column, least, largest, low, high in zip(
            self.columns, *sizes, *self._ends, strict=True
        ):
            worse = f", and +- {plain(largest, 3)} where the mean is at a bound,"
            drowns = f"; a {self.small} below {plain(2 * largest, 3)} drowns in it"
            lines.append(
                f"{self.number} of {column}: noise of +- {plain(least, 3)}"
                + worse * bool(largest > least)
                + f" on values from {plain(low)} to {plain(high)}"
                + (": do not release this" if least >= (high - low) / 2 else drowns)
            )
        varies = self.within_radius and option.release.widest is not option.release
        radius = "at the largest private radius" * varies
        conditions = [*filter(None, [radius, self.condition(option.release)])]
        return [*lines, ", ".join([f"+- is a standard deviation in {self.unit}", *conditions])]

    # --- What noise takes from it, simulated -----------------------------------------------------

    def loss(self, rows: Array, answers: Array) -> float:
        """Return the median loss of simulated answers (draws, ...) of records (k, m)."""
        raise NotImplementedError

    @property
    def worst(self) -> float:
        """What an answer without any records loses."""
        return 1.0


def scale_deviations(least: Array, largest: Array, weight: float) -> tuple[Array, Array]:
    """Return the deviations of two kinds of numbers (m,), by their variances to first order.

    ``weight`` is the variance of the weight that divides them, for what is of second order in it,
    see :meth:`Output.deviations`.
    """
    second_order = 1 + 8 * weight
    return np.sqrt(second_order * least), np.sqrt(second_order * largest)
