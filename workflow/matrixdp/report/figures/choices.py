"""Free parameters of which the best value is reported: those of the MVG paper, and a radius."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Patch, Rectangle

from matrixdp import catalogue
from matrixdp.report import comparisons, summary
from matrixdp.report.entries import Tables, by_experiment
from matrixdp.report.figures import base, frames, style

#: Parameter -> its name for a reader, on an axis and in a sentence.
NAMES = {
    "tau": ("τ", "share tau of the precision that direction (a) gets"),
    "rows": ("rows / m", "number of sketch rows, in multiples of the features"),
    "radius": ("R²", "squared radius of clipping, as a share of the largest squared norm"),
}

#: Ratios so near to 1 are dots, where the interval of the difference covers 0.
SAME = 0.02
#: Ratios beyond this have the deepest colour.
DEEPEST = 4.0


def tidy(parameter: str, tables: Tables) -> pd.DataFrame:
    """Return every value of a parameter in ``NAMES`` at every epsilon.

    Of directions, the first is taken that a table would show. ``value`` is the parameter;
    ``base`` the one that ``ratio`` compares with (the middle one, where a run lacks ours);
    ``clear`` says whether the 95 % interval of the difference of trials excludes 0.
    """
    summaries, compared = (by_experiment(tables, kind) for kind in ("summary", "comparisons"))
    if not summaries:
        return pd.DataFrame()
    rows = frames.join(frames.cells(one) for one in summaries.values())
    rows = rows[rows["variant"].str.startswith(f"{parameter}=") & rows["mean"].notna()]
    rows = rows[rows["direction"].isin(summary.DIRECTIONS)]
    rows = rows.assign(parameter=parameter, value=rows["variant"].str.removeprefix(f"{parameter}="))
    parts = [_compare(part) for _, part in _panels(rows)]
    verdicts = frames.verdicts(pd.concat(compared.values()), comparisons.VARIANT)
    found = frames.join([rows.iloc[:0], *parts]).merge(verdicts, how="left")
    return found.assign(clear=found["verdict"].isin([comparisons.BETTER, comparisons.WORSE]))


def _panels(rows: pd.DataFrame) -> list[tuple[tuple[str, str], pd.DataFrame]]:
    """Return the rows of each panel, by experiment and family."""
    return [
        ((str(experiment), mechanism), part)
        for experiment, own in rows.groupby("experiment", sort=False)
        for mechanism, part in frames.ordered(own)
    ]


def _compare(rows: pd.DataFrame) -> pd.DataFrame:
    base = comparisons.base(rows["parameter"].iloc[0], rows["value"])
    there = rows[rows["value"].eq(base)].set_index("epsilon")["mean"]
    rows = rows.assign(base=base, ratio=rows["mean"] / rows["epsilon"].map(there))
    return rows.sort_values(["value", "epsilon"], key=lambda column: column.astype(float))


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one panel per experiment and mechanism: epsilon by parameter, colour and number ratio.

    A frame around a cell marks the value that was chosen on separate trials.
    """
    panels, parameter = _panels(frame), str(frame["parameter"].iloc[0])
    rows = -(-len(panels) // 2)
    figure, grid = style.canvas(0.9 + 1.85 * rows, rows, 2)
    for axes, ((experiment, mechanism), part) in zip(grid.ravel(), panels, strict=False):
        short = catalogue.experiment(experiment).name.removeprefix("Experiment ")
        axes.set_title(f"{short}: {catalogue.label(mechanism)}")
        _heat(axes, part)
        axes.set_ylabel(NAMES[parameter][0], rotation=90 if parameter == "rows" else 0, labelpad=10)
    for axes in grid.ravel()[len(panels) :]:
        axes.set_axis_off()
    for axes in grid.ravel()[: len(panels)][-2:]:
        axes.set_xlabel("nominal ε")
    style.legend(figure, _keys(parameter), columns=2)
    return figure


def _heat(axes: Axes, part: pd.DataFrame) -> None:
    table = part.pivot(index="value", columns="epsilon", values="ratio").loc[part["value"].unique()]
    depth = np.log(DEEPEST)
    shades = np.clip(np.log(table.to_numpy()), -depth, depth)
    edges = [np.arange(size + 1) - 0.5 for size in table.shape[::-1]]
    axes.pcolormesh(*edges, shades, cmap=_SHADES, vmin=-depth, vmax=depth, linewidth=0)
    across = {epsilon: i for i, epsilon in enumerate(table.columns)}
    up = {value: i for i, value in enumerate(table.index)}
    small: dict[str, Any] = {"va": "center", "fontsize": 7.5}
    for cell in part.itertuples():
        x, y = across[cell.epsilon], up[cell.value]
        if cell.chosen:
            axes.add_patch(_box(x - 0.47, y - 0.46, 0.94, 0.92))
        if cell.value == cell.base:
            continue
        weight, colour = ("bold", style.INK) if cell.clear else ("normal", "#777777")
        if abs(np.log(cell.ratio)) > 0.75 * depth:
            colour = "white"
        text = _ratio(cell.ratio) if cell.clear or abs(cell.ratio - 1) > SAME else "·"
        axes.text(x, y, text, color=colour, fontweight=weight, ha="center", **small)
    base = part["base"].iloc[0]
    axes.text(len(across) - 0.3, up[base], "= 1", color="#777777", style="italic", **small)
    axes.set_xticks(range(len(across)), [f"{epsilon:g}" for epsilon in across])
    axes.set_yticks(range(len(up)), up)
    axes.get_yticklabels()[up[base]].set_fontweight("bold")
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


_SHADES = LinearSegmentedColormap.from_list("ratio", [style.BLUE, "#FFFFFF", style.VERMILLION])


def _box(x: float, y: float, width: float, height: float, **options: Any) -> Rectangle:
    return Rectangle((x, y), width, height, fill=False, edgecolor=style.INK, lw=1.4, **options)


def _keys(parameter: str) -> list[Patch]:
    base = f"{NAMES[parameter][0]} = {comparisons.BASES[parameter]}"
    why = f"error relative to {base}" + (", fixed in public" if parameter != "rows" else "")
    blue, red = (style.mix(colour, 0.5) for colour in (style.BLUE, style.VERMILLION))
    return [
        _box(0, 0, 1, 1, label="chosen on separate trials"),
        Patch(color=blue, label=f"smaller {why}"),
        Patch(color="none", label="bold: better or worse"),
        Patch(color=red, label="larger error"),
    ]


def _ratio(value: float) -> str:
    """Return a ratio as it stands in a cell: two decimals; fewer far from 1."""
    if value < 0.095:
        return f"{value:.0e}".replace("e-0", "e-")
    return f"{value:.2f}" if value < 9.95 else f"{value:.3g}"


def words(frame: pd.DataFrame) -> dict[str, Any]:
    """Say in how many cells the parameter makes a difference, per experiment and in all."""
    found, others = [], frame[frame["value"].ne(frame["base"])]
    for (experiment, mechanism), part in _panels(others):
        name = f"{catalogue.experiment(experiment).name}, {catalogue.label(mechanism)}"
        cells = f"{part['clear'].sum()} of {len(part)} cells"
        least, most = map(_ratio, part["ratio"].agg(["min", "max"]))
        found.append(f"{name}: {cells}, ratios {least} to {most}")
    parameter = frame["parameter"].iloc[0]
    symbol, what = NAMES[parameter]
    return {
        "symbol": symbol,
        "what": what,
        "base": comparisons.BASES[parameter],
        "found": "; ".join(found),
        "clear": others["clear"].sum(),
        "cells": len(others),
    }


def _choice(parameter: str, what: str, inputs: tuple[str, ...]) -> base.Figure:
    title = f"What {what} changes"
    data = partial(tidy, parameter)
    return base.Figure(
        title=title, told="choices", words=words, inputs=inputs, data=data, draw=draw
    )


FIGURES = {
    "choices_tau": _choice(
        "tau", "the choice of τ", inputs=("summary/{experiment}", "comparisons/{experiment}")
    ),
    "choices_rows": _choice(
        "rows",
        "the number of sketch rows",
        inputs=("summary/{experiment}", "comparisons/{experiment}"),
    ),
    "choices_radius": _choice(
        "radius",
        "the radius of clipping",
        inputs=("summary/{experiment}", "comparisons/{experiment}"),
    ),
}
