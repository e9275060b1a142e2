"""The ledger of the papers' claims, as a table for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from reproduction.report import findings
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.statistics import POWER
from reproduction.report.tables.base import Column, Table, lines

PAPERS = {
    "MVG": "MVG (Chanyaswad et al., full version, arXiv 1802.10077)",
    "IMGM": "IMGM (Yang et al., arXiv 2104.14808)",
}

CAPTION = (
    "Orderings are tested on differences of trials, theorems in numbers; controls are corrected "
    "together. On zeros: the effect with every record at zero, alike where it surely is over half "
    "of what exceeds or misses the margin. Shows: the distance from what is asked that these "
    f"trials show with probability {POWER:g}. Readings: in how many private readings it clearly "
    "holds. To check one by its own trials: make claim ID=M16."
)


def build(run: Run) -> Table:
    """Return the ledger of claims by paper."""
    frame = run["claims"]
    return Table(
        title="Claims",
        caption=CAPTION,
        frame=frame,
        columns=COLUMNS,
        groups=lines(frame, "paper", title=PAPERS.__getitem__),
    )


def _on_zeros(row: Mapping[str, Any]) -> str:
    """Return the effect of the same noise on records of zeros, and whether it is most of ours."""
    if pd.isna(row["effect_zeros"]):
        return ""
    return f"{short(row['effect_zeros'])}{', alike' if row['alike'] == 'True' else ''}"


def _effect(row: Mapping[str, Any]) -> str:
    if pd.isna(row["effect_low"]):
        return ""
    ends = " to ".join(short(row[name]) for name in ("effect_low", "effect_high"))
    what = "ratio" if row["relation"] == "times" else "difference"
    return f"{what} {short(row['effect'])} ({ends})"


def _margin(row: Mapping[str, Any]) -> str:
    return "" if pd.isna(row["margin"]) else f"> {short(row['margin'])}"


def _p(row: Mapping[str, Any]) -> str:
    p = row["p_corrected"]
    return "" if pd.isna(p) else "< 0.001" if p < 1e-3 else f"{p:.2g}"


def _readings(row: Mapping[str, Any]) -> str:
    total = row["readings_total"]
    if pd.isna(total):
        return ""
    return f"{row['readings_holding']} of {total}, of {row['readings_trials']:,} trials"


#: ``Asks`` is the margin, ``Shows`` the smallest distance from it that the trials detect.
COLUMNS = (
    Column("", "id"),
    Column("Claim", lambda row: f"{row['claim']} ({row['place']})"),
    Column("Kind", "claim_type"),
    Column("Verdict", findings.text),
    Column("Here", findings.sentences),
    Column("Effect", _effect),
    Column("On zeros", _on_zeros, "effect_zeros"),
    Column("Asks", _margin, "margin"),
    Column("Shows", lambda row: short(row["power"], 2), "power"),
    Column("Evidence", "evidence"),
    Column("p", _p, "p_corrected"),
    Column("Readings", _readings),
)
