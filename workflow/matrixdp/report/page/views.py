"""What the page's scripts work on: rows of advice, claims in a line, and curves as numbers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import inputs
from matrixdp.report.claims.findings import KINDS, facts, word
from matrixdp.report.figures import frames
from matrixdp.report.markup import short
from matrixdp.report.tables import advice, claims

#: Where a sentence ends, and no number of an equation follows.
_SENTENCE = re.compile(r"\. (?=[A-Z])")

#: Of a point: where it stands on each axis, its mean and half of its 95 % confidence interval.
POINT = ("epsilon", "epsilon_actual", "mu_actual", "mean", "ci95")


def chooser(table: pd.DataFrame, command: Callable[[str], str]) -> dict[str, Any]:
    """Return what ``chooser.html.j2`` needs: tasks, and the rows of ``tables/advice.csv``.

    ``command`` is from the name of a result to the command that makes it.
    """
    names = dict.fromkeys(table["experiment"])
    rows = [_advised(row, command) for row in table.to_dict("records")]
    return {"tasks": {name: catalogue.experiment(name).title for name in names}, "rows": rows}


def _advised(row: Mapping[str, Any], command: Callable[[str], str]) -> dict[str, Any]:
    about, span = catalogue.experiment(row["experiment"]), row["chance"] - row["nonprivate"]
    lost = (row["error"] - row["nonprivate"]) / span if span else float("nan")
    kept = ("experiment", "released", "guarantee", "outcome", "best")
    return {
        **advice.cells(row),
        **{name: row[name] for name in kept},
        "metric": catalogue.metric(row["metric"]).name,
        "level": catalogue.label(row["baseline"]),
        # 0 without privacy, 1 by a guess; beyond both ends of the scale it stands at the end.
        "lost": None if pd.isna(lost) else round(lost, 4),
        "delta": short(row["delta"]),
        "trials": int(row["n_trials"]),
        "how": "" if pd.isna(row["how"]) else row["how"],
        "command": command(f"trials/{about.id}/default/{row['best_mechanism']}"),
    }


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


def explorer(results: str | os.PathLike, experiments: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows that tables show, at every epsilon, by experiment.

    Experiments that are part of another one, or have no summary, are left out.
    """
    named = [one for one in experiments if not catalogue.experiment(one).part_of]
    there = [one for one in named if not inputs.missing([f"summary/{one}"], results)]
    drawn = [_curves(one, inputs.read(f"summary/{one}", results)) for one in there]
    return [one for one in drawn if one["series"]]


def _curves(name: str, table: pd.DataFrame) -> dict[str, Any]:
    rows = frames.shown(table, ("epsilon_actual", "data_status"))
    rows = rows[rows["mean"].notna()]
    metric = catalogue.metric(str(rows["metric"].max()))
    if metric.axis.endswith("(%)"):
        rows = rows.assign(mean=100 * rows["mean"], ci95=100 * rows["ci95"])
    ours, levels = (rows[rows["kind"].eq(kind)] for kind in ("mechanism", "level"))
    means = levels["mean"].where(levels["mean"].gt(frames.NOTHING), 0.0)
    looks = {one: catalogue.look(one) for one in ours["mechanism"]}
    return {
        "id": name,
        "title": catalogue.experiment(name).title,
        "axis": metric.axis,
        "warning": catalogue.mark(str(rows["data_status"].iloc[0])).text,
        "levels": [
            {"label": catalogue.label(one), "mean": _number(mean)}
            for one, mean in zip(levels["mechanism"], means, strict=True)
        ],
        "series": [
            {"label": catalogue.label(one), "colour": looks[one].colour}
            | {"line": str(looks[one].line)}
            | {"points": [[*map(_number, point)] for point in part[[*POINT]].to_numpy()]}
            for one, part in frames.ordered(ours)
        ],
    }


def _number(value: float) -> float | None:
    return None if pd.isna(value) else float(f"{value:.4g}")
