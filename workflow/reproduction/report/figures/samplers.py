"""Section 6.4 of the MVG paper: the time per draw of samplers of one distribution."""

from __future__ import annotations

import pandas as pd

from reproduction.report.figures import base, style

#: Look and label of each sampler.
SAMPLERS = style.legends("samplers")


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw time against size, square and wide; the legend has the fitted powers."""
    figure, grid = style.canvas(4.8, 1, 2, sharey=True)
    titles = {case: "n × n" if case == "m = n" else "6 × n" for case in frame["case"].unique()}
    for axes, (case, title) in zip(grid[0], titles.items(), strict=True):
        for name, rows in frame[frame["case"].eq(case)].groupby("method"):
            style.curve(axes, rows["n"], rows["seconds"], as_=SAMPLERS[str(name)].look)
        style.log_axis(axes, "x", "number of columns n")
        style.log_axis(axes, "y", "seconds per draw" if axes is grid[0, 0] else "")
        axes.set_title(f"Noise of {title}")
    keys = []
    for name, sampler in SAMPLERS.items():
        rows = frame[frame["method"].eq(name)].drop_duplicates("case")
        powers = ", ".join(
            f"n$^{{{slope:.1f}}}$ ({titles[case]})"
            for case, slope in zip(rows["case"], rows["slope"], strict=True)
        )
        keys.append(style.key(f"{sampler.label}: {powers}", sampler.look))
    style.legend(figure, keys, 2)
    return figure


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
            "The legend has fitted powers. For n × n noise section 6.4 has n³ "
            "for the affine map and n⁴ for the Kronecker covariance, without its factorisation; "
            "for 6 × n it has n² for Algorithm 1."
        ),
        finding=finding,
        draw=draw,
    ),
}
