"""Accuracy after training on noisy gradients, on two of the IMGM paper's data sets."""

from __future__ import annotations

from reproduction.report.figures import training
from reproduction.report.figures.base import Figure
from reproduction.report.inputs import Run


def build(run: Run) -> Figure:
    """Return the figure."""
    return Figure(
        title="Accuracy after training on noisy gradients: Adult and Cora",
        caption=(
            "Mean test accuracy with 95 % intervals, by the ε that a scheme is called above and "
            "by the ε that its noise gives at the same δ below. IMGM is composed by its Theorem 4; "
            "by Kairouz et al. it is the analytic Gaussian row. All other schemes stand in the "
            "figure's CSV. Fewer than ten trials name no winner."
        ),
        frame=training.tidy(run),
        draw=training.draw,
    )
