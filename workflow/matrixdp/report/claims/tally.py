"""How many claims are reproduced: the one sentence that says so, wherever it is said."""

from __future__ import annotations

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.claims.judge import EXPERIMENT, ONLY_UNDER, REPRODUCED


def tally(claims: pd.DataFrame) -> str:
    """Return by paper how many claims are reproduced, claims on experiments apart from the others.

    What is reproduced only under a reading does not count. ``claims`` are rows of ``claims.csv``,
    at least one.
    """
    parts = []
    for paper, rows in claims.groupby("paper", sort=False):
        tried = rows["kind"].eq(EXPERIMENT)
        counts = [
            catalogue.caption(name, met=own["verdict"].eq(REPRODUCED).sum(), total=len(own))
            for name, own in (("claims_proved", rows[~tried]), ("claims_tried", rows[tried]))
            if len(own)
        ]
        parts.append(f"{paper}: {', '.join(counts)}")
    return "; ".join(parts)


def explained(claims: pd.DataFrame) -> str:
    """Return what the verdicts mean that are there, one sentence."""
    found = {word(verdict) for verdict in claims["verdict"]}
    words = catalogue.section("verdicts")
    return "; ".join(f"{one}: {words[one]}" for one in words if one in found)


def word(verdict: str) -> str:
    """Return a verdict without what it holds under."""
    return ONLY_UNDER if verdict.startswith(ONLY_UNDER) else verdict
