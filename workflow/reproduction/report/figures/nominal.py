"""Claimed against delivered epsilon, for every scheme and published setting."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.statistics import exceeds

#: Delivered epsilons below this are drawn at the edge.
LEAST = 1e-4

#: Schemes that keep their promise everywhere are named up to so many.
FEW = 4

#: Colours of the three verdicts, and their words.
VERDICTS = {
    "not private": (style.ALARM, "delivered ε above the claimed one: not private"),
    "kept": (style.INK, "as promised"),
    "wasted": (style.BLUE, "delivered ε below: noise wasted"),
}


def tidy(run: Run) -> pd.DataFrame:
    """Return one row per experiment or published setting and scheme at the tables' epsilon.

    ``scheme`` is its display name; ``batch`` is set for formulas of the authors' code. A mechanism
    that the audit refutes is not private, and has at least the delivered epsilon that this shows.
    It is infinite where no epsilon holds.
    """
    parts, at = [], run.table_epsilon
    for name, table in run.items():
        folder, _, experiment = name.partition("/")
        about = catalogue.experiment(experiment)
        if folder not in ("rows", "theory") or about.part_of:
            continue
        if folder == "theory":
            rows = table[table["lots"].eq("paper")]
            rows = rows.rename(columns={"dataset": "experiment", "scheme": "mechanism"})
        else:
            # Where IMGM is another mechanism under a new name, it stands for both.
            alone = table["also"].eq("") | table["repeats"]
            rows = frames.rows_to_draw(table[table["shown"] & alone], *audit_status.COLUMNS)
            rows = rows.assign(
                perturbation=about.perturbation,
                epsilon_delivered=rows[["epsilon_delivered", "epsilon_least"]].max(axis=1),
                # Noise without a size of its own is a part of what directions cost.
                search=rows["noise_std"].isna(),
            )
        rows = rows[rows["epsilon"].eq(at) & rows["epsilon_delivered"].notna()]
        columns = ["experiment", "mechanism", "perturbation", "batch", *EPSILONS, "audit_status"]
        columns.append("search")
        parts.append(rows.reindex(columns=columns))
    rows = pd.concat(parts, ignore_index=True)
    # A setting that is run and published has one row; digits of files differ.
    rows["_tight"] = rows["epsilon_delivered"].map("{:.6g}".format)
    rows = rows.drop_duplicates(["experiment", "mechanism", "perturbation", "_tight"])
    names = rows[["mechanism", "perturbation"]].itertuples(index=False)
    schemes = [catalogue.label(*pair) for pair in names]
    over = rows["epsilon_delivered"] / rows["epsilon"]
    wrong = exceeds(over, 1) | audit_status.refuted(rows)
    verdict = np.select([wrong, over < 0.99], [audit_status.NOT_PRIVATE, "wasted"], "kept")
    return rows.assign(scheme=schemes, verdict=verdict).drop(
        columns=["perturbation", "audit_status", "_tight"]
    )


#: Dots whose ratio is below ``NEAR`` are drawn above each other, ``STEP`` of a row apart.
STEP, NEAR = 0.24, 1.35


def _apart(values: pd.Series) -> list[float]:
    """Return each dot's offset from its row, so that near dots do not cover each other.

    ``values`` are in ascending order.
    """
    runs = values.clip(lower=LEAST).pipe(lambda x: x.div(x.shift()).gt(NEAR)).cumsum()
    ups: list[float] = []
    for _, run in values.groupby(runs):
        ups += [STEP * (i % 3 - min(len(run) - 1, 2) / 2) for i in range(len(run))]
    return ups


EPSILONS = ("epsilon", "epsilon_delivered")


def draw(claimed: float, frame: pd.DataFrame) -> style.Drawing:
    """Draw a row per scheme that breaks or wastes its promise, a dot per experiment or setting."""
    without = [*dict.fromkeys(frame.loc[np.isinf(frame["epsilon_delivered"]), "scheme"])]
    frame = frame[np.isfinite(frame["epsilon_delivered"])]
    wrong = frame.loc[frame["verdict"].ne("kept"), "scheme"]
    as_promised = [
        scheme for scheme in dict.fromkeys(frame["scheme"]) if scheme not in {*wrong, *without}
    ]
    order = frame[frame["scheme"].isin(wrong)].groupby("scheme")["epsilon_delivered"]
    order = order.agg(["max", "min"]).sort_values(["max", "min"], ascending=False)
    figure, ((axes,),) = style.canvas(1.9 + 0.3 * max(2, len(order)))
    style.log_axis(axes, "x", f"delivered ε at claimed ε = {claimed:g}")
    for number, scheme in enumerate(order.index):
        rows = frame[frame["scheme"].eq(scheme)].sort_values("epsilon_delivered", kind="stable")
        for row, up in zip(rows.itertuples(), _apart(rows["epsilon_delivered"]), strict=True):
            colour = VERDICTS[str(row.verdict)][0]
            dot: dict[str, Any] = {"color": colour, "markersize": 5, "markeredgewidth": 0}
            x = max(row.epsilon_delivered, LEAST)
            axes.plot(x, number + up, "o", zorder=3, **dot)
    for number, (high, low) in enumerate(order.to_numpy()):
        # The number is written beside the end that is farther from the promise.
        at, side = (high, 9) if exceeds(high, claimed) else (low, -9)
        text = frames.count(at) if at >= LEAST else f"≤ {LEAST:g}"
        style.write_beside(axes, text, (max(at, LEAST), number), side)
    axes.axvline(claimed, color=style.INK, linewidth=1.2)
    low, high = LEAST / 15, max(10 * claimed, 4 * frame["epsilon_delivered"].max())
    axes.axvspan(claimed, high, color=style.ALARM, alpha=0.06, linewidth=0, zorder=0)
    style.name_rows(axes, order.index)
    axes.grid(axis="y", visible=True)
    axes.set_xlim(low, high)
    if len(as_promised) > FEW:
        as_promised = [f"{len(as_promised)} schemes, by name in the figure's CSV"]
    notes = {"As promised wherever it was run": as_promised}
    notes["Not private at any ε, at least once"] = without
    if any(notes.values()):
        style.notes(axes, {text: names for text, names in notes.items() if names}, below=40)
    keys = [style.key(text, catalogue.Look(hue, "o", "none")) for hue, text in VERDICTS.values()]
    style.legend(figure, keys, columns=3)
    return figure


def build(run: Run) -> Figure:
    """Return the figure."""
    claimed = run.table_epsilon
    return Figure(
        title="Claimed against delivered epsilon, for every scheme and published setting",
        caption=(
            "The ε that the noise gives at the same δ, for every mechanism and scheme that was "
            f"run at claimed ε = {claimed:g}, and for the settings that the IMGM "
            "paper prints and its authors' code has (batches of 64, 128 and 256), run here or "
            "not. q is our reading. On gradients IMGM composes by its Theorem 4; by Kairouz et al. "
            "it is the analytic Gaussian row. Red: not private. Blue: more noise than needed."
        ),
        frame=tidy(run),
        draw=functools.partial(draw, claimed),
    )
