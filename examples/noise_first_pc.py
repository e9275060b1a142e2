# A figure: `build` makes one tidy frame from a run, and a drawing of it.
# Copy to workflow/reproduction/report/figures
# Add to workflow/rules/report.smk, below FIGURES = {
#     "noise_first_pc": ("noise_first_pc", ["<folder>/rows/first_pc.csv"]),
# Run: snakemake results/figures/noise_first_pc.svg
"""How the noise of each mechanism falls with epsilon."""

from __future__ import annotations

import pandas as pd

from reproduction import catalogue
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run


def build(run: Run) -> Figure:
    """Return the shown rows that add noise of a known size."""
    rows = run["rows/first_pc"]
    rows = frames.rows_to_draw(rows[rows["shown"]])
    return Figure(
        title="Noise against epsilon: first principal component",
        caption="Standard deviation of the noise against claimed epsilon.",
        frame=rows[rows["noise_std"].notna()].reset_index(drop=True),
        draw=draw,
    )


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw one line per mechanism."""
    figure, grid = style.canvas(4.0)
    for name, part in frame.groupby("mechanism"):
        look, label = catalogue.look(str(name)), catalogue.label(str(name))
        style.curve(grid[0, 0], part["epsilon"], part["noise_std"], as_=look, label=label)
    style.log_axis(grid[0, 0], "x", "claimed ε")
    style.log_axis(grid[0, 0], "y", "noise of a released entry")
    style.legend(figure, grid[0, 0].get_legend_handles_labels()[0], columns=2)
    return figure
