"""Verdicts and kinds of claims, and counts of what stands in ``claims.csv``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

#: Verdicts; a narrower case is one that a condition names.
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
NARROWER, UNDECIDED = "narrower", "undecided"
UNTESTABLE = "untestable here"

#: What a verdict is called where its own word is another one; a condition follows it.
_WORDS = {NARROWER: "reproduced only under"}

#: Kinds of claims that are counted by themselves.
THEOREM, EXPERIMENT = "theorem", "experiment"
#: All kinds: what the paper calls the claim. An experiment is a claim on results.
KINDS = (
    *(THEOREM, "lemma", "example", "step of a proof", "equation", "remark", "setting"),
    EXPERIMENT,
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


def controlled(claims: pd.DataFrame) -> dict[str, int]:
    """Return how many claims come out alike without data, and in direction alone.

    A claim holds in direction alone where a baseline that uses no record is better than what the
    claim says is good.
    """
    beaten = claims["beaten_by"].astype(object).fillna("").ne("")
    return {
        "alike": int(claims["alike"].astype(str).eq("True").sum()),
        "direction": int((beaten & claims["verdict"].eq(REPRODUCED)).sum()),
    }


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return one claim per deciding fact, without claims that are the same as another one."""
    return claims[~claims["same_as"].isin(claims["id"])]


def word(verdict: str) -> str:
    """Return what a verdict is called, without the condition of a narrower case."""
    return _WORDS.get(verdict, verdict)


def text(claim: Mapping[str, Any]) -> str:
    """Return the verdict on a claim in words, with the condition of a narrower case."""
    # An empty cell of a file is NaN.
    condition = claim.get("condition")
    words = [word(claim["verdict"]), condition if isinstance(condition, str) else ""]
    return " ".join(filter(None, words))
