"""Printed and measured errors of one table on one logarithmic axis, with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status, markup
from reproduction.report.page.run import PageRun
from reproduction.report.rows import take_shared_means


@dataclass(frozen=True)
class Mark:
    """A value on the axis: where it stands, and where its interval begins and how wide it is.

    All are percent of the axis. ``text`` is the value with its interval.
    """

    at: float
    left: float
    width: float
    text: str


@dataclass(frozen=True)
class Pair:
    """A row of the table: what it has here, and what the paper prints."""

    label: str
    ours: Mark
    printed: Mark


@dataclass(frozen=True)
class Chart:
    """Pairs with positive errors, and the powers of ten of their axis, as position and text."""

    metric: str
    pairs: list[Pair]
    ticks: list[tuple[float, str]]


def chart(run: PageRun, experiment: str) -> Chart | None:
    """Return the chart of an experiment whose printed unit is in no doubt; None without one."""
    about = catalogue.experiment(experiment)
    rows = run.results.get(experiment, pd.DataFrame())
    if about.conjecture or rows.empty:
        return None
    rows = take_shared_means(rows[run.at_epsilon(rows) | rows["epsilon"].isna()])
    # A result without noise has no place on a logarithmic axis.
    rows = rows[rows["printed"].gt(0) & rows["mean"].gt(0)]
    if rows.empty:
        return None
    values = pd.concat([rows["printed"], rows["mean"]])
    low, high = math.floor(math.log10(values.min())), math.ceil(math.log10(values.max()))

    def place(value: float) -> float:
        share = (math.log10(value) - low) / (high - low) if value > 0 else 0.0
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def mark(mean: float, half: float) -> Mark:
        half = 0.0 if math.isnan(half) else half
        left, right = place(mean - half), place(mean + half)
        return Mark(place(mean), left, round(right - left, 2), markup.interval(mean, half))

    pairs = [
        Pair(
            _label(row),
            mark(row["mean"], row["ci95"]),
            mark(row["printed"], row["printed_ci95"]),
        )
        for row in rows.to_dict("records")
    ]
    ticks = [(place(10.0**power), markup.short(10.0**power)) for power in range(low, high + 1)]
    metric = catalogue.metric(str(rows["metric"].iloc[0])).name
    return Chart(metric, sorted(pairs, key=lambda pair: -pair.ours.at), ticks)


def _label(row: Mapping[str, Any]) -> str:
    """Return the label of a row; one that the audit refutes says that it is not private."""
    remark = audit_status.text(row)
    return markup.mechanism(row) + (f" ({remark})" if remark else "")
