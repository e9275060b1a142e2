"""Section 6.4 of the MVG paper: the time per draw of samplers of one distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from matrixdp.report.figures import base, style

#: Look and label of each sampler.
SAMPLERS = style.legends("samplers")


#: Letters of a fitted power in points, and the share of a panel's height that a line of them takes.
POINTS, LINE = 9.5, 0.075


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw time against size, square and wide, with fitted slopes at the ends of lines."""
    figure, grid = style.canvas(4.8, 1, 2, sharey=True)
    panels = [*zip(grid[0], frame.groupby("case", sort=False), strict=True)]
    for axes, (case, part) in panels:
        for name, rows in part.groupby("method"):
            style.curve(axes, rows["n"], rows["seconds"], as_=SAMPLERS[str(name)].look)
        style.log_axis(axes, "x", "number of columns n")
        style.log_axis(axes, "y", "seconds per draw" if axes is grid[0, 0] else "")
        axes.set_title(f"Noise of {'n × n' if case == 'm = n' else '6 × n'}")
        axes.margins(x=0.22)
    # Both panels share their limits, which follow from the curves of both.
    for axes, (_, part) in panels:
        last = part.loc[part.groupby("method")["n"].idxmax()].sort_values("seconds")
        for n, ends in last.groupby("n"):
            _write_powers(axes, float(n), ends)
    keys = [SAMPLERS[name] for name in ("affine", "unimodal", "kronecker", "scipy")]
    style.legend(figure, [style.key(sampler.label, sampler.look) for sampler in keys], 2)
    return figure


def _write_powers(axes: Axes, n: float, ends: pd.DataFrame) -> None:
    """Write the fitted powers of curves that end at n, in ascending order, inside the axes."""
    low, high = np.log10(axes.get_ylim())
    shares = (np.log10(ends["seconds"]) - low) / (high - low)
    heights = style.spread(np.maximum(shares, LINE / 2), [LINE] * len(ends))
    for row, height in zip(ends.itertuples(), heights, strict=True):
        colour = style.mix(SAMPLERS[str(row.method)].look.colour, -0.2)
        options: dict[str, Any] = {"color": colour, "va": "center", "fontsize": POINTS}
        options["transform"] = axes.get_xaxis_transform()
        axes.text(1.2 * n, height, f"n$^{{{row.slope:.1f}}}$", **options)


def finding(frame: pd.DataFrame) -> str:
    """Return what twice the size costs with both samplers, by the fitted powers."""
    square = frame[frame["case"].eq("m = n")].groupby("method")["slope"].first()
    affine, kronecker = (f"{2 ** square[name]:.2g} times" for name in ("affine", "kronecker"))
    return f"Twice the size costs {affine} as much by the affine map, {kronecker} by Kronecker's"


FIGURES = {
    "sampler_times": base.Figure(
        title="Section 6.4: what a draw costs",
        caption=(
            "Median seconds per draw on this machine, one thread, with all factorisations. "
            "Numbers at the ends of lines are fitted powers. For n × n noise section 6.4 has n³ "
            "for the affine map and n⁴ for the Kronecker covariance, without its factorisation; "
            "for 6 × n it has n² for Algorithm 1."
        ),
        finding=finding,
        inputs=("theory/sampler_times",),
        draw=draw,
    ),
}
