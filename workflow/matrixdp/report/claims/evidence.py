"""What trials say about a claim: differences between rows, with intervals and p-values.

A comparison becomes one number that is larger the better it holds: for ``A beats B`` the metric of
B minus that of A (the other way round for an accuracy), for ``A beats B 1.5 times`` the metric of B
over that of A; the test of such a claim is that of a difference, B - 1.5 A.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from matrixdp.report.claims import ledger
from matrixdp.report.claims.ledger import Claim, Comparison, Row
from matrixdp.report.claims.trialbook import NotRun, Trialbook
from matrixdp.report.statistics import Pair


class Evidence(NamedTuple):
    """One comparison on trials.

    Attributes:
        mean_better, mean_worse: means of the two rows.
        effect, effect_low, effect_high: the number of the comparison, and its 95 % interval.
        p_for: p-value for the comparison: that the number is clearly large enough to call the first
            row better (or within the amount).
        p_against: p-value against it: that the number is clearly smaller than the claim says.
        paired: whether the rows share their trials.
        n_trials: how many.
    """

    comparison: Comparison
    mean_better: float
    mean_worse: float
    effect: float
    effect_low: float
    effect_high: float
    p_for: float
    p_against: float
    paired: bool
    n_trials: int


def gather(
    claim: Claim, book: Trialbook, epsilon: str, comparisons: Sequence[Comparison]
) -> list[Evidence]:
    """Return the evidence of comparisons, as a claim needs it.

    Args:
        claim: of the kind ``compare``.
        book: where trials are looked up.
        epsilon: canonical token of the tables' epsilon.
        comparisons: those of the claim, or others put in their place.

    Raises:
        NotRun: trials are missing; the text says which.
        InputError: a file is damaged.
    """
    rows = ledger.rows(comparisons)
    epsilons = _epsilons(claim, rows, book, epsilon)
    # Trials of one experiment are those that all of its rows have.
    values = {
        name: pd.concat(
            {
                row: book.values(row, epsilons, claim.metrics)
                for row in rows
                if row.experiment == name
            },
            axis=1,
            join="inner",
        )
        for name in dict.fromkeys(row.experiment for row in rows)
    }
    if min(map(len, values.values())) < 2:
        raise NotRun("there are fewer than two trials, and so no interval")
    return [
        _evidence(one, values[one.first.experiment], values[one.second.experiment], claim)
        for one in comparisons
    ]


def _epsilons(claim: Claim, rows: Sequence[Row], book: Trialbook, epsilon: str) -> list[str]:
    """Return the epsilons of a claim: that of the tables, or all that its rows share."""
    if claim.test.get("epsilons", "table") == "table":
        return [epsilon]
    grids = [grid for grid in map(book.epsilons, rows) if grid != [""]]
    shared = [token for token in grids[0] if all(token in grid for grid in grids)]
    if not shared:
        raise NotRun("its rows share no epsilon")
    return shared


def _evidence(
    one: Comparison, firsts: pd.DataFrame, seconds: pd.DataFrame, claim: Claim
) -> Evidence:
    first, second = firsts[one.first], seconds[one.second]
    paired = one.first.experiment == one.second.experiment
    larger, smaller = (first, second) if claim.larger else (second, first)
    pair = Pair(larger.to_numpy(), smaller.to_numpy(), paired)
    if one.kind == "times":
        better, enough = pair.difference(), pair.difference(one.amount)
        effect, low, high = pair.ratio()
        p_for, p_against = better.above(), enough.below()
    else:
        # What has to be exceeded to be better at all, and what the claim says.
        clear, claimed = {
            "beats": (0.0, 0.0),
            "by": (0.0, one.amount),
            "within": (-one.amount, -one.amount),
        }[one.kind]
        found = pair.difference()
        effect, (low, high) = found.value, found.interval()
        p_for, p_against = found.above(clear), found.below(claimed)
    means = first.mean(), second.mean()
    return Evidence(one, *means, effect, low, high, p_for, p_against, paired, len(first))
