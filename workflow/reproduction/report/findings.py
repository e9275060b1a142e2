"""Verdicts and kinds of claims: their words, the sentences of a claim's columns, and counts."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report import summary
from reproduction.report.markup import short

#: Verdicts; a narrower case is one that a condition names.
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
NARROWER, DEPENDS = "narrower", "depends"
UNDECIDED, UNTESTABLE = "undecided", "untestable here"
VERDICTS = (REPRODUCED, NARROWER, DEPENDS, NOT_REPRODUCED, UNDECIDED, UNTESTABLE)

#: Conditions of what depends on something.
EPSILON, UNIT = "epsilon", "the unit"

#: What a verdict is called where its own word is another one; a condition follows it.
_WORDS = {NARROWER: "reproduced only under", DEPENDS: "depends on"}

#: Why a claim fails, in words.
RIVAL, LESS, SAME, EXACT = "rival", "less", "same", "exact"
CAUSES = {
    RIVAL: "a row that should lose is better",
    LESS: "the gain is smaller than claimed",
    SAME: "both sides draw the same noise",
    EXACT: "a number that has to hold does not",
}

#: Kinds of claims that are counted by themselves; what is left is counted together.
THEOREM, EXPERIMENT, OTHER = "theorem", "experiment", "other"
#: Groups of claims, as the ledger counts them.
GROUPS = {THEOREM: "theorems", OTHER: "other statements", EXPERIMENT: "claims on experiments"}

#: Columns of the ledger. A claim says that ``effect`` exceeds ``margin``; ``power`` is the smallest
#: distance from the margin that the trials detect (see
#: :mod:`reproduction.report.claims.evidence`). ``effect_zeros`` to ``unit_met_by`` are controls
#: (:class:`reproduction.report.claims.controls.Control`). ``printed_values`` says whether what the
#: paper prints passes the test.
COLUMNS = (
    *("id", "paper", "place", "claim", "claim_type", "statistic", "test", "verdict", "condition"),
    *("epsilons", "relation", "effect", "effect_low", "effect_high", "margin", "power", "evidence"),
    *("p", "p_corrected", "effect_zeros", "alike", "met_by", "beaten_by", "even_with"),
    *("unit_verdict", "unit_amounts", "unit_met_by", "printed_values"),
    *("readings_holding", "readings_total", "readings_trials"),
    *("reasons", "note", "shown_by", "data_status", "experiments", "same_as"),
)
#: Those that are numbers, and whole ones; all others are text.
COUNTS = ("readings_holding", "readings_total", "readings_trials")
NUMBERS = (
    *("effect", "effect_low", "effect_high", "margin", "power", "p", "p_corrected", "effect_zeros"),
    *COUNTS,
)


def frame(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Return claims as a frame (``COLUMNS``): text is empty where a row has none, a number NaN."""
    table = pd.DataFrame(rows, columns=[*COLUMNS])
    text = table.columns.difference(NUMBERS)
    table = table.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))
    return table.astype(dict.fromkeys(COUNTS, "Int64"))


def read_ledger(path: str | os.PathLike) -> pd.DataFrame:
    """Return ``claims.csv``, as :func:`frame` has it.

    Raises:
        InputError: the file is no ledger.
    """
    types = {name: float if name in NUMBERS else str for name in COLUMNS}
    table = summary.read_csv(path, types, "claims")[[*COLUMNS]]
    return table.astype(dict.fromkeys(COUNTS, "Int64"))


def select_claims(claims: pd.DataFrame, experiments: Collection[str]) -> pd.DataFrame:
    """Return the rows of ``claims.csv`` on some experiments."""
    if claims.empty:
        return claims
    names = claims["experiments"].str.split()
    return claims[[not {*experiments}.isdisjoint(some) for some in names]]


def group(kinds: pd.Series) -> pd.Series:
    """Return the group of each kind of claim: theorems, experiments, or all else."""
    return kinds.where(kinds.isin(GROUPS), OTHER)


def count_controls(claims: pd.DataFrame) -> dict[str, int]:
    """Return how many claims come out alike without data, and in direction alone.

    A claim holds in direction alone where a baseline that uses no record is better than what the
    claim says is good.
    """
    beaten = claims["beaten_by"].ne("")
    return {
        "alike": int(claims["alike"].eq("True").sum()),
        "direction": int((beaten & claims["verdict"].eq(REPRODUCED)).sum()),
    }


