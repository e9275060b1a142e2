"""Figure 1 of the IMGM paper: accuracy after training on noisy features."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction import catalogue
from reproduction.report import comparisons
from reproduction.report.figures import frames, training
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.report.statistics import exceeds
from reproduction.trials import PANELS


def build(run: Run) -> Figure:
    """Return the figure."""
    frame = training.tidy(run)
    return Figure(
        title="Figure 1: accuracy after training on noisy features",
        caption=caption(frame),
        finding=functools.partial(finding, run.table_epsilon),
        frame=frame,
        draw=functools.partial(training.draw, panels=PANELS),
    )


def finding(table_epsilon: float, frame: pd.DataFrame) -> str:
    """Return what is not private, and whether MVG beats the baseline, by the judge's verdicts."""
    at, rows, mvg = training.at_table_epsilon(frame, table_epsilon)
    over = rows.loc[exceeds(rows["epsilon_delivered"], rows["epsilon"]), "epsilon_delivered"]
    parts = []
    if len(over):
        ends = " to ".join(dict.fromkeys(map(frames.count, (over.min(), over.max()))))
        parts.append(f"by our reading of q, ε = {at:g} here is really {ends}")
    if len(mvg) and not mvg["against_baseline"].eq(comparisons.BETTER).any():
        parts.append("MVG clearly beats no baseline")
    text = "; ".join(parts)
    return text[:1].upper() + text[1:]


def caption(frame: pd.DataFrame) -> str:
    """Return what is shown, and how to run the panels of the paper that are not."""
    ran = {*frame.get("experiment", ())}
    absent = (catalogue.experiment(name) for name in PANELS if name not in ran)
    commands = [f"{training.short_name(panel)} ({training.command(panel)})" for panel in absent]
    text = (
        "Mean test accuracy with 95 % intervals, by the ε that a scheme is called above and by the "
        "ε that its noise gives below. Nothing is sampled here: schemes calibrated to (ε/q, δ/q), "
        "as in the paper, stand far to the right below. Both baselines are horizontal lines."
    )
    return " ".join([text, *([f"Not run here: {', '.join(commands)}."] if commands else [])])
