"""Sections 3.2 and 4.2 of the IMGM paper: noise of many releases, large matrices, small epsilon."""

from __future__ import annotations

from typing import Any

import matplotlib.figure
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.special import ndtri

from matrixdp import catalogue
from matrixdp.report.entries import Tables, only
from matrixdp.report.figures import style
from matrixdp.report.figures.base import Figure
from matrixdp.report.markup import short

NOMINAL = 1.0

#: Accountant -> its look, that of a scheme that uses it, and its name. The last lies on top.
ACCOUNTANTS = {
    "naive": (catalogue.Look("#777777", ".", "--"), "ε / T and δ / T each"),
    "kov_3.4_classical": (catalogue.look("gaussian_2014"), "Kairouz et al. 3.4, constant 1.25"),
    "kov_3.4_analytic": (catalogue.look("analytic_gaussian"), "Kairouz et al. 3.4, analytic"),
    "kov_3.3_analytic": (catalogue.Look(style.BLUE, "D", ":"), "Kairouz et al. 3.3, analytic"),
    "rdp": (catalogue.look("moments_accountant"), "Rényi (moments) accountant"),
    "pld": (catalogue.look("pld_gaussian"), "privacy loss distribution"),
    "theorem_4": (catalogue.look("imgm"), "Theorem 4, √T / B"),
    "linear": (catalogue.look("imgm_amplified"), "Theorem 4 times q: not private"),
}
PANELS = {False: "Without sampling", True: "On Poisson lots, at the rate of Adult"}


def compositions(tables: Tables) -> pd.DataFrame:
    """Return the multipliers at epsilon 1, and ``over_pld``, each over that of the best one."""
    rows = tables["theory/composition"]
    rows = rows[rows["epsilon"].eq(NOMINAL)]
    best = rows[rows["accountant"].eq("pld")].set_index(["sampled", "releases"])["multiplier"]
    least = rows.join(best.rename("least"), on=["sampled", "releases"])["least"]
    return rows.assign(over_pld=rows["multiplier"] / least).reset_index(drop=True)


