"""Evidence of trials for a claim: contrasts of rows, with margins, intervals and p-values.

The effect of a comparison is a number that is larger the better it holds. For ``A beats B`` it is
the metric of B minus that of A (the other way round for an accuracy). For ``A beats B 1.5 times``
it is the metric of B over that of A.

A claim of an amount needs evidence for that amount, and is refuted by evidence against it.
``A beats B by 0.1`` does not follow from A being better. The test of a factor is that of a
difference, B - 1.5 A, and the test of a share that of A - B with a share of the gap.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import pandas as pd

from reproduction import catalogue
from reproduction.report import contrasts
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.trials import REPORT, NotRun, Trials
from reproduction.report.contrasts import Estimate
from reproduction.report.findings import NOT_REPRODUCED, REPRODUCED, UNDECIDED
from reproduction.report.statistics import ENOUGH, LEVEL, Joint, combine


class Part(NamedTuple):
    """A comparison, by the mean over these epsilons."""

    comparison: Comparison
    epsilons: tuple[str, ...]


class Evidence(NamedTuple):
    """One comparison on trials.

    Attributes:
        comparison: the comparison.
        mean_better, mean_worse: means of its rows; the comparison says that the first is better.
        effect, effect_low, effect_high: the effect and its 95 % interval.
        margin: number that the effect exceeds if the comparison holds.
        p_for, p_against: one-sided p-values for an effect above the margin, and below it.
        paired: whether the rows share their trials.
        n_trials: number of trials of the row that has fewer.
        samples: the surplus by trial, effect minus margin in the unit of the metric; one series for
            each data set.
        unit: one unit of the effect in that of the metric: 1, or for a ratio the denominator's
            mean.
    """

    comparison: Comparison
    mean_better: float
    mean_worse: float
    effect: float
    effect_low: float
    effect_high: float
    margin: float
    p_for: float
    p_against: float
    paired: bool
    n_trials: int
    samples: tuple[pd.Series, ...]
    unit: float

    @property
    def surplus(self) -> Estimate:
        """The estimate of the surplus."""
        return contrasts.estimate(*self.samples)

    def detectable(self, level: float) -> float:
        """Return the smallest distance of an effect from the margin that such trials detect."""
        return float(self.surplus.detectable(level) / self.unit)


@dataclass(frozen=True)
class Case:
    """One test of a claim: comparisons with their evidence, and what the trials say of all.

    Attributes:
        claim: the claim.
        parts: the comparisons, each with its epsilons.
        evidence: evidence for each.
        joint: the p-values of all of them.
        corrected: the p-value after the correction over the tests on an experiment.
        level: level of a test after that correction.
    """

    claim: Claim
    parts: Sequence[Part]
    evidence: list[Evidence]
    joint: Joint
    corrected: float = math.nan
    level: float = LEVEL

    @property
    def enough(self) -> bool:
        """Whether each comparison has enough trials to order rows."""
        return min(part.n_trials for part in self.evidence) >= ENOUGH

    @property
    def verdict(self) -> str:
        """One of the verdicts: what holds, or fails, clearly after the correction."""
        if self.joint.p_against / self.joint.p * self.corrected < LEVEL:
            return NOT_REPRODUCED
        holds = self.joint.p_for / self.joint.p * self.corrected < LEVEL
        return REPRODUCED if holds else UNDECIDED

    @property
    def n_hold(self) -> int:
        """How many of the comparisons hold clearly, each corrected for all of them."""
        count = len(self.evidence)
        return sum(2 * count * part.p_for < self.level for part in self.evidence)

    @property
    def decisive(self) -> int:
        """Index of the comparison that decides."""
        failed = self.verdict == NOT_REPRODUCED
        return self.joint.strongest_against if failed else self.joint.weakest


def tests(
    comparisons: Sequence[Comparison], epsilons: str | Sequence[str], claim: Claim, trials: Trials
) -> list[list[Part]]:
    """Return the tests of comparisons at epsilons of a claim: one, or one at each epsilon.

    Raises:
        NotRun: its rows share no epsilon that it is about.
    """
    if epsilons == "informative":
        # Each experiment has separate epsilons, at which the claim's rows beat the baseline.
        informative = [
            _at(comparison, epsilon)
            for comparison in comparisons
            for epsilon in _informative_epsilons(comparison, claim, trials)
        ]
        if not informative:
            raise NotRun("its rows are better than the baseline at no epsilon that they share")
        return [informative]
    shared = _epsilons(epsilons, definitions.rows(comparisons), trials)
    if epsilons == "each":
        return [[_at(comparison, epsilon) for comparison in comparisons] for epsilon in shared]
    return [[Part(comparison, shared) for comparison in comparisons]]


def _at(comparison: Comparison, epsilon: str) -> Part:
    """Return a comparison at one epsilon, which its sentences name."""
    return Part(replace(comparison, epsilon=epsilon), (epsilon,))


def convert_unit(claim: Claim, parts: Sequence[Part]) -> list[Part]:
    """Return comparisons with amounts in the suspected unit; empty without amounts or unit."""
    factors = {catalogue.experiment(name).conjecture for name in claim.experiments}
    if not any(part.comparison.absolute for part in parts) or len(factors) > 1:
        return []
    (factor,) = factors
    if factor is None:
        return []
    return [
        Part(replace(each, amount=each.amount / factor) if each.absolute else each, epsilons)
        for each, epsilons in parts
    ]


def weigh(claim: Claim, parts: Sequence[Part], trials: Trials, phase: str = REPORT) -> Case:
    """Return the evidence for comparisons of a claim, before any correction.

    Args:
        claim: a claim with the test ``compare``.
        parts: comparisons of the claim, or others in their place.
        trials: trials of the run.
        phase: phase of the trials.

    Raises:
        NotRun: trials are missing; the message says which.
    """
    evidence = [_evidence(part, claim, trials, phase) for part in parts]
    p_for, p_against = [part.p_for for part in evidence], [part.p_against for part in evidence]
    return Case(claim, parts, evidence, combine(p_for, p_against, claim.every))


def weights(
    comparison: Comparison, larger: bool, ends: tuple[Row, Row] | None = None
) -> tuple[dict[Row, float], float]:
    """Return the weights of rows, and the margin that their sum exceeds if a comparison holds.

    Args:
        comparison: the comparison.
        larger: whether a larger metric is better.
        ends: the best baseline and the result without privacy, for a share of their gap.
    """
    sides = (comparison.first, comparison.second)
    above, below = sides if larger else sides[::-1]
    factor = comparison.amount if comparison.relation == "times" else 1.0
    weighted = [(above, 1.0), (below, -factor)]
    margin = 0.0 if comparison.relation in ("times", "share") else comparison.margin
    if comparison.relation == "share" and ends:
        share = comparison.amount / 100 * (1 if larger else -1)
        weighted += [(ends[0], -share), (ends[1], share)]
    total: dict[Row, float] = {}
    for row, weight in weighted:
        total[row] = total.get(row, 0.0) + weight
    return total, margin


def _epsilons(scope: str | Sequence[str], rows: Sequence[Row], trials: Trials) -> tuple[str, ...]:
    """Return the epsilons of a scope: that of the tables, or those in it of all rows, in order."""
    if scope == "table":
        return (trials.epsilon,)
    grids = [grid for grid in map(trials.epsilons, rows) if grid != [""]]
    shared = [token for token in grids[0] if all(token in grid for grid in grids)]
    if not isinstance(scope, str):
        shared = [token for token in shared if token in scope]
    if not shared:
        raise NotRun("its rows share no epsilon that it is about")
    return tuple(sorted(shared, key=float))


def _informative_epsilons(comparison: Comparison, claim: Claim, trials: Trials) -> list[str]:
    """Return the epsilons at which both rows of a comparison are better than the baseline."""
    rows = (comparison.first, comparison.second)
    shared = [at for at in trials.epsilons(rows[0]) if at in trials.epsilons(rows[1])]

    def informs(row: Row, at: str) -> bool:
        part = Part(Comparison(row, trials.baseline(row.experiment)), (at,))
        return _evidence(part, claim, trials).p_for < LEVEL / 2

    return [at for at in shared if all(informs(row, at) for row in rows)]


def _evidence(part: Part, claim: Claim, trials: Trials, phase: str = REPORT) -> Evidence:
    comparison, epsilons = part
    first, second = rows = (comparison.first, comparison.second)
    ends = None
    if comparison.relation == "share":
        ends = (trials.baseline(first.experiment), Row(first.experiment, catalogue.NONPRIVATE))
    total, null = weights(comparison, claim.larger, ends)
    metrics = tuple(claim.metrics)
    # What is missing is named in the order of the sentence.
    columns = {row: trials.column(row, epsilons, metrics, phase) for row in (*rows, *total)}
    sources = {row: trials.split_source(row.experiment) for row in total}

    def samples(part: Mapping[Row, float]) -> list[pd.Series]:
        """Return a contrast by trial, for each data set, on the trials that all rows there have."""
        by_source: dict[str, pd.Series] = {}
        for row, source in sources.items():
            values = part.get(row, 0.0) * columns[row]
            by_source[source] = by_source[source] + values if source in by_source else values
        return [values.dropna() for values in by_source.values()]

    surplus = samples(total)
    n_trials = min(map(len, surplus))
    if n_trials < 2:
        raise NotRun("there are fewer than two trials, and so no interval")
    means = {row: float(contrasts.estimate(*samples({row: 1.0})).value) for row in total}
    test, unit, margin = contrasts.estimate(*surplus), 1.0, comparison.margin
    above, below = rows if claim.larger else rows[::-1]
    if comparison.relation == "times":
        effect, low, high = contrasts.ratio_interval(samples({above: 1.0}), samples({below: 1.0}))
        unit = means[below]
    else:
        difference = contrasts.estimate(*samples({above: 1.0, below: -1.0}))
        effect, (low, high) = difference.value, difference.interval()
    if ends:
        margin = -comparison.amount / 100 * abs(means[ends[0]] - means[ends[1]])
    return Evidence(
        comparison,
        *(means[first], means[second], effect, low, high, margin),
        p_for=test.above(null),
        p_against=test.below(null),
        paired=len(surplus) == 1,
        n_trials=n_trials,
        samples=tuple(sample - null for sample in surplus),
        unit=unit,
    )
