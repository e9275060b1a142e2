"""How much noise each mechanism adds at the same budget: the picture that explains the tables."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from matrixdp import catalogue
from matrixdp.report import markup
from matrixdp.report.entries import Tables, by_experiment
from matrixdp.report.figures import base, frames, style

NOMINAL = 1.0

#: Where the paper's query is the data, these answer with second moments instead.
ON_MOMENTS = ("analyze_gauss", "analyze_gauss_2006", "analyze_gauss_analytic", "goe")


def tidy(tables: Tables) -> pd.DataFrame:
    """Return the shown rows at epsilon 1, with ``lower`` and ``upper``: the entries' range.

    The bounds come from Table 2; NaN where features have different ones.
    """
    parts = []
    for experiment, table in by_experiment(tables, "summary").items():
        rows = frames.shown(table)
        rows = rows[rows["kind"].eq("mechanism") & rows["epsilon"].eq(NOMINAL)]
        bounds = frames.setup(tables["tables/table2"], "bounds", experiment)
        found = re.fullmatch(r"\[(\S+), (\S+)\]", bounds)
        lower, upper = map(float, found.groups() if found else ("nan", "nan"))
        rows = rows.assign(lower=lower, upper=upper)
        parts.append(rows.sort_values("noise_std", ascending=False, kind="stable"))
    return frames.join(parts)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one panel per experiment, its mechanisms from the loudest to the quietest."""
    panels = dict(list(frame.groupby("experiment", sort=False)))
    heights = [max(3, len(rows)) for rows in panels.values()]
    height = 1.4 + 0.21 * sum(heights)
    figure, grid = style.canvas(height, len(heights), sharex=True, height_ratios=heights)
    # One common axis, set before anything is written at its left end.
    style.log_axis(grid[-1, 0], "x", "standard deviation of the noise in one released entry")
    noise = frame["noise_std"].dropna()
    if len(noise):
        grid[0, 0].set_xlim(noise.min() / 3, noise.max() * 10)
    for axes, (experiment, rows) in zip(grid[:, 0], panels.items(), strict=True):
        about = catalogue.experiment(str(experiment))
        axes.set_title(about.title + (f", {about.data} data" if about.data else ""))
        _panel(axes, rows, str(experiment))
    text = "less noise than the width of an entry's public range"
    style.legend(figure, [Patch(facecolor="#EFEFEF", edgecolor=style.INK, label=text)], columns=1)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, experiment: str) -> None:
    if not rows["noise_std"].notna().any():
        axes.set_yticks([])
        style.say(axes, f"nothing ran with a guarantee at ε = {NOMINAL:g}")
        return
    width = (rows["upper"] - rows["lower"]).max()
    if np.isfinite(width):
        axes.axvspan(1e-12, width, color="#EFEFEF", zorder=0, linewidth=0)
        axes.axvline(width, color=style.INK, linewidth=1)
    names = []
    for place, row in enumerate(rows.itertuples()):
        look = catalogue.look(row.mechanism)
        moments = _in_another_unit(experiment, row.mechanism)
        names.append(catalogue.label(row.mechanism) + (", on X Xᵀ / n" if moments else ""))
        if np.isnan(row.noise_std):
            why = row.note.partition(":")[0] or "no fixed standard deviation"
            style.say_in_row(axes, place, why)
            continue
        axes.hlines(place, axes.get_xlim()[0], row.noise_std, color="#CCCCCC", linewidth=0.8)
        axes.plot(row.noise_std, place, look.marker, color=look.colour, markersize=6.5)
        text, at = markup.short(row.noise_std), (row.noise_std, place)
        axes.annotate(text, at, (7, 0), textcoords="offset points", va="center", fontsize=8)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)


def _in_another_unit(experiment: str, mechanism: str) -> bool:
    """Return whether a row's noise is on second moments where that of the others is on the data."""
    return catalogue.experiment(experiment).setup.get("query") == "X" and mechanism in ON_MOMENTS


def _ends(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the loudest and the quietest mechanism of each experiment, and their ratio."""
    found = []
    for experiment, rows in frame.groupby("experiment", sort=False):
        rows = rows[[not _in_another_unit(str(experiment), one) for one in rows["mechanism"]]]
        noise = rows.set_index("mechanism")["noise_std"].dropna()
        if len(noise) > 1:
            times = noise.max() / noise.min()
            found.append(
                {"of": experiment, "loud": noise.idxmax(), "quiet": noise.idxmin(), "times": times}
            )
    return found


def finding(frame: pd.DataFrame) -> str:
    """Say how far apart the noise of mechanisms lies, and whether one family is always loudest."""
    ends = _ends(frame)
    families = {catalogue.family(str(one["loud"])) for one in ends}
    if len(families) != 1:
        return ""
    times = markup.span(pd.Series([one["times"] for one in ends]))
    (family,) = families
    return catalogue.finding("noise_levels", nominal=NOMINAL, family=family, times=times)


def caption(frame: pd.DataFrame) -> str:
    """Name the loudest and the quietest mechanism of each experiment."""
    found = (
        f"{catalogue.experiment(one['of']).name}: {catalogue.label(one['loud'])} adds "
        f"{markup.short(one['times'])} times the noise of {catalogue.label(one['quiet'])}"
        for one in _ends(frame)
    )
    return catalogue.caption("noise_levels", nominal=NOMINAL, found="; ".join(found))


FIGURES = {
    "noise_levels": base.Figure(
        title="How much noise each mechanism adds at epsilon = 1",
        finding=finding,
        caption=caption,
        inputs=("summary/{experiment}", "tables/table2"),
        data=tidy,
        draw=draw,
    ),
}
