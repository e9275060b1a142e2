"""The tight epsilon of every setting that the IMGM paper publishes, run or not."""

from __future__ import annotations

import pandas as pd

from reproduction import catalogue
from reproduction.report import statistics
from reproduction.report.audit_status import NOT_PRIVATE
from reproduction.report.inputs import Run
from reproduction.report.markup import short, span
from reproduction.report.tables.base import Column, Table, lines
from reproduction.report.tables.training import PRIVATE, by_epsilon

TITLES = {
    "gradients": "Type I: gradients, sampled and released T times",
    "features": "Type II: features of all records, released once",
}
CAPTION = (
    "Tight ε by claimed ε in the settings of Table 1, at the same δ; q is the share of records in "
    "a lot or block, T counts releases. †: not private. Two other readings of q, and the authors' "
    "public code (commit 2b7b36e), stand in rows of their own. Lots count as Poisson samples, "
    "though the code shuffles."
)


def build(run: Run) -> Table:
    """Return the published settings with ``label``, the scheme's name, and ``verdict``.

    A line has all claimed epsilons of a data set and scheme.
    """
    numbers = run["theory/settings"]
    keys = zip(numbers["perturbation"], numbers["scheme"], strict=True)
    too_large = statistics.exceeds(numbers["epsilon_delivered"], numbers["epsilon"])
    frame = numbers.assign(
        label=[catalogue.schemes(perturbation)[name].label for perturbation, name in keys],
        verdict=too_large.map({True: NOT_PRIVATE, False: PRIVATE}),
    )
    named = frame.assign(
        dataset=[catalogue.experiment(name).name for name in frame["dataset"]],
        # What is released once has no batch.
        every_batch=frame["batch"].fillna(0),
    )
    each = ["dataset", "scheme", "lots", "every_batch"]
    words = {"Data set": "dataset", "Scheme": "label", "Lots of the": "lots"}
    numbers_of = {"Batch": "batch", "q": "rate", "T": "steps"}
    return Table(
        title="Tight epsilon of the published settings",
        headline=finding(frame),
        caption=CAPTION,
        frame=frame,
        columns=[
            *(Column(header, name) for header, name in words.items()),
            *(Column(header, name, name) for header, name in numbers_of.items()),
            *(
                by_epsilon(
                    epsilon,
                    lambda row: short(row["epsilon_delivered"], 4),
                    "epsilon_delivered",
                    page=epsilon == run.table_epsilon,
                )
                for epsilon in sorted({*frame["epsilon"]})
            ),
        ],
        groups=lines(named, "perturbation", title=TITLES.__getitem__, each=each),
    )


def on_features(table: pd.DataFrame, every: bool = False) -> pd.DataFrame:
    """Return the rows of IMGM's printed settings on features, those of ``theory/settings``.

    They are by the default reading of q; with ``every``, by each one.
    """
    rows = table["perturbation"].eq("features") & table["scheme"].eq("imgm_amplified")
    return table[rows & (every | table["lots"].eq("paper"))]


def finding(table: pd.DataFrame) -> str:
    """Return in how many cases IMGM on features promises too much, and the worst.

    A case is a data set of the paper at a claimed epsilon, by the default reading of q. Tight
    epsilons are at claimed 1, also over all readings.
    """
    features, paper = on_features(table, every=True), on_features(table)
    wrong = int(paper["verdict"].eq(NOT_PRIVATE).sum())
    if not wrong:
        return ""
    count = f"all {wrong}" if wrong == len(paper) else f"{wrong} of {len(paper)}"
    sizes = (paper[column].nunique() for column in ("dataset", "epsilon"))
    cases = "{} cases ({} data sets, {} epsilons)".format(count, *sizes)
    ranges = [
        span(rows.loc[rows["epsilon"].eq(1), "epsilon_delivered"], lambda value: short(value, 2))
        for rows in (paper, features)
    ]
    at_one = f"tight epsilons of {ranges[0]} at claimed 1"
    other = f", {ranges[1]} in all readings of q" if ranges[1] != ranges[0] else ""
    return f"IMGM on features promises too much in {cases}: {at_one}{other}"
