"""The dashboard of claims: how many of each verdict, and every claim in a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.claims.judge import EXPERIMENT
from matrixdp.report.claims.tally import word
from matrixdp.report.tables import claims

#: Where a sentence ends, and no number of an equation follows.
_SENTENCE = re.compile(r"\. (?=[A-Z])")

#: Theorems and identities apart from what is tried on data.
THEORY, TRIED = "theory", "experiment"


def view(table: pd.DataFrame) -> dict[str, Any]:
    """Return what ``dashboard.html.j2`` needs beside the table.

    Args:
        table: ``tables/claims.csv``.
    """
    rows = [_claim(row) for row in claims.data({"claims": table}).to_dict("records")]
    order = [one for one in catalogue.section("verdicts") if any(r["word"] == one for r in rows)]
    kinds = [kind for kind in (THEORY, TRIED) if any(row["kind"] == kind for row in rows)]
    papers = dict.fromkeys(row["paper"] for row in rows)
    bars = [
        {
            "paper": paper,
            "kind": kind,
            "total": len(own),
            "parts": [(v, n) for v in order if (n := own.count(v))],
        }
        for paper in papers
        for kind in kinds
        if (own := [r["word"] for r in rows if (r["paper"], r["kind"]) == (paper, kind)])
    ]
    return {
        "claims": rows,
        "bars": bars,
        "longest": max((bar["total"] for bar in bars), default=1),
        "filters": {"paper": [*papers], "kind": kinds, "word": order},
        "papers": {paper: claims.PAPERS.get(paper, paper) for paper in papers},
    }


def _claim(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = claims.cells(row)
    why, *more = _SENTENCE.split(row["reason"], maxsplit=1)
    return {
        **{name: row[name] for name in ("id", "paper", "claim", "place", "verdict")},
        "word": word(row["verdict"]),
        "kind": TRIED if row["kind"] == EXPERIMENT else THEORY,
        "why": why,
        "more": "".join(more),
        "numbers": [
            (name, cells[name])
            for name in ("Effect", "Asks", "Shows", "p", "Readings", "Evidence")
            if cells.get(name)
        ],
        "shown_by": [name.rpartition("/")[2] for name in str(row.get("shown_by") or "").split()],
    }
