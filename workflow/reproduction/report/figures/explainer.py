"""A record, the noise that its privacy needs, and MVG's noise, to scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from reproduction import catalogue
from reproduction.report.figures import style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.tables import effective_noise

#: Half the width of a panel, in standard deviations of its noise.
WIDTH = 4.0


def tidy(run: Run) -> pd.DataFrame:
    """Return one row for the first experiment in which MVG's noise has a finite size.

    ``lower`` and ``upper`` are the public range of an entry, ``noise_std`` is MVG's noise on it.
    ``rescaled_std`` is noise of the same shape that meets the same guarantee exactly.
    ``noise_inflation`` is the factor between the two; the row has the smallest one.
    """
    noise = run["tables/effective_noise"]
    rows = effective_noise.mvg_noise(noise).dropna(subset="upper")
    first = next((part for _, part in rows.groupby("experiment", sort=False)), rows)
    return first.nsmallest(1, "noise_inflation")


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw the record beside exact noise, and both of these beside MVG's noise."""
    figure, grid = style.canvas(3.2, 1, 2)
    (left, right), row = grid[0], frame.iloc[0]
    mvg, exact = style.look(row["mechanism"]), style.look("directional_gaussian")
    _bell(left, row["rescaled_std"], exact.colour, "the noise that the guarantee needs")
    _bell(right, row["noise_std"], mvg.colour, f"the noise of {catalogue.label(row['mechanism'])}")
    # To scale: the record, and the noise of the left panel, are a hairline in the right panel.
    left.axvspan(row["lower"], row["upper"], color=style.INK, linewidth=0)
    right.axvline(0, color=style.INK, linewidth=0.8)
    reach = 2 * row["rescaled_std"]
    right.axvspan(-reach, reach, color=exact.colour, linewidth=0)
    record_text = f"one entry of a record:\n{row['lower']:g} to {row['upper']:g}".replace("-", "−")
    for axes, text, at in (
        (left, record_text, row["upper"]),
        (right, "the record, and the noise\nof the first panel, at this scale", 0.0),
    ):
        place = axes.get_xlim()[1] * 0.34
        arrow = {"arrowstyle": "-", "color": "#555555"}
        axes.annotate(
            text, (at, 0.9), (place, 0.97), va="center", fontsize=style.SMALL, arrowprops=arrow
        )
    return figure


def _bell(axes: Axes, std: float, colour: str, text: str) -> None:
    x = np.linspace(-WIDTH * std, WIDTH * std, 201)
    height = np.exp(-((x / std) ** 2) / 2)
    axes.fill_between(x, 0, height, color=colour, alpha=0.3, linewidth=0)
    axes.plot(x, height, color=colour)
    axes.set(xlim=(x[0], x[-1]), ylim=(0, 1.1), yticks=[], title=text)
    axes.set_xlabel(f"standard deviation {short(std)}, in units of the scaled data")
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}".replace("-", "−"))
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)


def build(run: Run) -> Figure:
    """Return the figure."""
    return Figure(
        title="One record beside the noise that it needs, and beside MVG's",
        caption=(
            "Noise on one entry at the same guarantee, beside the range of the entry: first "
            "exactly calibrated, then MVG's, at the direction and share where it comes closest in "
            "this experiment. Both have the same shape over directions. Each panel is to scale."
        ),
        frame=tidy(run),
        draw=draw,
    )
