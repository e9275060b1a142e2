# A table: `build` makes the frame of its CSV file from a run, and columns that read its lines.
# Copy to workflow/reproduction/report/tables
# Add to workflow/rules/report.smk, below TABLES = {
#     "least_noise": ("least_noise", ["<folder>/rows/first_pc.csv"]),
# Run: snakemake results/tables/least_noise.md
"""The noise of each mechanism at the tables' epsilon, the least first."""

from __future__ import annotations

from reproduction.report import markup
from reproduction.report.inputs import Run
from reproduction.report.tables.base import Column, Table, lines


def build(run: Run) -> Table:
    """Return the shown rows that add noise of a known size."""
    rows = run["rows/first_pc"]
    rows = rows[rows["shown"] & rows["epsilon"].eq(run.table_epsilon) & rows["noise_std"].notna()]
    rows = rows.sort_values("noise_std", kind="stable")
    return Table(
        title="Noise of each mechanism",
        caption="Standard deviation of the noise of a released entry.",
        frame=rows,
        columns=[
            Column("Mechanism", markup.mechanism),
            Column("Noise", "noise_std", "noise_std"),
        ],
        groups=lines(rows),
    )
