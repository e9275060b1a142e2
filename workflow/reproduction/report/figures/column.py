"""The few curves that a paper has room for, and their price of privacy, as wide as a column."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reproduction import catalogue
from reproduction.catalogue import look
from reproduction.report import audit_status, comparisons, summary
from reproduction.report.entries import Tables
from reproduction.report.figures import base, curves, frames, style

#: Inches of a column, and letters of 8 points in a line of the legend and of an axis' name.
WIDTH, LETTERS, ACROSS = 3.3, 46, 18


def tidy(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return the rows of a few mechanisms at every epsilon, with prices, and of two baselines.

    The mechanisms are those that the papers bring in, those without an entry in the catalogue, and
    the best one at the tables' epsilon whose guarantee stands. The baselines are the best one that
    costs no privacy, and the result without privacy. ``price`` has the ends ``price_low`` and
    ``price_high``.
    """
    rows = frames.table_rows(tables[f"summary/{experiment}"])
    rows = audit_status.joined(rows, tables.get(f"audit/{experiment}"))
    papers = [name for names in catalogue.section("papers").values() for name in names]
    ours = [name for name in rows["mechanism"] if name not in catalogue.legends()]
    levels = [catalogue.NONPRIVATE, summary.trivial(rows)]
    best = curves.best(rows, float(tables["settings"]["table_epsilon"]))
    rows = rows[rows["mechanism"].isin([*papers, *ours, *best, *levels])]
    if not rows["role"].eq("mechanism").any():
        return rows.iloc[:0]
    compared = tables[f"comparisons/{experiment}"]
    prices = compared[compared["comparison"].eq(comparisons.PRICE)].set_index("mechanism")
    prices = prices.reindex(rows["mechanism"].mask(audit_status.refuted(rows)))
    rows[["mean", "ci95"]] *= catalogue.metric(str(rows["metric"].iloc[0])).scale
    for name, source in {"price": "difference", "price_low": "low", "price_high": "high"}.items():
        rows[name] = prices[source].to_numpy(dtype=float)
    return rows


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw errors on the left, prices on the right, and names below both."""
    ours = frame[frame["role"].eq("mechanism")]
    members = [
        (name, textwrap.fill(frames.mechanism_label(part), LETTERS), part)
        for name, part in frames.ordered(ours)
    ]
    lines = sum(1 + label.count("\n") for _, label, _ in members) + frame["role"].eq("level").sum()
    figure, grid = style.canvas(2.1 + 0.15 * lines, columns=2, width=WIDTH)
    errors, prices = grid[0]
    style.against_epsilon(errors, members)
    curves.finish(errors, frame)
    errors.set_ylabel(textwrap.fill(errors.get_ylabel(), ACROSS))
    if errors.get_yscale() == "log":
        errors.yaxis.set_major_locator(style.LogLocator(base=10, numticks=6))
    ends = ours["epsilon"].min() / 2, ours["epsilon"].max() * 2
    for axes, name in ((errors, "claimed ε"), (prices, "ε at half recovery")):
        style.log_axis(axes, "x", name)
        axes.set_xlim(ends)
        axes.xaxis.set_major_locator(style.LogLocator(base=10, numticks=4))
        axes.tick_params(labelsize=8)
        axes.xaxis.label.set_size(8)
        axes.yaxis.label.set_size(8)
    _prices(prices, [(name, part) for name, _, part in members])
    style.legend(figure, errors.get_legend_handles_labels()[0], columns=1, fontsize=8)
    return figure


def _prices(axes: Axes, parts: list[tuple[str, pd.DataFrame]]) -> None:
    """Draw a price for each mechanism, the first on top; an arrow where it lies outside."""
    left, right = axes.get_xlim()
    for number, (name, part) in enumerate(parts):
        price, low, high = part[["price", "price_low", "price_high"]].iloc[0]
        options: dict[str, Any] = {"color": look(name).colour, "clip_on": False}
        if price in (0, np.inf):
            end, marker = (left, "<") if price == 0 else (right, ">")
            axes.plot(end, number, marker=marker, markerfacecolor="white", **options)
            continue
        axes.hlines(
            number, max(low, left), min(high, right), linewidth=1.6, color=look(name).colour
        )
        axes.plot(price, number, marker=look(name).marker, **options)
    axes.set_ylim(len(parts) - 0.4, -0.6)
    axes.set_yticks([])


FIGURES = {
    "column": base.Figure(
        title="{title}",
        caption=(
            "Left: mean error with 95 % intervals against the ε that is promised. Right: the ε "
            "from which on half of the gap between the best baseline and the result without "
            "privacy is recovered, with its 95 % interval, in the order of the legend; open "
            "triangles lie beyond the ε that were run."
        ),
        of_experiment=True,
        in_column=True,
        data=tidy,
        draw=draw,
    ),
}
