"""Section 4.2 of the IMGM paper: noise in large matrices, and as epsilon goes to 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.special import ndtri

from reproduction.report.figures import base, style
from reproduction.report.markup import short

#: MVG by its zeta, and IMGM.
SCHEMES = style.legends("noise")


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw noise against the number of entries, and as epsilon goes to 0."""
    figure, grid = style.canvas(4.2, 1, 2, sharey=True)
    ((m, n),) = frame[frame["case"].eq("epsilon")][["m", "n"]].drop_duplicates().to_numpy()
    for axes, by, title, name in (
        (grid[0, 0], "entries", "In high dimension (ε = 1)", "entries m n"),
        (grid[0, 1], "epsilon", f"As ε goes to 0 ({m} × {n})", "ε"),
    ):
        rows = frame[frame["case"].eq(by)]
        for scheme, entry in SCHEMES.items():
            of_imgm = scheme == "imgm"
            part = rows.drop_duplicates(by) if of_imgm else rows[rows["zeta"].eq(scheme)]
            std = part["imgm_std" if of_imgm else "mvg_std"]
            style.curve(axes, part[by], std, as_=entry.look, markevery=5)
        axes.set_title(title)
        style.log_axis(axes, "x", name)
        style.log_axis(axes, "y", "noise std (sensitivity 1)" if by == "entries" else "")
    style.legend(figure, [style.key(entry.label, entry.look) for entry in SCHEMES.values()], 3)
    return figure


def finding(frame: pd.DataFrame) -> str:
    """Return how both grow as epsilon goes to 0, from the smallest decade of epsilon."""
    mvg = frame[frame["zeta"].eq("sqrt") & frame["case"].eq("epsilon")]
    mvg = mvg.sort_values("epsilon", ascending=False, kind="stable")
    last, logs = mvg.iloc[-1], np.log(mvg[["epsilon", "mvg_std"]])
    near = logs[(logs["epsilon"] - logs["epsilon"].iloc[-1]).abs() < 1.01 * np.log(10)]
    step = near.iloc[-1] - near.iloc[0]
    power = round(-float(step["mvg_std"] / step["epsilon"]), 2)
    grows = "in proportion to 1 / ε" if power == 1 else f"as 1 / ε to the power {short(power)}"
    limit = short(last["s2"] / (2 * ndtri((1 + last["delta"]) / 2)))
    return f"As ε goes to 0, IMGM's noise stays below {limit}; MVG's grows {grows}"


FIGURES = {
    "imgm_noise": base.Figure(
        title="Section 4.2: noise of MVG and IMGM",
        caption=(
            "Standard deviation of the noise on one entry at sensitivity 1: left against the "
            "number of entries at ε = 1, right against ε for one size of matrix. MVG is shown "
            "with its ζ as derived and as printed; IMGM's noise does not depend on the size."
        ),
        finding=finding,
        draw=draw,
    ),
}
