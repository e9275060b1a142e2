"""The page's dashboard: counts of verdicts by paper and group of claims, and the claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report.claims.findings import GROUPS, facts, group, word
from reproduction.report.tables import claims

#: The end of a sentence; a number after the stop belongs to an equation.
_SENTENCE = re.compile(r"\. (?=[A-Z])")


#: Columns of ``claims.csv`` that the page shows as they are, and the verdict's first word.
SHOWN = ("id", "claim_type", "claim", "place", "verdict", "word", "same_as")


def dashboard(table: pd.DataFrame) -> dict[str, Any]:
    """Return the variables of ``dashboard.html.j2``: by paper the counts and the claims.

    ``table`` is ``claims.csv``. Theorems, other statements and experiments are counted apart;
    claims that one fact decides count once.
    """
    rows = claims.ledger(table).assign(word=table["verdict"].map(word))
    rows["same_as"] = table["same_as"].fillna("") if "same_as" in table else ""
    meanings: dict[str, str] = catalogue.section("verdicts")
    order = [name for name in meanings if rows["word"].eq(name).any()]
    papers, totals = [], [1]
    rows["group"] = group(rows["claim_type"])
    for paper, of_paper in rows.groupby("paper", sort=False):
        counts = facts(of_paper).groupby("group")["word"].value_counts()
        bars: list[dict[str, Any]] = [
            {
                "group": text,
                "total": int(counts[name].sum()),
                "parts": [
                    (verdict, int(counts[name][verdict]))
                    for verdict in order
                    if verdict in counts[name]
                ],
            }
            for name, text in GROUPS.items()
            if name in counts
        ]
        claimed = [_claim(row) for row in of_paper.to_dict("records")]
        title = claims.PAPERS.get(str(paper), str(paper))
        total = sum(bar["total"] for bar in bars)
        papers.append({"title": title, "bars": bars, "claims": claimed, "facts": total})
        totals += [bar["total"] for bar in bars]
    words = {name: meanings[name] for name in order}
    return {"papers": papers, "longest": max(totals), "verdicts": words}


def _claim(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = {column.header: column.cell(row) for column in claims.COLUMNS}
    why, *more = _SENTENCE.split(row["reason"], maxsplit=1)
    headers = ("Effect", "On zeros", "Asks", "Shows", "p", "Readings", "Evidence")
    return {
        **{name: row[name] for name in SHOWN},
        "why": why,
        "more": "".join(more),
        "numbers": [(name, cells[name]) for name in headers if cells[name]],
        "shown_by": [name.rpartition("/")[2] for name in row["shown_by"].split()],
    }
