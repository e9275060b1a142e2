"""Error against the claimed epsilon: the papers' mechanisms, and the best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reproduction import catalogue
from reproduction.report import advisable, audit_status, comparisons, markup
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.statistics import ROUNDING

#: What its data say of a row beside the columns of every figure.
JOINED = ("against_baseline", *audit_status.COLUMNS, "advisable", "also")

REFUSED = [style.key("no guarantee at this ε", catalogue.Look(style.INK, "x", "none"))]


def tidy(experiment: str, run: Run) -> pd.DataFrame:
    """Return the rows that a table shows at every epsilon, baselines and published values.

    ``leading`` marks those that are drawn: of the mechanisms of :func:`drawn_mechanisms`, of the
    best baseline that costs no privacy, and of the result without privacy.
    """
    rows = run[f"rows/{experiment}"]
    ours = frames.rows_to_draw(rows[rows["shown"] & ~rows["repeats"]], *JOINED)
    if not ours["role"].eq("mechanism").any():
        return ours.iloc[:0]
    published = run.published(catalogue.experiment(experiment).results)
    theirs = frames.published_rows(published, experiment).dropna(subset="epsilon")
    levels = {catalogue.NONPRIVATE, rows["baseline"].iloc[0]}
    drawn = drawn_mechanisms(ours, run.table_epsilon) | levels
    frame = frames.stack_frames([ours, theirs])
    return frame.assign(leading=frame["mechanism"].isin(drawn))


def drawn_mechanisms(rows: pd.DataFrame, epsilon: float) -> set[str]:
    """Return the mechanisms of the papers, those without an entry in the catalogue, and the best.

    The best one has the best mean at an epsilon of those that may be advised; there may be none.
    """
    papers = catalogue.compared_mechanisms("MVG")
    rows = rows[rows["role"].eq("mechanism")]
    drawn = {
        row["mechanism"]
        for row in rows.to_dict("records")
        if {*comparisons.equal_names(row)} & papers or row["mechanism"] not in catalogue.legends()
    }
    advised = rows[rows["advisable"].eq(advisable.YES) & rows["epsilon"].eq(epsilon)]
    means = advised.set_index("mechanism")["mean"].dropna()
    if means.empty:
        return drawn
    larger = catalogue.metric(str(advised["metric"].iloc[0])).larger
    return drawn | {str(means.idxmax() if larger else means.idxmin())}


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw the leading mechanisms, their names beside them.

    Crosses at the bottom mark epsilons without a guarantee.
    """
    frame = frame[frame["leading"]]
    ours, theirs = (frame[frame["role"].eq(role)] for role in ("mechanism", "published"))
    figure, ((axes,),) = style.canvas(4.4)
    finish(axes, frame)
    if not ours["mean"].notna().any():
        style.say(axes, "no guarantee at any ε")
    refusing = 0
    for name, part in frames.split_mechanisms(ours):
        as_ = catalogue.look(name)
        epsilon, label = part["epsilon"], _label(part)
        style.curve(axes, epsilon, part["mean"], part["ci95"], as_=as_, label=label)
        refused = epsilon[part["mean"].isna()]
        # Each mechanism's crosses have a height of their own, so that they do not overlap.
        height = np.full(len(refused), 0.03 + 0.05 * refusing)
        options: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "clip_on": False}
        (marks,) = axes.plot(refused, height, "x", color=as_.colour, **options)
        marks.set_in_layout(False)
        refusing += len(refused) > 0
    keys = style.published_values(axes, theirs)
    style.name_curves(axes)
    style.log_axis(axes, "x", "claimed ε")
    keys += REFUSED[: int(ours["mean"].isna().any())]
    if keys:
        style.legend(figure, keys, columns=2)
    return figure


def _label(rows: pd.DataFrame) -> str:
    direction = rows["direction"].max()
    return frames.mechanism_label(rows) + (
        f", direction ({direction})" if len(direction) == 1 else ""
    )


def finish(axes: Axes, frame: pd.DataFrame) -> None:
    """Scale the y axis to our results, name it, and draw the baselines."""
    axes.set_ylabel(frames.axis(frame))
    ours = frame[frame["role"].eq("mechanism")]
    finite = ours[ours["mean"].gt(ROUNDING)]
    low, high = finite["mean"].min(), finite["mean"].max()
    levels = frame[frame["role"].eq("level")]
    if high > 10 * low:
        style.log_axis(axes, "y", axes.get_ylabel())
        axes.set_ylim(low / 3, 3 * max(high, levels["mean"].max()))
    elif len(finite):
        half = finite["ci95"].fillna(0)
        low = min((finite["mean"] - half).min(), levels["mean"].min())
        high = (finite["mean"] + half).max()
        # Room below for the marks of missing guarantees.
        axes.set_ylim(low - 0.15 * (high - low), high + 0.05 * (high - low))
    for name, mean in zip(levels["mechanism"], levels["mean"], strict=True):
        label = catalogue.label(name)
        bottom, top = axes.get_ylim()
        if bottom <= mean <= top:
            style.level(axes, mean, name, label=label)
        else:
            value = markup.short(mean if mean > ROUNDING else 0.0)
            end = top if mean > top else bottom
            style.level(axes, end, name, label=f"{label}: {value}", linewidth=0)


def build(run: Run, experiment: str) -> Figure:
    """Return the figure."""
    return Figure(
        title=f"Error against epsilon: {catalogue.experiment(experiment).title}",
        caption=(
            "Mean error with 95 % bands against the ε that is promised: the papers' mechanisms, "
            "and the best of all. Rows of fewer trials: the baseline's mean plus the shared "
            "difference. Open markers are published values, numbers at the edge those beyond it. "
            "All other mechanisms stand in the figure's CSV."
        ),
        frame=tidy(experiment, run),
        draw=draw,
    )
