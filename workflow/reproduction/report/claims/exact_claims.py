"""Verdicts on exact claims, from the numbers of results/theory/exact.csv."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from reproduction.report.claims.definitions import Claim
from reproduction.report.claims.findings import NARROWER, NOT_REPRODUCED, REPRODUCED
from reproduction.report.claims.trials import NotRun
from reproduction.report.inputs import Files
from reproduction.report.markup import short


def finding(claim: Claim, files: Files) -> dict[str, Any]:
    """Return the verdict on an exact claim. NotRun: the claim has no test, or no numbers."""
    if claim.test_type == "not_run":
        raise NotRun(" ".join(claim.test["not_run"].split()))
    rows = numbers(claim.test["exact"], files)
    # The first failing number, or else the first one.
    number, condition = rows.sort_values("holds", kind="stable").iloc[0], ""
    reason = f"{number['statistic']}: {short(number['value'], 4)}"
    if number["holds"]:
        verdict = REPRODUCED
        reason = reason if len(rows) == 1 else f"all {len(rows)} numbers hold; {reason}"
    else:
        reason += f", should be {number['relation']} {short(number['expected'], 4)}"
        verdict, otherwise = NOT_REPRODUCED, claim.test.get("otherwise")
        if otherwise and numbers(otherwise["exact"], files)["holds"].all():
            verdict, condition = NARROWER, otherwise["reading"]
    return {
        "verdict": verdict,
        "condition": condition,
        "reason": reason,
        "statistic": number["statistic"],
        "effect": number["value"],
        "test": "numeric",
        "evidence": f"{len(rows)} number{'s' * (len(rows) > 1)}",
    }


def argument(claim: Claim, files: Files) -> str:
    """Return the argument that decides a claim without trials; empty for none."""
    checks = claim.test.get("argument", ())
    try:
        rows = numbers(checks, files) if checks else None
    except NotRun:
        rows = None
    if rows is None or not rows["holds"].all():
        return ""
    number = rows.iloc[0]
    return f"by construction, {number['statistic']}: {short(number['value'], 2)}"


def numbers(checks: Sequence[str], files: Files) -> pd.DataFrame:
    """Return the numbers of checks. NotRun: a check has none."""
    if "theory/exact" not in files:
        raise NotRun("theory/exact.csv is missing")
    rows = pd.read_csv(files["theory/exact"])
    if {*checks} - {*rows["check"]}:
        raise NotRun("a check is missing in theory/exact.csv")
    return rows[rows["check"].isin(checks)]
