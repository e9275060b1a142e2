"""Specification curves: what every reading of the paper gives, beside what it prints."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matrixdp import catalogue
from matrixdp.experiments import readings
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, frames, style
from matrixdp.report.statistics import covers

#: Share of a mechanism's strip that stays empty at each side.
MARGIN = 0.06
#: Height of a value's row below the curve, in inches.
ROW = 0.165
#: Readings whose means agree to so many digits are sorted by their choices.
DIGITS = 3

#: Ratios of the largest to the smallest mean, for a second view.
CLOSE, FAR = 1.5, 20.0

NOT_PRIVATE = "#FBE3E6"


def tidy(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return every reading of the paper's rows in its place, levels, and published values.

    ``row`` is the paper's name of a row, ``x`` its number plus the rank of the reading, private
    ones first, by mean. ``meets``: whether the 95 % interval of the difference from the published
    value covers 0, in the ``printed`` unit, the ``conjectured`` one, or ``neither``.
    """
    rows = tables[f"readings/{experiment}"]
    rows = rows[rows["mean"].notna()]
    table = tables[f"published/{catalogue.experiment(experiment).results}"]
    # Without the citation behind it.
    rowed = table["method"].str.replace(r" \(.*\)$", "", regex=True)
    theirs = frames.printed(table, experiment).assign(row=rowed)
    theirs = theirs[theirs["mechanism"].isin(rows["mechanism"]) & theirs["epsilon"].notna()]
    levels = rows[rows["mechanism"].isin(catalogue.REFERENCES)].assign(kind="level")
    parts = [levels[levels["reading"].eq(readings.DEFAULT) | levels["mechanism"].ne("nonprivate")]]
    for number, cell in enumerate(theirs.to_dict("records")):
        own = _placed(rows[rows["mechanism"].eq(cell["mechanism"])], number)
        own = own.assign(kind="mechanism", row=cell["row"], meets=_meets(own, cell))
        parts.append(own)
    if theirs.empty:
        return rows.iloc[:0]
    numbered = theirs.assign(x=np.arange(len(theirs)) + 0.5)
    return pd.concat([*parts, numbered], ignore_index=True).assign(experiment=experiment)


def _placed(own: pd.DataFrame, number: int) -> pd.DataFrame:
    choices = {
        name: own[name].astype(str).map({value: i for i, value in enumerate(knob.values)})
        for name, knob in readings.knobs().items()
    }
    rounded = own["mean"].map(lambda mean: float(f"{mean:.{DIGITS}g}"))
    order = pd.DataFrame({"public": ~own["private"], "mean": rounded, **choices})
    own = own.loc[order.sort_values(list(order.columns)).index]
    step = (1 - 2 * MARGIN) / len(own)
    return own.assign(x=number + MARGIN + step * (np.arange(len(own)) + 0.5), step=step)


