"""Results under variations of the reading of the paper, beside the published ones."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reproduction import catalogue
from reproduction.experiments import readings
from reproduction.report import audit_status, summary
from reproduction.report.figures import frames, style
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.statistics import ROUNDING, covers

#: Empty share of a mechanism's strip at each side.
MARGIN = 0.06
NOT_PRIVATE = "#FBE3E6"


def tidy(run: Run) -> pd.DataFrame:
    """Return the rows of :func:`panel` of every experiment that was run under all readings."""
    names = [name.partition("/")[2] for name in run if name.startswith("readings/")]
    return pd.concat([pd.DataFrame(), *(panel(name, run) for name in names)], ignore_index=True)


def panel(experiment: str, run: Run) -> pd.DataFrame:
    """Return all variations of the paper's rows, baselines, and published values.

    ``row`` is the paper's name of a row. ``x`` is its number plus the rank of the reading; private
    readings come first, by mean. ``meets`` is the unit in which the 95 % interval of the
    difference from the published value covers 0: ``printed``, ``conjectured`` or ``neither``. No
    reading of a mechanism that the audit refutes is private.
    """
    rows = run[f"readings/{experiment}"]
    rows = rows[rows["mean"].notna()]
    judged = audit_status.summarise_audit(run.get(f"audit/{experiment}"))
    wrong = rows["ran"].isin(judged.index[audit_status.refuted(judged)])
    rows = rows.assign(private=rows["private"].astype(bool) & ~wrong)
    table = run.published(catalogue.experiment(experiment).results)
    theirs = frames.published_rows(table, experiment).assign(row=table["method"])
    theirs = theirs[theirs["mechanism"].isin(rows["mechanism"]) & theirs["epsilon"].notna()]
    usual = rows[rows["reading"].eq(readings.DEFAULT)]
    levels = [catalogue.NONPRIVATE, catalogue.RANDOM, summary.best_free_baseline(usual)]
    parts = [usual[usual["mechanism"].isin(levels)].assign(role="level")]
    for number, cell in enumerate(theirs.to_dict("records")):
        outcomes = _place(rows[rows["mechanism"].eq(cell["mechanism"])], number)
        outcomes = outcomes.assign(role="mechanism", row=cell["row"], meets=_meets(outcomes, cell))
        parts.append(outcomes)
    if theirs.empty:
        return rows.iloc[:0]
    numbered = theirs.assign(x=np.arange(len(theirs)) + 0.5)
    return pd.concat([*parts, numbered], ignore_index=True).assign(experiment=experiment)


def _place(rows: pd.DataFrame, number: int) -> pd.DataFrame:
    rows = rows.assign(_public=~rows["private"]).sort_values(["_public", "mean", "reading"])
    step = (1 - 2 * MARGIN) / len(rows)
    x = number + MARGIN + step * (np.arange(len(rows)) + 0.5)
    return rows.drop(columns="_public").assign(x=x, step=step)


def _meets(rows: pd.DataFrame, cell: dict) -> pd.Series:
    meets = pd.Series("neither", rows.index)
    for unit, factor in (("conjectured", 1.0), ("printed", 1 / cell["factor"])):
        gap = rows["mean"] - factor * cell["mean"]
        meets = meets.mask(covers(gap, rows["ci95"], factor * cell["ci95"]), unit)
    return meets


def draw(frame: pd.DataFrame) -> style.Drawing:
    """Draw a strip per experiment: the sorted outcomes of each row of the paper's table."""
    experiments = list(dict.fromkeys(frame["experiment"]))
    figure, grid = style.canvas(0.9 + 2.5 * len(experiments), len(experiments), 1)
    for axes, experiment in zip(grid[:, 0], experiments, strict=True):
        rows = frame[frame["experiment"].eq(experiment)]
        _strip(axes, rows)
        axes.set_title(catalogue.experiment(experiment).title, pad=30)
    style.legend(figure, _handles(frame), columns=3)
    return figure


def _strip(axes: Axes, rows: pd.DataFrame) -> None:
    ours = rows[rows["role"].eq("mechanism")]
    transform = axes.get_xaxis_transform()
    for name, part in ours.groupby("mechanism", sort=False):
        number = int(part["x"].min())
        words = "" if part["private"].astype(bool).any() else f" ({audit_status.NOT_PRIVATE})"
        row = re.sub(" strategy$", "", part["row"].iloc[0])
        text = textwrap.fill(re.sub(" (using the|with) ", ", ", row) + words, 18)
        axes.text(number + 0.5, 1.02, text, ha="center", fontsize=style.SMALL, transform=transform)
        _shade(axes, part)
        axes.axvline(number, color=style.FAINT, linewidth=0.6)
        _outcomes(axes, part, catalogue.look(str(name)))
    for row in rows[rows["role"].eq("level") & rows["mean"].gt(ROUNDING)].itertuples():
        style.level(axes, row.mean, row.mechanism)
    _published(axes, rows[rows["role"].eq("published")])
    style.log_axis(axes, "y", frames.axis(ours))
    axes.set(xlim=(0, int(np.ceil(ours["x"].max()))), xticks=[])


