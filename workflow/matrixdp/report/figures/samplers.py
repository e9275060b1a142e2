"""Sections 6.3 and 6.4 of the MVG paper: two samplers of the same law, and what they cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from matrixdp.report.figures import base, style
from matrixdp.report.markup import short

#: Of the samplers: how they look, and what they are called.
SAMPLERS = style.legends("samplers")


def draw_samplers(frame: pd.DataFrame) -> style.Drawing:
    """Draw covariances, their errors, and quantiles of the distance, each against the law."""
    figure, grid = style.canvas(3.9, 1, 3)
    covariances, errors, distances = grid[0]
    for name, part in frame.groupby("sampler", sort=False):
        look = SAMPLERS[str(name)].look
        kind: dict[str, Any] = {"color": look.colour, "marker": look.marker, "linestyle": "none"}
        entries = part[part["kind"].eq("covariance")]
        covariances.plot(entries["expected"], entries["found"], markersize=4, **kind)
        if name == "wrong_order":
            continue
        kind |= {"markersize": 3.5, "alpha": 0.8}
        scores = part[part["kind"].eq("error")]
        errors.plot(scores["expected"], scores["found"], **kind)
        quantiles = part[part["kind"].eq("quantile")]
        ratio = quantiles["found"] / quantiles["expected"]
        distances.plot(quantiles["name"].astype(float), ratio, **kind)
    line = {"color": style.INK, "linewidth": 1, "zorder": 1}
    for axes in (covariances, errors):
        axes.axline((0, 0), slope=1, **line)
    distances.axhline(1, **line)
    far = 1.3 * max(0.01, *np.abs(np.subtract(distances.get_ylim(), 1)))
    distances.set_ylim(1 - far, 1 + far)
    for axes, title, x, y in (
        (covariances, "Covariances of entries", "by the law Ψ ⊗ Σ", "of the draws"),
        (errors, "Errors of whitened noise", "normal quantile", "error / standard error"),
        (distances, "Squared distance, quantiles", "probability", "of the draws / by the law"),
    ):
        axes.set(title=title, xlabel=x, ylabel=y)
    keys = [SAMPLERS[name] for name in frame["sampler"].unique()]
    style.legend(figure, [style.key(one.label, one.look, linestyle="none") for one in keys], 3)
    return figure


def words_samplers(frame: pd.DataFrame) -> dict[str, Any]:
    """Say whether the samplers pass the tests that the wrong one fails."""
    tests = frame[frame["kind"].eq("test")]
    p = tests.groupby("sampler")["p_value"]
    right = min(p.min()[["affine", "kronecker"]])
    verdict = "agree with the law" if right > 0.05 / 6 else "DO NOT agree with the law"
    wrong = short(max(p.max()["wrong_order"], 1e-99), 2)
    return {"verdict": verdict, "right": right, "wrong": wrong}


def draw_times(frame: pd.DataFrame) -> style.Drawing:
    """Draw time against size, square and wide, with fitted slopes at the ends of lines."""
    figure, grid = style.canvas(4.8, 1, 2, sharey=True)
    for axes, (case, part) in zip(grid[0], frame.groupby("case", sort=False), strict=True):
        for name, rows in part.groupby("method"):
            style.curve(axes, rows["n"], rows["seconds"], as_=SAMPLERS[str(name)].look)
        last = part.loc[part.groupby("method")["n"].idxmax()].sort_values("seconds")
        for n, ends in last.groupby("n"):
            heights = style.spread(np.log10(ends["seconds"]), [0.33] * len(ends), np.inf)
            for row, height in zip(ends.itertuples(), heights, strict=True):
                colour = style.mix(SAMPLERS[str(row.method)].look.colour, -0.2)
                options: dict[str, Any] = {"color": colour, "va": "center", "fontsize": 9.5}
                axes.text(1.2 * float(n), 10**height, f"n$^{{{row.slope:.1f}}}$", **options)
        style.log_axis(axes, "x", "number of columns n")
        style.log_axis(axes, "y", "seconds per draw" if axes is grid[0, 0] else "")
        axes.set_title(f"Noise of {'n × n' if case == 'm = n' else '6 × n'}")
        axes.margins(x=0.14)
    keys = [SAMPLERS[name] for name in ("affine", "unimodal", "kronecker", "scipy")]
    style.legend(figure, [style.key(one.label, one.look) for one in keys], 2)
    return figure


def words_times(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how the fitted slopes lie to those of section 6.4."""
    slopes = frame.groupby(["case", "method"])["slope"].first()
    return {"square": slopes["m = n"], "wide": slopes["m = 6"]}


FIGURES = {
    "samplers": base.Figure(
        title="Section 6.3: draws of two samplers against the law",
        words=words_samplers,
        inputs=("theory/samplers",),
        draw=draw_samplers,
    ),
    "sampler_times": base.Figure(
        title="Section 6.4: what a draw costs",
        words=words_times,
        inputs=("theory/sampler_times",),
        draw=draw_times,
    ),
}
