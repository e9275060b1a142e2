"""Sections 3.2 and 4.2 of the IMGM paper: noise of many releases, large matrices, small epsilon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, style
from matrixdp.report.markup import short

NOMINAL = 1.0

ACCOUNTANTS = style.legends("accountants")
#: MVG by its zeta, and IMGM.
SCHEMES = style.legends("noise")
CORRELATED = style.legends("correlated")
PANELS = {False: "Without sampling", True: "On Poisson lots, at the rate of Adult"}


def compositions(tables: Tables) -> pd.DataFrame:
    """Return the multipliers at epsilon 1, and ``over_pld``, each over that of the best one."""
    rows = tables["theory/composition"]
    rows = rows[rows["epsilon"].eq(NOMINAL)]
    rows = _over(rows, rows["accountant"].eq("pld"), "multiplier", ["sampled", "releases"])
    return rows.reset_index(drop=True)


def draw_compositions(frame: pd.DataFrame) -> style.Drawing:
    """Draw the noise of one release above, and over the least that is enough below."""
    figure, grid = style.canvas(6.2, 2, 2, sharex=True, sharey="row", height_ratios=(1.3, 1))
    for column, (sampled, title) in zip(grid.T, PANELS.items(), strict=True):
        rows = frame[frame["sampled"].eq(sampled)]
        column[0].set_title(title)
        for axes, shown, text in (
            (column[0], "multiplier", "noise std / sensitivity"),
            (column[1], "over_pld", "over the least"),
        ):
            for place, (name, one) in enumerate(ACCOUNTANTS.items()):
                part = rows[rows["accountant"].eq(name)]
                every = max(1, len(part) // 6)
                at = place % every, every
                style.curve(axes, part["releases"], part[shown], as_=one.look, markevery=at)
            style.log_axis(axes, "y", text * (not sampled))
        style.log_axis(column[1], "x", "releases T")
    style.legend(figure, [style.key(one.label, one.look) for one in ACCOUNTANTS.values()], 3)
    return figure


def words_compositions(frame: pd.DataFrame) -> dict[str, Any]:
    """Say what each accountant costs at the most releases."""
    most = frame["releases"].max()
    over = frame[frame["releases"].eq(most)].set_index(["sampled", "accountant"])["over_pld"]
    wrong = frame[frame["accountant"].eq("linear")].set_index("releases")["epsilon_actual"]
    return {
        "nominal": NOMINAL,
        "delta": short(frame["delta"].iloc[0]),
        "most": most,
        "plain": over[False]["theorem_4"],
        "general": short(over[False]["kov_3.4_analytic"]),
        "sampled": over[True].map(short),
        "at_most": short(wrong.loc[most], 4),
        "worst": short(wrong.max()),
        "where": wrong.idxmax(),
    }


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


def draw_correlated(frame: pd.DataFrame) -> style.Drawing:
    """Draw the noise on prefix sums, over that of independent noise, by epsilon and by lot."""
    figure, grid = style.canvas(4.2, 1, 2, sharey=True)
    for axes, by, title, name in (
        (grid[0, 0], "epsilon", "At Adult's lot", "ε"),
        (grid[0, 1], "lot", "By the size of lots (ε = 1)", "records of a lot"),
    ):
        rows = frame[frame["case"].eq(by)]
        for scheme, one in CORRELATED.items():
            part = rows[rows["scheme"].eq(scheme)]
            style.curve(axes, part[by], part["over_pld"], as_=one.look)
        axes.set_title(title)
        style.log_axis(axes, "x", name)
        style.log_axis(axes, "y", "over that of independent noise" * (by == "epsilon"))
    style.legend(figure, [style.key(one.label, one.look) for one in CORRELATED.values()], 2)
    return figure


def correlated(tables: Tables) -> pd.DataFrame:
    """Return the noise on prefix sums, and ``over_pld``, over that of PLD-accounted noise."""
    rows = tables["theory/correlated"]
    return _over(rows, rows["scheme"].eq("pld_gaussian"), "prefix", ["case", "epsilon", "lot"])


def _over(rows: pd.DataFrame, base: pd.Series, noise: str, keys: list[str]) -> pd.DataFrame:
    """Add ``over_pld``, noise over that of the base row of the same keys."""
    least = rows[base].set_index(keys)[noise].rename("least")
    return rows.assign(over_pld=rows[noise] / rows.join(least, on=keys)["least"])


def words_correlated(frame: pd.DataFrame) -> dict[str, Any]:
    """Say where correlation over the steps has less noise than sampling, and by how much."""
    fixed = frame[frame["scheme"].eq("banded")]
    by_epsilon = fixed[fixed["case"].eq("epsilon")].set_index("epsilon")["over_pld"]
    by_lot = fixed[fixed["case"].eq("lot")].set_index("lot")["over_pld"]
    wins = by_epsilon.index[by_epsilon < 1]
    first = frame.iloc[0]
    return {
        "records": first["records"],
        "epochs": first["epochs"],
        "delta": short(first["delta"]),
        "wins": f"from epsilon = {short(wins.min())} on" if len(wins) else "nowhere",
        "most": short(by_epsilon.iloc[-1]),
        "at": short(by_epsilon.index[-1]),
        "smallest": short(by_lot.iloc[0]),
        "largest": short(by_lot.iloc[-1]),
    }


def _slope(rows: pd.DataFrame, by: str) -> float:
    """Return the power of MVG's noise over about the last decade of the rows."""
    logs = np.log(rows[[by, "mvg_std"]])
    near = logs[(logs[by] - logs[by].iloc[-1]).abs() < 1.01 * np.log(10)]
    (x, y) = (near.iloc[-1] - near.iloc[0])[[by, "mvg_std"]]
    return float(y / x)


FIGURES = {
    "imgm_correlated": base.Figure(
        title="Private training: correlation over the steps against sampling",
        words=words_correlated,
        inputs=("theory/correlated",),
        data=correlated,
        draw=draw_correlated,
    ),
    "imgm_noise": base.Figure(
        title="Section 4.2: noise of MVG and IMGM",
        words=words_noise,
        inputs=("theory/dimension",),
        draw=draw_noise,
    ),
    "imgm_composition": base.Figure(
        title="Theorem 4: the noise of one of T releases, by accountant",
        words=words_compositions,
        inputs=("theory/composition",),
        data=compositions,
        draw=draw_compositions,
    ),
}
