"""Figure 3 of the MVG paper from samples: directional noise in two dimensions.

A second row has the noise's standard deviation along every direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reproduction import catalogue
from reproduction.report.figures import style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run

NOISES = style.legends("ellipses")
#: Noise that the paper does not show: lower panels alone have it.
EXACT = ("exact_directional", "exact_iid")
UTILITY: dict[str, Any] = {"color": "#777777", "linestyle": ":", "linewidth": 1.6}


#: Panels of the paper, with their titles.
PANELS = {"left": "Directional", "middle": "Against i.i.d. noise", "right": "Theorems 2 and 3"}


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw samples with their ellipses above, the deviation along every direction below."""
    figure, grid = style.canvas(6.6, 2, len(PANELS))
    for (scatter, along), (panel, title) in zip(grid.T, PANELS.items(), strict=True):
        rows = frame[frame["panel"].eq(panel)]
        parts = {name: rows[rows["noise"].eq(name)] for name in NOISES}
        parts = {name: part for name, part in parts.items() if len(part)}
        _scatter(scatter, rows, parts)
        scatter.set_title(title)
        _profile(along, parts)
        for x, y in _points(rows, "utility"):
            far = 2 * scatter.get_xlim()[1] * np.array([x, y])
            scatter.plot([-far[0], far[0]], [-far[1], far[1]], **UTILITY)
            along.axvline(np.degrees(np.arctan2(y, x)), **UTILITY)
    grid[0, 0].set_ylabel("noise on feature 2")
    grid[1, 0].set_ylabel("standard deviation")
    handles = [style.key(noise.label, noise.look, marker="") for noise in NOISES.values()]
    handles.append(Line2D([], [], label="utility direction", **UTILITY))
    style.legend(figure, handles, columns=3)
    return figure


def _scatter(axes: Axes, rows: pd.DataFrame, parts: Mapping[str, pd.DataFrame]) -> None:
    """Draw samples of the noise that the paper shows, with contours of 95 %."""
    clouds = [name for name in parts if name not in EXACT]
    for name in clouds:
        _cloud(axes, parts[name], NOISES[name].look)
    if len(clouds) == 1:
        _arrows(axes, rows)
    visible = rows["noise"].isin(clouds) & rows["role"].isin(["sample", "contour"])
    reach = 1.08 * rows.loc[visible, ["x", "y"]].abs().to_numpy().max()
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    axes.set_xlabel("noise on feature 1")
    axes.locator_params(nbins=4)


def _profile(axes: Axes, parts: Mapping[str, pd.DataFrame]) -> None:
    """Draw the standard deviation of each noise along every direction."""
    angles = np.linspace(0, 180, 181)
    for name, part in parts.items():
        look = NOISES[name].look
        axes.plot(angles, _along(part, np.radians(angles)), color=look.colour, ls=look.line)
    axes.set(xlabel="degrees from feature 1", xlim=(0, 180), xticks=range(0, 181, 45))
    if len(parts) > 1:
        style.log_axis(axes, "y", "")
    else:
        axes.set_ylim(0, None)


def _cloud(axes: Axes, part: pd.DataFrame, look: catalogue.Look) -> None:
    points: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "none"}
    points |= {"markersize": 2.6, "alpha": 0.45, "markeredgewidth": 0}
    axes.plot(*_points(part, "sample").T, **points)
    axes.plot(*_points(part, "contour").T, color=look.colour, linestyle=look.line)


def _arrows(axes: Axes, part: pd.DataFrame) -> None:
    """Draw both principal axes from the centre to the contour."""
    longest = np.linalg.norm(_points(part, "contour"), axis=1).max()
    vectors = _points(part, "axis")
    head = {"arrowstyle": "-|>", "color": style.INK, "linewidth": 1.8, "shrinkA": 0, "shrinkB": 0}
    for tip in vectors * longest / np.linalg.norm(vectors[0]):
        axes.annotate("", tip, (0, 0), arrowprops=head)


def _points(rows: pd.DataFrame, role: str) -> np.ndarray:
    """Return the coordinates of the points of one role, shape (points, 2)."""
    return rows.loc[rows["role"].eq(role), ["x", "y"]].to_numpy()


def _along(part: pd.DataFrame, angles: np.ndarray) -> np.ndarray:
    """Return the standard deviation of one noise along directions."""
    covariance = _points(part, "covariance")
    unit = np.stack([np.cos(angles), np.sin(angles)])
    return np.sqrt(np.einsum("ia,ij,ja->a", unit, covariance, unit))


def build(run: Run) -> Figure:
    """Return the figure."""
    return Figure(
        title="Figure 3: directional noise on two features",
        caption=(
            "Samples of noise with contours of 95 % above, standard deviations by direction "
            "below. First: directional MVG noise and its principal axes, on records. Second: "
            "beside i.i.d. noise of the same guarantee. Third: on second moments, by Theorem 2 "
            "and by Theorem 3. Exactly calibrated noise stands in the lower panels."
        ),
        frame=run["theory/ellipses"],
        draw=draw,
    )
