"""What figures of training share: accuracy against claimed and delivered epsilon."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from reproduction import catalogue
from reproduction.report import inputs, summary
from reproduction.report.figures import frames, style
from reproduction.report.inputs import Run
from reproduction.report.statistics import exceeds

#: Delivered epsilons beyond these are drawn at the edge: no accuracy, or no privacy, is left.
LEAST, MOST = 1e-3, 1e4

#: Look of a point whose noise gives more than the claimed epsilon.
HOLLOW = {"markerfacecolor": "white", "markeredgewidth": 1.2}
BROKEN = "hollow: more than the claimed ε, not private"

#: How names of files with rows begin: those of the run, and those that are kept of another one.
ROWS_OF = ("rows/", f"{inputs.IMAGES}/rows/")

#: Letters of all titles of panels in one line.
LETTERS = 93

#: The two rows of panels: the column on the x axis, and the label of the axis.
ROWS = {"epsilon": "claimed ε", "epsilon_delivered": "delivered ε"}


def tidy(run: Run) -> pd.DataFrame:
    """Return the rows of all experiments that were run, with ``epsilon_delivered``.

    ``leading`` marks the baselines and the mechanisms of :func:`leading`, which are drawn.
    ``kept_status`` is the status of the data of a kept run, and empty in rows of this one.
    """
    parts = []
    for file in (file for file in run if file.startswith(ROWS_OF)):
        every = run[file]
        rows = frames.rows_to_draw(every, "against_baseline", "also", "repeats")
        if rows["role"].eq("mechanism").any():
            place = summary.place_of_default(every, run.table_epsilon)
            status = every["data_status"].iloc[0] if file.startswith(inputs.IMAGES) else None
            rows = rows.rename(columns={"repeats": "_repeats"})
            parts.append(rows.assign(place=place, kept_status=status))
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

    A point is hollow where its noise gives more than the claimed epsilon. Of ``panels``,
    experiments that come first, those that were not run are left out.
    """
    frame = frame[frame["leading"].eq(True)]
    results = frame[frame["role"].eq("mechanism") & frame["mean"].notna()]
    ran = list(dict.fromkeys(results["experiment"]))
    if not ran:
        return style.message("no scheme has a result")
    experiments = [name for name in dict.fromkeys([*panels, *ran]) if name in ran]
    figure, grid = style.canvas(6.6, len(ROWS), len(experiments))
    for panel, (column, experiment) in enumerate(zip(grid.T, experiments, strict=True)):
        rows = frame[frame["experiment"].eq(experiment)]
        ours = rows[rows["role"].eq("mechanism") & ~rows["_repeats"].eq(True)]
        about, place = catalogue.experiment(experiment), rows["place"].iloc[0]
        if kept := rows["kept_status"].dropna().unique().tolist():
            place = f"{kept[0]}, of a kept run"
        place = textwrap.fill(f"({place})" if place else "", LETTERS // len(experiments))
        column[0].set_title("\n".join(filter(None, (about.data or about.name, place))))
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


def command(panel: catalogue.Experiment) -> str:
    """Return the command that trains on it."""
    return panel.command or "make"


def _scheme(axes: Axes, part: pd.DataFrame, across: str, look: catalogue.Look) -> None:
    part = part[part["mean"].notna()].sort_values(across, kind="stable")
    delivered = across == "epsilon_delivered"
    x = part[across].clip(LEAST, MOST) if delivered else part[across]
    line = part[x.eq(part[across])]
    thin: dict[str, Any] = {"linewidth": 0.8} if delivered else {}
    axes.plot(line[across], line["mean"], color=look.colour, linestyle=look.line, **thin)
    style.curve(
        axes, x, part["mean"], part["ci95"], as_=look, bars=delivered, linestyle="", marker=""
    )
    broken = _broken(part)
    for points, kind in (
        (~broken, {"markeredgecolor": "white", "markeredgewidth": 0.5}),
        (broken, HOLLOW),
    ):
        colours = {"color": look.colour, "marker": look.marker, "linestyle": ""}
        axes.plot(x[points], part["mean"][points], **colours | kind)


def _broken(rows: pd.DataFrame) -> pd.Series:
    return exceeds(rows["epsilon_delivered"], rows["epsilon"])


def _edges(axes: Axes, true: pd.Series) -> None:
    """Scale the axis to delivered epsilons, and name its ends where some lie beyond them."""
    visible = true.clip(LEAST, MOST)
    axes.set_xlim(visible.min() / 1.6, visible.max() * 1.6)
    ends = {LEAST: f"≤ {LEAST:g}", MOST: f"≥ {MOST:g}"}
    # The long label of an end needs the room of its neighbour.
    ends |= {10 * LEAST: ""} if visible.min() == LEAST else {}
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
        style.key(
            frames.mechanism_label(part),
            catalogue.look(name),
            **HOLLOW if _broken(part).all() else {},
        )
        for name, part in frames.split_mechanisms(ours)
    ]
    levels = frame.loc[frame["role"].eq("level"), "mechanism"].unique()
    keys += [style.key(catalogue.label(n), catalogue.look(n), marker="") for n in levels]
    if _broken(ours).any():
        keys.append(style.key(BROKEN, catalogue.Look(style.INK, "o", ""), **HOLLOW))
    style.legend(figure, keys, columns=3 if len(keys) > 12 else 2)
