"""The papers' theory: Theorem 4, Theorem 7 with Lemma 10, and the note on vector-valued noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from matrixdp import catalogue
from matrixdp.report import markup
from matrixdp.report.figures import base, style
from matrixdp.report.markup import short


def draw_bounds(frame: pd.DataFrame) -> style.Drawing:
    """Draw where which theorem allows less noise, by how much, and the threshold of r."""
    figure, grid = style.canvas(4.6, 1, 3, width_ratios=(1.35, 1, 1))
    compared, threshold, gain = grid[0]
    table = frame[frame["case"].eq("grid")]
    _map(figure, compared, table[table["ratio"].ge(0.02)])
    kernels = frame[frame["case"].eq("kernel matrix") & frame["ratio"].le(table["ratio"].max())]
    look: dict[str, Any] = {"color": style.BLACK, "mfc": "white", "ls": "none"}
    compared.plot(kernels["r"], kernels["ratio"], marker="o", ms=3.5, clip_on=False, **look)
    rows = _ranks(frame)
    for name, line, colour, text, *place in (
        ("root_harmonic", "o-", style.BLUE, "H$_{r,1/2}$", 0.72, 0.86),
        ("limit", "s-", style.VERMILLION, "(2√2 − 1) H$_r$", 0.98, 0.56),
    ):
        threshold.plot(rows.index, rows[name], line, color=colour, markersize=3)
        threshold.text(*place, text, color=colour, ha="right", transform=threshold.transAxes)
    threshold.axvline(12.5, color=style.BLACK, linestyle="--", linewidth=1.3)
    threshold.set(xlabel="r", ylim=(0, None), title="The threshold of r")
    for shade, r in zip((0, 0.25, 0.45, 0.65), (1, 4, 12, 30), strict=True):
        rows = table[table["r"].eq(r)]
        ratio, colour = rows["phi_thm3"] / rows["phi_thm2"], style.mix(style.VERMILLION, shade)
        gain.plot(rows["ratio"], ratio, color=colour, label=f"r = {r}")
    style.log_axis(gain, "x", "s₂ / γ")
    style.log_axis(gain, "y", "")
    gain.legend(loc="upper right")
    gain.set_title("φ, Theorem 3 over 2")
    (two,) = frame[frame["case"].eq("experiment II")].itertuples()
    gain.plot(two.ratio, two.phi_thm3 / two.phi_thm2, marker="D", ms=6, zorder=4, **look)
    keys: list[tuple[str, dict[str, Any]]] = [
        ("equal: the exact frontier", {"linewidth": 2}),
        ("s₂ = γ, Eq. (14)", {"linestyle": ":"}),
        ("r > 12, Eq. (15)", {"linestyle": "--"}),
        ("s₂ = √2 γ, the most for PSD queries", {"linestyle": "-."}),
        ("kernel matrices (Example 2)", {"marker": "o", **look}),
        ("experiment II", {"marker": "D", **look}),
    ]
    lines = [Line2D([], [], label=label, **{"color": style.BLACK} | kind) for label, kind in keys]
    style.legend(figure, lines, columns=3)
    return figure


def _map(figure: style.Drawing, axes: Axes, table: pd.DataFrame) -> None:
    ratios = np.log2(table["alpha"] / table["omega"])
    values = table.assign(value=ratios).pivot(index="ratio", columns="r", values="value")
    looks: dict[str, Any] = {"norm": TwoSlopeNorm(0, -1, 4), "cmap": "PuOr_r", "extend": "max"}
    levels = np.arange(-1, 4.25, 0.25)
    shown = axes.contourf(values.columns, values.index, values, levels=levels, **looks)
    bar = figure.colorbar(shown, ax=axes, ticks=range(-1, 5))
    bar.ax.set_yticklabels(["1/2", "1", "2", "4", "8", "16"])
    bar.ax.set_title("α / ω", fontsize=9)
    ranks = _ranks(table)
    frontier = (ranks["harmonic"] + ranks["root_harmonic"]) / (2 * ranks["harmonic"])
    axes.plot(frontier.index, frontier, color=style.BLACK, linewidth=2)
    line: dict[str, Any] = {"color": style.BLACK, "linewidth": 1.3}
    axes.axhline(1, linestyle=":", **line)
    axes.axhline(np.sqrt(2), linestyle="-.", **line)
    axes.axvline(12.5, linestyle="--", **line)
    axes.set(xlabel="r, for queries of r × r", ylabel="s₂ / γ", ylim=(0.02, 2))
    axes.set_title("Which coefficient is larger")
    axes.grid(visible=False)


def _ranks(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the harmonic numbers by r, and what Eq. (21) compares them with."""
    rows = frame[frame["case"].eq("grid")].groupby("r")[["harmonic", "root_harmonic"]].first()
    return rows.assign(limit=(2 * np.sqrt(2) - 1) * rows["harmonic"])


