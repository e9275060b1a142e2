"""Summaries of a paper's claims: their groups, and counts of what stands in ``claims.csv``."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from reproduction.report.claims.verdicts import (
    EXPERIMENT,
    ONLY_UNDER,
    REPRODUCED,
    THEOREM,
)

#: Groups of claims, as the ledger counts them.
OTHER = "other"
GROUPS = {THEOREM: "theorems", OTHER: "other statements", EXPERIMENT: "claims on experiments"}


def relevant(claims: pd.DataFrame, experiments: Collection[str]) -> pd.DataFrame:
    """Return the rows of ``claims.csv`` on some experiments."""
    if claims.empty:
        return claims
    names = claims["experiments"].fillna("").str.split()
    return claims[[not {*experiments}.isdisjoint(some) for some in names]]


def group(kinds: pd.Series) -> pd.Series:
    """Return the group of each kind of claim: theorems, experiments, or all else."""
    return kinds.where(kinds.isin(GROUPS), OTHER)


def controlled(claims: pd.DataFrame, name: str) -> dict[str, int]:
    """Return how many claims of a group come out alike without data, and in direction alone.

    A claim holds in direction alone where a baseline that uses no record is better than what the
    claim says is good. Claims that the same fact decides count once.
    """
    rows = _of_group(claims, name)
    beaten = rows["beaten_by"].astype(object).fillna("").ne("") & rows["verdict"].eq(REPRODUCED)
    return {
        "alike": int(rows["alike"].astype(str).eq("True").sum()),
        "direction": int(beaten.sum()),
    }


def _of_group(claims: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a group's claims, without those that a claim of any group decides."""
    rows = facts(claims)
    return rows[group(rows["claim_type"]).eq(name)]


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return one claim per deciding fact, without claims that are the same as another one."""
    return claims[~claims["same_as"].isin(claims["id"])] if "same_as" in claims else claims


def word(verdict: str) -> str:
    """Return a verdict without the reading that follows it."""
    return ONLY_UNDER if verdict.startswith(ONLY_UNDER) else verdict
