"""One look for all figures: a colour and a marker per mechanism, axes, bands, levels, marks.

Figures are 9 inches wide, 900 pixels on a screen, with no text below 8 points. Colours begin with
those of Okabe and Ito (2008), which readers with any common colour blindness tell apart; within a
family of mechanisms markers and lines differ too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter
from numpy.typing import ArrayLike

WIDTH = 9.0

BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
INK, FAINT, ALARM = "#222222", "#B8B8B8", "#B00020"

SIMULATED = "SIMULATED DATA: a generated stand-in, not the paper's data set"

_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": "#666666",
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "lines.linewidth": 1.5,
    "lines.markersize": 4.5,
    "errorbar.capsize": 2.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    # Letters as outlines: the same picture on every machine, whatever fonts it has.
    "svg.fonttype": "path",
}


@dataclass(frozen=True)
class Look:
    """How a mechanism looks in every figure."""

    colour: str
    marker: str
    line: Any = "-"


LOOKS = {
    "nonprivate": Look(BLACK, "*", ":"),
    "random": Look("#777777", "x", "--"),
    "zero": Look("#777777", "+", "-."),
    "mvg_binary": Look(VERMILLION, "o"),
    "mvg_maxpnr": Look("#8C2D04", "D", "--"),
    "mvg_thm2": Look(VERMILLION, "s", "--"),
    "mvg_thm3": Look("#8C2D04", "^"),
    "gaussian_2006": Look(BLUE, "s"),
    "gaussian_2014": Look("#084A78", "v", "--"),
    "analyze_gauss_2006": Look(BLUE, "p"),
    "analyze_gauss": Look("#084A78", "<", "--"),
    "analytic_gaussian": Look(SKY, "o"),
    "imgm": Look(SKY, "X", "--"),
    "analyze_gauss_analytic": Look(SKY, "P"),
    "goe": Look("#2A8CC4", "d", "--"),
    "directional_gaussian": Look(GREEN, "D"),
    "laplace": Look(ORANGE, "^"),
    "knorm_frob": Look(PURPLE, "o", "--"),
    "knorm_l2": Look("#AA4499", "s", "-."),
    "knorm_linf": Look("#661E55", "v"),
    "ppca": Look("#AA4499", "h"),
    "jl_2012": Look("#A8A03C", "<", "--"),
    "jl_exact": Look("#6B6412", ">"),
}

#: Mechanisms that are read together, in the order of panels and legends.
FAMILIES = {
    "MVG": ("mvg_binary", "mvg_maxpnr", "mvg_thm2", "mvg_thm3"),
    "Gaussian, classical constants": (
        *("gaussian_2006", "gaussian_2014", "analyze_gauss_2006", "analyze_gauss"),
    ),
    "Gaussian, exactly calibrated": (
        *("analytic_gaussian", "imgm", "analyze_gauss_analytic", "goe", "directional_gaussian"),
    ),
    "Pure epsilon": ("laplace", "knorm_frob", "knorm_l2", "knorm_linf", "ppca"),
    "JL transform": ("jl_2012", "jl_exact"),
}

#: Of any further mechanism, until it gets a look of its own.
_OTHER = Look("#444444", "8", "-.")


@contextlib.contextmanager
def context(salt: str = "matrixdp") -> Iterator[None]:
    """Draw and save inside this: settings that no user's own matplotlibrc can change.

    Args:
        salt: name of the figure; it makes the identifiers inside an SVG, the same each time.
    """
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_RC | {"svg.hashsalt": salt})
        yield


def canvas(
    height: float, rows: int = 1, columns: int = 1, **options: Any
) -> tuple[Figure, np.ndarray]:
    """Return an empty figure of the common width and its axes, shape (rows, columns).

    Args:
        height: in inches.
        rows, columns: number of panels.
        options: for ``Figure.subplots``, such as ``sharex`` or ``height_ratios``.
    """
    layout = ConstrainedLayoutEngine(w_pad=0.06, h_pad=0.06)
    figure = Figure(figsize=(WIDTH, height), layout=layout)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def look(mechanism: str) -> Look:
    """Return how a mechanism or a reference row looks."""
    return LOOKS.get(mechanism, _OTHER)


def label(mechanism: str) -> str:
    """Return the name of a mechanism or a reference row for a reader."""
    from matrixdp import mechanisms
    from matrixdp.results.tables import LABELS

    entry = mechanisms.registry().get(mechanism)
    return entry.label if entry else LABELS.get(mechanism, mechanism)


def family(mechanism: str) -> str:
    """Return the name of the family that a mechanism belongs to; ``Other`` for a new one."""
    return next((name for name, members in FAMILIES.items() if mechanism in members), "Other")


def mix(colour: str, white: float) -> str:
    """Return a colour lightened by a share of white between 0 and 1."""
    red, green, blue = ((1 - white) * part + white for part in to_rgb(colour))
    return to_hex((red, green, blue))


def curve(
    axes: Axes,
    x: ArrayLike,
    mean: ArrayLike,
    ci95: ArrayLike | None = None,
    *,
    as_: Look,
    label: str = "",
    **options: Any,
) -> Line2D:
    """Draw a line with markers and its 95 % band; a NaN is a visible gap.

    Args:
        x, mean, ci95: of equal length; ``ci95`` is half the interval.
        as_: the look, usually of :func:`look`.
        options: for ``Axes.plot``.
    """
    x, mean = np.asarray(x, dtype=float), np.asarray(mean, dtype=float)
    if ci95 is not None:
        half = np.nan_to_num(np.asarray(ci95, dtype=float))
        low = np.maximum(mean - half, np.where(mean > 0, mean / 100, -np.inf))
        axes.fill_between(x, low, mean + half, color=as_.colour, alpha=0.15, linewidth=0)
    style = {"color": as_.colour, "marker": as_.marker, "linestyle": as_.line}
    style |= {"markeredgecolor": "white", "markeredgewidth": 0.5} | options
    (line,) = axes.plot(x, mean, label=label, **style)
    return line


def level(axes: Axes, y: float, mechanism: str, label: str = "", **options: Any) -> Line2D:
    """Draw the level of a reference row: non-private dotted, chance dashed."""
    kind = look(mechanism)
    style = {"color": kind.colour, "linestyle": kind.line, "linewidth": 1.2, "zorder": 1.5}
    return axes.axhline(y, label=label, **style | options)


def published(
    axes: Axes, x: float, y: float, half_width: float, *, as_: Look, label: str = "", **options: Any
) -> ErrorbarContainer:
    """Draw a published value as an open marker with its 95 % interval as an error bar."""
    style: dict[str, Any] = {"color": as_.colour, "marker": as_.marker, "markersize": 7}
    style |= {"markerfacecolor": "white", "markeredgewidth": 1.4, "linestyle": "none"}
    bar = None if not half_width or np.isnan(half_width) else [half_width]
    return axes.errorbar(
        [x], [y], yerr=bar, label=label, elinewidth=1.2, zorder=5, **style | options
    )


def no_guarantee(axes: Axes, x: Iterable[float], *, as_: Look, row: int = 0) -> None:
    """Mark in a strip at the foot of the axes where a mechanism has no guarantee.

    Args:
        x: the budgets without one.
        row: place in the strip, from below, so that the marks of several mechanisms do not meet.
    """
    x = list(x)
    height = np.full(len(x), 0.03 + 0.05 * row)
    place = axes.get_xaxis_transform()
    axes.plot(x, height, "x", color=as_.colour, transform=place, markersize=4.5, clip_on=False)


def log_axis(axes: Axes, which: str, text: str) -> None:
    """Make an axis logarithmic, one tick per power of ten (fewer if many), with a name and unit."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    getattr(axes, f"set_{which}scale")("log")
    axis.set_major_locator(LogLocator(base=10, numticks=9))
    axis.set_minor_formatter(NullFormatter())
    axis.set_label_text(text)


