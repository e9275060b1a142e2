"""Every mechanism's error against the claimed epsilon."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from reproduction import catalogue
from reproduction.report import audit_status, comparisons, inputs, markup, summary
from reproduction.report.entries import Tables, claimed_epsilon
from reproduction.report.figures import base, frames, style

#: The family of the lower panel.
BEYOND = "Beyond both papers"
PAPERS = "Mechanisms of the papers, and exactly calibrated noise"

REFUSED = [style.key("no guarantee at this ε", catalogue.Look(style.INK, "x", "none"))]


def tidy(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return the rows that a table shows at every epsilon, baselines and published values.

    ``panel`` is the title of a mechanism's panel, empty for baselines.
    """
    rows = frames.table_rows(tables[f"summary/{experiment}"])
    if not rows["role"].eq("mechanism").any():
        return rows.iloc[:0]
    about = catalogue.experiment(experiment)
    theirs = frames.published(inputs.published(about.results, tables), experiment)
    compared, baseline = tables[f"comparisons/{experiment}"], summary.trivial(rows)
    rows = rows.assign(against_baseline=comparisons.verdicts(rows, compared, baseline))
    rows = audit_status.joined(rows, tables.get(f"audit/{experiment}"))
    rows = comparisons.once(rows, compared)
    joined = frames.join([rows, theirs[theirs["epsilon"].notna()]])
    further = joined["mechanism"].map(catalogue.family).isin([BEYOND, catalogue.OTHER])
    panel = pd.Series(np.where(further, BEYOND, PAPERS), joined.index)
    return joined.assign(panel=panel.mask(joined["role"].eq("level"), ""))


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw a panel of the papers' mechanisms, and one of the others, scaled to our results.

    In each panel the mechanisms of the other one are grey lines.
    """
    ours = frame[frame["role"].eq("mechanism")]
    theirs = frame[frame["role"].eq("published")]
    titles = [title for title in (PAPERS, BEYOND) if ours["panel"].eq(title).any()]
    sizes = ours.groupby("panel")["mechanism"].nunique()
    levels = frame["role"].eq("level").sum()
    heights = [max(2.6, 0.6 + 0.24 * (sizes[title] + levels)) for title in titles]
    figure, grid = style.canvas(
        0.5 + sum(heights), len(heights), sharex=True, height_ratios=heights
    )
    inside = False
    for axes, title in zip(grid[:, 0], titles, strict=True):
        axes.set_title(title)
        for _, part in ours[ours["panel"].ne(title)].groupby("mechanism"):
            axes.plot(part["epsilon"], part["mean"], color=style.FAINT, linewidth=0.7, zorder=1)
        finish(axes, frame)
        _mechanisms(axes, ours[ours["panel"].eq(title)])
        inside |= style.published_values(axes, theirs[theirs["panel"].eq(title)])
        style.name_curves(axes)
    style.log_axis(grid[-1, 0], "x", "claimed ε")
    keys = [style.published_key(theirs["factor"].iloc[0])] if inside else []
    if len(titles) > 1:
        keys.append(style.key("in grey: the other panel", catalogue.Look(style.FAINT, "", "-")))
    keys += REFUSED[: int(ours["mean"].isna().any())]
    if keys:
        style.legend(figure, keys, columns=3)
    return figure


def _label(rows: pd.DataFrame) -> str:
    direction = rows["direction"].max()
    return frames.mechanism_label(rows) + (
        f", direction ({direction})" if len(direction) == 1 else ""
    )


def _mechanisms(axes: Axes, rows: pd.DataFrame) -> None:
    if not rows["mean"].notna().any():
        style.say(axes, "no guarantee at any ε")
    members = [(name, _label(part), part) for name, part in frames.ordered(rows)]
    # On a linear axis tied curves would cover each other.
    style.against_epsilon(axes, members, apart=0.03 * (axes.get_yscale() == "linear"))


def finish(axes: Axes, frame: pd.DataFrame) -> None:
    """Scale the y axis to our results, name it, and draw the baselines."""
    axes.set_ylabel(frames.axis(frame))
    ours = frame[frame["role"].eq("mechanism")]
    finite = ours[ours["mean"].gt(frames.NOTHING)]
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
            value = markup.short(mean if mean > frames.NOTHING else 0.0)
            end = top if mean > top else bottom
            style.level(axes, end, name, label=f"{label}: {value}", linewidth=0)


def finding(frame: pd.DataFrame) -> str:
    """Return how many mechanisms are not clearly better than the baseline, at one epsilon."""
    at = claimed_epsilon(frame)
    ours = frame[frame["role"].eq("mechanism") & frame["epsilon"].eq(at)]
    ours = ours[~audit_status.refuted(ours)]
    verdicts = ours.loc[ours["mean"].notna() & ours["against_baseline"].ne(""), "against_baseline"]
    if verdicts.empty:
        return ""
    failed, baseline = verdicts.ne(comparisons.BETTER).sum(), summary.trivial(frame)
    return (
        f"At ε = {at:g}, {failed} of {len(verdicts)} mechanisms are not clearly "
        f"better than the {catalogue.label(baseline).lower()}"
    )


FIGURES = {
    "curves": base.Figure(
        title="Error against epsilon: {title}",
        caption=(
            "Mean error of every mechanism with 95 % intervals, against the ε that it promises. "
            "Published values are open markers, or numbers at the edge where they lie beyond it. "
            "Headline: differences of trials from the best baseline, after correction."
        ),
        finding=finding,
        of_experiment=True,
        data=tidy,
        draw=draw,
    ),
}
