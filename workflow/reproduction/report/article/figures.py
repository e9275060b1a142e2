"""Figures of the article: drawn for the width of its text, readable in grey."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing
from matplotlib.ticker import LogLocator, NullLocator

from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.report.inputs import Files
from reproduction.report.standings import NOT_PRIVATE, refuted

#: Width of the text, in inches.
WIDTH = 6.45

#: Grey and line or marker of curves, darkest first.
GREYS = ("#000000", "#5a5a5a", "#8c8c8c", "#b4b4b4")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")

_STYLE: Any = {
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "svg.fonttype": "path",
}

Frames = Callable[[str], pd.DataFrame]


def write(files: Files, out: str | os.PathLike) -> None:
    """Write every figure of the article as SVG from the figures' data of a run.

    Args:
        files: files of a run by name.
        out: the folder to write into.

    Raises:
        InputError: the run has not made the data of a figure.
    """

    def frame(name: str) -> pd.DataFrame:
        return table(f"figures/data/{name}")

    def table(name: str) -> pd.DataFrame:
        if name not in files:
            raise InputError(f"{name}.csv does not exist; run `snakemake` before the article")
        return pd.read_csv(files[name])

    Path(out).mkdir(parents=True, exist_ok=True)
    drawings = {
        "samples": lambda: samples(frame),
        "directions": lambda: directions(frame),
        "inflation": lambda: inflation(table("tables/effective_noise")),
        "accuracy": lambda: accuracy(frame("figure1")),
        "epsilons": lambda: epsilons(frame("nominal")),
    }
    for name, draw in drawings.items():
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            matplotlib.rcParams.update(_STYLE | {"svg.hashsalt": name})
            draw().savefig(Path(out, f"{name}.svg"), metadata={"Date": None, "Creator": None})


def _canvas(
    height: float, columns: int, rows: int = 1, **options: Any
) -> tuple[Drawing, np.ndarray]:
    drawing = Drawing(figsize=(WIDTH, height), layout="constrained")
    return drawing, drawing.subplots(rows, columns, squeeze=False, **options).ravel()


def _log(axes: Axes, *which: str) -> None:
    for name in which:
        getattr(axes, f"set_{name}scale")("log")
        axis = getattr(axes, f"{name}axis")
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_minor_locator(NullLocator())


def _legend(drawing: Drawing, panels: Iterable[Axes], columns: int) -> None:
    """Draw one legend below all panels; a label that several of them have stands once."""
    handles: dict[str, Artist] = {}
    for axes in panels:
        lines, labels = axes.get_legend_handles_labels()
        handles |= dict(zip(labels, lines, strict=True))
    drawing.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=columns)


#: Of a noise in the figure of samples: label, grey, line.
_NOISES = {
    "mvg_directional": ("MVG, directional", GREYS[0], "-"),
    "mvg_iid": ("MVG, i.i.d.", GREYS[2], "-"),
    "mvg_thm2": ("MVG, Theorem 2, directional", GREYS[0], "-."),
    "mvg_thm3": ("MVG, Theorem 3, directional", GREYS[2], "-."),
    "exact_directional": ("directional, exactly calibrated", GREYS[0], "--"),
    "exact_iid": ("i.i.d., exactly calibrated", GREYS[2], "--"),
}


def samples(frame: Frames) -> Drawing:
    """Draw contours and standard deviations by direction, Theorem 2 and Theorem 3."""
    drawing, panels = _canvas(2.3, 4)
    pairs = zip(panels[::2], panels[1::2], ("middle", "right"), strict=True)
    for contour, profile, name in pairs:
        rows = frame("figure3")
        rows = rows[rows["panel"].eq(name)]
        for noise, part in rows[rows["noise"].isin(_NOISES)].groupby("noise", sort=False):
            label, colour, line = _NOISES[str(noise)]
            curve = part[part["kind"].eq("contour")]
            contour.plot(curve["x"], curve["y"], color=colour, linestyle=line, label=label)
            matrix = part.loc[part["kind"].eq("covariance"), ["x", "y"]].to_numpy()
            angles = np.linspace(0, np.pi, 181)
            unit = np.stack([np.cos(angles), np.sin(angles)])
            deviation = np.sqrt(np.einsum("ia,ij,ja->a", unit, matrix, unit))
            profile.plot(np.degrees(angles), deviation, color=colour, linestyle=line)
        contour.set_aspect("equal", adjustable="datalim")
        contour.set(xlabel="noise on feature 1", ylabel="noise on feature 2")
        # In thousands an offset would stand on the label of the axis.
        contour.ticklabel_format(style="plain")
        contour.locator_params(nbins=4)
        profile.set(xlabel="direction (degrees)", ylabel="standard deviation", xticks=(0, 90, 180))
        _log(profile, "y")
    _legend(drawing, panels[::2], 3)
    return drawing


def directions(frame: Frames) -> Drawing:
    """Draw the error by epsilon for each direction, MVG and exact, one panel an experiment."""
    drawing, panels = _canvas(2.5, 3)
    titles = ("Experiment I", "Experiment II", "Experiment III")
    for axes, name, title in zip(panels, ("left", "middle", "right"), titles, strict=True):
        rows = frame(f"figure4_{name}")
        metric = catalogue.metric(str(rows["metric"].dropna().iloc[0]))
        errors = rows[rows["kind"].eq("mechanism")]
        for mechanism, part in errors.groupby("mechanism"):
            exact = mechanism == "directional_gaussian"
            for place, (direction, line) in enumerate(part.groupby("direction")):
                curve = line.sort_values("epsilon", kind="stable")
                axes.plot(
                    *(curve["epsilon"], curve["mean"], "--" if exact else "-"),
                    color=GREYS[place % len(GREYS)],
                    marker=MARKERS[place],
                    label=f"({direction})"
                    + (", exactly calibrated" if exact else ", MVG")
                    + f", {NOT_PRIVATE}" * bool(refuted(part).any()),
                )
        levels = rows[rows["kind"].eq("level") & rows["mechanism"].ne("nonprivate")]
        for height in levels["mean"]:
            axes.axhline(height, color="black", linestyle=":", linewidth=0.8)
        axes.set(title=title, xlabel="claimed ε", ylabel=metric.axis)
        wide = errors["mean"].max() > 20 * errors["mean"].min()
        _log(axes, "x", *(["y"] if wide else []))
    _legend(drawing, panels, 5)
    return drawing


def inflation(table: pd.DataFrame) -> Drawing:
    """Draw the range of the noise inflation of each mechanism, one panel an experiment."""
    ends = table.groupby(["experiment", "mechanism"])["kappa"].agg(["min", "max"]).reset_index()
    ends = ends[ends["max"].gt(1.01)].sort_values("max", ascending=False, kind="stable")
    names = [name for name in catalogue.experiments() if name in {*ends["experiment"]}]
    names = [name for name in names if not catalogue.experiment(name).part_of]
    heights = [ends["experiment"].eq(name).sum() for name in names]
    drawing, panels = _canvas(
        0.6 + 0.36 * len(names) + 0.135 * sum(heights),
        *(1, len(names)),
        sharex=True,
        height_ratios=heights,
    )
    for axes, name in zip(panels, names, strict=True):
        rows = ends[ends["experiment"].eq(name)]
        places = np.arange(len(rows))
        axes.hlines(places, rows["min"], rows["max"], color=GREYS[2], linewidth=3)
        axes.plot(rows["max"], places, "o", color="black")
        axes.set_yticks(places, [catalogue.label(str(label)) for label in rows["mechanism"]])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.axvline(1, color="black", linestyle=":", linewidth=0.8)
        axes.set_title(catalogue.experiment(name).title, loc="left")
        _log(axes, "x")
    panels[-1].set_xlabel("noise inflation (times)")
    return drawing


def accuracy(frame: pd.DataFrame) -> Drawing:
    """Draw test accuracy on IMDB by claimed and by tight epsilon."""
    frame = frame[frame["experiment"].eq("imdb")]
    drawing, panels = _canvas(2.6, 2, sharey=True)
    rows = frame[frame["kind"].eq("mechanism")]
    names = list(dict.fromkeys(rows["mechanism"]))
    # One distribution has one curve.
    names = [name for name in names if name not in {*rows["also"].dropna()}]
    for axes, column in zip(panels, ("epsilon", "epsilon_actual"), strict=True):
        for place, name in enumerate(names):
            curve = rows[rows["mechanism"].eq(name) & rows[column].gt(1e-5)]
            curve = curve.sort_values(column, kind="stable")
            twin = curve["also"].dropna()
            label = catalogue.label(name, "features")
            label += f" = {catalogue.label(str(twin.iloc[0]), 'features')}" if len(twin) else ""
            axes.plot(
                *(curve[column], 100 * curve["mean"]),
                "--" if name.endswith("amplified") else "-",
                color=GREYS[place % 3],
                marker=MARKERS[place],
                label=label,
            )
        for _, level in frame[frame["kind"].eq("level")].iterrows():
            axes.axhline(100 * level["mean"], color="black", linestyle=":", linewidth=0.8)
        _log(axes, "x")
    panels[0].set(xlabel="claimed ε", ylabel="test accuracy (%)")
    panels[1].set(xlabel="tight ε")
    _legend(drawing, panels[:1], 2)
    return drawing


def epsilons(frame: pd.DataFrame) -> Drawing:
    """Draw the tight epsilon of every scheme that does not deliver what it claims."""
    least = 1e-4
    wrong = frame.loc[frame["verdict"].ne("kept"), "scheme"].unique()
    rows = frame[frame["scheme"].isin(wrong)].assign(
        place=lambda part: part["epsilon_actual"].clip(lower=least)
    )
    # No epsilon at all has no place but the right edge.
    without = np.isinf(rows["place"])
    rows.loc[without, "scheme"] += " (no ε)"
    rows.loc[without, "place"] = 10 * max(1.0, rows.loc[~without, "place"].max())
    order = rows.groupby("scheme")["place"].max().sort_values(ascending=False, kind="stable")
    drawing, (axes,) = _canvas(0.6 + 0.13 * len(order), 1)
    for place, scheme in enumerate(order.index):
        part = rows[rows["scheme"].eq(scheme)]
        over = part["verdict"].eq(NOT_PRIVATE)
        axes.hlines(place, part["place"].min(), part["place"].max(), color=GREYS[3])
        axes.plot(part.loc[over, "place"], [place] * over.sum(), "o", color="black")
        axes.plot(
            part.loc[~over, "place"], [place] * (~over).sum(), "o", color="black", mfc="white"
        )
    axes.set_yticks(range(len(order)), order.index)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xlabel("tight ε where 1 is claimed (filled: above it; at the left edge: below 1e-4)")
    _log(axes, "x")
    return drawing
