"""What the page's dashboard shows: claims in a line, and counts of their verdicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.claims.findings import KINDS, facts, word
from matrixdp.report.tables import claims

#: Where a sentence ends, and no number of an equation follows.
_SENTENCE = re.compile(r"\. (?=[A-Z])")


def dashboard(table: pd.DataFrame) -> dict[str, Any]:
    """Return what ``dashboard.html.j2`` needs: counts by verdict, and ``tables/claims.csv``.

    Theorems, identities and experiments are counted apart, and each fact once.
    """
    rows = [_claim(row) for row in claims.data({"claims": table}).to_dict("records")]
    order = [one for one in catalogue.section("verdicts") if any(r["word"] == one for r in rows)]
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    papers = dict.fromkeys(row["paper"] for row in rows)
    verdicts = table["verdict"].map(word)
    counts = {
        (paper, kind): verdicts[facts(own).index].value_counts()
        for (paper, kind), own in table.groupby(["paper", "kind"])
    }
    bars = [
        {"paper": paper, "kind": kind, "total": int(own.sum())}
        | {"parts": [(verdict, int(own[verdict])) for verdict in order if verdict in own]}
        for paper in papers
        for kind in kinds
        if (own := counts.get((paper, kind))) is not None
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
    shown = ("Effect", "Asks", "Shows", "p", "Readings", "Evidence")
    return {
        **{name: row[name] for name in ("id", "paper", "kind", "claim", "place", "verdict")},
        "word": word(row["verdict"]),
        "why": why,
        "more": "".join(more),
        "numbers": [(name, cells[name]) for name in shown if cells[name]],
        "shown_by": [name.rpartition("/")[2] for name in row["shown_by"].split()],
    }