def _meets(own: pd.DataFrame, cell: dict) -> pd.Series:
    found = pd.Series("neither", own.index)
    for unit, factor in (("conjectured", 1.0), ("printed", 1 / cell["factor"])):
        gap = own["mean"] - factor * cell["mean"]
        found = found.mask(covers(gap, own["ci95"], factor * cell["ci95"]), unit)
    return found


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw the sorted outcomes above, and below which choices each of them comes from.

    Where published values lie close together and ours far apart there is a second view, of what is
    near them.
    """
    ours = frame[frame["kind"].eq("mechanism")]
    theirs = frame[frame["kind"].eq("published")]
    zoom = _span(theirs) < CLOSE and _span(ours) > FAR
    rows = list(_rows(ours))
    heights = [2.4, 2.2] if zoom else [3.6]
    heights.append(ROW * len(rows))
    height = 1.3 + sum(heights)
    figure, grid = style.canvas(height, len(heights), sharex=True, height_ratios=heights)
    *views, lower = grid[:, 0]
    for name, part in ours.groupby("mechanism", sort=False):
        look, number = catalogue.look(str(name)), int(part["x"].min())
        text, place = textwrap.fill(part["row"].iloc[0], 15), views[0].get_xaxis_transform()
        views[0].text(number + 0.5, 1.02, text, ha="center", transform=place)
        for axes in (*views, lower):
            _shade(axes, part)
            axes.axvline(number, color=style.FAINT, linewidth=0.6)
        for axes in views:
            _outcomes(axes, part, look)
        for line, (knob, value) in enumerate(rows):
            _runs(lower, part, part[knob].astype(str).eq(value), line, look.colour)
    levels = frame[frame["kind"].eq("level") & frame["mean"].gt(frames.NOTHING)]
    for axes in views:
        for row in levels.itertuples():
            style.level(axes, row.mean, row.mechanism)
        _published(axes, theirs)
        axes.set_ylabel(frames.axis(ours))
        axes.tick_params(axis="x", length=0)
    for _, own in levels.groupby("mechanism"):
        if len(own) > 1:
            _name_levels(views[0], own)
    style.log_axis(views[0], "y", views[0].get_ylabel())
    if zoom:
        near = ours[ours["mean"].between(theirs["mean"].min() / 2, theirs["mean"].max() * 2)]
        both = pd.concat([near, theirs])
        low, high = (both["mean"] - both["ci95"]).min(), (both["mean"] + both["ci95"]).max()
        views[1].set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
        views[1].set_title("The same, near the published values", fontweight="normal")
    _matrix(lower, rows)
    lower.set_xlim(0, int(np.ceil(ours["x"].max())))
    style.legend(figure, _handles(frame, levels), columns=3)
    return figure


def _name_levels(axes: Axes, levels: pd.DataFrame) -> None:
    """Write beside the levels of one reference row which readings of the data each is of."""
    step = np.log(levels["mean"].sort_values()).diff().gt(0.5).cumsum()
    for _, part in levels.groupby(step):
        choices = part[[*readings.knobs()]].fillna("").astype(str).to_dict("records")
        names = [
            " and ".join(catalogue.reading(str(name), at) for name, at in one.items() if at)
            for one in choices
        ]
        place, text = (1.005, part["mean"].mean()), textwrap.fill("; ".join(names), 20)
        options: dict[str, Any] = {"va": "center", "fontsize": 7.5, "color": "#555555"}
        axes.text(*place, text, transform=axes.get_yaxis_transform(), **options)


def _span(rows: pd.DataFrame) -> float:
    means = rows.loc[rows["mean"].gt(frames.NOTHING), "mean"]
    return float(means.max() / means.min())


def _rows(ours: pd.DataFrame) -> Iterator[tuple[str, str]]:
    """Yield the knobs that differ between the readings, with each of their values."""
    for name, knob in readings.knobs().items():
        found = {*ours[name].dropna().astype(str)} - {""}
        if len(found) > 1:
            yield from ((name, value) for value in knob.values if value in found)


def _shade(axes: Axes, part: pd.DataFrame) -> None:
    """Mark where readings are not private."""
    bare = part[~part["private"].astype(bool)]
    if len(bare):
        half = bare["step"].iloc[0] / 2
        axes.axvspan(bare["x"].min() - half, bare["x"].max() + half, color=NOT_PRIVATE, zorder=0.5)


def _outcomes(axes: Axes, part: pd.DataFrame, look: catalogue.Look) -> None:
    private = part["private"].astype(bool)
    low = np.maximum(part["mean"] - part["ci95"], part["mean"] / 2)
    colours = [look.colour if kept else style.ALARM for kept in private]
    axes.vlines(part["x"], low, part["mean"] + part["ci95"], colors=colours, alpha=0.35, lw=0.8)
    dot: dict[str, Any] = {"ms": 4 if len(part) < 60 else 2, "mew": 0.6}
    for kind, colour, fill in ((private, *[look.colour] * 2), (~private, style.ALARM, "white")):
        axes.plot(part["x"][kind], part["mean"][kind], "o", color=colour, mfc=fill, **dot)
    usual = part[part["reading"].eq(readings.DEFAULT)]
    axes.plot(usual["x"], usual["mean"], "D", color=style.INK, markersize=5, zorder=6)


def _runs(axes: Axes, part: pd.DataFrame, chosen: pd.Series, place: int, colour: str) -> None:
    """Fill the cells of one value, neighbours in one piece."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.to_numpy(dtype=int), [0]])))
    starts, ends = edges[::2], edges[1::2]
    step, left = part["step"].iloc[0], part["x"].min() - part["step"].iloc[0] / 2
    spans = [(left + step * i, step * (j - i)) for i, j in zip(starts, ends, strict=True)]
    axes.broken_barh(spans, (place - 0.36, 0.72), facecolors=colour, linewidth=0)


