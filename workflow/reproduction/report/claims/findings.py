"""Summaries of a paper's claims and experiments: counts of verdicts, and of published values met.

The verdicts come from ``claims.csv`` and the tables of results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pandas as pd

from reproduction import catalogue
from reproduction.report import summary
from reproduction.report.claims.verdicts import (
    EXPERIMENT,
    NOT_REPRODUCED,
    ONLY_UNDER,
    REPRODUCED,
    THEOREM,
    UNDECIDED,
    UNTESTABLE,
)
from reproduction.report.statistics import WITHIN

#: Groups of claims, and verdicts on one claim and on several, as sentences count them.
OTHER = "other"
GROUPS = {THEOREM: "theorems", OTHER: "other statements", EXPERIMENT: "claims on experiments"}
VERDICTS = {
    REPRODUCED: ("holds", "hold"),
    ONLY_UNDER: ("holds only in a narrower case", "hold only in a narrower case"),
    NOT_REPRODUCED: ("fails", "fail"),
    UNDECIDED: ("is open", "are open"),
    UNTESTABLE: ("cannot be tested here",) * 2,
}


def relevant(claims: pd.DataFrame, experiments: Collection[str]) -> pd.DataFrame:
    """Return the rows of ``claims.csv`` on some experiments."""
    if claims.empty:
        return claims
    names = claims["experiments"].fillna("").str.split()
    return claims[[not {*experiments}.isdisjoint(some) for some in names]]


def headline(table: pd.DataFrame) -> str:
    """Return what became of the private values that a paper prints.

    ``table`` is the written table of results that the paper prints too, empty for none.
    """
    if table.empty:
        return ""
    if table["data_status"].eq(summary.SIMULATED).any():
        return "Run on simulated data: nothing is compared with the paper."
    private = table[~table["mechanism"].isin(catalogue.BASELINES)]
    compared = private["against_paper"].astype(object).fillna("")
    compared = compared[compared.ne("")]
    if compared.empty:
        return "Nothing is compared with the paper."
    return f"{compared.eq(WITHIN).sum()} of {len(compared)} published private values are met."


def tally(claims: pd.DataFrame) -> str:
    """Return the verdicts on each paper's claims, counted by group.

    ``claims`` are rows of ``claims.csv``, at least one.
    """
    return "; ".join(
        f"{paper}: {', '.join(filter(None, (count(rows, name) for name in GROUPS)))}"
        for paper, rows in claims.groupby("paper", sort=False)
    )


def group(kinds: pd.Series) -> pd.Series:
    """Return the group of each kind of claim: theorems, experiments, or all else."""
    return kinds.where(kinds.isin(GROUPS), OTHER)


def count(claims: pd.DataFrame, name: str) -> str:
    """Return a phrase on how many claims of a group have which verdict; empty without claims."""
    counts = outcomes(claims, name)
    if not (total := sum(counts.values())):
        return ""
    hold = counts.pop(REPRODUCED, 0)
    first = f"{hold} of {total} {GROUPS[name]} {VERDICTS[REPRODUCED][hold != 1]}"
    return ", ".join([first, phrase(counts)] if counts else [first])


def outcomes(claims: pd.DataFrame, name: str) -> dict[str, int]:
    """Return how many claims of a group have each verdict, in the order of ``VERDICTS``.

    Claims that the same fact decides count once.
    """
    counts = _of_group(claims, name)["verdict"].map(word).value_counts()
    return {verdict: int(counts[verdict]) for verdict in VERDICTS if verdict in counts}


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


def phrase(counts: Mapping[str, int]) -> str:
    """Return counts of verdicts in words, such as ``3 fail, 1 holds and 1 is open``."""
    parts = [f"{n} {VERDICTS[verdict][n != 1]}" for verdict, n in counts.items()]
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return one claim per deciding fact, without claims that are the same as another one."""
    return claims[~claims["same_as"].isin(claims["id"])] if "same_as" in claims else claims


def word(verdict: str) -> str:
    """Return a verdict without the reading that follows it."""
    return ONLY_UNDER if verdict.startswith(ONLY_UNDER) else verdict