def epsilon_axis(axes: Axes, text: str = "nominal ε") -> None:
    """Make the x axis that of the privacy budget."""
    log_axis(axes, "x", text)


def legend(figure: Figure, handles: Sequence[Artist], columns: int, **options: Any) -> None:
    """Draw one legend below all panels."""
    figure.legend(handles=handles, loc="outside lower center", ncols=columns, **options)


def say(axes: Axes, text: str) -> None:
    """Write inside an empty panel why there is nothing to see."""
    axes.text(
        *(0.5, 0.5, text),
        transform=axes.transAxes,
        ha="center",
        va="center",
        wrap=True,
        color="#555555",
        style="italic",
        bbox={"boxstyle": "round", "facecolor": "#F4F4F4", "edgecolor": "#CCCCCC"},
    )


def message(text: str) -> Figure:
    """Return a figure that says why there is nothing to see."""
    figure, axes = canvas(2.5)
    axes[0, 0].set(xticks=[], yticks=[])
    say(axes[0, 0], f"Nothing to show: {text}.")
    return figure


def headline(figure: Figure, title: str, simulated: bool = False) -> None:
    """Write the title above all panels; simulated data are named first, in red, and across."""
    text = f"{SIMULATED}\n{title}" if simulated else title
    colour = ALARM if simulated else INK
    figure.suptitle(text, x=0.01, ha="left", fontsize=11.5, fontweight="bold", color=colour)
    if simulated:
        width, height = figure.get_size_inches()
        figure.text(
            *(0.5, 0.5, "SIMULATED"),
            ha="center",
            va="center",
            rotation=float(np.degrees(np.arctan2(height, width))),
            fontsize=70,
            fontweight="bold",
            color=ALARM,
            alpha=0.13,
            zorder=10,
        )
