"""The price of privacy: the smallest epsilon from which on a mechanism loses half at most.

The loss is 0 at the result without privacy, and 1 at the best baseline (random or constant). The
price orders mechanisms even where none of them beats the baseline at the papers' epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reproduction import catalogue
from reproduction.report import advisable, audit_status, comparisons, markup, summary
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.tables.base import Column, Table, empty, lines

COLUMNS = (
    *("experiment", "mechanism", "also", *audit_status.COLUMNS, "price", "low", "high", "smallest"),
    *("largest", "n_trials", "baseline", "baseline_mean", "nonprivate_mean", "data_status"),
    "advisable",
)


CAPTION = (
    "The ε from which on a mechanism recovers half of the gap between the best baseline and the "
    "result without privacy, interpolated between those that were run; where its delivered ε is "
    "larger, that one. Intervals are by the bootstrap over trials, from ten trials on."
)


def build(run: Run) -> Table:
    """Return one row per experiment and mechanism, sorted by price within an experiment.

    ``price`` is an epsilon: the claimed one, or the tight one where that is larger. It is 0 or
    infinite where it lies beyond the ``smallest`` or the ``largest`` epsilon that was run. ``low``
    and ``high`` are the ends of the 95 % interval of :mod:`reproduction.report.comparisons`. The
    loss is 1 at the row ``baseline``. ``also`` are other names of the same noise distribution;
    ``audit_status`` is that of :mod:`reproduction.report.audit_status`. Mechanisms that the audit
    refutes have no price, and come last. ``advisable`` is that of
    :mod:`reproduction.report.advisable`: ``yes``, or the first reason against some epsilon.
    """
    frames = [
        pd.DataFrame(_rows(name, run), columns=COLUMNS)
        for name in run.each("rows")
        if not catalogue.experiment(name).part_of
    ]
    frames = [
        frame.iloc[np.lexsort((frame["high"], _clamped_price(frame)))]
        for frame in frames
        if len(frame)
    ]
    if not frames:
        return empty("The price of privacy", run)
    frame = pd.concat(frames, ignore_index=True)
    return Table(
        title="The price of privacy",
        caption=CAPTION,
        frame=frame,
        columns=[
            Column("Mechanism", markup.mechanism),
            Column("Price (ε)", lambda row: format_price(row["price"], row), "price"),
            Column("From", lambda row: format_price(row["low"], row), "low"),
            Column("To", lambda row: format_price(row["high"], row), "high"),
            Column("Audit", audit_status.words),
            Column("Advisable", "advisable"),
        ],
        groups=lines(frame, "experiment", title=lambda name: catalogue.experiment(name).title),
    )


def _clamped_price(frame: pd.DataFrame) -> pd.Series:
    """Return the prices within the epsilons that were run; none of what is refuted."""
    return frame[["price", "smallest"]].max(axis=1).mask(audit_status.refuted(frame))


def _rows(experiment: str, run: Run) -> Iterator[dict[str, Any]]:
    rows, compared = run[f"rows/{experiment}"], run[f"comparisons/{experiment}"]
    rows = rows[rows["shown"] & rows["reading"].eq(summary.DEFAULT) & rows["mean"].notna()]
    levels = rows[rows["mechanism"].isin(catalogue.BASELINES)].set_index("mechanism")["mean"]
    baseline = rows["baseline"].max()
    if "nonprivate" not in levels or not baseline:
        return
    prices = compared[compared["comparison"].eq(comparisons.PRICE)].set_index("mechanism")
    private = comparisons.add_delivered_epsilon(rows[~rows["repeats"]])
    for name, part in private.groupby("mechanism", sort=False):
        price = prices.loc[name, ["difference", "low", "high"]].to_numpy(dtype=float)
        if audit_status.refuted(part).any():
            price = np.full(3, np.nan)
        yield {
            **part.iloc[0][part.columns.intersection(COLUMNS)],
            **dict(zip(("price", "low", "high"), price, strict=True)),
            "experiment": experiment,
            "smallest": part["promised"].min(),
            "largest": part["promised"].max(),
            "n_trials": part["n_trials"].max(),
            "advisable": advisable.common_advice(part),
            "baseline": baseline,
            "baseline_mean": levels[baseline],
            "nonprivate_mean": levels["nonprivate"],
        }


def format_price(value: float, row: Mapping[str, Any]) -> str:
    """Return a price as text; ``<`` or ``>`` where it lies beyond the epsilons that were run."""
    if value == 0:
        return f"< {short(row['smallest'])}"
    return f"> {short(row['largest'])}" if np.isinf(value) else short(value)
