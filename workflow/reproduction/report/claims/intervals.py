"""The intervals that a paper prints, which may not separate the rows that a claim orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reproduction.report.claims.definitions import Claim, Comparison, Row
from reproduction.report.claims.trials import NotRun, Trials
from reproduction.report.statistics import covers

#: Columns of a printed value and of half its interval.
VALUES = ("value", "interval")


def separable(claim: Claim, trials: Trials) -> Sequence[Comparison]:
    """Return the comparisons of a claim that are judged.

    If the claim is read off the paper's numbers, the paper's intervals must separate the rows.
    NotRun: they separate none.
    """
    if not claim.test.get("read_off"):
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
            (a, b), margins = ([float(cell[name]) for cell in cells] for name in VALUES)
            if covers(a - b, *margins):
                close.append(comparison)
    return close


def remark(claim: Claim, trials: Trials, name: Callable[[Row], str]) -> str:
    """Return a clause on rows whose difference may be 0 by the paper's intervals; may be empty.

    ``name`` returns the name of a row for readers.
    """
    close = " or ".join(
        " and ".join(name(row) for row in (comparison.first, comparison.second))
        for comparison in inseparable(claim.comparisons, trials)
    )
    omitted = ", and are left out" if claim.test.get("read_off") else ""
    return (
        f"; by the paper's own intervals the difference of {close} may be 0{omitted}"
        if close
        else ""
    )