def _published(axes: Axes, theirs: pd.DataFrame) -> None:
    for row in theirs.itertuples():
        look = catalogue.look(row.mechanism)
        units = [(1 / row.factor, "-")] + ([(1.0, (0, (4, 2)))] if row.factor != 1 else [])
        for factor, line in units:
            span = row.x - 0.5 + MARGIN / 2, row.x + 0.5 - MARGIN / 2
            middle, half = row.mean * factor, np.nan_to_num(row.ci95) * factor
            axes.fill_between(span, middle - half, middle + half, color=look.colour, alpha=0.25)
            axes.plot(span, [middle] * 2, color=style.INK, linestyle=line, linewidth=1.4, zorder=5)


def _matrix(axes: Axes, rows: list[tuple[str, str]]) -> None:
    """Name the rows of the choices; every other knob stands on grey."""
    titles: dict[str, int] = {}
    labels = []
    for place, (name, value) in enumerate(rows):
        title = "" if name in titles else f"{readings.knobs()[name].title}:  "
        labels.append(title + catalogue.reading(name, value))
        if titles.setdefault(name, len(titles)) % 2 == 0:
            axes.axhspan(place - 0.5, place + 0.5, color="#F3F3F3", zorder=0)
    axes.set_yticks(range(len(rows)), labels, fontsize=8)
    axes.set(ylim=(len(rows) - 0.5, -0.5), xticks=[])
    axes.tick_params(length=0)
    axes.grid(False)


def _handles(frame: pd.DataFrame, levels: pd.DataFrame) -> list[Line2D]:
    ink, dot = catalogue.Look(style.INK, "", "-"), {"marker": "o", "ls": "none", "ms": 4}
    factor, private = frame["factor"].max(), frame["private"].fillna(True).astype(bool)
    handles = [
        style.key("a reading, mean with 95 % interval", ink, **dot),
        style.key("default reading", ink, marker="D", linestyle="none"),
        style.key("published, in the printed unit", ink),
    ]
    if not private[frame["kind"].eq("mechanism")].all():
        hollow = {"color": style.ALARM, "markerfacecolor": "white"} | dot
        handles.insert(2, style.key("a reading that is NOT private", ink, **hollow))
    if factor != 1:
        text = f"published × {factor:.4g} (a conjectured unit)"
        handles.append(style.key(text, ink, linestyle=(0, (4, 2))))
    names = levels["mechanism"].unique()
    return handles + [style.key(catalogue.label(n), catalogue.look(n), marker="") for n in names]


def _met(frame: pd.DataFrame, unit: str) -> pd.DataFrame:
    """Return how many private readings a row has, and how many ``met`` its published value."""
    ours = frame[frame["kind"].eq("mechanism")]
    private = ours[ours["private"].astype(bool)]
    met = private["meets"].eq(unit).groupby(private["row"], sort=False)
    return met.agg(["size", "sum"])


def words(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how many readings there are, and which rows meet the published value under any."""
    ours = frame[frame["kind"].eq("mechanism")]
    meets = ""
    for unit in ("printed", "conjectured")[: 1 if frame["factor"].max() == 1 else 2]:
        rows = _met(frame, unit)
        found = [f"{r.Index} ({r.sum} of {r.size})" for r in rows.itertuples() if r.sum]
        meets += (
            f" In the {unit} unit, private readings meet the published value, within 95 % "
            f"intervals, in {'the rows ' + '; '.join(found) if found else 'no row'}."
        )
    rows, bare = _met(frame, "printed"), ~ours["private"].astype(bool)
    counts = {"met": rows["sum"].sum(), "private": rows["size"].sum(), "of": len(rows)}
    counts |= {"rows": rows["sum"].gt(0).sum(), "readings": len(ours), "bare": bare.sum()}
    return counts | {"meets": meets}


FIGURES = {
    "readings_{experiment}": base.Figure(
        title="Every reading of the paper: {title}",
        words=words,
        inputs=("readings/{experiment}", "published/{results}"),
        each="releases",
        data=tidy,
        draw=draw,
    ),
}
