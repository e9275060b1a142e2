"""What trials say about a claim: differences between rows, with intervals and p-values.

A comparison becomes one number that is larger the better it holds: for ``A beats B`` the metric of
B minus that of A (the other way round for an accuracy), for ``A beats B 1.5 times`` the metric of B
over that of A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from matrixdp.report.claims.ledger import Claim, Comparison, Row
from matrixdp.report.claims.resampling import draw_means, interval, one_sided
from matrixdp.report.claims.trialbook import NotRun, Trialbook


@dataclass(frozen=True)
class Evidence:
    """One comparison on trials.

    Attributes:
        first, second: means of the two rows.
        effect, low, high: the number of the comparison, and its 95 % interval.
        p_for: p-value for the comparison: that the number is clearly large enough to call the first
            row better (or within the amount).
        p_against: p-value against it: that the number is clearly smaller than the claim says.
        paired: whether the rows share their trials.
        trials: how many.
    """

    comparison: Comparison
    first: float
    second: float
    effect: float
    low: float
    high: float
    p_for: float
    p_against: float
    paired: bool
    trials: int


@dataclass(frozen=True)
class Combined:
    """The evidence of all comparisons of a claim together.

    Attributes:
        p_for, p_against: two-sided p-values for and against the claim.
        weakest: the comparison with the least evidence that is needed for the claim.
        strongest_against: the one with the most evidence against it.
    """

    p_for: float
    p_against: float
    weakest: Evidence
    strongest_against: Evidence

    @property
    def p(self) -> float:
        """Two-sided p-value of the claim, in whichever direction."""
        return min(self.p_for, self.p_against)


def gather(
    claim: Claim,
    book: Trialbook,
    stream: np.random.Generator,
    epsilon: str,
    comparisons: Sequence[Comparison] | None = None,
) -> list[Evidence]:
    """Return the evidence of a claim's comparisons, or of others put in their place.

    Args:
        claim: of the kind ``compare``.
        book: where trials are looked up.
        stream: for the draws of means.
        epsilon: canonical token of the tables' epsilon.
        comparisons: by default those of the claim.

    Raises:
        NotRun: trials are missing; the text says which.
        InputError: a file is damaged.
    """
    wanted = claim.comparisons if comparisons is None else comparisons
    rows = list(dict.fromkeys(row for one in wanted for row in (one.first, one.second)))
    epsilons = _epsilons(claim, rows, book, epsilon)
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
    groups = {name: {row: frame[row] for row in frame} for name, frame in values.items()}
    resampled = draw_means(groups, stream)
    means = {row: float(frame[row].mean()) for frame in values.values() for row in frame}
    return [
        _evidence(one, means, resampled, claim.larger, len(values[one.first.experiment]))
        for one in wanted
    ]


def combine(evidence: Sequence[Evidence], every: bool) -> Combined:
    """Return the evidence for a claim that needs all comparisons (``every``), or any of them.

    A claim that all of k comparisons hold is as sure as the least sure of them, and refuted if one
    is, with Bonferroni's correction for k; and the other way round for any.
    """
    count = len(evidence)
    p_for = [one.p_for for one in evidence]
    p_against = [one.p_against for one in evidence]
    if every:
        weakest, against = p_for.index(max(p_for)), p_against.index(min(p_against))
        both = p_for[weakest], count * p_against[against]
    else:
        weakest, against = p_for.index(min(p_for)), p_against.index(max(p_against))
        both = count * p_for[weakest], p_against[against]
    return Combined(
        p_for=min(1.0, 2 * both[0]),
        p_against=min(1.0, 2 * both[1]),
        weakest=evidence[weakest],
        strongest_against=evidence[against],
    )


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
    one: Comparison,
    means: Mapping[Row, float],
    resampled: Mapping[Row, Array],
    larger: bool,
    trials: int,
) -> Evidence:
    first, second = means[one.first], means[one.second]
    effect = float(_number(one, np.array(first), np.array(second), larger))
    spread = _number(one, resampled[one.first], resampled[one.second], larger)
    low, high = interval(spread)
    clear, claimed = {
        "beats": (0.0, 0.0),
        "by": (0.0, one.amount),
        "times": (1.0, one.amount),
        "within": (-one.amount, -one.amount),
    }[one.kind]
    return Evidence(
        comparison=one,
        first=first,
        second=second,
        effect=effect,
        low=low,
        high=high,
        p_for=one_sided(spread, clear),
        p_against=one_sided(-spread, -claimed),
        paired=one.first.experiment == one.second.experiment,
        trials=trials,
    )


def _number(one: Comparison, first: Array, second: Array, larger: bool) -> Array:
    if one.kind == "times":
        return first / second if larger else second / first
    return first - second if larger else second - first
