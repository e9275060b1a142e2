"""Sections 3.2 and 4.2 of the IMGM paper: noise of many releases, large matrices, small epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from matrixdp.report.figures import base, style
from matrixdp.report.markup import short

#: MVG by its zeta, and IMGM.
SCHEMES = style.legends("noise")


def draw_noise(frame: pd.DataFrame) -> style.Drawing:
    """Draw noise against the number of entries, and as epsilon goes to 0."""
    figure, grid = style.canvas(4.2, 1, 2, sharey=True)
    ((m, n),) = frame[frame["case"].eq("epsilon")][["m", "n"]].drop_duplicates().to_numpy()
    for axes, by, title, name in (
        (grid[0, 0], "entries", "In high dimension (ε = 1)", "entries m n"),
        (grid[0, 1], "epsilon", f"As ε goes to 0 ({m} × {n})", "ε"),
    ):
        rows = frame[frame["case"].eq(by)]
        for scheme, one in SCHEMES.items():
            of_imgm = scheme == "imgm"
            part = rows.drop_duplicates(by) if of_imgm else rows[rows["zeta"].eq(scheme)]
            std = part["imgm_std" if of_imgm else "mvg_std"]
            style.curve(axes, part[by], std, as_=one.look, markevery=5)
        axes.set_title(title)
        style.log_axis(axes, "x", name)
        style.log_axis(axes, "y", "noise std (sensitivity 1)" if by == "entries" else "")
    style.legend(figure, [style.key(one.label, one.look) for one in SCHEMES.values()], 3)
    return figure


def words_noise(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how both grow, by the last decade of each axis."""
    mvg = frame[frame["zeta"].eq("sqrt")]
    entries = mvg[mvg["case"].eq("entries")].sort_values("entries")
    small = mvg[mvg["case"].eq("epsilon")].sort_values("epsilon", ascending=False)
    last, falls = small.iloc[-1], -_slope(small, "epsilon")
    limit = last["s2"] / (2 * ndtri((1 + last["delta"]) / 2))
    return {
        "grows": _slope(entries, "entries"),
        "falls": falls,
        "power": "" if round(falls, 2) == 1 else f"^{short(falls)}",
        "imgm": short(entries["imgm_std"].iloc[-1]),
        "limit": short(limit),
        "epsilon": short(last["epsilon"]),
        "times": short(last["mvg_std"] / last["imgm_std"]),
    }


def _slope(rows: pd.DataFrame, by: str) -> float:
    """Return the power of MVG's noise over about the last decade of the rows."""
    logs = np.log(rows[[by, "mvg_std"]])
    near = logs[(logs[by] - logs[by].iloc[-1]).abs() < 1.01 * np.log(10)]
    (x, y) = (near.iloc[-1] - near.iloc[0])[[by, "mvg_std"]]
    return float(y / x)


FIGURES = {
    "imgm_noise": base.Figure(
        title="Section 4.2: noise of MVG and IMGM",
        words=words_noise,
        inputs=("theory/dimension",),
        draw=draw_noise,
    ),
}
