"""How much noise each mechanism adds at the same budget: the picture that explains the tables."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from matrixdp import catalogue
from matrixdp.report import comparisons, markup, summary
from matrixdp.report.entries import Tables, by_experiment
from matrixdp.report.figures import base, frames, style

NOMINAL = 1.0

#: Where the paper's query is the data, these answer with second moments instead.
ON_MOMENTS = (
    *("analyze_gauss", "analyze_gauss_2006", "analyze_gauss_analytic", "goe"),
    *("clipped_moments", "clipped_public"),
)

#: The family whose noise has no slack.
EXACT = "Gaussian, exactly calibrated"

QUIET = "#EFEFEF"


def tidy(tables: Tables) -> pd.DataFrame:
    """Return what is shown at epsilon 1, with ``lower`` and ``upper``: the entries' range.

    Of a mechanism with a free parameter, the value fixed in public, with ``least`` and ``most``:
    the noise over all values and directions. The bounds come from Table 2; NaN where features have
    different ones.
    """
    parts = []
    for experiment, table in by_experiment(tables, "summary").items():
        rows = frames.cells(table)
        rows = rows[rows["kind"].eq("mechanism") & rows["epsilon"].eq(NOMINAL)]
        # A radius fixed in public is a mechanism of its own.
        rows = rows[~rows["variant"].str.startswith("radius=")]
        ends = rows.groupby("mechanism")["noise_std"].agg(least="min", most="max")
        rows = rows[summary.in_first_direction(rows)]
        parameter, _, value = rows["variant"].str.partition("=").to_numpy(dtype=object).T
        public = [
            comparisons.base(name, value[rows["mechanism"].eq(own) & (parameter == name)])
            if name in comparisons.BASES
            else of
            for own, name, of in zip(rows["mechanism"], parameter, value, strict=True)
        ]
        rows = comparisons.once(rows[value == public].join(ends, on="mechanism"), table)
        lower, upper = frames.bounds(tables["tables/table2"], experiment)
        rows = rows.assign(lower=lower, upper=upper).drop(columns="n_trials", errors="ignore")
        parts.append(rows.sort_values("noise_std", ascending=False, kind="stable"))
    return frames.join(parts)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one panel per experiment, its mechanisms from the loudest to the quietest."""
    panels = dict(list(frame.groupby("experiment", sort=False)))
    heights = [max(3, rows["noise_std"].count()) for rows in panels.values()]
    height = 0.75 * len(heights) + 0.7 + 0.21 * sum(heights)
    figure, grid = style.canvas(height, len(heights), sharex=True, height_ratios=heights)
    style.log_axis(grid[-1, 0], "x", "standard deviation of the noise in one released entry")
    noise = frame[["least", "most"]].stack().dropna()
    if len(noise):
        grid[0, 0].set_xlim(noise.min() / 3, noise.max() * 10)
    for axes, (experiment, rows) in zip(grid[:, 0], panels.items(), strict=True):
        about = catalogue.experiment(str(experiment))
        axes.set_title(about.title + (f", {about.data} data" if about.data else ""))
        _panel(axes, rows, str(experiment))
    free = Line2D([], [], color="#999999", linewidth=4, alpha=0.5)
    free.set_label("all values of the free parameter, all directions")
    quiet = Patch(facecolor=QUIET, edgecolor=style.INK)
    quiet.set_label("less noise than an entry's public range")
    style.legend(figure, [quiet, free], columns=2)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame, experiment: str) -> None:
    said = rows["note"].str.partition(":")[0].where(rows["note"].ne(""), "no fixed deviation")
    silent = rows["noise_std"].isna()
    notes = [
        textwrap.fill(f"{why.capitalize()}: {'; '.join(map(catalogue.label, own))}", 135)
        for why, own in rows[silent].groupby(said, sort=False)["mechanism"]
    ]
    # Below what the last panel has below itself.
    style.note(axes, "\n".join(notes), below=40 if axes.get_xlabel() else 5)
    if silent.all():
        axes.set_yticks([])
        style.say(axes, f"nothing ran with a guarantee at ε = {NOMINAL:g}")
        return
    width = (rows["upper"] - rows["lower"]).max()
    if np.isfinite(width):
        axes.axvspan(1e-12, width, color=QUIET, zorder=0, linewidth=0)
        axes.axvline(width, color=style.INK, linewidth=1)
    names = []
    for place, row in enumerate(rows[~silent].itertuples()):
        look = catalogue.look(row.mechanism)
        moments = _in_another_unit(experiment, row.mechanism)
        names.append(frames.named(rows.loc[[row.Index]]) + (", on X Xᵀ / n" if moments else ""))
        axes.hlines(place, axes.get_xlim()[0], row.noise_std, color="#CCCCCC", linewidth=0.8)
        axes.hlines(place, row.least, row.most, color=look.colour, linewidth=4, alpha=0.35)
        axes.plot(row.noise_std, place, look.marker, color=look.colour, markersize=6.5)
        style.beside(axes, frames.count(row.noise_std, 3), (row.most, place))
    style.name_rows(axes, names)


def _in_another_unit(experiment: str, mechanism: str) -> bool:
    """Return whether a row's noise is on second moments where that of the others is on the data."""
    return catalogue.experiment(experiment).setup.get("query") == "X" and mechanism in ON_MOMENTS


def _ends(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the loudest and the quietest mechanism of each experiment, and noise over the best.

    ``times`` is over the quietest Gaussian noise that is calibrated exactly for the same query.
    """
    found = []
    for experiment, rows in frame.groupby("experiment", sort=False):
        rows = rows[[not _in_another_unit(str(experiment), one) for one in rows["mechanism"]]]
        noise = rows.set_index("mechanism")["noise_std"].dropna()
        exact = noise[[catalogue.family(one) == EXACT for one in noise.index]]
        if len(noise) > 1:
            loud, quiet = noise.idxmax(), noise.idxmin()
            over, times = noise.max() / noise.min(), noise.max() / exact.min()
            ends = {"loud": loud, "quiet": quiet, "over": over, "times": times}
            found.append({"experiment": experiment} | ends)
    return found


def words(frame: pd.DataFrame) -> dict[str, Any]:
    """Name the loudest and the quietest mechanism of each experiment.

    Where the loudest are of one family, by how much it exceeds exactly calibrated noise.
    """
    ends = _ends(frame)
    found = (
        f"{catalogue.experiment(one['experiment']).name}: {catalogue.label(one['loud'])} adds "
        f"{markup.short(one['over'])} times the noise of {catalogue.label(one['quiet'])}"
        for one in ends
    )
    told: dict[str, Any] = {"nominal": NOMINAL, "found": "; ".join(found), "family": None}
    family, *more = {catalogue.family(one["loud"]) for one in ends} or {""}
    times = pd.Series([one["times"] for one in ends], dtype=float)
    if more or times.empty or times.isna().any():
        return told
    return told | {"family": family, "times": markup.span(times, frames.count)}


FIGURES = {
    "noise_levels": base.Figure(
        title="How much noise each mechanism adds at epsilon = 1",
        words=words,
        inputs=("summary/{experiment}", "tables/table2"),
        data=tidy,
        draw=draw,
    ),
}