def draw_compositions(frame: pd.DataFrame) -> matplotlib.figure.Figure:
    """Draw the noise of one release above, and over the least that is enough below."""
    figure, grid = style.canvas(6.2, 2, 2, sharex=True, sharey="row", height_ratios=(1.3, 1))
    for column, (sampled, title) in zip(grid.T, PANELS.items(), strict=True):
        rows = frame[frame["sampled"].eq(sampled)]
        column[0].set_title(title)
        for place, (name, (look, _)) in enumerate(ACCOUNTANTS.items()):
            part = rows[rows["accountant"].eq(name)]
            every = max(1, len(part) // 6)
            options: dict[str, Any] = {"as_": look, "markevery": (place % every, every)}
            style.curve(column[0], part["releases"], part["multiplier"], **options)
            style.curve(column[1], part["releases"], part["over_pld"], **options)
        style.log_axis(column[1], "x", "releases T")
    for axes in grid.ravel():
        style.log_axis(axes, "y", "")
    grid[0, 0].set_ylabel("noise std / sensitivity")
    grid[1, 0].set_ylabel("over the least")
    keys = [style.key(label, look) for look, label in ACCOUNTANTS.values()]
    style.legend(figure, keys, columns=3)
    return figure


def caption_compositions(frame: pd.DataFrame) -> str:
    """Say what each accountant costs at the most releases."""
    most = frame["releases"].max()
    over = frame[frame["releases"].eq(most)].set_index(["sampled", "accountant"])["over_pld"]
    plain, sampled = over[False], over[True]
    wrong = frame[frame["accountant"].eq("linear")].set_index("releases")["epsilon_actual"]
    return (
        f"Noise of each of T releases that together are ({NOMINAL:g}, "
        f"{short(frame['delta'].iloc[0])})-DP. At T = {most:,} without sampling Theorem 4 adds "
        f"{plain['theorem_4']:.4f} times the noise of the privacy loss distribution, which is the "
        f"least up to rounding; Theorem 3.4 of Kairouz et al., which has to serve every "
        f"mechanism, {short(plain['kov_3.4_analytic'])} times. On sampled lots Theorem 4 without "
        f"amplification adds {short(sampled['theorem_4'])} times, Kairouz et al. with it "
        f"{short(sampled['kov_3.4_analytic'])} times, the Rényi accountant "
        f"{short(sampled['rdp'])} times. Theorem 4 times q is not private: its true epsilon is "
        f"{short(wrong.loc[most], 4)} at T = {most:,} and {short(wrong.max())} at T = "
        f"{wrong.idxmax():,}."
    )


#: MVG's zeta -> its look and name.
ZETAS = {
    "sqrt": (catalogue.look("mvg_binary"), "MVG"),
    "literal": (catalogue.Look("#8E1230", "^", "--"), "MVG, ζ as printed"),
}
IMGM = (catalogue.look("imgm"), "IMGM")


def draw_noise(frame: pd.DataFrame) -> matplotlib.figure.Figure:
    """Draw noise against the number of entries, and as epsilon goes to 0."""
    figure, grid = style.canvas(4.2, 1, 2, sharey=True)
    by_entries, by_epsilon = grid[0]
    (shape,) = frame[frame["case"].eq("epsilon")][["m", "n"]].drop_duplicates().to_numpy()
    _noise(by_entries, frame[frame["case"].eq("entries")], "entries")
    _noise(by_epsilon, frame[frame["case"].eq("epsilon")], "epsilon")
    by_entries.set_title("In high dimension (ε = 1)")
    by_epsilon.set_title(f"As ε goes to 0 ({shape[0]} × {shape[1]})")
    style.log_axis(by_entries, "x", "entries m n")
    style.log_axis(by_epsilon, "x", "ε")
    for axes in grid[0]:
        style.log_axis(axes, "y", "")
    by_entries.set_ylabel("noise std (sensitivity 1)")
    style.legend(figure, [style.key(label, look) for look, label in (*ZETAS.values(), IMGM)], 3)
    return figure


def _noise(axes: Axes, rows: pd.DataFrame, by: str) -> None:
    for zeta, (look, _) in ZETAS.items():
        part = rows[rows["zeta"].eq(zeta)]
        style.curve(axes, part[by], part["mvg_std"], as_=look, markevery=5)
    part = rows.drop_duplicates(by)
    style.curve(axes, part[by], part["imgm_std"], as_=IMGM[0], markevery=5)


def caption_noise(frame: pd.DataFrame) -> str:
    """Say how both grow, by the last decade of each axis."""
    mvg = frame[frame["zeta"].eq("sqrt")]
    entries = mvg[mvg["case"].eq("entries")].sort_values("entries")
    small = mvg[mvg["case"].eq("epsilon")].sort_values("epsilon", ascending=False)
    last = small.iloc[-1]
    limit = last["s2"] / (2 * ndtri((1 + last["delta"]) / 2))
    return (
        f"With sensitivity and gamma fixed MVG's noise grows with the power "
        f"{_slope(entries, 'entries'):.2f} of the number of entries, and with the power "
        f"{-_slope(small, 'epsilon'):.2f} of 1 / epsilon as that goes to 0. That of IMGM stays at "
        f"{short(entries['imgm_std'].iloc[-1])} in any dimension and below {short(limit)} at any "
        f"epsilon. At epsilon = {short(last['epsilon'])} MVG adds "
        f"{short(last['mvg_std'] / last['imgm_std'])} times as much."
    )


def _slope(rows: pd.DataFrame, by: str) -> float:
    """Return the power of MVG's noise over about the last decade of the rows."""
    logs = np.log(rows[[by, "mvg_std"]])
    near = logs[(logs[by] - logs[by].iloc[-1]).abs() < 1.01 * np.log(10)]
    (x, y) = (near.iloc[-1] - near.iloc[0])[[by, "mvg_std"]]
    return float(y / x)


FIGURES = {
    "imgm_noise": Figure(
        title="Section 4.2: noise of MVG and IMGM",
        caption=caption_noise,
        inputs=("theory/dimension",),
        data=only,
        draw=draw_noise,
    ),
    "imgm_composition": Figure(
        title="Theorem 4: the noise of one of T releases, by accountant",
        caption=caption_compositions,
        inputs=("theory/composition",),
        data=compositions,
        draw=draw_compositions,
    ),
}
