"""Nominal against true epsilon: what every scheme and published setting really promises."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd

from matrixdp import catalogue
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, frames, style
from matrixdp.report.statistics import exceeds

NOMINAL = 1.0

#: True epsilons below this stand at the edge.
LEAST = 1e-4

#: Of the data, in the order of the catalogue.
MARKERS = "os^DvPX*hd<>p8"

#: Colours of the three verdicts, and their words.
VERDICTS = {
    "not private": (style.ALARM, "true ε above the nominal one: not private"),
    "kept": (style.INK, "as promised"),
    "wasted": (style.BLUE, "true ε below: more noise than the promise needs"),
}


def tidy(tables: Tables) -> pd.DataFrame:
    """Return one row per experiment or published setting and scheme at nominal epsilon 1.

    ``scheme`` is its name for a reader, ``batch`` that of the authors' code, if it is that.
    """
    parts = []
    for name, table in tables.items():
        if catalogue.experiment(name.partition("/")[2]).part_of:
            continue
        if name == "theory/settings":
            rows = table[table["lots"].eq("paper")]
            rows = rows.rename(columns={"dataset": "experiment", "scheme": "mechanism"})
        else:
            rows = frames.shown(table, ("epsilon_actual",)).assign(kind="")
            rows["kind"] = rows["experiment"].map(lambda one: catalogue.experiment(one).kind)
        rows = rows[rows["epsilon"].eq(NOMINAL) & rows["epsilon_actual"].notna()]
        parts.append(rows.reindex(columns=["experiment", "mechanism", "kind", "batch", *EPSILONS]))
    rows = pd.concat(parts, ignore_index=True)
    # What is run is a published setting too.
    rows = rows.drop_duplicates(["experiment", "mechanism", "kind", "epsilon_actual"])
    names = rows[["mechanism", "kind"]].itertuples(index=False)
    schemes = [catalogue.label(*one) for one in names]
    over = rows["epsilon_actual"] / rows["epsilon"]
    verdict = np.select([exceeds(over, 1), over < 0.99], ["not private", "wasted"], "kept")
    return rows.assign(scheme=schemes, verdict=verdict).drop(columns="kind")


#: Share of a row between two dots one above the other, and the ratio below which they are.
STEP, NEAR = 0.24, 1.35


def _apart(values: pd.Series) -> list[float]:
    """Return how far from its row each dot stands, so that near ones do not cover each other.

    ``values`` are in rising order.
    """
    runs = values.clip(lower=LEAST).pipe(lambda x: x.div(x.shift()).gt(NEAR)).cumsum()
    ups: list[float] = []
    for _, run in values.groupby(runs):
        ups += [STEP * (i % 3 - min(len(run) - 1, 2) / 2) for i in range(len(run))]
    return ups


EPSILONS = ("epsilon", "epsilon_actual")


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw a row per scheme that is not as promised somewhere, a dot per experiment or setting."""
    wrong = frame.loc[frame["verdict"].ne("kept"), "scheme"]
    kept = [one for one in dict.fromkeys(frame["scheme"]) if one not in {*wrong}]
    order = frame[frame["scheme"].isin(wrong)].groupby("scheme")["epsilon_actual"]
    order = order.agg(["max", "min"]).sort_values(["max", "min"], ascending=False)
    figure, ((axes,),) = style.canvas(1.9 + 0.3 * max(2, len(order)))
    style.log_axis(axes, "x", f"true ε at nominal ε = {NOMINAL:g}")
    data = [*catalogue.experiments(), *{*frame["experiment"]} - {*catalogue.experiments()}]
    data = [one for one in data if one in {*frame["experiment"]}]
    marker = dict(zip(data, MARKERS * len(data), strict=False))
    for place, scheme in enumerate(order.index):
        rows = frame[frame["scheme"].eq(scheme)].sort_values("epsilon_actual")
        for row, up in zip(rows.itertuples(), _apart(rows["epsilon_actual"]), strict=True):
            colour = VERDICTS[str(row.verdict)][0]
            dot: dict[str, Any] = {"color": colour, "markersize": 5, "markeredgewidth": 0}
            x = max(row.epsilon_actual, LEAST)
            axes.plot(x, place + up, marker[row.experiment], zorder=3, alpha=0.85, **dot)
    for place, (high, low) in enumerate(order.to_numpy()):
        # The number stands beside the end that is farther from the promise.
        at, side = (high, 9) if exceeds(high, NOMINAL) else (low, -9)
        text = frames.count(at) if at >= LEAST else f"≤ {LEAST:g}"
        style.beside(axes, text, (max(at, LEAST), place), side)
    axes.axvline(NOMINAL, color=style.INK, linewidth=1.2)
    low, high = LEAST / 6, max(10.0, 4 * frame["epsilon_actual"].max())
    axes.axvspan(NOMINAL, high, color=style.ALARM, alpha=0.06, linewidth=0, zorder=0)
    style.name_rows(axes, order.index)
    axes.grid(axis="y", visible=True)
    axes.set_xlim(low, high)
    if kept:
        note = textwrap.fill(f"As promised wherever it was run: {'; '.join(kept)}.", 135)
        style.note(axes, note, below=40)
    some = {*frame.loc[frame["scheme"].isin(wrong), "experiment"]}
    looks = [
        (catalogue.experiment(one).name, "#777777", marker[one]) for one in data if one in some
    ]
    looks += [(text, colour, "o") for colour, text in VERDICTS.values()]
    keys = [style.key(text, catalogue.Look(hue, kind, "none")) for text, hue, kind in looks]
    style.legend(figure, keys, columns=4)
    return figure


def finding(frame: pd.DataFrame) -> str:
    """Say how far true epsilons go, and how many of them are above the nominal one."""
    true, bad = frame["epsilon_actual"], frame["verdict"].eq("not private").sum()
    ends = f"{frames.least(true, LEAST)} to {frames.count(true.max())}"
    wrong = f"{bad} of {len(frame)} settings are not private"
    return f"ε = {NOMINAL:g} means a true ε of {ends}; {wrong}"


FIGURES = {
    "nominal": base.Figure(
        title="Nominal against true epsilon, for every scheme and published setting",
        caption=(
            "The ε that the noise gives at the same δ, for every mechanism and scheme that was "
            "run at nominal ε = 1, and for the settings that the IMGM paper prints and its "
            "authors' code has (batches of 64, 128 and 256), run here or not. Red: not private. "
            "Blue: more noise than the promise needs."
        ),
        finding=finding,
        inputs=("summary/{experiment}", "summary/{training}", "theory/settings"),
        data=tidy,
        draw=draw,
    ),
}
