"""Figure 1 of the IMGM paper, and its kin: accuracy against nominal and against true epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from matrixdp import catalogue
from matrixdp.report import comparisons, summary
from matrixdp.report.entries import Tables
from matrixdp.report.figures import base, frames, style
from matrixdp.report.markup import interval, short
from matrixdp.report.statistics import exceeds
from matrixdp.report.tables import training

#: Where captions compare schemes.
NOMINAL = 1.0

#: True epsilons beyond these stand at the edge: nothing is left to learn, or nothing protected.
LEAST, MOST = 1e-3, 1e4


def tidy(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return the rows of an experiment, with ``epsilon_actual`` and the ``group`` of a panel."""
    rows = frames.cells(tables[f"summary/{experiment}"], ("epsilon_actual", "n_trials"))
    if not rows["kind"].eq("mechanism").any():
        return rows.iloc[:0]
    rows = frames.told(rows, tables[f"comparisons/{experiment}"])
    rows = comparisons.twins(rows, tables[f"summary/{experiment}"])
    groups = training.grouped(experiment, rows["mechanism"])
    title_of = {name: title for title, members in groups.items() for name in members}
    return rows.assign(group=rows["mechanism"].map(title_of))


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw all against true epsilon, in a large panel, and each group against nominal epsilon."""
    experiment = str(frame["experiment"].iloc[0])
    ours = frame[frame["kind"].eq("mechanism") & ~frame["_twin"]]
    groups = training.grouped(experiment, ours["mechanism"])
    heights = [3.8] + [1.9] * len(groups)
    figure, grid = style.canvas(
        0.6 + sum(heights), len(heights), 2, height_ratios=heights, width_ratios=(2.1, 1)
    )
    panels, places = grid[1:].T
    first = figure.add_subplot(grid[0, 0].get_gridspec()[0, :])
    for axes in (*grid[0], *places):
        axes.remove()
    for axes, (title, names) in zip(panels, groups.items(), strict=True):
        axes.set_title(title.replace("epsilon", "ε").replace("delta", "δ"))
        parts = [ours[ours["mechanism"].eq(n)] for n in names]
        label = partial(catalogue.label, kind=catalogue.experiment(experiment).kind)
        members = [(n, frames.named(p, label), p) for n, p in zip(names, parts, strict=True)]
        style.against_epsilon(axes, members, apart=0.09)
        style.log_axis(axes, "x", "nominal ε" * (axes is panels[-1]))
    first.set_title("All of them, by true ε")
    _true(first, ours, [name for names in groups.values() for name in names])
    for axes in (first, *panels):
        for row in frame[frame["kind"].eq("level")].itertuples():
            style.level(axes, row.mean, row.mechanism)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g}"))
    # Intervals of very few trials may leave the picture.
    half = frame["ci95"].fillna(0).clip(upper=0.1)
    low, high = (frame["mean"] - half).min(), (frame["mean"] + half).max()
    for axes in (first, *panels):
        axes.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
        axes.set_ylabel(frames.axis(frame))
    for axes in panels:
        style.label_ends(axes, 1.4)
    levels = frame.loc[frame["kind"].eq("level"), "mechanism"]
    keys = [style.key(catalogue.label(n), catalogue.look(n), marker="") for n in levels]
    style.legend(figure, keys, columns=len(keys))
    return figure


def _true(axes: Axes, ours: pd.DataFrame, names: Sequence[str]) -> None:
    """Draw the accuracies where the noise really stands, those beyond the axis at its ends."""
    for name in names:
        part = ours[ours["mechanism"].eq(name) & ours["mean"].notna()].sort_values("epsilon_actual")
        x = part["epsilon_actual"].clip(LEAST, MOST)
        inside = part["epsilon_actual"].between(LEAST, MOST)
        look = catalogue.look(name)
        axes.plot(x[inside], part["mean"][inside], color=look.colour, linewidth=0.8, alpha=0.6)
        style.curve(axes, x, part["mean"], part["ci95"], as_=look, bars=True, linestyle="none")
    style.log_axis(axes, "x", "true ε")
    there = ours["epsilon_actual"].clip(LEAST, MOST)
    axes.set_xlim(there.min() / 1.6, there.max() * 1.6)
    ends = {LEAST: f"≤ {LEAST:g}", MOST: f"≥ {MOST:g}"}
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: ends.get(value, f"{value:g}")))


def _at(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the schemes that ran at epsilon 1, by name."""
    rows = frame[frame["kind"].eq("mechanism") & frame["epsilon"].eq(NOMINAL)]
    return rows[rows["mean"].notna()].set_index("mechanism")


