"""The page's first picture: for each published value, ours over the paper's on one log axis."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matrixdp import catalogue
from matrixdp.report.findings import Outcome, times
from matrixdp.report.markup import short


def strips(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return one strip per outcome, all on one axis that reaches from decade to decade.

    Returns:
        Each with ``outcome``, ``ticks`` of the axis as (percent, label), ``one``, the place of a
        ratio of 1, and ``marks``, one per row: ``label`` of the mechanism, ``verdict`` as in the
        table, ``ratio``, ours / paper, as shown, its place ``at`` and that of the one in the unit
        that we suspect behind the paper's, ``conjectured``; places are in percent, None for none.
    """
    ratios = [row["ratio"] for outcome in outcomes for row in outcome.rows if _usable(row["ratio"])]
    low = math.floor(math.log10(min([0.1, *ratios])))
    high = math.ceil(math.log10(max([10.0, *ratios])))

    def place(ratio: float) -> float | None:
        if not _usable(ratio):
            return None
        return round(100 * (math.log10(ratio) - low) / (high - low), 2)

    def mark(row: Mapping[str, Any]) -> dict[str, Any]:
        # Without a verdict (simulated data) a ratio to the published value means nothing.
        known = bool(row["verdict"]) and _usable(row["ratio"])
        return {
            "label": catalogue.label(row["mechanism"]),
            "verdict": row["verdict"],
            "ratio": _said(row["ratio"]) if known else "",
            "at": place(row["ratio"]) if known else None,
            "conjectured": place(row["ratio_conjectured"]) if known else None,
        }

    step = max(1, math.ceil((high - low) / 4))
    decades = [power for power in range(low, high + 1) if power % step == 0]
    axis = {"ticks": [(place(10.0**power), _decade(power)) for power in decades], "one": place(1)}
    return [{"outcome": one, "marks": [mark(row) for row in one.rows], **axis} for one in outcomes]


def _usable(ratio: float) -> bool:
    return math.isfinite(ratio) and ratio > 0


def _said(ratio: float) -> str:
    return times(ratio) if ratio >= 1 else short(ratio, 2)


def _decade(power: int) -> str:
    return f"{10.0**power:g}" if -3 < power < 4 else f"1e{power}"
