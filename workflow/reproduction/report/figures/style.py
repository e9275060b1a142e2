"""One look for all figures: a colour and a marker per mechanism, axes, bands, levels, marks.

Figures are 9 inches wide, 900 pixels on a screen, and three quarters of that in the article, where
no text is below 7 points. Colours begin with those of Okabe and Ito (2008), which readers with any
common colour blindness tell apart; lines and markers have a contrast of 3 to their ground, by
day and in the dark. Within a family of mechanisms markers and lines differ too.
"""

from __future__ import annotations

import contextlib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.style
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import ArrayLike

from reproduction import catalogue
from reproduction.catalogue import Legend, Look, Mark, look
from reproduction.report.markup import short

#: The style sheet of all figures.
STYLE = Path(__file__).with_name("figures.mplstyle")

WIDTH = 9.0
#: The size of the smallest text in points.
SMALL = 9.4
#: Letters in a line of a headline, and of notes below a panel.
LETTERS, NOTE_LETTERS = 84, 112

BLACK, BLUE, GREEN, VERMILLION = "#000000", "#0072B2", "#009E73", "#D55E00"
INK, FAINT, ALARM = "#222222", "#808080", "#B00020"


def context(salt: str = "matrixdp") -> contextlib.AbstractContextManager[None]:
    """Set matplotlib's settings for drawing and saving by ``STYLE``, and by nothing else.

    ``salt`` is a figure's name; it makes the identifiers in an SVG the same in every run.
    """
    return matplotlib.style.context([STYLE, {"svg.hashsalt": salt}], after_reset=True)


def canvas(
    height: float,
    rows: int = 1,
    columns: int = 1,
    **options: Any,
) -> tuple[Drawing, np.ndarray]:
    """Return an empty figure of a height in inches, and its axes, shape (rows, columns).

    ``options`` are for ``Figure.subplots``, such as ``sharex`` or ``height_ratios``.
    """
    figure = Drawing(figsize=(WIDTH, height), layout=_layout())
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def _layout(share: float = 1.0) -> ConstrainedLayoutEngine:
    """Return the layout engine that arranges panels in the lower share of a figure."""
    return ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06, rect=(0, 0, 1, share))


def legends(name: str) -> dict[str, Legend]:
    """Return labels and looks from the catalogue for things other than mechanisms."""
    entries = catalogue.section("legends")[name].items()
    return {
        key: Legend(
            entry.label,
            look=look(entry.like) if entry.like else Look(entry.colour, entry.marker, entry.line),
        )
        for key, entry in entries
    }


#: Line, marker and share of black of the noise directions of one mechanism.
_DIRECTIONS = (("-", "o", 0.0), ("--", "s", 0.65), ("-.", "^", 0.2), (":", "D", 0.42))


def direction(mechanism: str, number: int) -> Look:
    """Return the look of a mechanism with its first, second, ... noise direction.

    The hue is the mechanism's; shade, marker and line tell the directions apart.
    """
    line, marker, black = _DIRECTIONS[number % len(_DIRECTIONS)]
    # A lighter shade would be too faint on white.
    red, green, blue = ((1 - black) * part for part in to_rgb(look(mechanism).colour))
    return Look(to_hex((red, green, blue)), marker, line)


def curve(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    ci95: ArrayLike | None = None,
    *,
    as_: Look,
    bars: bool = False,
    **options: Any,
) -> None:
    """Draw a line with markers and its 95 % band; a NaN is a visible gap.

    Args:
        x, mean, ci95: of equal length, in the order of the line; ``ci95`` is half the interval.
        as_: the look, usually of :func:`reproduction.catalogue.look`.
        bars: draw error bars instead of a band, where several curves lie on each other.
        options: for ``Axes.plot``.
    """
    x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
    if ci95 is not None:
        half = np.nan_to_num(np.asarray(ci95, dtype=float))
        # On a logarithmic axis an interval that reaches 0 would leave the picture.
        low = np.maximum(mean - half, np.where(mean > 0, mean / 100, -np.inf))
        if bars:
            axes.vlines(x, low, mean + half, color=as_.colour, linewidth=1)
        else:
            axes.fill_between(x, low, mean + half, color=as_.colour, alpha=0.15, linewidth=0)
    style = {"color": as_.colour, "marker": as_.marker, "linestyle": as_.line}
    style |= {"markeredgecolor": "white", "markeredgewidth": 0.5, **options}
    axes.plot(x, mean, **style)


