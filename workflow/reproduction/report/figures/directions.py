"""Figure 4 of the MVG paper: noise directions, and the same directions calibrated exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator

from reproduction import catalogue
from reproduction.report import audit_status, comparisons, statistics
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.statistics import ROUNDING

EXACT = "directional_gaussian"

#: What is added to a direction.
RATIOS = ("favours", "ratio", "ratio_ci95")


def tidy(experiment: str, run: Run) -> pd.DataFrame:
    """Return chosen cells of both mechanisms for every direction, baselines, published values.

    ``favours`` names the features that a direction favours. ``ratio`` is the mean over that of
    direction (a) at the same epsilon, ``ratio_ci95`` half its interval by the delta method.
    """
    about = catalogue.experiment(experiment)
    every = run[f"rows/{experiment}"]
    rows = frames.rows_to_draw(every, *audit_status.COLUMNS)
    mechanism = _paper(rows)
    config = run.settings["experiments"].get(experiment, {})
    labels = frames.directions(config.get("directions", {}))
    ours = rows[rows["mechanism"].isin([mechanism, EXACT]) & rows["chosen"]]
    if ours.empty:
        return ours
    levels = rows[rows["mechanism"].isin([catalogue.NONPRIVATE, every["baseline"].iloc[0]])]
    theirs = frames.published_rows(run.published(about.results), experiment)
    theirs = theirs[theirs["mechanism"].eq(mechanism)].assign(direction="a")
    favours = ours["direction"].map(lambda name: labels.get(name, f"({name})"))
    ours = _ratios(ours.assign(favours=favours))
    compared = comparisons.both_orders(run[f"comparisons/{experiment}"], comparisons.DIRECTION)
    against_a = compared.loc[compared["against_direction"].eq("a"), [*comparisons.ROW, "verdict"]]
    columns = [*frames.COLUMNS, *RATIOS, "verdict", *audit_status.COLUMNS]
    ours = ours.merge(against_a, how="left")[columns]
    return frames.stack_frames([ours, levels[[*frames.COLUMNS]], theirs])


def _paper(rows: pd.DataFrame) -> str:
    """Return the mechanism of the paper's panel: the first in direction (a)."""
    names = {*rows.loc[rows["direction"].eq("a"), "mechanism"]} - {EXACT}
    return min(names, key=catalogue.rank, default=EXACT)


def _ratios(rows: pd.DataFrame) -> pd.DataFrame:
    keys = ["mechanism", "epsilon"]
    base = rows[rows["direction"].eq("a")].set_index(keys)[["mean", "ci95"]]
    against = rows[keys].join(base, on=keys)
    ends = rows["mean"], rows["ci95"], against["mean"], against["ci95"]
    ratio, half = statistics.quotient(*ends)
    itself = rows["direction"].eq("a")
    return rows.assign(ratio=ratio, ratio_ci95=half.mask(itself, 0.0))


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw MVG above and the exact calibration below; add ratios if that spans decades."""
    mechanism = _paper(frame)
    levels = frame.loc[frame["role"].eq("level"), "mechanism"]
    baseline = next((name for name in levels if name != catalogue.NONPRIVATE), "")
    ours, theirs = (frame[frame["role"].eq(role)] for role in ("mechanism", "published"))
    paper, exact = (ours[ours["mechanism"].eq(name)] for name in (mechanism, EXACT))
    decades = exact["mean"].max() > 10 * exact.loc[exact["mean"] > ROUNDING, "mean"].min()
    heights = (1.0, 1.0, 0.6)[: 3 if decades else 2]
    height = 1.2 + 2.3 * sum(heights)
    figure, grid = style.canvas(height, len(heights), sharex=True, height_ratios=heights)
    upper, lower, last = grid[0, 0], grid[1, 0], grid[-1, 0]
    for axes, rows, title in (
        (upper, paper, f"{_label(paper, mechanism)}, as the paper defines it"),
        (lower, exact, _label(exact, EXACT)),
    ):
        axes.set(title=title, ylabel=frames.axis(frame))
        _curves(axes, rows, "mean", "ci95")
        for name in ("nonprivate", baseline):
            value = frames.level(frame, name)
            # A logarithmic axis has no place for an exact 0.
            if value > ROUNDING or (np.isfinite(value) and not (decades and axes is lower)):
                style.level(axes, value, name)
    if decades:
        style.log_axis(lower, "y", lower.get_ylabel())
        upper.set_ylim(bottom=0)
        last.set_title("The same, relative to direction (a)")
        _curves(last, exact, "ratio", "ratio_ci95")
        style.log_axis(last, "y", "ratio")
        low, high = last.get_ylim()
        low, high = min(low, 0.4), max(high, 2.5)
        last.set_ylim(low, high)
        ticks = LogLocator(subs=(1, 2, 5) if high < 50 * low else (1,), numticks=20)
        last.yaxis.set_major_locator(ticks)
        last.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if not decades:
        # One scale, so that both calibrations can be compared.
        limits = np.array([axes.get_ylim() for axes in (upper, lower)])
        for axes in (upper, lower):
            axes.set_ylim(limits[:, 0].min(), limits[:, 1].max())
    upper.autoscale(enable=False, axis="y")
    handles = _handles(frame, mechanism, baseline)
    handles += style.published_values(upper, theirs, catalogue.look(mechanism))
    style.log_axis(last, "x", "claimed ε")
    style.legend(figure, handles, columns=3, handlelength=5)
    return figure


def _label(rows: pd.DataFrame, mechanism: str) -> str:
    return frames.mechanism_label(rows) if len(rows) else catalogue.label(mechanism)


def _curves(axes: Axes, rows: pd.DataFrame, mean: str, ci95: str) -> None:
    if not rows[mean].notna().any():
        style.say(axes, "no guarantee at any ε, or not run")
        return
    for number, (_, part) in enumerate(rows.groupby("direction")):
        look = style.direction(str(part["mechanism"].iloc[0]), number)
        style.curve(axes, part["epsilon"], part[mean], part[ci95], as_=look)


def _handles(frame: pd.DataFrame, mechanism: str, baseline: str) -> list[Any]:
    ours = frame[frame["role"].eq("mechanism")]
    labels = enumerate(ours.groupby("direction")["favours"].first())
    handles: list[Any] = [
        tuple(style.key(text, style.direction(name, number)) for name in (mechanism, EXACT))
        for number, text in labels
    ]
    for name in (baseline, "nonprivate"):
        zero = ": 0" if abs(frames.level(frame, name)) < ROUNDING else ""
        handles.append(style.key(catalogue.label(name) + zero, catalogue.look(name), marker=""))
    return handles


def build(run: Run, experiment: str) -> Figure:
    """Return the figure."""
    return Figure(
        title=f"Noise directions: {catalogue.experiment(experiment).title}",
        caption=(
            "Mean error by noise direction with 95 % intervals, for the mechanism as the paper "
            "defines it and for the same directions calibrated exactly. The paper prints one "
            "value. (a) is its choice. Comparisons are with every other direction, corrected; the "
            "rest are open."
        ),
        frame=tidy(experiment, run),
        draw=draw,
    )
