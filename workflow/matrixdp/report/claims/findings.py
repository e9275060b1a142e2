"""Summaries of a paper's claims and experiments: counts of verdicts, and of published values met.

The verdicts come from ``claims.csv`` and the tables of results.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import summary
from matrixdp.report.claims.verdicts import (
    EXPERIMENT,
    IDENTITY,
    NOT_REPRODUCED,
    ONLY_UNDER,
    REPRODUCED,
    THEOREM,
)
from matrixdp.report.statistics import WITHIN

#: Tones of a sentence towards the paper.
AGREES, CONTRADICTS, NOTE = "agrees", "contradicts", "note"
TONES = {REPRODUCED: AGREES, NOT_REPRODUCED: CONTRADICTS}

#: Names of the kinds of claims in sentences, and the verdicts that these count.
KINDS = {THEOREM: "theorems", IDENTITY: "identities", EXPERIMENT: "claims on experiments"}
VERDICTS = {"hold": REPRODUCED, "narrow": ONLY_UNDER, "fail": NOT_REPRODUCED}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """A sentence; ``tone`` says whether it agrees with the paper, contradicts it, or neither."""

    tone: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """Verdicts on claims: a short summary, and sentences with their evidence."""

    headline: str
    findings: Sequence[Finding] = ()


def outcome(
    experiments: Collection[str],
    table: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
) -> Outcome:
    """Return the outcome of experiments; on simulated data nothing is compared.

    Args:
        experiments: names of the experiments; ``*`` counts all claims, and lists none.
        table: written table of results that the paper prints, or None.
        claims: rows of ``claims.csv``, or None.
    """
    sentences: list[str] = []
    if table is not None:
        rows = table[table["published"].notna() & table["published"].ne("")]
        ran = rows[rows["mean"].notna()]
        if table["data_status"].eq(summary.SIMULATED).any():
            return Outcome("Run on simulated data: nothing is compared with the paper.")
        if ran.empty:
            return Outcome("Not run.")
        if ran["mechanism"].isin(catalogue.REFERENCES).all():
            return Outcome("No private row was run.")
        if ran["ci95"].isna().any():
            return Outcome("One trial per cell: there are no intervals, and so no verdicts.")
        met = rows["verdict"].eq(WITHIN).sum()
        sentences = [f"{met} of {len(rows)} published values are met."]
    if claims is None or not experiments:
        return Outcome(" ".join(sentences))
    if "*" in experiments:
        return Outcome(f"{tally(claims)}.")
    name_lists = claims.reindex(columns=["experiments"])["experiments"]
    relevant = claims[[not {*experiments}.isdisjoint(str(names).split()) for names in name_lists]]
    counted = [f"{tally(relevant)}."] if len(relevant) else []
    return Outcome(
        " ".join(counted + sentences), [_judged(claim) for claim in relevant.to_dict("records")]
    )


def _judged(claim: Row) -> Finding:
    text = f"{claim['id']}, {claim['verdict']}: {claim['claim']} Here: {claim['reason']}"
    return Finding(TONES.get(claim["verdict"], NOTE), text.rstrip(".") + ".")


def tally(claims: pd.DataFrame) -> str:
    """Return the verdicts on each paper's claims, counted by kind of claim.

    ``claims`` are rows of ``claims.csv``, at least one.
    """
    return "; ".join(
        f"{paper}: {', '.join(count(rows, kind) for kind in KINDS if count(rows, kind))}"
        for paper, rows in claims.groupby("paper", sort=False)
    )


def count(claims: pd.DataFrame, kind: str) -> str:
    """Return a phrase on how many claims of a kind hold, hold under another reading, and fail.

    Claims that the same fact decides count once. The phrase is empty without claims.
    """
    distinct = facts(claims[claims["kind"].eq(kind)])
    if distinct.empty:
        return ""
    verdicts = distinct["verdict"].map(word)
    counts = {name: int(verdicts.eq(verdict).sum()) for name, verdict in VERDICTS.items()}
    parts = [f"{counts['hold']} of {len(distinct)} {KINDS[kind]} hold as stated"]
    parts += [f"{counts['narrow']} under a narrower reading"] * (counts["narrow"] > 0)
    parts += [f"{counts['fail']} fail{'s' * (counts['fail'] == 1)}"] * (counts["fail"] > 0)
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return one claim per deciding fact, without claims that are the same as another one."""
    return claims[~claims["same_as"].isin(claims["id"])] if "same_as" in claims else claims


def explained(claims: pd.DataFrame) -> str:
    """Return one sentence that explains the verdicts of these claims."""
    verdicts = {word(verdict) for verdict in claims["verdict"]}
    words = catalogue.section("verdicts")
    return "; ".join(f"{verdict}: {words[verdict]}" for verdict in words if verdict in verdicts)


def word(verdict: str) -> str:
    """Return a verdict without the reading that follows it."""
    return ONLY_UNDER if verdict.startswith(ONLY_UNDER) else verdict
