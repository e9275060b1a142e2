"""Summaries of a paper's claims and experiments: counts of verdicts, and of published values met.

The verdicts come from ``claims.csv`` and the tables of results.
"""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from reproduction.report import summary
from reproduction.report.claims.verdicts import (
    EXPERIMENT,
    IDENTITY,
    NOT_REPRODUCED,
    ONLY_UNDER,
    REPRODUCED,
    THEOREM,
)
from reproduction.report.statistics import WITHIN

#: Kinds of claims, and verdicts, as sentences count them.
CLAIM_TYPES = {THEOREM: "theorems", IDENTITY: "identities", EXPERIMENT: "claims on experiments"}
VERDICTS = {"hold": REPRODUCED, "narrow": ONLY_UNDER, "fail": NOT_REPRODUCED}


def relevant(claims: pd.DataFrame, experiments: Collection[str]) -> pd.DataFrame:
    """Return the rows of ``claims.csv`` on some experiments."""
    if claims.empty:
        return claims
    names = claims["experiments"].fillna("").str.split()
    return claims[[not {*experiments}.isdisjoint(some) for some in names]]


def headline(table: pd.DataFrame) -> str:
    """Return what became of the values that a paper prints.

    ``table`` is the written table of results that the paper prints too, empty for none.
    """
    if table.empty:
        return ""
    if table["data_status"].eq(summary.SIMULATED).any():
        return "Run on simulated data: nothing is compared with the paper."
    compared = table.loc[table["against_paper"].astype(object).fillna("").ne(""), "against_paper"]
    if compared.empty:
        return "Nothing is compared with the paper."
    return f"{compared.eq(WITHIN).sum()} of {len(compared)} published values are met."


def tally(claims: pd.DataFrame) -> str:
    """Return the verdicts on each paper's claims, counted by type of claim.

    ``claims`` are rows of ``claims.csv``, at least one.
    """
    return "; ".join(
        f"{paper}: {', '.join(filter(None, (count(rows, name) for name in CLAIM_TYPES)))}"
        for paper, rows in claims.groupby("paper", sort=False)
    )


def count(claims: pd.DataFrame, claim_type: str) -> str:
    """Return a phrase on how many claims of a type hold, hold under another reading, and fail.

    Claims that the same fact decides count once. The phrase is empty without claims.
    """
    distinct = facts(claims[claims["claim_type"].eq(claim_type)])
    if distinct.empty:
        return ""
    verdicts = distinct["verdict"].map(word)
    counts = {name: int(verdicts.eq(verdict).sum()) for name, verdict in VERDICTS.items()}
    parts = [f"{counts['hold']} of {len(distinct)} {CLAIM_TYPES[claim_type]} hold as stated"]
    parts += [f"{counts['narrow']} under a narrower reading"] * (counts["narrow"] > 0)
    parts += [f"{counts['fail']} fail{'s' * (counts['fail'] == 1)}"] * (counts["fail"] > 0)
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return one claim per deciding fact, without claims that are the same as another one."""
    return claims[~claims["same_as"].isin(claims["id"])] if "same_as" in claims else claims


def word(verdict: str) -> str:
    """Return a verdict without the reading that follows it."""
    return ONLY_UNDER if verdict.startswith(ONLY_UNDER) else verdict
