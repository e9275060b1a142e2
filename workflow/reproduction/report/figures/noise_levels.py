"""The noise of each mechanism at the same budget."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from reproduction import catalogue, job_settings
from reproduction.report import audit_status, comparisons, markup, summary
from reproduction.report.entries import Tables, by_experiment, claimed_epsilon
from reproduction.report.figures import base, frames, style

#: Mechanisms that release second moments where the paper's query is the data.
ON_MOMENTS = (
    *("analyze_gauss", "analyze_gauss_2006", "analyze_gauss_analytic", "goe"),
    *("clipped_moments", "clipped_public"),
)

#: The family whose noise has no slack.
EXACT = "Gaussian, exactly calibrated"

QUIET = "#EFEFEF"


def tidy(tables: Tables) -> pd.DataFrame:
    """Return the noise at the tables' epsilon.

    ``lower`` and ``upper`` are the public range of an entry by Table 2, NaN where features differ.

    Noise in another unit than that of the query is NaN, and its row is ``_elsewhere``.

    A mechanism with a free parameter has the public value; ``least`` and ``most`` are the noise
    over all values and directions.
    """
    settings, parts = tables["settings"], []
    at, fixed = float(settings["table_epsilon"]), job_settings.untuned(settings, middle=True)
    for experiment, table in by_experiment(tables, "summary").items():
        rows = frames.cells(table)
        rows = rows[rows["role"].eq("mechanism") & rows["epsilon"].eq(at)]
        # Rows with a radius that is fixed in public belong to another mechanism.
        rows = rows[~rows["configuration"].str.startswith("squared_radius_fraction=")]
        ends = rows.groupby("mechanism")["noise_std"].agg(least="min", most="max")
        rows = rows[summary.in_first_direction(rows)]
        public = rows["mechanism"].map(fixed)
        rows = rows[rows["configuration"].eq("") | rows["configuration"].eq(public)].join(
            ends, on="mechanism"
        )
        rows = audit_status.joined(rows, tables[f"audit/{experiment}"])
        rows = comparisons.once(rows, tables[f"comparisons/{experiment}"])
        on_data = catalogue.experiment(experiment).setup.get("query") == "X"
        elsewhere = rows["mechanism"].isin(ON_MOMENTS if on_data else [])
        noise = ["noise_std", "least", "most"]
        rows = rows.assign(_elsewhere=elsewhere)
        rows.loc[elsewhere, noise] = np.nan
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
    style.log_axis(grid[-1, 0], "x", "standard deviation of the noise on one entry of the query")
    noise = frame[["least", "most"]].stack().dropna()
    if len(noise):
        grid[0, 0].set_xlim(noise.min() / 3, noise.max() * 10)
    for axes, (experiment, rows) in zip(grid[:, 0], panels.items(), strict=True):
        about = catalogue.experiment(str(experiment))
        query = about.setup.get("query", "")
        axes.set_title(about.title + (f" (query {query})" if query else ""))
        _panel(axes, rows)
    free = Line2D([], [], color="#999999", linewidth=4, alpha=0.5)
    free.set_label("all values of the free parameter, all directions")
    quiet = Patch(facecolor=QUIET, edgecolor=style.INK)
    quiet.set_label("less noise than an entry's public range")
    style.legend(figure, [quiet, free], columns=2)
    return figure


def _panel(axes: Axes, rows: pd.DataFrame) -> None:
    reasons = rows["note"].str.partition(":")[0].where(rows["note"].ne(""), "no fixed deviation")
    reasons = reasons.mask(
        rows["_elsewhere"].astype(bool), "noise on second moments, in another unit"
    )
    silent = rows["noise_std"].isna()
    named = {
        str(why).capitalize(): [frames.mechanism_label(part.loc[[i]]) for i in part.index]
        for why, part in rows[silent].groupby(reasons, sort=False)
    }
    # The last panel has ticks and a label below, and so needs more room.
    style.notes(axes, named, below=40 if axes.get_xlabel() else 5)
    if silent.all():
        axes.set_yticks([])
        style.say(axes, f"nothing ran with a guarantee at ε = {rows['epsilon'].iloc[0]:g}")
        return
    width = (rows["upper"] - rows["lower"]).max()
    if np.isfinite(width):
        axes.axvspan(1e-12, width, color=QUIET, zorder=0, linewidth=0)
        axes.axvline(width, color=style.INK, linewidth=1)
    names = []
    for number, row in enumerate(rows[~silent].itertuples()):
        look = catalogue.look(row.mechanism)
        names.append(frames.mechanism_label(rows.loc[[row.Index]]))
        axes.hlines(number, axes.get_xlim()[0], row.noise_std, color="#CCCCCC", linewidth=0.8)
        axes.hlines(number, row.least, row.most, color=look.colour, linewidth=4, alpha=0.35)
        kind = {"marker": look.marker, "linestyle": "none", "color": look.colour}
        axes.plot(row.noise_std, number, markersize=6.5, **kind)
        style.beside(axes, frames.count(row.noise_std, 3), (row.most, number))
    style.name_rows(axes, names)


def finding(frame: pd.DataFrame) -> str:
    """Return by how many times the noise of the noisiest family exceeds exact calibration.

    Empty where mechanisms of several families have the largest noise of an experiment.
    """
    noisiest, times = set(), []
    for _, rows in frame.groupby("experiment", sort=False):
        rows = rows[~audit_status.refuted(rows)]
        noise = rows.set_index("mechanism")["noise_std"].dropna()
        families = noise.index.map(lambda name: catalogue.family(str(name)))
        if len(noise) > 1:
            family = families[noise.argmax()]
            noisiest.add(family)
            times.extend(noise[families == family] / noise[families == EXACT].min())
    if len(noisiest) != 1 or np.isnan(times).any():
        return ""
    span = markup.span(pd.Series(times), frames.count)
    words = f"{noisiest.pop()} adds {span} times the least exactly calibrated Gaussian noise"
    return f"At ε = {claimed_epsilon(frame):g}, {words}"


FIGURES = {
    "noise_levels": base.Figure(
        title="How much noise each mechanism adds at epsilon = {claimed_epsilon}",
        caption=(
            "Standard deviation of the noise on one entry of each experiment's query (root mean "
            "square over entries), at δ = 1/n, in units of the scaled data. Left of the line it "
            "is smaller than the range of an entry. Mechanisms that answer with something else "
            "than the query are named below."
        ),
        finding=finding,
        data=tidy,
        draw=draw,
    ),
}
