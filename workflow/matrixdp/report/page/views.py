"""The page's dashboard: one line per claim, and counts of their verdicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report.claims.findings import KINDS, facts, word
from matrixdp.report.tables import claims

#: The end of a sentence; a number after the stop belongs to an equation.
_SENTENCE = re.compile(r"\. (?=[A-Z])")


def dashboard(table: pd.DataFrame) -> dict[str, Any]:
    """Return the variables of ``dashboard.html.j2``: counts by verdict, and the claims.

    ``table`` is ``tables/claims.csv``. Theorems, identities and experiments are counted apart;
    claims that one fact decides count once.
    """
    rows = [_claim(row) for row in claims.data({"claims": table}).to_dict("records")]
    order = [name for name in catalogue.section("verdicts") if any(r["word"] == name for r in rows)]
    kinds = [kind for kind in KINDS if any(row["kind"] == kind for row in rows)]
    papers = dict.fromkeys(row["paper"] for row in rows)
    verdicts = table["verdict"].map(word)
    counts = {
        (paper, kind): verdicts[facts(group).index].value_counts()
        for (paper, kind), group in table.groupby(["paper", "kind"])
    }
    bars = [
        {"paper": paper, "kind": kind, "total": int(tally.sum())}
        | {"parts": [(verdict, int(tally[verdict])) for verdict in order if verdict in tally]}
        for paper in papers
        for kind in kinds
        if (tally := counts.get((paper, kind))) is not None
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
    headers = ("Effect", "Asks", "Shows", "p", "Readings", "Evidence")
    return {
        **{name: row[name] for name in ("id", "paper", "kind", "claim", "place", "verdict")},
        "word": word(row["verdict"]),
        "why": why,
        "more": "".join(more),
        "numbers": [(name, cells[name]) for name in headers if cells[name]],
        "shown_by": [name.rpartition("/")[2] for name in row["shown_by"].split()],
    }