def level(axes: Axes, y: float, mechanism: str, label: str = "", **options: Any) -> None:
    """Draw the mean of a baseline: dotted without privacy, dashed otherwise."""
    kind = look(mechanism)
    style = {"color": kind.colour, "linestyle": kind.line, "linewidth": 1.2, "zorder": 1.5}
    axes.axhline(y, label=label, **style | options)


#: Style of a published value.
_OPEN: dict[str, Any] = {"markersize": 7, "markerfacecolor": "white", "markeredgewidth": 1.4}
_OPEN |= {"linestyle": "none"}


def log_axis(axes: Axes, which: str, text: str) -> None:
    """Make an axis logarithmic, with a label and at most nine ticks at powers of ten."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    getattr(axes, f"set_{which}scale")("log")
    axis.set_major_locator(LogLocator(base=10, numticks=9))
    axis.set_minor_locator(NullLocator())
    axis.set_label_text(text)


def key(label: str, as_: Look, **options: Any) -> Line2D:
    """Return a legend entry: a line with its marker."""
    style = {"color": as_.colour, "marker": as_.marker, "linestyle": as_.line, "label": label}
    return Line2D([], [], **style | options)


def published_values(axes: Axes, rows: pd.DataFrame, as_: Look | None = None) -> list[Line2D]:
    """Draw published values side by side; values beyond the axis are written at its end.

    Return the legend entry of those within the axis, of the look ``as_``; none without any.
    ``rows`` have ``mechanism``, ``epsilon``, ``mean``, ``ci95``, and ``factor``, by which printed
    values were multiplied.
    """
    low, high = axes.get_ylim()
    inside = rows["mean"].between(low, high)
    for number, row in enumerate(rows[inside].sort_values("mean", kind="stable").itertuples()):
        # Shifted along the logarithmic axis, so that markers do not hide each other.
        x = row.epsilon * 1.3 ** (number - (inside.sum() - 1) / 2)
        kind: dict[str, Any] = {"color": look(row.mechanism).colour, "elinewidth": 1.2}
        kind |= {"marker": look(row.mechanism).marker, "zorder": 5}
        axes.errorbar([x], [row.mean], None if np.isnan(row.ci95) else [row.ci95], **kind | _OPEN)
    means = rows["mean"].sort_values(kind="stable")
    factor = 1.0 if rows.empty else rows["factor"].iloc[0]
    unit = f", values × {factor:.4g} (a conjectured unit)" if factor != 1 else ""
    for beyond, arrow, y, at in (
        (means > high, "↑", 0.97, "top"),
        (means < low, "↓", 0.03, "bottom"),
    ):
        if values := ", ".join(means[beyond].map(short)):
            where: dict[str, Any] = {"ha": "right", "va": at, "transform": axes.transAxes}
            text = textwrap.fill(f"{arrow} published{unit}: {values}", 62)
            axes.text(0.99, y, text, fontsize=SMALL, **where)
    entry = [key(f"published at ε = 1{unit}", as_ or Look(INK, "o"), **_OPEN)]
    return entry if inside.any() else []


def name_curves(axes: Axes) -> None:
    """Name curves and levels beside the axes, from the highest right end to the lowest."""
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    values = {line: np.array(line.get_ydata(), dtype=float) for line in lines}
    ends = {line: y[np.isfinite(y)][-1] for line, y in values.items() if np.isfinite(y).any()}
    lines = sorted(ends, key=lambda line: ends[line], reverse=True)
    names = [textwrap.fill(str(line.get_label()), 33) for line in lines]
    axes.legend(lines, names, loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0)


def legend(figure: Drawing, handles: Sequence[Any], columns: int, **options: Any) -> None:
    """Draw one legend below all panels; a tuple of handles has the label of its first."""
    texts = [(handle[0] if isinstance(handle, tuple) else handle).get_label() for handle in handles]
    options |= {"ncols": columns, "handler_map": {tuple: HandlerTuple(ndivide=None, pad=0.6)}}
    figure.legend(handles, texts, loc="outside lower center", **options)


def say(axes: Axes, text: str) -> None:
    """Write in an empty panel why it is empty."""
    box = {"boxstyle": "round", "facecolor": "#F4F4F4", "edgecolor": "#CCCCCC"}
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": "#555555", "style": "italic"}
    axes.text(0.5, 0.5, text, transform=axes.transAxes, wrap=True, bbox=box, **style)


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel, the first on top."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)


def write_beside(axes: Axes, text: str, at: tuple[float, float], points: float = 7) -> None:
    """Write a small text ``points`` to the right of a position, or to its left if negative.

    No line strikes it.
    """
    style: dict[str, Any] = {"va": "center", "ha": "left" if points > 0 else "right"}
    style["fontsize"] = SMALL
    style["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
    axes.annotate(text, at, (points, 0), textcoords="offset points", **style)


def notes(axes: Axes, members: Mapping[str, Iterable[str]], below: float) -> None:
    """Write names by their heading ``below`` points under a panel, from the figure's left edge."""
    texts = [f"{head}: {'; '.join(names)}" for head, names in members.items()]
    lines = [textwrap.fill(text, NOTE_LETTERS) for text in texts]
    style: dict[str, Any] = {"va": "top", "fontsize": SMALL, "color": "#666666"}
    style |= {"xycoords": ("figure fraction", "axes fraction"), "textcoords": "offset points"}
    axes.annotate("\n".join(lines), (0.01, 0), (0, -below), annotation_clip=False, **style)