def place(claim: Mapping[str, Any]) -> list[str]:
    """Return where a claim stands, and what it is if its place does not say so."""
    says = claim["claim_type"] in claim["place"].lower() or claim["claim_type"] == EXPERIMENT
    return [claim["place"], *([] if says else [claim["claim_type"]])]


def cause(claim: Mapping[str, Any]) -> str:
    """Return why a claim fails, one of ``CAUSES``; empty for a claim that does not."""
    if claim["verdict"] != NOT_REPRODUCED:
        return ""
    if claim["test"] == "identity":
        return SAME
    if pd.isna(claim["effect_high"]):
        return EXACT
    even = 1.0 if claim["relation"] == "times" else 0.0
    return RIVAL if claim["effect_high"] < even else LESS


def count_causes(claims: pd.DataFrame) -> dict[str, int]:
    """Return how many claims fail for each of ``CAUSES``."""
    causes = [cause(claim) for claim in claims.to_dict("records")]
    return {name: causes.count(name) for name in CAUSES}


def shared_comparisons(claims: pd.DataFrame) -> list[list[str]]:
    """Return the identifiers of failing claims that one comparison of rows decides, in groups.

    One asks for an order, say, and another for an amount: where the order fails, so does that.
    """
    failing = claims[claims["verdict"].eq(NOT_REPRODUCED) & claims["effect"].notna()]
    deciding = ["statistic", "epsilons", "effect"]
    groups = [[*part["id"]] for _, part in failing.groupby(deciding, sort=False)]
    return [group for group in groups if len(group) > 1]


def facts(claims: pd.DataFrame) -> pd.DataFrame:
    """Return one claim per deciding fact, without claims that are the same as another one."""
    return claims[~claims["same_as"].isin(claims["id"])]


def word(verdict: str) -> str:
    """Return what a verdict is called, without its condition."""
    return _WORDS.get(verdict, verdict)


def text(claim: Mapping[str, Any]) -> str:
    """Return the verdict on a claim in words, with its condition."""
    return " ".join(filter(None, [word(claim["verdict"]), claim["condition"]]))


def dump_reasons(reasons: Sequence[str]) -> str:
    """Return reasons as a cell of a file, a JSON list."""
    return json.dumps([*reasons], ensure_ascii=False)


def reasons(claim: Mapping[str, Any]) -> list[str]:
    """Return the reasons of a verdict; the first one decides."""
    return [str(reason) for reason in json.loads(claim["reasons"])]


def weaknesses(claim: Mapping[str, Any]) -> list[str]:
    """Return clauses on what weakens a verdict: another unit, and baselines without privacy."""
    clauses = []
    if claim["unit_verdict"]:
        met_by = claim["unit_met_by"].split()
        outcome = {
            REPRODUCED: f"it holds{f', for the {_label(met_by[0])} too,' if met_by else ''}",
            NOT_REPRODUCED: "it fails too",
        }.get(claim["unit_verdict"], "it is open")
        amounts = join_words(claim["unit_amounts"].split())
        clauses.append(f"{outcome} in the unit that we suspect, where it asks for {amounts}")
    # Being better says more than meeting the claim, too.
    met_by, beaten_by = claim["met_by"].split()[:1], claim["beaten_by"].split()[:1]
    if beaten_by:
        clauses.append(f"the {_label(beaten_by[0])}, which uses no record, is better still")
    elif met_by:
        clauses.append(f"the {_label(met_by[0])}, which uses no record, passes the test too")
    return clauses


def clauses(claim: Mapping[str, Any]) -> list[str]:
    """Return all that is said of a verdict: its reasons, and what its controls show."""
    result = [*reasons(claim), *weaknesses(claim)]
    if claim["even_with"]:
        result.append(f"nor can ours be told from the {_label(claim['even_with'].split()[0])}")
    if claim["alike"]:
        here = "most of it" if claim["alike"] == "True" else "not clearly most of it"
        # What rounding leaves of nothing is nothing.
        is_none = abs(claim["effect_zeros"]) < 1e-9 * abs(claim["effect"])
        effect = "0" if is_none else short(claim["effect_zeros"], 4)
        result.append(f"with every record at zero the effect is {effect}, {here}")
    return result


def sentences(claim: Mapping[str, Any]) -> str:
    """Return all that is said of a verdict as text, and the note of the claim."""
    return ". ".join(filter(None, ["; ".join(clauses(claim)), claim["note"]])).strip(".")


def join_words(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _label(baseline: str) -> str:
    """Return the name of a baseline within a sentence."""
    return catalogue.label(baseline).lower()
