"""Section 10.2 of the MVG paper: two features alone against all with directional noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reproduction import catalogue
from reproduction.report import comparisons, standings, summary
from reproduction.report.entries import Tables, claimed_epsilon
from reproduction.report.figures import base, frames, style
from reproduction.report.markup import short
from reproduction.report.tables.section10_2 import ALL, ON_ALL, TWO


def tidy(tables: Tables) -> pd.DataFrame:
    """Return the rows of both experiments (``features`` names the set), and published values."""
    both = []
    for name in ("section10_2", "regression"):
        rows, compared = frames.table_rows(tables[f"summary/{name}"]), tables[f"comparisons/{name}"]
        outcomes = comparisons.verdicts(rows, compared, summary.trivial(rows))
        rows = rows.assign(against_baseline=outcomes)
        both.append(standings.joined(rows, tables.get(f"audit/{name}")))
    reduced, full = both
    full = full[full["mechanism"].isin(ON_ALL)]
    if not (len(reduced) and len(full)):
        return reduced.iloc[:0]
    theirs = frames.published(tables["published/table3"], "regression")
    theirs = theirs[theirs["mechanism"].isin(ON_ALL) & theirs["epsilon"].notna()]
    alone = frames.published(tables["published/section10_2"], "regression")
    parts = (reduced, TWO), (full, ALL), (alone, TWO), (theirs, ALL)
    return frames.join(part.assign(features=features) for part, features in parts)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw a row per mechanism at the tables' epsilon, under a heading per set of features."""
    theirs = frame[frame["kind"].eq("published")]
    ours = frame.drop(theirs.index)
    at = ours[ours["epsilon"].eq(claimed_epsilon(frame)) | ours["kind"].eq("level")]
    figure, ((axes,),) = style.canvas(1.3 + 0.21 * (len(at) + 2))
    # The axis fits our results; published values beyond it are written at the edge.
    low, high = (at["mean"] - at["ci95"]).min(), (at["mean"] + at["ci95"]).max()
    most = high + 0.5 * (high - low)
    if np.isfinite(most):
        axes.set_xlim(low - 0.05 * (high - low), most)
    names: list[str] = []
    inside = False
    for features in (TWO, ALL):
        names.append(features.capitalize())
        members = at[at["features"].eq(features)]
        levels = members["kind"].eq("level")
        ordered = frames.ordered(members[~levels]) + frames.ordered(members[levels])
        for row in pd.concat([part for _, part in ordered]).itertuples():
            same = theirs["mechanism"].eq(row.mechanism) & theirs["features"].eq(features)
            inside |= _row(axes, len(names), row, theirs[same], most)
            names.append(frames.mechanism_label(at.loc[[row.Index]]))
    style.name_rows(axes, names)
    for text in axes.get_yticklabels():
        if text.get_text().lower() in (TWO, ALL):
            text.set_fontweight("bold")
    axes.set(title=f"At claimed ε = {claimed_epsilon(frame):g}", xlabel=frames.axis(frame))
    if inside:
        style.legend(figure, [style.published_key(theirs["factor"].iloc[0])], columns=1)
    return figure


def _row(axes: Axes, place: int, row: Any, theirs: pd.DataFrame, most: float) -> bool:
    """Draw a row, and return whether its published value lies within the axis."""
    if np.isnan(row.mean):
        style.edge(axes, (0.01, place), row.note.partition(":")[0], "left")
        return False
    look = catalogue.look(row.mechanism)
    dot: dict[str, Any] = {"color": look.colour, "marker": look.marker, "markersize": 6}
    axes.errorbar(row.mean, place, xerr=row.ci95, **dot)
    inside = theirs["mean"].add(theirs["ci95"].fillna(0)).le(most)
    for their in theirs[inside].itertuples():
        style.published(axes, their.mean, place, look, xerr=their.ci95)
    for mean in theirs.loc[~inside, "mean"]:
        style.edge(axes, (0.99, place), f"published: {short(mean)} →", "right")
    return bool(inside.any())


def finding(frame: pd.DataFrame) -> str:
    """Return how many of the rows that the paper compares clearly beat the baseline."""
    at = claimed_epsilon(frame)
    ours = frame[frame["kind"].ne("published") & frame["epsilon"].eq(at)]
    ours = ours[~standings.refuted(ours)].set_index(["features", "mechanism"])
    rows = ours[ours.index.isin([(TWO, "gaussian_2006"), (TWO, "jl_2012"), (ALL, "mvg_binary")])]
    better = rows["against_baseline"].eq(comparisons.BETTER).sum() or "none"
    verb = "beats" if better in (1, "none") else "beat"
    return (
        f"At ε = {at:g}, {better} of the {len(rows)} rows that the paper compares "
        f"clearly {verb} the zero predictor"
    )


FIGURES = {
    "section10_2": base.Figure(
        title="Section 10.2: two features alone, or all with directional noise",
        caption=lambda frame: (
            f"Mean error at ε = {claimed_epsilon(frame):g} with 95 % intervals: regression on ALT "
            "and drinks alone, and on all features with directional noise. Published values are "
            "open markers, or numbers at the edge where they lie beyond it; there, two features "
            "have 1.56 (Gaussian) and 1.76 (JL) times the error of MVG."
        ),
        finding=finding,
        data=tidy,
        draw=draw,
    ),
}
