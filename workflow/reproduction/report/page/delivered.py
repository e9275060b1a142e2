"""The picture of the first screen: what epsilon the noise delivers where one is claimed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from reproduction.report.numbers import MISSING

#: Ends of the logarithmic axis in both directions from the claim, and ticks, as shares of it.
LOW, HIGH, TICKS = 3e-4, 3e3, (0.001, 0.1, 1, 10, 100)


@dataclass(frozen=True)
class Bar:
    """A bar from the claimed epsilon to what is delivered, all numbers in percent of the axis.

    ``left`` and ``width`` reach to the farthest epsilon that is delivered, ``near_left`` and
    ``near_width`` to the nearest. ``kind`` is ``wasted``, ``kept`` or ``broken``.
    """

    kind: str
    text: str
    left: float
    width: float
    near_left: float
    near_width: float


def axis_position(share: float) -> float:
    """Return where a share of the claimed epsilon stands, in percent; beyond the ends at them."""
    distance = math.log(min(max(share, LOW), HIGH) / LOW)
    return round(100 * distance / math.log(HIGH / LOW), 2)


def bar(claimed: str, high: str, low: str = "") -> Bar | None:
    """Return the bar of epsilons up to ``high``, from ``low`` where one is named.

    All are numbers as they are printed; None where the run lacks one.
    """
    if MISSING in (claimed, high, low):
        return None
    promise = float(claimed)
    shares = [float(text or 0) / promise for text in (low, high)]
    far, near = sorted(shares, key=lambda share: -abs(axis_position(share) - axis_position(1)))
    ends = [sorted((axis_position(share), axis_position(1))) for share in (far, near)]
    kind = "broken" if shares[1] > 1 else "wasted" if shares[1] < 1 else "kept"
    text = f"{low} to {high}" if low else f"at most {high}" if kind == "wasted" else high
    widths = [round(right - left, 2) for left, right in ends]
    return Bar(kind, text if low != high else high, ends[0][0], widths[0], ends[1][0], widths[1])
