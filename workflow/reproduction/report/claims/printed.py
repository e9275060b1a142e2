"""What the paper's own printed values say of the rows that a claim compares."""

from __future__ import annotations

from collections.abc import Sequence

from reproduction import catalogue
from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.statistics import covers


def disjoint_in_print(claim: Claim, trials: Trials) -> Sequence[Comparison]:
    """Return the comparisons of a claim that are judged.

    If the claim is read off the paper's numbers, the paper's intervals must separate the rows.
    NotRun: they separate none.
    """
    if not claim.test.read_off:
        return claim.comparisons
    close = close_in_print(claim.comparisons, trials)
    comparisons = [comparison for comparison in claim.comparisons if comparison not in close]
    if not comparisons:
        raise NotRun("by the paper's own intervals each difference may be 0")
    return comparisons


def close_in_print(comparisons: Sequence[Comparison], trials: Trials) -> list[Comparison]:
    """Return the comparisons whose rows the paper's printed intervals do not separate."""
    close = []
    for comparison in comparisons:
        cells = trials.printed(comparison)
        if cells and all(cell["interval"] for cell in cells):
            (a, b), widths = (
                [float(cell[name]) for cell in cells] for name in ("value", "interval")
            )
            if covers(a - b, *widths):
                close.append(comparison)
    return close


def ratio(comparison: Comparison, trials: Trials) -> float | None:
    """Return the printed ratio of the worse row to the better one; None without one, or amounts."""
    cells = trials.printed(comparison)
    if not cells or comparison.relation != "beats":
        return None
    first, second = (float(cell["value"]) for cell in cells)
    return second / first


def passes(claim: Claim, trials: Trials) -> bool | None:
    """Return whether the paper's own printed values pass the test of a claim; None without them.

    Amounts are rounded as the claim prints them. Values and amounts have one unit, so that the
    answer is the same in any.
    """
    outcomes = [_passes(comparison, claim.larger, trials) for comparison in claim.comparisons]
    if claim.every:
        # One that fails is enough; one that is not printed asks nothing.
        return False if False in outcomes else True if True in outcomes else None
    return True if True in outcomes else None if None in outcomes else False


def _passes(comparison: Comparison, larger: bool, trials: Trials) -> bool | None:
    first, second = (_value(row, trials) for row in (comparison.first, comparison.second))
    if first is None or second is None:
        return None
    above, below = (first, second) if larger else (second, first)
    lead, amount, tolerance = above - below, comparison.amount, comparison.rounding
    if comparison.relation == "times":
        return above >= (amount - tolerance) * below
    if comparison.relation == "within":
        return lead >= -amount - tolerance
    if comparison.relation == "by":
        return lead >= amount - tolerance
    if comparison.relation == "beats":
        return lead > 0
    experiment = comparison.first.experiment
    ends = [_value(Row(experiment, name), trials) for name in catalogue.RECORD_FREE]
    best = [value for value in ends if value is not None]
    nonprivate = _value(Row(experiment, catalogue.NONPRIVATE), trials)
    if not best or nonprivate is None:
        return None
    gap = abs((max if larger else min)(best) - nonprivate)
    return lead >= -(amount + tolerance) / 100 * gap


def _value(row: Row, trials: Trials) -> float | None:
    """Return what the paper prints of a row, in the metric; None for nothing."""
    cell = trials.cell(row)
    return None if cell is None else float(cell["value"]) * float(cell["unit_factor"])