def words_bounds(frame: pd.DataFrame) -> dict[str, Any]:
    """Say where the theorem holds, and what it does not need."""
    rows = _ranks(frame)
    threshold = rows.index[(rows["root_harmonic"] < rows["limit"]) & (rows.index > 1)].max()
    grid = frame[frame["case"].eq("grid")]
    met = grid[grid["ratio"].le(1) | (grid["r"].gt(12) & grid["ratio"].le(np.sqrt(2)))]
    holds = "holds" if (met["phi_thm3"] >= met["phi_thm2"]).all() else "DOES NOT hold"
    (two,) = frame[frame["case"].eq("experiment II")].itertuples()
    gain = two.phi_thm3 / two.phi_thm2
    near = grid[grid["ratio"].ge(0.1) & grid["r"].ge(4)]
    differ = (near["phi_thm3"] / near["phi_thm2"] - 1).abs().max()
    at, after = rows.loc[threshold], rows.loc[threshold + 1]
    return {"holds": holds, "at": at, "after": after, "gain": gain, "differ": differ}


#: Of the directions, from the most to the least informative.
SHADES = [style.mix(style.BLUE, white) for white in (0, 0.15, 0.3, 0.44, 0.57, 0.68)]

ALLOCATIONS = style.legends("allocations")


def draw_filling(frame: pd.DataFrame) -> style.Drawing:
    """Draw the share of each direction, and the gain, against the precision budget."""
    figure, grid = style.canvas(5.2, 1, 2)
    shares, gains = grid[0]
    marks = frame[frame["kind"].eq("mark")].set_index("allocation")["budget"]
    precisions = frame[frame["kind"].eq("precision")].groupby("direction")
    for colour, (_, part) in zip(SHADES, precisions, strict=True):
        by = dict(list(part.assign(share=part["value"] / part["budget"]).groupby("allocation")))
        printed = by["printed"]
        shares.plot(printed["budget"], printed["share"], "--", color=style.VERMILLION, lw=1)
        shares.plot(by["water"]["budget"], by["water"]["share"], color=colour, lw=2)
        some = by["numerical"].iloc[::6]
        shares.plot(some["budget"], some["share"], "o", ms=4, mfc="none", mec=colour)
    shares.axhline(0, color=style.INK, linewidth=1)
    shares.axvspan(1e-10, marks["printed"], color=style.VERMILLION, alpha=0.06, linewidth=0)
    rows = frame[frame["kind"].eq("gain")]
    for name, one in ALLOCATIONS.items():
        part = rows[rows["allocation"].eq(name)]
        gains.plot(part["budget"], part["value"], color=one.look.colour, linestyle=one.look.line)
    sampled = frame[frame["kind"].eq("information") & frame["allocation"].eq("sampled")]
    gains.plot(sampled["budget"], sampled["value"], "*", color=style.BLACK, markersize=8)
    for axes in (shares, gains):
        style.log_axis(axes, "x", "precision budget d")
        for name in ("mvg", "exact"):
            axes.axvline(marks[name], color=style.INK, linestyle=":", linewidth=1.3)
    shares.text(marks["exact"] / 1.15, -0.4, "exact, ε = 1", fontsize=8.5, ha="right")
    gains.text(marks["mvg"] * 1.6, 3, "MVG, ε = 1", fontsize=8.5)
    gains.text(marks["exact"] / 1.6, 3e-8, "exact calibration, ε = 1", fontsize=8.5, ha="right")
    style.log_axis(gains, "y", "ln PNR = 2 × mutual information (nats)")
    shares.set(xlim=(1e-3, 1e2), ylim=(-0.45, 1.08), ylabel="share of the budget, u$_k$ / d")
    shares.set_title("Shares of six directions (dark: the first)")
    gains.set_title("Gain of each allocation")
    handles = [
        *(style.key(one.label, one.look, marker="") for one in ALLOCATIONS.values()),
        Line2D([], [], marker="o", ls="none", mfc="none", mec=style.BLUE, label="SciPy's optimum"),
        Line2D([], [], marker="*", ls="none", color=style.BLACK, label="information of draws"),
        Patch(color=style.VERMILLION, alpha=0.12, label="Eq. (25) has negative precisions"),
    ]
    style.legend(figure, handles, columns=3)
    return figure