def _percent(row: pd.Series) -> str:
    return f"{interval(100 * row['mean'], 100 * row['ci95'])} %"


def caption_features(at: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Say what IMGM and the analytic Gaussian mechanism differ by, and what either protects."""
    said = ""
    for ours, theirs, what in (
        ("imgm", "analytic_gaussian", "nominal epsilon 1"),
        ("imgm_amplified", "analytic_gaussian_amplified", "(epsilon/q, delta/q)"),
    ):
        if {ours, theirs} <= {*at.index}:
            pair = at.loc[[ours, theirs]]
            ratio = np.divide(*pair["noise_std"])
            same = (
                "the same noise as"
                if abs(ratio - 1) < 1e-9
                else f"{short(ratio)} times the noise of"
            )
            # One law is drawn once.
            found = [*dict.fromkeys(_percent(row) for _, row in pair.iterrows())]
            has = f"it has {' against '.join(found)}" if found[1:] else f"both have {found[0]}"
            true = " and ".join(dict.fromkeys(map(short, pair["epsilon_actual"])))
            words = {"what": what, "noise": same, "has": has, "true": true}
            said += catalogue.caption("training_features", **words)
    return said


def caption_gradients(at: pd.DataFrame, frame: pd.DataFrame) -> str:
    """Say what is best within the budget, and how far true epsilons lie from the nominal one."""
    if at.empty:
        return f" {catalogue.caption('nothing')}"
    label, said = partial(catalogue.label, kind="gradients"), ""
    within = at[~exceeds(at["epsilon_actual"], NOMINAL)]
    if len(within):
        best = str(within["mean"].idxmax())
        said += catalogue.caption(
            "training_within",
            best=label(best),
            mean=_percent(within.loc[best]),
            free=100 * frames.level(frame, "nonprivate"),
            tied=frames.tied(within.loc[best], {*within.index}),
            least=short(within["epsilon_actual"].min()),
            most=short(within["epsilon_actual"].max()),
        )
        if within["against_chance"].ne("").any():
            chance = summary.trivial(frame)
            words = {"level": 100 * frames.level(frame, chance), "of": len(within)}
            words["failed"] = within["against_chance"].ne(comparisons.BETTER).sum()
            name = catalogue.label(chance).lower()
            said += catalogue.caption("training_failed", chance=name, **words)
    true = at.drop(within.index)["epsilon_actual"].map(short).items()
    beyond = "; ".join(f"{label(str(one))}: {epsilon}" for one, epsilon in true)
    return said + (f" True epsilons beyond it: {beyond}." if beyond else "")


def words(frame: pd.DataFrame) -> dict[str, Any]:
    """Say how far apart the true epsilons of schemes of one nominal epsilon lie."""
    true = _at(frame)["epsilon_actual"].dropna()
    if true.empty:
        return {}
    return {"nominal": NOMINAL, "low": frames.least(true, LEAST), "high": frames.count(true.max())}


def caption(frame: pd.DataFrame) -> str:
    """Say what stands out in an experiment of its kind."""
    about = catalogue.experiment(str(frame["experiment"].iloc[0]))
    told = caption_features if about.kind == "features" else caption_gradients
    said = f"Test accuracy on {about.name} after training on noisy {about.kind}."
    return said + told(_at(frame), frame)


FIGURES = {
    # Another spelling than that of figures of releases: no two entries have one name.
    "{figure!s}": base.Figure(
        title="Accuracy: {title}",
        told="training",
        words=words,
        caption=caption,
        inputs=("summary/{experiment}", "comparisons/{experiment}"),
        each="training",
        data=tidy,
        draw=draw,
    ),
}
