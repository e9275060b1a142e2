"""Accuracy after training on noisy gradients, on two of the IMGM paper's data sets."""

from __future__ import annotations

import functools

import pandas as pd

from reproduction import catalogue
from reproduction.report.figures import frames, training
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run


def build(run: Run) -> Figure:
    """Return the figure."""
    return Figure(
        title="Accuracy after training on noisy gradients: Adult and Cora",
        caption=(
            "Mean test accuracy with 95 % intervals, by the ε that a scheme is called above and "
            "by the ε that its noise gives at the same δ below. IMGM is composed by its Theorem 4; "
            "by Kairouz et al. it is the analytic Gaussian row. Formulas of the authors' public "
            "code are for its batches. Fewer than ten trials name no winner."
        ),
        finding=functools.partial(finding, run.table_epsilon),
        frame=training.tidy(run),
        draw=training.draw,
    )


def finding(table_epsilon: float, frame: pd.DataFrame) -> str:
    """Return the epsilons that the noise of both papers delivers; empty if it is not less.

    That of IMGM stands there by each theorem that may compose it.
    """
    at, rows, mvg = training.at_table_epsilon(frame, table_epsilon)
    tight = rows.groupby("mechanism")["epsilon_delivered"].max()
    readings = catalogue.rows_of("IMGM", "gradients").items()
    imgm = {words: tight[row] for row, words in readings if row in tight}
    largest = mvg["epsilon_delivered"].max()
    if not (imgm and all(epsilon < at for epsilon in (*imgm.values(), largest))):
        return ""
    names = " and ".join(catalogue.experiment(name).name for name in rows["experiment"].unique())
    each = ", ".join(f"{frames.count(epsilon)} {words}" for words, epsilon in imgm.items())
    delivers = f"At ε = {at:g} on {names} IMGM delivers"
    return f"{delivers} {each}; MVG {frames.count(largest)}"
