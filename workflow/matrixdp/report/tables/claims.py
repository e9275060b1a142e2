"""The ledger of the papers' claims as a person reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import markup
from matrixdp.report.claims.judge import ONLY_UNDER
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Grid, short
from matrixdp.report.tables.base import Table

PAPERS = {
    "MVG": "MVG (Chanyaswad et al., CCS 2018)",
    "IMGM": "IMGM (Yang et al., arXiv 2104.14808)",
    "Note": "Note on vector-valued noise",
}


def data(tables: Tables) -> pd.DataFrame:
    """Return the ledger as it is."""
    text = ["claim", "place", "verdict", "reason", "statistic"]
    counts = dict.fromkeys(("readings_holding", "readings_total"), "Int64")
    return tables["claims"].fillna(dict.fromkeys(text, "")).astype(counts)


def caption(table: pd.DataFrame) -> str:
    """Return the verdicts in numbers, and how they come about."""
    verdicts = table["verdict"].str.replace(
        rf"{ONLY_UNDER} .*", f"{ONLY_UNDER} a reading", regex=True
    )
    said = ", ".join(f"{n} {verdict}" for verdict, n in verdicts.value_counts().items())
    text = catalogue.caption("claims", verdicts=said)
    if table["readings_total"].notna().any():
        text += f" {catalogue.caption('claims_readings')}"
    return text


def grid(table: pd.DataFrame) -> Grid:
    """Return the claims by paper."""
    columns = r"lp{0.3\linewidth}p{0.14\linewidth}p{0.3\linewidth}l"
    if over := bool(table["readings_total"].notna().any()):
        columns += "l"

    def cells(row: Mapping[str, Any]) -> dict[str, str]:
        p, total = row["p_corrected"], row["readings_total"]
        share = "" if pd.isna(total) else f"{row['readings_holding']} of {total}"
        return {
            "": row["id"],
            "Claim": f"{row['claim']} ({row['place']})",
            "Verdict": row["verdict"],
            "Evidence": row["reason"] + _effect(row),
            "p": "" if pd.isna(p) else "< 0.001" if p < 1e-3 else f"{p:.2g}",
            **({"Readings": share} if over else {}),
        }

    return markup.grid(table, "paper", cells, columns, title=PAPERS.__getitem__)


def _effect(row: Mapping[str, Any]) -> str:
    if pd.isna(row["effect_low"]):
        return ""
    ends = " to ".join(short(row[name]) for name in ("effect_low", "effect_high"))
    what = "ratio" if " over that of " in row["statistic"] else "difference"
    return f"; {what} {short(row['effect'])} ({ends})"


TABLES = {
    "claims": Table(
        title="Claims",
        caption=caption,
        inputs=("claims",),
        data=data,
        grid=grid,
    ),
}
