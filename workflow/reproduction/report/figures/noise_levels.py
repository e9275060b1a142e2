"""The noise of each mechanism, and the noise of the same shape that its guarantee needs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from reproduction import catalogue
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.tables import audit

QUIET = "#EFEFEF"

#: How the audit calls an experiment's query, by the paper's notation.
QUERIES = {"X": "identity", "X X^T / n": "covariance"}


def tidy(run: Run) -> pd.DataFrame:
    """Return the rows of the table on noise inflation that release what the experiment asks for.

    ``lower`` and ``upper`` are the public range of an entry, NaN where it differs between features.
    """
    noise, parts = run["tables/effective_noise"], []
    noise = noise.assign(also=noise["also"].astype(object).fillna(""))
    for experiment, rows in noise.groupby("experiment", sort=False):
        about = catalogue.experiment(str(experiment))
        query = QUERIES.get(about.setup.get("query", ""))
        if about.part_of or query is None:
            continue
        parts.append(rows[rows["query"].eq(query)])
    return pd.concat(parts or [noise[:0]], ignore_index=True)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one panel per experiment, its mechanisms from the loudest to the quietest."""
    panels = dict(list(frame.groupby("experiment", sort=False)))
    counts = frame[frame["noise_std"].notna()].groupby("experiment")["mechanism"].nunique()
    heights = [max(3, counts.get(name, 0)) for name in panels]
    height = 0.7 * len(heights) + 0.8 + 0.21 * sum(heights)
    figure, grid = style.canvas(height, len(heights), sharex=True, height_ratios=heights)
    style.log_axis(grid[-1, 0], "x", "standard deviation of the noise on one entry of the query")
    noise = frame[["noise_std", "rescaled_std"]].stack().dropna()
    noise = noise[noise > 0]
    if len(noise):
        grid[0, 0].set_xlim(noise.min() / 3, noise.max() * 2e4)
    for axes, (experiment, rows) in zip(grid[:, 0], panels.items(), strict=True):
        about = catalogue.experiment(str(experiment))
        axes.set_title(f"{about.title} (query {about.setup['query']})")
        _panel(axes, rows)
    dot, line = catalogue.Look(style.INK, "o", "none"), catalogue.Look("#777777", "", "-")
    full = style.key("noise added", dot)
    hollow = style.key("noise that would do", dot, markerfacecolor="white")
    free = style.key("all directions and shares", line, linewidth=2.4)
    quiet = Patch(facecolor=QUIET, edgecolor=style.INK, label="less than an entry's public range")
    style.legend(figure, [full, hollow, free, quiet], columns=4)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    width = (rows["upper"] - rows["lower"]).max()
    if np.isfinite(width):
        axes.axvspan(1e-12, width, color=QUIET, zorder=0, linewidth=0)
        axes.axvline(width, color=style.INK, linewidth=1)
    parts = [part for _, part in rows.groupby("mechanism", sort=False)]
    excess = [part["noise_inflation"].max() > 1.001 for part in parts]
    unknown = [
        f"{frames.mechanism_label(part)} (× {audit.inflation(part)})"
        for part, more in zip(parts, excess, strict=True)
        if more and part["noise_std"].isna().all()
    ]
    # The last panel has ticks and a label below, and so needs more room.
    below = 40 if axes.get_xlabel() else 5
    style.notes(axes, {"Too much, without a fixed deviation": unknown} if unknown else {}, below)
    parts = [part for part in parts if part["noise_std"].notna().any()]
    parts.sort(key=lambda part: -part["noise_std"].min())
    if not parts:
        axes.set_yticks([])
        style.say(axes, "nothing ran with a guarantee and a noise of known size")
        return
    for number, part in enumerate(parts):
        as_ = catalogue.look(str(part["mechanism"].iloc[0]))
        low, high, enough = part["noise_std"].min(), part["noise_std"].max(), part["rescaled_std"]
        axes.hlines(number, low, high, color=as_.colour, linewidth=2.4)
        dot = {"marker": as_.marker, "linestyle": "none", "color": as_.colour, "markersize": 6.5}
        if part["noise_inflation"].max() > 1.001:
            axes.hlines(number, enough.min(), low, color=as_.colour, linewidth=0.8)
            axes.plot(enough.min(), number, markerfacecolor="white", **dot)
            style.write_beside(axes, f"× {audit.inflation(part)}", (high, number))
        axes.plot(low, number, **dot)
    style.name_rows(axes, [frames.mechanism_label(part) for part in parts])


def build(run: Run) -> Figure:
    """Return the figure."""
    at = run.table_epsilon
    return Figure(
        title=f"How much noise each mechanism adds, and would do, at epsilon = {at:g}",
        caption=(
            "Standard deviation of the noise on one entry of each experiment's query (root mean "
            "square over entries), at δ = 1/n, in units of the scaled data, and of noise of the "
            "same shape that meets the same guarantee exactly. × is the factor between the two, "
            "over directions and shares; without it there is none."
        ),
        frame=tidy(run),
        draw=draw,
    )
