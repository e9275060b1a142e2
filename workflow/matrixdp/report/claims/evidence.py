"""What trials say about a claim: differences between rows, with intervals and p-values.

A comparison becomes one number, its effect, that is larger the better it holds: for ``A beats B``
the metric of B minus that of A (the other way round for an accuracy), for ``A beats B 1.5 times``
the metric of B over that of A. A claim of an amount needs evidence for that amount, and is refuted
by evidence against it: ``A beats B by 0.1`` is no matter of A being better at all. The test of a
factor is that of a difference, B - 1.5 A.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from matrixdp import catalogue
from matrixdp.checks import Array
from matrixdp.report.claims import ledger
from matrixdp.report.claims.ledger import Claim, Comparison, Row
from matrixdp.report.claims.trialbook import NotRun, Trialbook
from matrixdp.report.statistics import LEVEL, Estimate, Pair, mean_of


class Evidence(NamedTuple):
    """One comparison on trials.

    Attributes:
        effect, effect_low, effect_high: the number of the comparison, and its 95 % interval.
        margin: what the comparison says that the number is above.
        p_for, p_against: p-values of its being clearly above the margin, and clearly below.
        paired: whether the rows share their trials.
        n_trials: how many, of the row with the fewer.
        surplus: by how much trials exceed the claim, in the metric.
        unit: what one unit of the effect is in the metric: 1, or for a ratio the mean below it.
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

    def detectable(self, level: float) -> float:
        """Return how far from the margin an effect must be for such trials to show it."""
        return float(self.surplus.detectable(level) / self.unit)


def surplus(one: Comparison, pair: Pair, gap: Array | float = 0.0) -> Estimate:
    """Return by how much trials exceed what a comparison says, which is true of more than 0.

    The trials are those of its rows, that with the larger metric as it has it first. ``gap`` is
    that of the best baseline and no privacy in the same trials.
    """
    if one.kind == "times":
        return pair.difference(one.amount)
    if one.kind == "share":
        return mean_of(pair.first - pair.second + one.amount / 100 * gap)
    found = pair.difference()
    return replace(found, value=found.value - one.margin)


def gather(
    claim: Claim, book: Trialbook, epsilon: str, comparisons: Sequence[Comparison]
) -> list[Evidence]:
    """Return the evidence of comparisons, as a claim of the kind ``compare`` needs it.

    The comparisons are those of the claim, or others put in their place; ``epsilon`` is the
    canonical token of the tables' epsilon. NotRun: trials are missing; the text says which.
    """
    if claim.epsilons == "informative":
        # Each experiment at its own epsilons, which are those of the claim's rows on the data.
        own = [
            replace(one, epsilon=at)
            for one, stated in zip(comparisons, claim.comparisons, strict=False)
            for at in _informative(stated, claim, book.of_data)
        ]
        if not own:
            raise NotRun("its rows are better than chance at no epsilon that they share")
        return [found for one in own for found in _gather(claim, book, [one.epsilon], [one])]
    rows = ledger.rows(comparisons)
    return _gather(claim, book, _epsilons(claim, rows, book, epsilon), comparisons)


def _gather(
    claim: Claim,
    book: Trialbook,
    epsilons: Sequence[str],
    comparisons: Sequence[Comparison],
) -> list[Evidence]:
    rows = ledger.rows(comparisons)
    # Trials that are drawn for one name are those that all of its rows have.
    names = {row: book.drawn_for(row.experiment) for row in rows}
    ends = [row for one in comparisons if one.kind == "share" for row in _ends(one, book)]
    names |= {row: book.drawn_for(row.experiment) for row in ends}
    rows = list(dict.fromkeys([*rows, *ends]))
    trials = {row: book.values(row, epsilons, claim.metrics) for row in rows}
    values = {}
    for name in dict.fromkeys(names.values()):
        own = {row: found for row, found in trials.items() if names[row] == name}
        values[name] = pd.concat(own, axis=1, join="inner")
    if min(map(len, values.values())) < 2:
        raise NotRun("there are fewer than two trials, and so no interval")
    return [
        _evidence(
            one,
            *(values[names[row]][row].to_numpy() for row in (one.first, one.second)),
            paired=names[one.first] == names[one.second],
            larger=claim.larger,
            gap=_gap(_ends(one, book), values[names[one.first]]) if one.kind == "share" else 0.0,
        )
        for one in comparisons
    ]


def _epsilons(claim: Claim, rows: Sequence[Row], book: Trialbook, epsilon: str) -> list[str]:
    """Return the epsilons of a claim: that of the tables, or those that it means of all it can."""
    asked = claim.epsilons
    if asked == "table":
        return [epsilon]
    grids = [grid for grid in map(book.epsilons, rows) if grid != [""]]
    shared = [token for token in grids[0] if all(token in grid for grid in grids)]
    if asked != "all":
        shared = [token for token in shared if token in asked]
    if not shared:
        raise NotRun("its rows share no epsilon that it is about")
    return shared


def _informative(one: Comparison, claim: Claim, book: Trialbook) -> list[str]:
    """Return the epsilons at which both rows of a comparison are better than chance."""
    rows = (one.first, one.second)
    shared = [at for at in book.epsilons(rows[0]) if at in book.epsilons(rows[1])]
    return [at for at in shared if all(_informs(row, at, claim, book) for row in rows)]


def _informs(row: Row, epsilon: str, claim: Claim, book: Trialbook) -> bool:
    """Return whether a row is better than the best baseline at an epsilon."""
    chance = Row(row.experiment, book.baseline(row.experiment))
    both = pd.concat(
        [book.values(one, [epsilon], claim.metrics) for one in (row, chance)], axis=1, join="inner"
    ).to_numpy()
    better, worse = both.T if claim.larger else both.T[::-1]
    return bool(Pair(better, worse).difference().above() < LEVEL / 2)


def _ends(one: Comparison, book: Trialbook) -> tuple[Row, Row]:
    """Return the rows of the best baseline and of no privacy."""
    name = one.first.experiment
    return Row(name, book.baseline(name)), Row(name, catalogue.NONPRIVATE)


def _gap(ends: tuple[Row, Row], values: pd.DataFrame) -> Array:
    """Return how far the baseline is from no privacy, by trial."""
    baseline, free = (values[row].to_numpy() for row in ends)
    return np.abs(baseline - free)


def _evidence(
    one: Comparison,
    first: Array,
    second: Array,
    *,
    paired: bool,
    larger: bool,
    gap: Array | float = 0.0,
) -> Evidence:
    pair = Pair(*((first, second) if larger else (second, first)), paired)
    beyond, unit = surplus(one, pair, gap), 1.0
    margin = 0 - one.amount / 100 * float(np.mean(gap))
    if one.kind == "times":
        effect, low, high = pair.ratio()
        unit = float(pair.second.mean())
    else:
        found = pair.difference()
        effect, (low, high) = found.value, found.interval()
    return Evidence(
        one,
        *(float(first.mean()), float(second.mean())),
        *(effect, low, high, one.margin if one.kind != "share" else margin),
        p_for=beyond.above(),
        p_against=beyond.below(),
        paired=paired,
        n_trials=min(len(first), len(second)),
        surplus=beyond,
        unit=unit,
    )
