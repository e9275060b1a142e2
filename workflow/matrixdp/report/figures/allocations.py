"""Figure 3 of the MVG paper from samples: directional noise in two dimensions.

Beside each scatter stands the noise along every direction, which is what a task feels of it.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from matrixdp import catalogue
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, style
from matrixdp.report.markup import short

NOISES = style.legends("ellipses")
UTILITY: dict[str, Any] = {"color": "#777777", "linestyle": ":", "linewidth": 1.6}


def panel(name: str, tables: Tables) -> pd.DataFrame:
    """Return the rows of one panel."""
    table = tables["theory/ellipses"]
    return table[table["panel"].eq(name)].reset_index(drop=True)


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw samples with their ellipses and axes, and the deviation along every direction."""
    figure, grid = style.canvas(4.6, 1, 2)
    scatter, along = grid[0]
    names = [name for name in NOISES if name in set(frame["noise"])]
    clouds = [name for name in names if not name.startswith("exact")]
    parts = {name: frame[frame["noise"].eq(name)] for name in names}
    for name in clouds:
        _cloud(scatter, parts[name], NOISES[name].look)
    if len(clouds) == 1:
        _arrows(scatter, frame)
    drawn = frame["noise"].isin(clouds) & frame["kind"].isin(["sample", "contour"])
    reach = 1.08 * frame.loc[drawn, ["x", "y"]].abs().to_numpy().max()
    scatter.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    scatter.set(xlabel="noise on feature 1", ylabel="noise on feature 2")
    scatter.locator_params(nbins=5)
    scatter.set_title(f"Draws and {'contours' if len(clouds) > 1 else 'contour'} of 95 %")
    angles = np.linspace(0, 180, 181)
    for name, part in parts.items():
        look = NOISES[name].look
        along.plot(angles, _along(part, np.radians(angles)), color=look.colour, ls=look.line)
    along.set(xlabel="direction (degrees from feature 1)", xlim=(0, 180), xticks=range(0, 181, 45))
    along.set_title("Standard deviation along a direction")
    if len(names) > 1:
        style.log_axis(along, "y", "standard deviation of the noise")
    else:
        along.set(ylabel="standard deviation of the noise", ylim=(0, None))
    handles = [style.key(NOISES[n].label, NOISES[n].look, marker="") for n in names]
    for utility in _points(frame, "utility"):
        far = 2 * reach * utility
        scatter.plot([-far[0], far[0]], [-far[1], far[1]], **UTILITY)
        along.axvline(np.degrees(np.arctan2(utility[1], utility[0])), **UTILITY)
        handles.append(Line2D([], [], label="utility direction", **UTILITY))
    style.legend(figure, handles, columns=3)
    return figure


def _cloud(axes: Axes, part: pd.DataFrame, look: catalogue.Look) -> None:
    kind: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "none"}
    kind |= {"markersize": 2.6, "alpha": 0.45, "markeredgewidth": 0}
    axes.plot(*_points(part, "sample").T, **kind)
    axes.plot(*_points(part, "contour").T, color=look.colour, linestyle=look.line)


def _arrows(axes: Axes, part: pd.DataFrame) -> None:
    """Draw both principal axes from the centre to the contour."""
    longest = np.linalg.norm(_points(part, "contour"), axis=1).max()
    vectors = _points(part, "axis")
    head = {"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    for tip in vectors * longest / np.linalg.norm(vectors[0]):
        axes.annotate("", tip, (0, 0), arrowprops=head)


def _points(rows: pd.DataFrame, kind: str) -> np.ndarray:
    """Return the coordinates of one kind, a row each; that of ``utility`` has one row or none."""
    return rows.loc[rows["kind"].eq(kind), ["x", "y"]].to_numpy()


def _along(part: pd.DataFrame, angles: np.ndarray) -> np.ndarray:
    """Return the standard deviation of one noise along directions."""
    covariance = _points(part, "covariance")
    unit = np.stack([np.cos(angles), np.sin(angles)])
    return np.sqrt(np.einsum("ia,ij,ja->a", unit, covariance, unit))


def _deviations(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Return the deviation of each noise along the utility direction and across it."""
    ((x, y),) = _points(frame, "utility")
    both = np.arctan2(y, x) + np.array([0, np.pi / 2])
    parts = frame[frame["noise"].isin(NOISES)].groupby("noise")
    return {str(name): tuple(_along(part, both)) for name, part in parts}


def words_left(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how long the axes of the ellipse are."""
    longer, shorter = np.linalg.norm(_points(frame, "axis"), axis=1)
    return {"longer": short(longer), "shorter": short(shorter), "factor": longer / shorter}


def words_middle(frame: pd.DataFrame) -> dict[str, Any]:
    """Say what directional noise gains along the utility direction, as the paper and exactly."""
    found = _deviations(frame)
    along, across = np.divide(found["mvg_directional"], found["mvg_iid"])
    # The largest change of a record in this box is w (1, 1), and |u . w| must still be hidden.
    gain = 1 - np.abs(_points(frame, "utility")).sum() / np.sqrt(2)
    wasted = found["mvg_directional"][0] / found["exact_iid"][0]
    return {"less": 1 - along, "more": across - 1, "wasted": wasted, "gain": gain}


def words_right(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how much smaller the noise by Theorem 3 is, and how much too large it still is."""
    found = _deviations(frame)
    gain = min(np.divide(found["mvg_thm2"], found["mvg_thm3"]))
    low, high = sorted(np.divide(found["mvg_thm3"], found["exact_directional"]))
    return {"gain": gain, "low": low, "high": high}


FIGURES = {
    "figure3_left": base.Figure(
        title="Figure 3, left: directional noise has an ellipse and principal axes",
        words=words_left,
        inputs=("theory/ellipses",),
        data=partial(panel, "left"),
        draw=draw,
    ),
    "figure3_middle": base.Figure(
        title="Figure 3, middle: directional against i.i.d. noise",
        words=words_middle,
        inputs=("theory/ellipses",),
        data=partial(panel, "middle"),
        draw=draw,
    ),
    "figure3_right": base.Figure(
        title="Figure 3, right: two covariances with the same guarantee",
        words=words_right,
        inputs=("theory/ellipses",),
        data=partial(panel, "right"),
        draw=draw,
    ),
}
