"""The price of privacy: one dot per mechanism, experiment by experiment, on one axis of epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reproduction import catalogue
from reproduction.report import audit_status
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.tables import price


def tidy(run: Run) -> pd.DataFrame:
    """Return the rows of the table on releases, without those on private training."""
    prices = run["tables/price"]
    if "experiment" not in prices:
        return prices.iloc[:0]  # a note that nothing could be priced
    perturbations = prices["experiment"].map(
        lambda name: catalogue.experiment(str(name)).perturbation
    )
    prices = prices[perturbations.eq("")].reset_index(drop=True)
    text = {name: prices[name].astype(object).fillna("") for name in ("also", "audit_status")}
    return prices.assign(**text)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one panel per experiment, its mechanisms by ascending price.

    A price above all epsilons that were run is an open triangle at the largest of them.
    """
    drawn = frame["price"].gt(0)
    panels = dict(list(frame.groupby("experiment", sort=False)))
    heights = [max(2, drawn[rows.index].sum()) for rows in panels.values()]
    height = 1.0 + 0.75 * len(heights) + 0.21 * sum(heights)
    figure, grid = style.canvas(height, len(heights), sharex=True, height_ratios=heights)
    style.log_axis(grid[-1, 0], "x", "ε at half recovery")
    grid[0, 0].set_xlim(frame["smallest"].min() / 3, frame["largest"].max() * 12)
    for axes, (experiment, rows) in zip(grid[:, 0], panels.items(), strict=True):
        axes.set_title(catalogue.experiment(str(experiment)).title)
        _panel(axes, rows[drawn[rows.index]])
        labels: dict[str, list[str]] = {}
        for i, row in rows[~drawn[rows.index]].iterrows():
            text = "Without a price"
            if not audit_status.text(row.to_dict()):
                text = f"Below {price.format_price(row['price'], row)[2:]}"
            labels.setdefault(text, []).append(frames.mechanism_label(rows.loc[[i]]))
        style.notes(axes, labels, below=40 if axes.get_xlabel() else 20)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    axes.axvline(1, color=style.INK, linewidth=1)
    names = []
    for number, row in enumerate(rows.itertuples()):
        as_ = catalogue.look(str(row.mechanism))
        look: dict[str, Any] = {"color": as_.colour, "ls": "none", "ms": 6.5}
        names.append(frames.mechanism_label(rows.loc[[row.Index]]))
        # Without an interval the price stands alone; the epsilons that were run limit it.
        ends = [row.price if np.isnan(end) else end for end in (row.low, row.high)]
        low, high = np.clip(ends, row.smallest, row.largest)
        if np.isinf(row.price):
            axes.plot(row.largest, number, marker=">", mfc="white", mew=1.4, **look)
        else:
            axes.hlines(number, low, high, linewidth=1.6, color=as_.colour)
            axes.plot(row.price, number, marker=as_.marker, **look)
        style.write_beside(axes, price.format_price(row.price, row._asdict()), (high, number))
    style.name_rows(axes, names)
    # With so many panels the lowest axis is too far away to read.
    axes.tick_params(labelbottom=True)


def build(run: Run) -> Figure:
    """Return the figure."""
    return Figure(
        title="The price of privacy: epsilon at half recovery",
        caption=(
            "The ε from which on a mechanism recovers half of the gap between the best baseline "
            "and the result without privacy. Bars are 95 % intervals by the bootstrap over "
            "trials. Open triangles: more than the largest ε that was run. Names below: less than "
            "the smallest. The line is ε = 1. Trainings stand in the table."
        ),
        frame=tidy(run),
        draw=draw,
    )
