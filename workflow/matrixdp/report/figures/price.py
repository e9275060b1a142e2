"""The price of privacy: one dot per mechanism, experiment by experiment, on one axis of epsilon."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from matrixdp import catalogue
from matrixdp.checks import Array
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, frames, style
from matrixdp.report.tables import price


def tidy(tables: Tables) -> pd.DataFrame:
    """Return the rows of the table on releases, without those on private training."""
    prices = tables["tables/price"]
    if "experiment" not in prices:
        return prices.iloc[:0]  # a note that nothing could be priced
    kinds = prices["experiment"].map(lambda name: catalogue.experiment(str(name)).kind)
    prices = prices[kinds.eq("")].reset_index(drop=True)
    return prices.assign(also=prices["also"].astype(object).fillna(""))


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one panel per experiment, its mechanisms by ascending price."""
    panels = dict(list(frame.groupby("experiment", sort=False)))
    heights = [len(rows) + 1 for rows in panels.values()]
    figure, grid = style.canvas(
        1.2 + 0.21 * sum(heights), len(heights), sharex=True, height_ratios=heights
    )
    style.log_axis(grid[-1, 0], "x", "ε at half recovery")
    ends = np.concatenate([_ends(row) for row in frame.itertuples()])
    grid[0, 0].set_xlim(ends.min() / 3, ends.max() * 5)
    for axes, (experiment, rows) in zip(grid[:, 0], panels.items(), strict=True):
        axes.set_title(catalogue.experiment(str(experiment)).title)
        _panel(axes, rows)
    return figure


def _ends(row: Any) -> Array:
    """Return interval start, price and interval end, clipped to the epsilons that were run."""
    ends = [row.price if np.isnan(end) else end for end in (row.low, row.high)]
    return np.clip([ends[0], row.price, ends[1]], row.smallest, row.largest)


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    axes.axvline(1, color=style.INK, linewidth=1)
    names = []
    for place, row in enumerate(rows.itertuples()):
        look = catalogue.look(str(row.mechanism))
        names.append(frames.mechanism_label(rows.loc[[row.Index]]))
        at = _ends(row)
        axes.hlines(place, at[0], at[2], color=look.colour, linewidth=1.6)
        beyond = row.price == 0 or np.isinf(row.price)
        # A price beyond the grid is an open arrow at its end.
        marker = look.marker if not beyond else "<" if row.price == 0 else ">"
        face = "white" if beyond else look.colour
        axes.plot(at[1], place, marker, color=look.colour, mfc=face, markersize=6.5)
        style.beside(axes, price.format_price(row.price, row._asdict()), (at[2], place))
    style.name_rows(axes, names)
    # With so many panels the lowest axis is too far away to read.
    axes.tick_params(labelbottom=True)


FIGURES = {
    "price": base.Figure(
        title="The price of privacy: epsilon at half recovery",
        caption=(
            "The ε from which on a mechanism recovers half of the gap between the best baseline "
            "and the result without privacy. Bars are 95 % intervals by the bootstrap over "
            "trials; open arrows lie beyond what was run. The line is ε = 1. Trainings stand in "
            "the table."
        ),
        # The table has trainings too.
        finding=functools.partial(price.finding, kind="releases"),
        inputs=("tables/price",),
        data=tidy,
        draw=draw,
    ),
}
