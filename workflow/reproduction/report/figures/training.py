"""What figures of training share: accuracy against claimed and delivered epsilon."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from reproduction import catalogue
from reproduction.report import summary
from reproduction.report.figures import frames, style
from reproduction.report.inputs import Run
from reproduction.report.statistics import exceeds

#: Delivered epsilons beyond these are drawn at the edge: no accuracy, or no privacy, is left.
LEAST, MOST = 1e-3, 1e4

#: Width of a panel that was not run, where one that was has 1.
ABSENT = 0.22

#: The two rows of panels: the column on the x axis, and the label of the axis.
ROWS = {"epsilon": "claimed ε", "epsilon_delivered": "delivered ε"}


def tidy(run: Run) -> pd.DataFrame:
    """Return the rows of all experiments that were run, with ``epsilon_delivered``.

    ``leading`` marks the baselines and the mechanisms of :func:`leading`, which are drawn.
    """
    parts = []
    for every in (run[file] for file in run if file.startswith("rows/")):
        rows = frames.rows_to_draw(every, "against_baseline", "also", "repeats")
        if rows["role"].eq("mechanism").any():
            place = summary.place_of_default(every, run.table_epsilon)
            parts.append(rows.rename(columns={"repeats": "_repeats"}).assign(place=place))
    joined = frames.stack_frames(parts)
    if joined.empty:
        return joined
    return joined.assign(leading=joined["mechanism"].isin(leading(joined, run.table_epsilon)))


def leading(rows: pd.DataFrame, table_epsilon: float) -> set[str]:
    """Return the baselines and the mechanisms that a figure has room for.

    They are those of the papers, those that IMGM's paper compares, those without an entry in the
    catalogue, and by experiment the most accurate one that keeps its promise.
    """
    papers = catalogue.compared_mechanisms("IMGM")
    names = rows["mechanism"]
    first = rows["role"].ne("mechanism") | names.isin(papers) | ~names.isin([*catalogue.legends()])
    results = rows[rows["role"].eq("mechanism") & rows["mean"].notna()]
    at = summary.shown_epsilon(results["epsilon"], table_epsilon)
    results = results[results["epsilon"].eq(at) & ~exceeds(results["epsilon_delivered"], at)]
    best = results.loc[results.groupby("experiment")["mean"].idxmax(), "mechanism"]
    return {*names[first], *best}


def draw(frame: pd.DataFrame, panels: Sequence[str] = ()) -> style.Drawing:
    """Draw a column of panels per experiment: claimed epsilon above, delivered epsilon below.

    ``panels`` are experiments that come first. One that was not run says so, and how to run it.
    """
    frame = frame[frame["leading"].eq(True)]
    results = frame[frame["role"].eq("mechanism") & frame["mean"].notna()]
    ran = list(dict.fromkeys(results["experiment"]))
    if not ran:
        return style.message("no scheme has a result")
    experiments = list(dict.fromkeys([*panels, *ran]))
    widths = {"width_ratios": [1 if name in ran else ABSENT for name in experiments]}
    figure, grid = style.canvas(6.6, len(ROWS), len(experiments), **widths)
    for panel, (column, experiment) in enumerate(zip(grid.T, experiments, strict=True)):
        if experiment not in ran:
            _absent(column, catalogue.experiment(experiment))
            continue
        rows = frame[frame["experiment"].eq(experiment)]
        ours = rows[rows["role"].eq("mechanism") & ~rows["_repeats"].eq(True)]
        title, place = catalogue.experiment(experiment).title, rows["place"].iloc[0]
        column[0].set_title(f"{title}\n({place})" if place else title)
        for axes, (across, text) in zip(column, ROWS.items(), strict=True):
            for name, part in frames.split_mechanisms(ours):
                _scheme(axes, part, across, catalogue.look(name))
            for level in rows[rows["role"].eq("level")].itertuples():
                style.level(axes, level.mean, level.mechanism)
            style.log_axis(axes, "x", text)
            _finish(axes, rows, "" if panel else frames.axis(rows))
        _edges(column[1], ours["epsilon_delivered"])
    _legend(figure, frame)
    return figure


def _absent(column: Sequence[Axes], panel: catalogue.Experiment) -> None:
    """Say in the panels of an experiment that it was not run, and below how to run it."""
    for axes, text in zip(
        column, (f"{panel.data or panel.name}: not run here", command(panel)), strict=True
    ):
        axes.set(xticks=[], yticks=[], facecolor="#F4F4F4")
        axes.spines[:].set_visible(False)
        text = textwrap.fill(text, 34)
        axes.text(0.5, 0.5, text, rotation=90, ha="center", va="center", color="#555555", size=8)


def command(panel: catalogue.Experiment) -> str:
    """Return the command that trains on it."""
    return panel.command or "make"


def _scheme(axes: Axes, part: pd.DataFrame, across: str, look: catalogue.Look) -> None:
    part = part[part["mean"].notna()].sort_values(across, kind="stable")
    if across == "epsilon":
        style.curve(axes, part["epsilon"], part["mean"], part["ci95"], as_=look)
        return
    x = part["epsilon_delivered"].clip(LEAST, MOST)
    inside = part["epsilon_delivered"].between(LEAST, MOST)
    axes.plot(x[inside], part["mean"][inside], color=look.colour, linewidth=0.8, alpha=0.6)
    style.curve(axes, x, part["mean"], part["ci95"], as_=look, bars=True, linestyle="none")


def _edges(axes: Axes, true: pd.Series) -> None:
    """Scale the axis to delivered epsilons, and name its ends where some lie beyond them."""
    visible = true.clip(LEAST, MOST)
    axes.set_xlim(visible.min() / 1.6, visible.max() * 1.6)
    ends = {LEAST: f"≤ {LEAST:g}", MOST: f"≥ {MOST:g}"}
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ends.get(value, f"{value:g}")))


def _finish(axes: Axes, rows: pd.DataFrame, name: str) -> None:
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))
    # Intervals of very few trials are too wide to fit, and may be cut off.
    half = rows["ci95"].fillna(0).clip(upper=0.1)
    low, high = (rows["mean"] - half).min(), (rows["mean"] + half).max()
    axes.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    axes.set_ylabel(name)


def _legend(figure: style.Drawing, frame: pd.DataFrame) -> None:
    """Name every scheme and baseline once below all panels."""
    ours = frame[frame["role"].eq("mechanism") & ~frame["_repeats"].eq(True)]
    keys = [
        style.key(frames.mechanism_label(part), catalogue.look(name))
        for name, part in frames.split_mechanisms(ours)
    ]
    levels = frame.loc[frame["role"].eq("level"), "mechanism"].unique()
    keys += [style.key(catalogue.label(n), catalogue.look(n), marker="") for n in levels]
    style.legend(figure, keys, columns=3 if len(keys) > 12 else 2)