def _shade(axes: Axes, part: pd.DataFrame) -> None:
    """Colour the background of readings that are not private."""
    bare = part[~part["private"].astype(bool)]
    if len(bare):
        half = bare["step"].iloc[0] / 2
        axes.axvspan(bare["x"].min() - half, bare["x"].max() + half, color=NOT_PRIVATE, zorder=0.5)


def _outcomes(axes: Axes, part: pd.DataFrame, look: catalogue.Look) -> None:
    private = part["private"].astype(bool)
    # A logarithmic axis has no 0.
    low = np.maximum(part["mean"] - part["ci95"], part["mean"] / 2)
    colours = [look.colour if is_private else style.ALARM for is_private in private]
    axes.vlines(part["x"], low, part["mean"] + part["ci95"], colors=colours, lw=0.6)
    # A ring says that a value is met: on a logarithmic axis a near miss lies on its line, too.
    met = part["meets"].ne("neither")
    axes.plot(part["x"][met], part["mean"][met], "o", color=style.INK, mfc="none", ms=8, mew=0.8)
    dot: dict[str, Any] = {"ms": 2.5, "mew": 0.6}
    for mask, colour, fill in ((private, *[look.colour] * 2), (~private, style.ALARM, "white")):
        axes.plot(part["x"][mask], part["mean"][mask], "o", color=colour, mfc=fill, **dot)
    usual = part[part["reading"].eq(readings.DEFAULT)]
    axes.plot(usual["x"], usual["mean"], "D", color=style.INK, markersize=5, zorder=6)


def _published(axes: Axes, theirs: pd.DataFrame) -> None:
    for row in theirs.itertuples():
        look = catalogue.look(row.mechanism)
        units = [(1 / row.factor, "-")] + ([(1.0, (0, (4, 2)))] if row.factor != 1 else [])
        for factor, line in units:
            span = row.x - 0.5 + MARGIN / 2, row.x + 0.5 - MARGIN / 2
            middle, half = row.mean * factor, np.nan_to_num(row.ci95) * factor
            axes.fill_between(span, middle - half, middle + half, color=look.colour, alpha=0.25)
            axes.plot(span, [middle] * 2, color=style.INK, linestyle=line, linewidth=1.4, zorder=5)


def _handles(frame: pd.DataFrame) -> list[Line2D]:
    ink, dot = catalogue.Look(style.INK, "", "-"), {"marker": "o", "ls": "none", "ms": 2.5}
    private = frame["private"].fillna(True).astype(bool)
    handles = [
        style.key("a reading, mean with 95 % interval", ink, **dot),
        style.key("default reading", ink, marker="D", linestyle="none"),
        style.key("published, in the printed unit", ink),
    ]
    if not private[frame["role"].eq("mechanism")].all():
        hollow = {"color": style.ALARM, "markerfacecolor": "white"} | dot
        handles.insert(2, style.key("a reading that is NOT private", ink, **hollow))
    if frame["factor"].max() != 1:
        handles.append(style.key("published, in a conjectured unit", ink, linestyle=(0, (4, 2))))
    if frame["meets"].isin(["printed", "conjectured"]).any():
        ring = {"markerfacecolor": "none"} | dot | {"ms": 8}
        handles.append(style.key("a reading that meets a published value", ink, **ring))
    names = frame.loc[frame["role"].eq("level") & frame["mean"].gt(ROUNDING), "mechanism"]
    by_look: dict[tuple[Any, ...], list[str]] = {}
    for name in names.unique():
        look = catalogue.look(name)
        by_look.setdefault((look.colour, look.line), []).append(catalogue.label(name))
    # Baselines of one look stand in panels of their own.
    return handles + [
        style.key(labels[0] if len(labels) == 1 else "best baseline", catalogue.Look(hue, "", line))
        for (hue, line), labels in by_look.items()
    ]


def build(run: Run) -> Figure:
    """Return the figure."""
    return Figure(
        title="Other readings of what the MVG paper leaves open",
        caption=(
            "Outcomes at ε = 1 under the default reading, and under each that changes one thing "
            "that the paper leaves open, sorted within each row of its table, beside the "
            "published value. On red ground readings give up the guarantee. A ring: the 95 % "
            "interval of the difference covers 0. Baselines are of the default reading."
        ),
        frame=tidy(run),
        draw=draw,
    )
