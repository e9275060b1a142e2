"""Figure 1 of the IMGM paper: accuracy after training on noisy features."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction import catalogue
from reproduction.report.figures import training
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run
from reproduction.trials import PANELS


def build(run: Run) -> Figure:
    """Return the figure."""
    frame = training.tidy(run)
    return Figure(
        title="Figure 1: accuracy after training on noisy features",
        caption=caption(frame),
        frame=frame,
        draw=functools.partial(training.draw, panels=PANELS),
    )


def caption(frame: pd.DataFrame) -> str:
    """Return what is shown, of which other runs, and how to run the panels that are not."""
    ran = {*frame.get("experiment", ())}
    others = {*frame["experiment"][frame["kept_status"].notna()]} if ran else set()
    kept = [catalogue.experiment(name) for name in PANELS if name in others]
    absent = (catalogue.experiment(name) for name in PANELS if name not in ran)
    commands = [f"{panel.data or panel.name} ({training.command(panel)})" for panel in absent]
    text = (
        "Mean test accuracy with 95 % intervals, by the ε that a scheme is called above and by the "
        "ε that its noise gives below. Nothing is sampled here: schemes calibrated to (ε/q, δ/q), "
        "as in the paper, stand far to the right below. Both baselines are horizontal lines."
    )
    text += "".join(f" {panel.data}: {panel.kept}." for panel in kept)
    return " ".join([text, *([f"Not run here: {', '.join(commands)}."] if commands else [])])
