"""What claims and experiments of a paper came to: verdicts in numbers, and which values are met.

Nothing is judged here. The verdicts are those of ``claims.csv``, and how a value lies to the
printed one stands in the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import summary
from matrixdp.report.claims.judge import (
    EXPERIMENT,
    IDENTITY,
    NOT_REPRODUCED,
    ONLY_UNDER,
    REPRODUCED,
    THEOREM,
)
from matrixdp.report.statistics import WITHIN

#: How a sentence stands to the paper.
AGREES, CONTRADICTS, NOTE = "agrees", "contradicts", "note"
TONES = {REPRODUCED: AGREES, NOT_REPRODUCED: CONTRADICTS}

#: Kinds of claims, and verdicts, as sentences count them.
KINDS = {THEOREM: "theorems", IDENTITY: "identities", EXPERIMENT: "claims on experiments"}
VERDICTS = {"hold": REPRODUCED, "narrow": ONLY_UNDER, "fail": NOT_REPRODUCED}

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Finding:
    """One sentence, and whether it agrees with the paper, contradicts it, or is beside it."""

    tone: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of claims: the shortest true summary, and sentences with their evidence."""

    headline: str
    findings: Sequence[Finding] = ()


def outcome(
    experiments: Collection[str],
    table: pd.DataFrame | None = None,
    claims: pd.DataFrame | None = None,
) -> Outcome:
    """Return what became of experiments; on simulated data nothing is compared.

    Of the claims on ``experiments`` in ``claims.csv`` (``*`` counts all claims, and lists none),
    and of the table of results that the paper prints, as it was written; None for none.
    """
    said: list[str] = []
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
        said = [f"{met} of {len(rows)} published values are met."]
    if claims is None or not experiments:
        return Outcome(" ".join(said))
    if "*" in experiments:
        return Outcome(f"{tally(claims)}.")
    named = claims.reindex(columns=["experiments"])["experiments"]
    own = claims[[not {*experiments}.isdisjoint(str(names).split()) for names in named]]
    counted = [f"{tally(own)}."] if len(own) else []
    return Outcome(" ".join(counted + said), [_judged(one) for one in own.to_dict("records")])


def _judged(claim: Row) -> Finding:
    text = f"{claim['id']}, {claim['verdict']}: {claim['claim']} Here: {claim['reason']}"
    return Finding(TONES.get(claim["verdict"], NOTE), text.rstrip(".") + ".")


def tally(claims: pd.DataFrame) -> str:
    """Return by paper how its claims came out; theorems, identities and experiments apart.

    ``claims`` are rows of ``claims.csv``, at least one.
    """
    return "; ".join(
        f"{paper}: {', '.join(count(rows, kind) for kind in KINDS if count(rows, kind))}"
        for paper, rows in claims.groupby("paper", sort=False)
    )


def count(claims: pd.DataFrame, kind: str) -> str:
    """Return how many claims of a kind hold as stated, under another reading, and fail.

    Claims that the same fact decides count once. Empty without such claims.
    """
    own = facts(claims[claims["kind"].eq(kind)])
    if own.empty:
        return ""
    verdicts = own["verdict"].map(word)
    counts = {name: int(verdicts.eq(verdict).sum()) for name, verdict in VERDICTS.items()}
    parts = [f"{counts['hold']} of {len(own)} {KINDS[kind]} hold as stated"]
    parts += [f"{counts['narrow']} under a narrower reading"] * (counts["narrow"] > 0)
    parts += [f"{counts['fail']} fail{'s' * (counts['fail'] == 1)}"] * (counts["fail"] > 0)
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return claims without those that the same fact decides as another one of them."""
    return claims[~claims["same_as"].isin(claims["id"])] if "same_as" in claims else claims


def explained(claims: pd.DataFrame) -> str:
    """Return what the verdicts mean that are there, one sentence."""
    found = {word(verdict) for verdict in claims["verdict"]}
    words = catalogue.section("verdicts")
    return "; ".join(f"{one}: {words[one]}" for one in words if one in found)


def word(verdict: str) -> str:
    """Return a verdict without what it holds under."""
    return ONLY_UNDER if verdict.startswith(ONLY_UNDER) else verdict
