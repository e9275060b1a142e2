"""What a drawing shows, read back from its artists and traced to the rows of its frame."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.lines import Line2D

from matrixdp import catalogue
from matrixdp.report.figures import style

#: Columns that mean a place on an axis by the name of the axis.
MEANING = {
    "claimed ε": "epsilon",
    "tight ε": "epsilon_actual",
    "standard deviation of the noise on one entry of the query": "noise_std",
    "entries m n": "entries",
    "number of columns n": "n",
    **{metric.axis: "mean" for metric in catalogue.metrics().values()},
    "ratio": "ratio",
    "seconds per draw": "seconds",
}
#: The section of the catalogue's legends that has the look of what a column names.
SECTIONS = {
    "method": "samplers",
}
#: Side by side, so that tied curves do not hide each other.
ASIDE = 0.35


class Point(NamedTuple):
    """A point of a curve in the units of the axes."""

    x: float
    y: float


def is_level(line: Line2D, axes: Axes) -> bool:
    """Return whether a line goes right across the axes, or stands at their foot."""
    return not all(line.get_transform().contains_branch_seperately(axes.transData))


def points(line: Line2D) -> list[Point]:
    """Return the finite points of a line."""
    pairs = np.column_stack([np.asarray(v, dtype=float) for v in line.get_data()])
    return [Point(*pair) for pair in pairs[np.isfinite(pairs).all(axis=1)].tolist()]


def bars(axes: Axes) -> list[ErrorbarContainer]:
    """Return the values that are drawn with an error bar of their own."""
    return [one for one in axes.containers if isinstance(one, ErrorbarContainer)]


def curves(axes: Axes) -> list[Line2D]:
    """Return the lines and markers in data units, but for those with error bars of their own."""
    parts = {id(part) for bar in bars(axes) for part in (bar.lines[0], *bar.lines[1])}
    return [
        line
        for line in axes.lines
        if points(line) and not is_level(line, axes) and id(line) not in parts
    ]


def levels(axes: Axes) -> list[tuple[float, str, str]]:
    """Return place, colour and label of every line that goes right across the axes."""
    return [
        (float(line.get_ydata()[0]), to_hex(line.get_color()), str(line.get_label()))
        for line in axes.lines
        if is_level(line, axes) and list(line.get_xdata()) == [0, 1]
    ]


def meaning(axes: Axes, which: str) -> str:
    """Return the column that an axis is named for, by itself or by the axes that share it."""
    shared = getattr(axes, f"get_shared_{which}_axes")().get_siblings(axes)
    texts = [getattr(one, f"get_{which}label")() for one in (axes, *shared)]
    names = [MEANING.get(text.partition(" (Gauss")[0], "") for text in texts]
    return next(filter(None, names), "")


def look(row: Any, frame: pd.DataFrame) -> catalogue.Look:
    """Return how a row must look: by its mechanism, and by its direction if there are several."""
    for column, section in SECTIONS.items():
        if column in frame:
            return style.legends(section)[getattr(row, column)].look
    if frame["kind"].eq("mechanism").any() and "favours" in frame and row.kind == "mechanism":
        own = frame[frame["mechanism"].eq(row.mechanism) & frame["kind"].eq("mechanism")]
        places = sorted({*own["direction"]})
        return style.direction(row.mechanism, places.index(row.direction))
    return catalogue.look(row.mechanism)


def same(one: float, other: float, share: float = 1e-9) -> bool:
    """Return whether two numbers agree but for rounding, or but for a share."""
    return abs(one - other) <= share * abs(other) + 1e-300


def intervals(axes: Axes, upright: bool) -> Iterator[tuple[str, float, float, float]]:
    """Yield colour, place, lower and upper end of every interval, upright or lying."""
    for one in axes.collections:
        parts: list[tuple[Any, np.ndarray]] = []
        if isinstance(one, LineCollection):
            parts = [(one.get_edgecolor()[0], segment) for segment in one.get_segments()]
        elif isinstance(one, PolyCollection) and upright:
            parts = [(one.get_facecolor()[0], path.vertices) for path in one.get_paths()]
        for colour, vertices in parts:
            if not len(vertices):
                continue
            ends = pd.DataFrame(vertices, columns=["x", "y"] if upright else ["y", "x"])
            for at, own in ends.groupby("x")["y"]:
                if own.max() > own.min():
                    yield to_hex(colour), float(at), float(own.min()), float(own.max())


def number(text: str) -> float | None:
    """Return the number that a text is; None if it is none."""
    return float(text) if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", text) else None
