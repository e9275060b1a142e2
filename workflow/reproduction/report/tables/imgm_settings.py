"""The delivered epsilon of every setting that the IMGM paper publishes, run or not."""

from __future__ import annotations

from reproduction import catalogue
from reproduction.report import statistics
from reproduction.report.audit_status import NOT_PRIVATE
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.sheet import Cell
from reproduction.report.tables.base import Column, Table, lines
from reproduction.report.tables.training import OF_CODE, PRIVATE, epsilon_column

TITLES = {
    "gradients": "Type I: gradients, sampled and released T times",
    "features": "Type II: features of all records, released once",
}
CAPTION = (
    "Delivered ε by claimed ε in the settings of Table 1, at the same δ; q is the share of records "
    "in a lot or block, T counts releases. †: not private. Two other readings of q stand in rows "
    "of their own, and the authors' public code (commit 2b7b36e) in the CSV file. Lots count as "
    "Poisson samples, though the code shuffles."
)


def build(run: Run) -> Table:
    """Return the published settings with ``label``, the scheme's name, and ``verdict``.

    A line has all claimed epsilons of a data set and scheme.
    """
    numbers = run["theory/settings"]
    schemes = [
        catalogue.schemes(perturbation)[name]
        for perturbation, name in zip(numbers["perturbation"], numbers["scheme"], strict=True)
    ]
    too_large = statistics.exceeds(numbers["epsilon_delivered"], numbers["epsilon"])
    frame = numbers.assign(
        label=[scheme.label for scheme in schemes],
        verdict=too_large.map({True: NOT_PRIVATE, False: PRIVATE}),
    )
    named = frame.assign(
        dataset=[catalogue.experiment(name).name for name in frame["dataset"]],
        # What is released once has no batch.
        every_batch=frame["batch"].fillna(0),
        title=[
            OF_CODE if scheme.group == OF_CODE else TITLES[perturbation]
            for scheme, perturbation in zip(schemes, frame["perturbation"], strict=True)
        ],
    )
    each = ["dataset", "scheme", "lots", "every_batch"]
    words = {"Data set": "dataset", "Scheme": "label", "Lots of the": "lots"}
    numbers_of = {"q": "rate", "T": "steps"}
    return Table(
        title="Delivered epsilon of the published settings",
        caption=CAPTION,
        frame=frame,
        columns=[
            *(Column(header, name) for header, name in words.items()),
            # What the page shows has no batch.
            Column("Batch", "batch", "batch", page=None),
            *(Column(header, name, name) for header, name in numbers_of.items()),
            *(
                epsilon_column(
                    epsilon,
                    lambda row: Cell(short(row["epsilon_delivered"], 4)),
                    "epsilon_delivered",
                    page=epsilon == run.table_epsilon,
                )
                for epsilon in sorted({*frame["epsilon"]})
            ),
        ],
        groups=lines(named, "title", each=each),
        aside=[OF_CODE],
    )
