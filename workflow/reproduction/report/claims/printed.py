"""What the paper's own printed values say of the rows that a claim compares."""

from __future__ import annotations

from collections.abc import Sequence

from reproduction.report.claims.definitions import Claim, Comparison
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.statistics import covers


def separable(claim: Claim, trials: Trials) -> Sequence[Comparison]:
    """Return the comparisons of a claim that are judged.

    If the claim is read off the paper's numbers, the paper's intervals must separate the rows.
    NotRun: they separate none.
    """
    if not claim.test.read_off:
        return claim.comparisons
    close = inseparable(claim.comparisons, trials)
    comparisons = [comparison for comparison in claim.comparisons if comparison not in close]
    if not comparisons:
        raise NotRun("by the paper's own intervals each difference may be 0")
    return comparisons


def inseparable(comparisons: Sequence[Comparison], trials: Trials) -> list[Comparison]:
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
