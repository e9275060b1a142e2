"""The page's first picture: for each published value, ours over the paper's on one log axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matrixdp import catalogue
from matrixdp.report.findings import Outcome, times
from matrixdp.report.markup import short


@dataclass(frozen=True)
class Mark:
    """One row: what is compared, and where it stands.

    Attributes:
        label: the mechanism, for a reader.
        verdict: as in the table; empty for none.
        ratio: ours / paper, shown; empty where the published value is 0 or there is no result.
        at: place on the axis in percent; None without a ratio.
        conjectured: the same in the unit that we suspect behind the paper's; None for none.
    """

    label: str
    verdict: str
    ratio: str
    at: float | None
    conjectured: float | None


@dataclass(frozen=True)
class Strip:
    """The rows of one table, and the common axis: ticks as (percent, label)."""

    outcome: Outcome
    marks: Sequence[Mark]
    ticks: Sequence[tuple[float, str]]
    one: float


def strips(outcomes: Iterable[Outcome]) -> list[Strip]:
    """Return one strip per outcome, all on one axis that reaches from decade to decade."""
    every = list(outcomes)
    ratios = [row["ratio"] for outcome in every for row in outcome.rows if _usable(row["ratio"])]
    low = math.floor(math.log10(min([0.1, *ratios])))
    high = math.ceil(math.log10(max([10.0, *ratios])))

    def place(ratio: float) -> float | None:
        return _percent(math.log10(ratio), low, high) if _usable(ratio) else None

    step = max(1, math.ceil((high - low) / 4))
    decades = [power for power in range(low, high + 1) if power % step == 0]
    ticks = [(_percent(power, low, high), _decade(power)) for power in decades]

    def mark(row: Mapping[str, Any]) -> Mark:
        # Without a verdict (simulated data) a ratio to the published value means nothing.
        known = bool(row["verdict"]) and _usable(row["ratio"])
        return Mark(
            label=catalogue.label(row["mechanism"]),
            verdict=row["verdict"],
            ratio=_said(row["ratio"]) if known else "",
            at=place(row["ratio"]) if known else None,
            conjectured=place(row["ratio_conjectured"]) if known else None,
        )

    return [
        Strip(outcome, [mark(row) for row in outcome.rows], ticks, _percent(0, low, high))
        for outcome in every
    ]


def _usable(ratio: float) -> bool:
    return math.isfinite(ratio) and ratio > 0


def _said(ratio: float) -> str:
    return times(ratio) if ratio >= 1 else short(ratio, 2)


def _percent(power: float, low: int, high: int) -> float:
    return round(100 * (power - low) / (high - low), 2)


def _decade(power: int) -> str:
    return f"{10.0**power:g}" if -3 < power < 4 else f"1e{power}"
