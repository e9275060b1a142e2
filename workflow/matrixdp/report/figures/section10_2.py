"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from matrixdp import catalogue
from matrixdp.report import comparisons
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, frames, style
from matrixdp.report.markup import short
from matrixdp.report.tables.section10_2 import ALL, ON_ALL, TWO

NOMINAL = 1.0

#: Curves of each set of features: its strongest mechanisms, and those of the paper.
CURVES = {TWO: ("analytic_gaussian", "jl_exact"), ALL: ("mvg_binary", "directional_gaussian")}


def tidy(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments (``features`` names the set), and published values."""
    reduced, full = (
        frames.add_verdicts(
            frames.table_rows(tables[f"summary/{name}"]), tables[f"comparisons/{name}"]
        )
        for name in ("section10_2", "regression")
    )
    full = full[full["mechanism"].isin(ON_ALL)]
    if not (len(reduced) and len(full)):
        return reduced.iloc[:0]
    theirs = frames.published(tables["published/table3"], "regression")
    theirs = theirs[theirs["mechanism"].isin(ON_ALL) & theirs["epsilon"].notna()]
    alone = frames.published(tables["published/section10_2"], "regression")
    parts = (reduced, TWO), (full, ALL), (alone, TWO), (theirs, ALL)
    return frames.join(part.assign(features=features) for part, features in parts)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw the errors at epsilon 1 above, and against epsilon below."""
    rows = frame[frame["kind"].ne("published")]
    at = rows[rows["epsilon"].eq(NOMINAL) | rows["kind"].eq("level")]
    heights = 0.21 * (len(at) + 2), 2.4
    figure, grid = style.canvas(1.6 + sum(heights), 2, height_ratios=heights)
    inside = _dots(grid[0, 0], frame, at)
    _curves(grid[1, 0], rows)
    handles, _ = grid[1, 0].get_legend_handles_labels()
    theirs = frame[frame["kind"].eq("published")]
    if inside:
        handles.append(style.published_key(theirs["factor"].iloc[0]))
    style.legend(figure, handles, columns=2)
    return figure


def _dots(axes: Axes, frame: pd.DataFrame, at: pd.DataFrame) -> bool:
    """Draw a row per mechanism, under a heading per set of features.

    Return whether a published value lies within the axis.
    """
    axes.set_title(f"At claimed ε = {NOMINAL:g}")
    published = frame[frame["kind"].eq("published")]
    names: list[str] = []
    inside = False
    low, high = (at["mean"] - at["ci95"]).min(), (at["mean"] + at["ci95"]).max()
    # The axis fits our results; published values beyond it are written at the edge.
    most = high + 0.5 * (high - low)
    if np.isfinite(most):
        axes.set_xlim(low - 0.05 * (high - low), most)
    for features in (TWO, ALL):
        names.append(features.capitalize())
        members = at[at["features"].eq(features)]
        levels = members["kind"].eq("level")
        ordered = frames.ordered(members[~levels]) + frames.ordered(members[levels])
        for row in pd.concat([part for _, part in ordered]).itertuples():
            look, place = catalogue.look(row.mechanism), len(names)
            names.append(catalogue.label(row.mechanism))
            if np.isnan(row.mean):
                left = axes.get_yaxis_transform()
                why: dict[str, Any] = {
                    "color": "#777777",
                    "style": "italic",
                    "va": "center",
                    "fontsize": 8,
                }
                axes.text(0.01, place, row.note.partition(":")[0], transform=left, **why)
                continue
            dot: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 6}
            axes.errorbar(row.mean, place, xerr=row.ci95, **dot)
            same = published["mechanism"].eq(row.mechanism) & published["features"].eq(features)
            for their in published[same].itertuples():
                if their.mean + np.nan_to_num(their.ci95) <= most:
                    style.published(axes, their.mean, place, look, xerr=their.ci95)
                    inside = True
                    continue
                where: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "va": "center"}
                beyond = f"published: {short(their.mean)} →"
                axes.text(0.99, place, beyond, fontsize=8, ha="right", **where)
    style.name_rows(axes, names)
    for text in axes.get_yticklabels():
        if text.get_text().lower() in (TWO, ALL):
            text.set_fontweight("bold")
    axes.set_xlabel(frames.axis(frame))
    return inside


def _curves(axes: Axes, rows: pd.DataFrame) -> None:
    axes.set(title="Against ε", ylabel=frames.axis(rows))
    curves = [(features, name) for features, names in CURVES.items() for name in names]
    for place, (features, name) in enumerate(curves):
        part = rows[rows["features"].eq(features) & rows["mechanism"].eq(name)]
        if part["mean"].notna().any():
            x, look = style.dodge(part["epsilon"], place, len(curves)), catalogue.look(name)
            label = f"{catalogue.label(name)}, {features}"
            style.curve(axes, x, part["mean"], part["ci95"], as_=look, label=label, bars=True)
    style.log_axis(axes, "x", "claimed ε")
    for features, line in ((TWO, "--"), (ALL, ":")):
        part = rows[rows["features"].eq(features)]
        level = frames.level(part, "nonprivate")
        if np.isfinite(level):
            text = f"{catalogue.label('nonprivate')}, {features}"
            style.level(axes, level, "nonprivate", text, linestyle=line)


def finding(frame: pd.DataFrame) -> str:
    """Return how many of the rows that the paper compares clearly beat the baseline."""
    ours = frame[frame["kind"].ne("published") & frame["epsilon"].eq(NOMINAL)]
    ours = ours.set_index(["features", "mechanism"])
    rows = ours[ours.index.isin([(TWO, "gaussian_2006"), (TWO, "jl_2012"), (ALL, "mvg_binary")])]
    better = rows["against_chance"].eq(comparisons.BETTER).sum() or "none"
    verb = "beats" if better in (1, "none") else "beat"
    return (
        f"At ε = {NOMINAL:g}, {better} of the {len(rows)} rows that the paper compares clearly "
        f"{verb} the zero predictor"
    )


FIGURES = {
    "section10_2": base.Figure(
        title="Section 10.2: two features alone, or all with directional noise",
        caption=(
            "Mean error with 95 % intervals: regression on ALT and drinks alone, and on all "
            "features with directional noise. Published values are open markers, or numbers at "
            "the edge where they lie beyond it; there, two features have 1.56 (Gaussian) and "
            "1.76 (JL) times the error of MVG."
        ),
        finding=finding,
        inputs=(
            "summary/section10_2",
            "summary/regression",
            "comparisons/section10_2",
            "comparisons/regression",
            "published/section10_2",
            "published/table3",
        ),
        data=tidy,
        draw=draw,
    ),
}
