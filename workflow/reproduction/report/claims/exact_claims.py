"""Verdicts on exact claims, from the numbers of results/theory/exact.csv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from reproduction.report.claims.definitions import Claim
from reproduction.report.claims.trials import NotRun
from reproduction.report.findings import NARROWER, NOT_REPRODUCED, REPRODUCED
from reproduction.report.inputs import Files
from reproduction.report.markup import short

#: What a relation of a number to the expected one asks for, in words.
BOUNDS = {"<=": "at most ", ">=": "at least ", "=": ""}


def finding(claim: Claim, files: Files) -> dict[str, Any]:
    """Return the verdict on an exact claim. NotRun: the claim has no test, or no numbers."""
    if claim.test.not_run:
        raise NotRun(claim.test.not_run)
    rows = numbers(claim.test.exact, files)
    # The first failing number, or else the first one.
    number, condition = rows.sort_values("holds", kind="stable").iloc[0], ""
    reason = f"{number['statistic']}: {short(number['value'], 4)}"
    if number["holds"]:
        verdict, others = REPRODUCED, len(rows) - 1
        if others:
            rest = "other number holds" if others == 1 else f"other {others} numbers hold"
            reason += f"; the {rest} too"
    else:
        needed = f"{BOUNDS[number['relation']]}{short(number['expected'], 4)}"
        reason += f", where the claim needs {needed}"
        verdict, other = NOT_REPRODUCED, claim.test.otherwise
        if other and numbers(other.exact, files)["holds"].all():
            verdict, condition = NARROWER, other.reading
    return {
        "verdict": verdict,
        "condition": condition,
        "reasons": [reason],
        "statistic": number["statistic"],
        "effect": number["value"],
        "test": "numeric",
        "evidence": f"{len(rows)} number{'s' * (len(rows) > 1)}",
    }


def argument(claim: Claim, files: Files) -> str:
    """Return the argument that decides a claim without trials; empty for none."""
    try:
        rows = numbers(claim.test.argument, files) if claim.test.argument else None
    except NotRun:
        rows = None
    if rows is None or not rows["holds"].all():
        return ""
    number = rows.iloc[0]
    return f"without trials, {number['statistic']}: {short(number['value'], 2)}"


def numbers(checks: Sequence[str], files: Files) -> pd.DataFrame:
    """Return the numbers of checks. NotRun: a check has none."""
    if "theory/exact" not in files:
        raise NotRun("theory/exact.csv is missing")
    rows = pd.read_csv(files["theory/exact"])
    if {*checks} - {*rows["check"]}:
        raise NotRun("a check is missing in theory/exact.csv")
    return rows[rows["check"].isin(checks)]
