"""One release of moments, and the answers that are read from it: post-processing alone.

A request for several answers is one of :class:`Moments`: it is charged and drawn once, and each of
its readings is an output of its own, with its table, its receipt and its intervals. Another reading
of a release that an account keeps needs no charge, where its draw holds the same moments.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.release import Release
from matrixdp.privacy.domain import Box
from matrixdp.release.comparison import Option
from matrixdp.release.outputs.about_mean import AboutMean
from matrixdp.release.outputs.components import Components
from matrixdp.release.outputs.covariance import Covariance
from matrixdp.release.outputs.mean import Mean
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import CLIPPED, NEAREST, Output, scale_deviations
from matrixdp.release.outputs.regression import Regression
from matrixdp.release.specification import Specification
from matrixdp.release.uncertainty import KEY, MomentNoise
from matrixdp.release.words import by_name

#: What intervals of readings do not say.
TOGETHER = (
    "this answer shares its noisy moments with others: intervals hold one at a time, for an answer "
    "that was asked for before any was seen, and the errors of these answers are not independent"
)


@dataclass(frozen=True, kw_only=True)
class MeanOfMoments(AboutMean):
    """Means, (1, m), within their bounds, read from moments."""

    name = "mean"
    title = Mean.title
    answers_mean = True
    within_radius = False
    beyond_bounds = NEAREST
    number, small = Mean.number, Mean.small
    unit, cell = Mean.unit, Mean.cell
    loss_unit = "error of means over the standard deviations of their columns"

    # As of a mean that is asked for alone, and not as of what else is read about a mean.
    has_intervals = Output.has_intervals
    sizes = Output.sizes
    _ends = Output._ends
    _noise_key = Output._noise_key

    def deviations(
        self, release: Release, part: AdditiveMechanism | None = None, *, small: bool = False
    ) -> tuple[Array, Array]:
        """Return standard deviations of the noise of means in half ranges, two arrays (m,).

        The second array holds at a bound, where the noise of a number of records counts most. A
        mean is the same at every radius, so that ``part`` and ``small`` say nothing.
        """
        weight, spread = self.weight_std(release) ** 2, self._mean_variances(release)
        return scale_deviations(spread, spread + weight, weight)

    def error(self, option: Option) -> float:
        """Return the noise of means over half of their ranges; moments have noise of their own."""
        noise, _ = self.deviations(option.release)
        return float(np.sqrt(np.mean(noise**2)))

    def answer(self, noisy: Noisy) -> Array:
        """Return means (1, m) in the columns' units, clipped to their bounds."""
        assert noisy.mean is not None
        return self.means(noisy.mean)[None]

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the means that were clipped, as the noise left them."""
        assert noisy.mean is not None
        return self.unclipped(noisy.mean)

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of a mean that is a part of its own; others are in the receipt."""
        if noisy.outcome is None:
            return {}
        assert noisy.mean is not None
        widths = noisy.noise.mean_widths(len(self.half))
        limits = np.clip([noisy.mean - widths, noisy.mean + widths], -1, 1)
        return {KEY: {"mean": by_name(self.columns, self.unscale(limits).T)}}

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return bounds on the noise of each mean, where it is read from moments of (x, 1)."""
        if not self.constant:
            return {}
        widths = MomentNoise(part).mean_widths(len(self.half)) * self.half
        return {f"{KEY}_plus_or_minus": by_name(self.columns, widths)}

    def _parts(self, noisy: Noisy) -> dict[str, Any]:
        """Return the noisy number of records; the radius takes nothing from a mean."""
        if noisy.outcome is None or not self.query.add_or_remove:
            return {}
        return {"records": noisy.outcome.weight * self.query.n_records}

    def loss(self, rows: Array, answers: Array) -> float:
        """Return the root mean square error of means in standard deviations of their columns."""
        errors = (answers[:, 0] - rows.mean(axis=0)) / rows.std(axis=0)
        return float(np.median(np.sqrt((errors**2).mean(axis=1))))


#: The answers that can be read from moments, by the value of the key ``query``.
READINGS: dict[str, type[AboutMean]] = {
    reading.name: reading for reading in (MeanOfMoments, Covariance, Components, Regression)
}


@dataclass(frozen=True, kw_only=True)
class Moments(AboutMean):
    """Noisy moments of (x, 1), or of records about a private mean, for several answers.

    Attributes:
        answers: names of the answers, of ``READINGS``, in their order.
        target: column that a regression predicts; empty where there is none. The columns are in
            the order in which they were stated.
        count, alpha, intercept: of components and of a regression.
    """

    answers: tuple[str, ...]
    target: str = ""
    count: int | None = None
    alpha: float = 0.0
    intercept: bool = True

    name = "moments"
    title = "moments of the columns"
    keys = ("mean_weight",)
    beyond_bounds = ""
    cell = ""
    #: Keys of readings beside those that all requests have.
    of_readings: ClassVar[tuple[str, ...]] = ("target", "number", "alpha", "intercept")

    @property
    def answers_mean(self) -> bool:  # type: ignore[override]
        """Whether the mean is among the answers."""
        return MeanOfMoments.name in self.answers

    @property
    def options(self) -> dict[str, Any]:
        """What the readings state, and the weight of the mean."""
        weight = {} if self.mean_weight is None else {"mean_weight": self.mean_weight}
        return {**weight, **{k: v for reading in self.readings for k, v in reading.options.items()}}

    def request(self, folder: Path) -> dict[str, Any]:
        """Return all that identifies a request, with all its answers."""
        whole = super().request(folder)
        return {**whole, "query": [*self.answers], "target": self.target}

    @property
    def readings(self) -> tuple[Output, ...]:
        """What is read from the moments, in the order of the answers."""
        return tuple(reading_of(READINGS[name], self) for name in self.answers)

    @property
    def remedies(self) -> str:
        """What helps where noise hides an answer: another weight, or a list without it."""
        weight = "leave mean_weight out, " * (self.mean_weight is not None)
        # An estimator states no query, and gives all answers.
        query = "leave what is hidden out of query, " * ("query" in self.terms)
        return f"{weight}{super().remedies}{query}"

    def answer(self, noisy: Noisy) -> Array:
        """Return the noisy covariance in half ranges, (m, m), which readings are made of."""
        return noisy.value


def check_mean_weight(
    answers: Collection[str], mean_weight: float | None, max_norm: float | None, mechanism: str
) -> None:
    """Check that the mean among several answers has noise that a stated weight can change.

    Raises:
        InputError: it has not.
    """
    reasons = {
        "a query without 'mean'": MeanOfMoments.name not in answers,
        "max_norm, in whose ball a mean has the noise that it has alone": max_norm,
        f"mechanism = {CLIPPED!r}, which gives the mean half of mu^2": mechanism == CLIPPED,
    }
    for reason, holds in reasons.items():
        if holds and mean_weight is not None:
            raise InputError(f"mean_weight has no meaning beside {reason}; leave it out")


def reading_of(kind: type[AboutMean], spec: Output, **changes: Any) -> AboutMean:
    """Return what is read from the moments of a request, as a request for this answer alone.

    The target of a regression comes last.

    Args:
        kind: class of the answer.
        spec: the request for moments, or for a mean.
        changes: fields with other values.
    """
    values = {name: getattr(spec, name) for name in _fields(kind) if hasattr(spec, name)}
    if isinstance(spec, Moments):
        values["mean_weight"] = spec.constant_weight if spec.constant else None
        if kind.has_target:
            names = sorted(spec.columns, key=lambda name: name == spec.target)
            values |= _in_order(spec, names)
    return kind(**values | changes)


def _fields(kind: type[AboutMean]) -> list[str]:
    return [one.name for one in fields(kind) if one.init]


def _in_order(spec: Output, names: list[str]) -> dict[str, Any]:
    """Return the columns of a request, their bounds and fills in another order."""
    order = [spec.columns.index(name) for name in names]
    sides = (np.array(side)[order].tolist() for side in (spec.box.lower, spec.box.upper))
    return {"columns": (*names,), "box": Box(*map(tuple, sides)), "fill": spec.fill[order]}


def as_reading(spec: Output) -> AboutMean | None:
    """Return the answer of a request as a reading of moments; None where it is none."""
    if type(spec) is Mean:
        return reading_of(MeanOfMoments, spec)
    return spec if type(spec) in READINGS.values() and isinstance(spec, AboutMean) else None


def moments_request(spec: Specification, folder: Path) -> dict[str, Any]:
    """Return what identifies the moments of a request, whatever is read from them.

    It is :meth:`Specification.request` without the answers, the weight of the mean and the order of
    the columns.
    """
    whole = spec.request(folder)
    columns = sorted(zip(whole.pop("columns"), whole.pop("missing"), strict=True))
    dropped = {"query", "target", *spec.options}
    rest = {key: value for key, value in whole.items() if key not in dropped}
    return {**rest, "columns": columns}


def are_of_same_moments(one: Specification, other: Specification, folder: Path) -> bool:
    """Return whether two requests are for the same moments, whatever noise they ask for."""
    first, second = (moments_request(spec, folder) for spec in (one, other))
    return {**first, "guarantee": None} == {**second, "guarantee": None}


def stated_answer(reading: Output) -> dict[str, Any]:
    """Return what a receipt says of an answer among several: its query and its own keys."""
    own = {key: reading.terms[key] for key in reading.keys if key in reading.terms}
    return {"query": reading.name, **own}


def answers_of(statement: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the query and the own keys of the answer that a receipt is of."""
    answer: Mapping[str, Any] = statement.get("answer", statement)
    return answer