def words_filling(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how near water-filling is to the optimum, and where Eq. (25) is defined."""
    marks = frame[frame["kind"].eq("mark")].set_index("allocation")["budget"]
    rows = frame[frame["kind"].eq("gain")]
    gains = rows.pivot(index="budget", columns="allocation", values="value")
    rows = frame[frame["kind"].eq("information")].set_index("allocation")
    exact = rows.loc["determinants"].set_index("budget")["value"]
    errors = {
        "off": gains["numerical"] / gains["water"] - 1,
        "residual": frame.loc[frame["kind"].eq("residual"), "value"],
        "apart": exact - gains["water"],
    }
    over = marks["printed"] / marks
    told = {"printed": marks["printed"], "mvg": short(over["mvg"], 2), "exact": over["exact"]}
    return told | {name: _bound(error.abs().max()) for name, error in errors.items()}


def _bound(error: float) -> str:
    """Return a power of ten that the error is below, not lower than rounding errors are."""
    return f"1e{max(-12, int(np.ceil(np.log10(max(error, 1e-300)))))}"


def draw_radii(frame: pd.DataFrame) -> style.Drawing:
    """Draw the law of the radius, the real delta, and the error, right and wrong."""
    figure, grid = style.canvas(4.4, 1, 3)
    laws, deltas, errors = grid[0]
    right, wrong = catalogue.look("knorm_l2").colour, style.INK
    for place, (d, part) in enumerate(frame.groupby("d")):
        by = dict(list(part.groupby(["law", "kind"])))
        _density(laws, by["gamma", "density"], right, "-", "o")
        laws.annotate(str(d), (d, 1), (0, 8), textcoords="offset points", ha="center")
        for law, kind, line, colour in (
            ("gamma", "delta", "-", right),
            ("exponential", "delta", "--", wrong),
            ("exponential", "sampled_delta", "x", wrong),
        ):
            rows, shade = by[law, kind], style.mix(colour, 0.6 - 0.2 * place)
            deltas.plot(rows["x"], rows["value"], line, color=shade)
        # Below the flat beginning of its curve.
        at = by["exponential", "delta"].iloc[0][["x", "value"]].to_list()
        below: dict[str, Any] = {"textcoords": "offset points", "va": "top", "fontsize": 8.5}
        deltas.annotate(f"d = {d}", at, (0, -3), **below)
        if place == 0:
            _density(laws, by["exponential", "density"], wrong, "--", "x")
    style.log_axis(laws, "x", "λ |z|")
    laws.set(xlim=(5e-3, 5e3), ylim=(0, 1.2), ylabel="density of ln λ|z|, peak = 1")
    laws.set_title("The radius, by dimension d")
    deltas.axvline(1, color=style.INK, linestyle=":", linewidth=1.3)
    style.log_axis(deltas, "x", "ε (nominal: 1)")
    deltas.set(ylim=(0, 1.05), ylabel="smallest δ", title="Real privacy")
    for law, line, marker, colour in (
        ("gamma", "-", "o", right),
        ("exponential", "--", "x", wrong),
    ):
        rows = frame[frame["kind"].eq("error") & frame["law"].eq(law)]
        errors.plot(rows["d"], rows["expected"], line, color=colour)
        errors.plot(rows["d"], rows["value"], marker, color=colour)
    errors.axhline(1, color=style.INK, linestyle=":", linewidth=1.3)
    errors.text(2, 1.1, "range of the data", fontsize=8.5, va="bottom")
    style.log_axis(errors, "x", "dimension d")
    style.log_axis(errors, "y", "noise per coordinate (rms)")
    errors.set_title("Mean of 1000 vectors")
    handles = [
        Line2D([], [], color=right, marker="o", ms=4, label="right: radius Gamma(d)"),
        Line2D([], [], color=wrong, marker="x", ls="--", label="wrong: radius exponential"),
    ]
    style.legend(figure, handles, columns=2)
    return figure


def _density(axes: Axes, rows: pd.DataFrame, colour: str, line: str, marker: str) -> None:
    """Draw a law and the histogram of its draws, both over the law's highest value."""
    peak = rows["expected"].max()
    axes.plot(rows["x"], rows["expected"] / peak, line, color=colour)
    some = rows.iloc[::3]
    axes.plot(some["x"], some["value"] / peak, marker, color=colour, markersize=3)


def words_radii(frame: pd.DataFrame) -> dict[str, Any]:
    """Say what delta the wrong radius really has, and why it is tempting."""
    rows = frame[frame["kind"].eq("sampled_delta")].set_index(["law", "d"])["expected"]
    wrong, right = rows["exponential"], rows["gamma"].max()
    shown = ", ".join(
        f"{short(wrong[d], 5 if wrong[d] > 0.99 else 3)} (d = {d})" for d in wrong.index
    )
    error = frame[frame["kind"].eq("error")].set_index(["law", "d"])["expected"].unstack("law")
    most = (error["gamma"] / error["exponential"]).max()
    worst = f"{short(wrong.max(), 5)} (d = {wrong.idxmax()})"
    return {"right": short(right), "most": most, "shown": shown, "worst": worst}


def draw_rank_one(frame: pd.DataFrame) -> style.Drawing:
    """Draw the true delta of rank-one noise over the dimension, for three that it claims."""
    figure, ((axes,),) = style.canvas(3.6, 1, 1)
    curves = frame[frame["case"].eq("claimed")].groupby("claimed", sort=False)
    for shade, (claimed, rows) in zip((0.0, 0.35, 0.6), curves, strict=False):
        colour, label = style.mix(style.VERMILLION, shade), f"claimed δ = {markup.said(claimed)}"
        axes.plot(rows["dimension"], rows["delta"], color=colour, label=label)
        axes.axhline(claimed, color=colour, linestyle="--", linewidth=1)
    for row in frame[frame["case"].ne("claimed")].itertuples():
        place = (row.dimension, row.delta)
        axes.plot(*place, "o", color=style.BLACK, clip_on=False)
        axes.annotate(row.case, place, (0, -13), textcoords="offset points", ha="center")
    style.log_axis(axes, "x", "dimension M of the release")
    style.log_axis(axes, "y", "true δ at ε = 1")
    axes.set_ylim(top=3)
    handles, texts = axes.get_legend_handles_labels()
    dashed = Line2D([], [], color=style.INK, linestyle="--", linewidth=1, label="as claimed")
    style.legend(figure, [*handles, dashed], columns=len(texts) + 1)
    return figure


def words_rank_one(frame: pd.DataFrame) -> dict[str, Any]:
    """Say where it is private, and what it would be in the MVG paper's experiments."""
    curves = frame[frame["case"].eq("claimed")]
    private = curves[curves["delta"] <= curves["claimed"]].groupby("claimed")["dimension"].max()
    cases = frame[frame["case"].ne("claimed")]
    shown = ", ".join(
        f"{row.case} {short(row.delta)} for {short(row.claimed)} (M = {row.dimension:,})"
        for row in cases.itertuples()
    )
    most = int(private.max()) if len(private) else 0
    largest = curves["dimension"].max()
    return {"most": most, "shown": shown, "least": cases["delta"].min(), "largest": largest}


FIGURES = {
    "rank_one": base.Figure(
        title="Noise along one random direction (R1SMG): true δ by dimension",
        words=words_rank_one,
        inputs=("theory/rank_one",),
        draw=draw_rank_one,
    ),
    "theorem4": base.Figure(
        title="Theorem 4: when Theorem 3 allows less noise than Theorem 2",
        words=words_bounds,
        inputs=("theory/bounds",),
        draw=draw_bounds,
    ),
    "theorem7": base.Figure(
        title="Theorem 7 and Lemma 10: the allocation of highest precision-to-noise ratio",
        words=words_filling,
        inputs=("theory/filling",),
        draw=draw_filling,
    ),
    "vector_noise": base.Figure(
        title="Vector-valued noise: the law of its radius",
        words=words_radii,
        inputs=("theory/radii",),
        draw=draw_radii,
    ),
}
