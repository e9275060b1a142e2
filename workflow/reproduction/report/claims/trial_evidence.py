"""Evidence of trials for a claim: differences between rows, with intervals and p-values.

The effect of a comparison is a number that is larger the better it holds. For ``A beats B`` it is
the metric of B minus that of A (the other way round for an accuracy). For ``A beats B 1.5 times``
it is the metric of B over that of A.

A claim of an amount needs evidence for that amount, and is refuted by evidence against it.
``A beats B by 0.1`` does not follow from A being better. The test of a factor is that of a
difference, B - 1.5 A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from reproduction import catalogue
from reproduction.report.claims import definitions
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.trial_values import NotRun, TrialValues
from reproduction.report.statistics import LEVEL, Estimate, Pair, mean_of


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
        surplus: effect minus margin, in the unit of the metric.
        unit: one unit of the effect in that of the metric: 1, or for a ratio the denominator's
            mean.
        by_trial: the surplus by the number of the trial; None for rows that share no trials.
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
    surplus: Estimate
    unit: float
    by_trial: pd.Series | None

    def detectable(self, level: float) -> float:
        """Return the smallest distance of an effect from the margin that such trials detect."""
        return float(self.surplus.detectable(level) / self.unit)


def surplus(comparison: Comparison, pair: Pair, gap: Array | float = 0.0) -> Estimate:
    """Return the effect of a comparison minus its margin; it holds if this is above 0.

    Args:
        comparison: the comparison.
        pair: trials of its two rows, of which the first is larger if it holds.
        gap: difference between the best baseline and no privacy, by trial.
    """
    if comparison.relation == "times":
        return pair.difference(comparison.amount)
    if comparison.relation == "share":
        return mean_of(surplus_by_trial(comparison, pair, gap))
    difference = pair.difference()
    return replace(difference, value=difference.value - comparison.margin)


def surplus_by_trial(comparison: Comparison, pair: Pair, gap: Array | float = 0.0) -> Array:
    """Return the surplus of each trial of paired rows, whose mean :func:`surplus` estimates."""
    if comparison.relation == "times":
        return pair.first - comparison.amount * pair.second
    margin = comparison.margin if comparison.relation != "share" else -comparison.amount / 100 * gap
    return pair.first - pair.second - margin


def gather(
    claim: Claim, book: TrialValues, epsilon: str, comparisons: Sequence[Comparison]
) -> list[Evidence]:
    """Return the evidence for comparisons of a claim with the test ``compare``.

    Args:
        claim: the claim.
        book: trials of the run.
        epsilon: the tables' epsilon as text.
        comparisons: comparisons of the claim, or others in their place.

    Raises:
        NotRun: trials are missing; the message says which.
    """
    if claim.epsilons == "informative":
        # Each experiment has separate epsilons, at which the claim's rows beat the baseline.
        informative = [
            replace(comparison, epsilon=at)
            for comparison, original in zip(comparisons, claim.comparisons, strict=False)
            for at in _informative_epsilons(original, claim, book.of_data)
        ]
        if not informative:
            raise NotRun("its rows are better than the baseline at no epsilon that they share")
        return [
            part
            for comparison in informative
            for part in _gather(claim, book, [comparison.epsilon], [comparison])
        ]
    rows = definitions.rows(comparisons)
    return _gather(claim, book, _epsilons(claim, rows, book, epsilon), comparisons)


def _gather(
    claim: Claim,
    book: TrialValues,
    epsilons: Sequence[str],
    comparisons: Sequence[Comparison],
) -> list[Evidence]:
    rows = definitions.rows(comparisons)
    # Rows that share their splits are compared on the trials that all of them have.
    names = {row: book.split_source(row.experiment) for row in rows}
    ends = [
        row
        for comparison in comparisons
        if comparison.relation == "share"
        for row in _ends(comparison, book)
    ]
    names |= {row: book.split_source(row.experiment) for row in ends}
    rows = list(dict.fromkeys([*rows, *ends]))
    trials = {row: book.values(row, epsilons, claim.metrics) for row in rows}
    values = {}
    for name in dict.fromkeys(names.values()):
        columns = {row: series for row, series in trials.items() if names[row] == name}
        values[name] = pd.concat(columns, axis=1, join="inner")
    if min(map(len, values.values())) < 2:
        raise NotRun("there are fewer than two trials, and so no interval")
    return [
        _evidence(
            comparison,
            *(values[names[row]][row] for row in (comparison.first, comparison.second)),
            paired=names[comparison.first] == names[comparison.second],
            larger=claim.larger,
            gap=_gap(_ends(comparison, book), values[names[comparison.first]])
            if comparison.relation == "share"
            else 0.0,
        )
        for comparison in comparisons
    ]


def _epsilons(claim: Claim, rows: Sequence[Row], book: TrialValues, epsilon: str) -> list[str]:
    """Return the epsilons of a claim: that of the tables, or those in its scope of all rows."""
    scope = claim.epsilons
    if scope == "table":
        return [epsilon]
    grids = [grid for grid in map(book.epsilons, rows) if grid != [""]]
    shared = [token for token in grids[0] if all(token in grid for grid in grids)]
    if scope != "all":
        shared = [token for token in shared if token in scope]
    if not shared:
        raise NotRun("its rows share no epsilon that it is about")
    return shared


def _informative_epsilons(comparison: Comparison, claim: Claim, book: TrialValues) -> list[str]:
    """Return the epsilons at which both rows of a comparison are better than the baseline."""
    rows = (comparison.first, comparison.second)
    shared = [at for at in book.epsilons(rows[0]) if at in book.epsilons(rows[1])]
    return [at for at in shared if all(_informs(row, at, claim, book) for row in rows)]


def _informs(row: Row, epsilon: str, claim: Claim, book: TrialValues) -> bool:
    """Return whether a row is better than the best baseline at an epsilon."""
    baseline = Row(row.experiment, book.baseline(row.experiment))
    both = pd.concat(
        [book.values(end, [epsilon], claim.metrics) for end in (row, baseline)],
        axis=1,
        join="inner",
    ).to_numpy()
    better, worse = both.T if claim.larger else both.T[::-1]
    return bool(Pair(better, worse).difference().above() < LEVEL / 2)


def _ends(comparison: Comparison, book: TrialValues) -> tuple[Row, Row]:
    """Return the rows of the best baseline and of no privacy."""
    name = comparison.first.experiment
    return Row(name, book.baseline(name)), Row(name, catalogue.NONPRIVATE)


def _gap(ends: tuple[Row, Row], values: pd.DataFrame) -> Array:
    """Return the distance of the baseline from no privacy, by trial."""
    baseline, nonprivate = (values[row].to_numpy() for row in ends)
    return np.abs(baseline - nonprivate)


def _evidence(
    comparison: Comparison,
    first: pd.Series,
    second: pd.Series,
    *,
    paired: bool,
    larger: bool,
    gap: Array | float = 0.0,
) -> Evidence:
    ends = (first, second) if larger else (second, first)
    pair = Pair(ends[0].to_numpy(), ends[1].to_numpy(), paired)
    beyond, unit = surplus(comparison, pair, gap), 1.0
    margin = 0 - comparison.amount / 100 * float(np.mean(gap))
    if comparison.relation == "times":
        effect, low, high = pair.ratio()
        unit = float(pair.second.mean())
    else:
        difference = pair.difference()
        effect, (low, high) = difference.value, difference.interval()
    return Evidence(
        comparison,
        *(float(first.mean()), float(second.mean())),
        *(effect, low, high, comparison.margin if comparison.relation != "share" else margin),
        p_for=beyond.above(),
        p_against=beyond.below(),
        paired=paired,
        n_trials=min(len(first), len(second)),
        surplus=beyond,
        unit=unit,
        by_trial=pd.Series(surplus_by_trial(comparison, pair, gap), index=first.index)
        if paired
        else None,
    )
