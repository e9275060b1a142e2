"""Every mechanism's error against the claimed epsilon."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from matrixdp import catalogue
from matrixdp.report import comparisons, markup, summary
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, frames, style

#: Where captions compare errors, and where the papers print them.
NOMINAL = 1.0

#: Wide panels below each other, each with a place for the names of its curves.
BESIDE: dict[str, Any] = {"sharex": "col", "width_ratios": (2.1, 1)}

REFUSED = [style.key("no guarantee at this ε", catalogue.Look(style.INK, "x", "none"))]


def tidy(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return the rows that a table shows at every epsilon, levels and published values."""
    rows = frames.shown(tables[f"summary/{experiment}"])
    if not rows["kind"].eq("mechanism").any():
        return rows.iloc[:0]
    about = catalogue.experiment(experiment)
    theirs = frames.printed(tables[f"published/{about.results}"], experiment)
    rows = frames.told(rows, tables[f"comparisons/{experiment}"])
    rows = comparisons.once(rows, tables[f"summary/{experiment}"])
    joined = frames.join([rows, theirs[theirs["epsilon"].notna()]])
    # Levels are in every panel.
    family = joined["mechanism"].map(catalogue.family)
    return joined.assign(family=family.mask(joined["kind"].eq("level"), catalogue.OTHER))


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw everything at a glance, then one panel per family, scaled to our own results.

    In the panel of a family all other mechanisms stay as grey lines.
    """
    ours = frame[frame["kind"].eq("mechanism")]
    known = dict.fromkeys([*(one.family for one in catalogue.named().values()), catalogue.OTHER])
    families = [name for name in known if ours["family"].eq(name).any()]
    sizes = ours.groupby("family")["mechanism"].nunique()
    heights = [2.4, *(1.8 + 0.2 * max(0, sizes[name] - 5) for name in families)]
    height = 0.4 + sum(heights)
    figure, grid = style.canvas(height, len(heights), 2, height_ratios=heights, **BESIDE)
    overview, *rest = grid[:, 0]
    for name, part in frames.ordered(ours):
        style.curve(overview, part["epsilon"], part["mean"], as_=catalogue.look(name), marker="")
    _finish(overview, frame, scaled_to=frame, named=True)
    theirs = frame[frame["kind"].eq("published")]
    overview.set_title("All together" + ", with published values" * (not theirs.empty))
    _published(overview, theirs)
    for axes, name in zip(rest, families, strict=True):
        axes.set_title(name)
        for _, part in ours[ours["family"].ne(name)].groupby("mechanism"):
            axes.plot(part["epsilon"], part["mean"], color=style.FAINT, linewidth=0.7, zorder=1)
        _finish(axes, frame, scaled_to=ours, named=False)
        _family(axes, ours[ours["family"].eq(name)])
        _published(axes, theirs[theirs["family"].eq(name)])
    for (axes, place), height in zip(grid, heights, strict=True):
        place.set_axis_off()
        style.label_ends(axes, height - 0.65)
    style.log_axis(grid[-1, 0], "x", "nominal ε")
    keys = [style.key("in grey: all other mechanisms", catalogue.Look(style.FAINT, "", "-"))]
    if len(theirs):
        keys.insert(0, style.published_key(theirs["factor"].iloc[0]))
    style.legend(figure, [*keys, *REFUSED[: int(ours["mean"].isna().any())]], columns=3)
    return figure


def _named(rows: pd.DataFrame) -> str:
    direction = rows["direction"].max()
    return frames.named(rows) + (f", direction ({direction})" if len(direction) == 1 else "")


def _family(axes: Axes, own: pd.DataFrame) -> None:
    if not own["mean"].notna().any():
        style.say(axes, "no guarantee at any ε")
    members = [(name, _named(part), part) for name, part in frames.ordered(own)]
    # Tied curves lie on each other where the axis does not span decades.
    style.against_epsilon(axes, members, apart=0.06 * (axes.get_yscale() == "linear"))


def _finish(axes: Axes, frame: pd.DataFrame, scaled_to: pd.DataFrame, named: bool) -> None:
    """Scale the y axis, name it, and draw the levels, with names in the legend if ``named``."""
    axes.set_ylabel(frames.axis(frame))
    finite = scaled_to[scaled_to["mean"].gt(frames.NOTHING)]
    low, high = finite["mean"].min(), finite["mean"].max()
    levels = frame[frame["kind"].eq("level")]
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
        label = catalogue.label(name) if named else ""
        bottom, top = axes.get_ylim()
        if bottom <= mean <= top:
            style.level(axes, mean, name, label=label)
        elif named:
            value = markup.short(mean if mean > frames.NOTHING else 0.0)
            style.level(axes, bottom, name, label=f"{label}: {value}", linewidth=0)


def _published(axes: Axes, theirs: pd.DataFrame) -> None:
    """Draw published values side by side; those beyond the axis stand in words at its end."""
    low, high = axes.get_ylim()
    inside = theirs["mean"].between(low, high)
    for place, row in enumerate(theirs[inside].sort_values("mean").itertuples()):
        x = style.dodge(row.epsilon, place, inside.sum(), share=0.3)
        look = catalogue.look(row.mechanism)
        style.published(axes, float(x), row.mean, look, yerr=row.ci95)
    means = theirs["mean"].sort_values()
    for beyond, arrow, y, at in (
        (means > high, "↑", 0.97, "top"),
        (means < low, "↓", 0.03, "bottom"),
    ):
        if values := ", ".join(means[beyond].map(markup.short)):
            where: dict[str, Any] = {"ha": "right", "va": at, "transform": axes.transAxes}
            axes.text(0.99, y, f"{arrow} published: {values}", fontsize=8, **where)


def words(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how many mechanisms differ from chance at epsilon 1, and which is best there."""
    ours = frame[frame["kind"].eq("mechanism") & frame["epsilon"].eq(NOMINAL)]
    ours = ours[ours["mean"].notna()]
    if ours.empty:
        return {}
    best = ours.loc[ours["mean"].idxmin()]
    verdicts = ours.loc[ours["against_chance"].ne(""), "against_chance"]
    chance = catalogue.label(summary.trivial(frame)).lower()
    failed = verdicts.ne(comparisons.BETTER).sum()
    told = {"failed": failed, "told": len(verdicts), "chance": chance}
    return told | {
        "best": catalogue.label(best["mechanism"]),
        "mean": best["mean"],
        "tied": frames.tied(best, {*ours["mechanism"]}),
    }


FIGURES = {
    "curves_{experiment}": base.Figure(
        title="Error against epsilon: {title}",
        words=words,
        inputs=("summary/{experiment}", "comparisons/{experiment}", "published/{results}"),
        each="releases",
        data=tidy,
        draw=draw,
    ),
}
