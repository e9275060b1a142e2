"""The ledger of the papers' claims, as a table for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reproduction.report import markup
from reproduction.report.claims.findings import tally
from reproduction.report.entries import Tables
from reproduction.report.markup import Grid, short
from reproduction.report.statistics import POWER
from reproduction.report.tables.base import Table

PAPERS = {
    "MVG": "MVG (Chanyaswad et al., full version, arXiv 1802.10077)",
    "IMGM": "IMGM (Yang et al., arXiv 2104.14808)",
}


def data(tables: Tables) -> pd.DataFrame:
    """Return the ledger of claims, with empty text where a cell is missing."""
    text = [
        *("alike", "met_by", "beaten_by"),
        "claim",
        "place",
        "claim_type",
        "verdict",
        "reason",
        "statistic",
        "evidence",
        "shown_by",
    ]
    counts = dict.fromkeys(("readings_holding", "readings_total"), "Int64")
    table = tables["claims"].astype(dict.fromkeys(text, object))
    return table.fillna(dict.fromkeys(text, "")).astype(counts)


def grid(table: pd.DataFrame) -> Grid:
    """Return the claims by paper."""
    return markup.grid(table, "paper", cells, title=PAPERS.__getitem__)


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a claim by header.

    ``Asks`` is the margin, ``Shows`` the smallest distance from it that the trials detect.
    """
    p, total = row["p_corrected"], row["readings_total"]
    return {
        "": row["id"],
        "Claim": f"{row['claim']} ({row['place']})",
        "Kind": row["claim_type"],
        "Verdict": row["verdict"],
        "Here": row["reason"],
        "Effect": _effect(row),
        "On zeros": _on_zeros(row),
        "Asks": "" if pd.isna(row["margin"]) else f"> {short(row['margin'])}",
        "Shows": "" if pd.isna(row["power"]) else short(row["power"], 2),
        "Evidence": row["evidence"],
        "p": "" if pd.isna(p) else "< 0.001" if p < 1e-3 else f"{p:.2g}",
        "Readings": "" if pd.isna(total) else f"{row['readings_holding']} of {total}",
    }


def _on_zeros(row: Mapping[str, Any]) -> str:
    """Return the effect of the same noise on records of zeros, and whether it is most of ours."""
    if pd.isna(row["effect_zeros"]):
        return ""
    return f"{short(row['effect_zeros'])}{', alike' if row['alike'] == 'True' else ''}"


def _effect(row: Mapping[str, Any]) -> str:
    if pd.isna(row["effect_low"]):
        return ""
    ends = " to ".join(short(row[name]) for name in ("effect_low", "effect_high"))
    what = "ratio" if " over that of " in row["statistic"] else "difference"
    return f"{what} {short(row['effect'])} ({ends})"


TABLES = {
    "claims": Table(
        title="Claims",
        caption=(
            "Orderings are tested on differences of trials, theorems in numbers; controls are "
            "corrected together. On zeros: the effect with every record at zero, alike where it "
            "surely is over half of what exceeds or misses the margin. Shows: the distance from "
            f"what is asked that these trials show with probability {POWER:g}. Readings: in how "
            "many private readings it clearly holds."
        ),
        finding=tally,
        data=data,
        grid=grid,
    ),
}