def message(text: str) -> Drawing:
    """Return a figure whose text says why it is empty."""
    figure, axes = canvas(2.5)
    axes[0, 0].set(xticks=[], yticks=[])
    say(axes[0, 0], f"Nothing to show: {text}.")
    return figure


def header(topic: str, mark: Mark) -> tuple[list[tuple], float]:
    """Return the lines above a figure (text, size, weight, colour), and their height in inches."""
    # Two lines of about one length, if one is not enough.
    letters = LETTERS if len(topic) <= LETTERS else min(LETTERS, len(topic) // 2 + 8)
    lines = [(line, 12.5, "bold", INK) for line in textwrap.wrap(topic, letters)]
    if mark.line:
        lines.insert(0, (mark.line, 11.5, "bold", ALARM))
    return lines, 0.08 + sum(size for _, size, *_ in lines) * 1.4 / 72


def headline(figure: Drawing, topic: str, mark: Mark) -> None:
    """Write the topic above all panels.

    The figure grows by the height of the text. A mark of its data comes first, in red, and is also
    stamped across the panels.
    """
    lines, above = header(topic, mark)
    height = figure.get_figheight() + above
    figure.set_figheight(height)
    figure.set_layout_engine(_layout(1 - above / height))
    top = height - 0.08
    for text, size, weight, colour in lines:
        words: dict[str, Any] = {"fontsize": size, "fontweight": weight, "color": colour}
        figure.text(0.01, top / height, text, va="top", **words)
        top -= size * 1.4 / 72
    style: dict[str, Any] = {"fontsize": 70, "fontweight": "bold", "color": ALARM}
    style |= {"ha": "center", "va": "center", "alpha": 0.13, "zorder": 10}
    if mark.stamp:
        angle = float(np.degrees(np.arctan2(height, WIDTH)))
        figure.text(0.5, 0.5, mark.stamp, rotation=angle, **style)
