"""Results, on other data, of mechanisms that were designed on the papers' data."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable

import pandas as pd

from reproduction import catalogue, files
from reproduction.report import comparisons, summary

COLUMNS = (
    *("experiment", "dataset", "epsilon", "mechanism", "against", "mean", "mean_against"),
    *("difference", "low", "high", "p_corrected", "verdict", "n_trials"),
)


def table(compared: pd.DataFrame) -> pd.DataFrame:
    """Return each tuned mechanism against the best of the others, at each epsilon (``COLUMNS``).

    The best one is that with the best mean over the same trials, which is in its favour. The
    verdict is that of :mod:`reproduction.report.comparisons`, corrected.
    """
    pairs = comparisons.oriented(compared)
    pairs = pairs[pairs["epsilon"].notna() & ~pairs["against"].isin(catalogue.BASELINES)]
    tuned = catalogue.tuned()
    pairs = pairs[pairs["mechanism"].isin(tuned) & ~pairs["against"].isin(tuned)]
    larger = catalogue.metric(str(compared["metric"].iloc[0])).larger
    best = pairs.sort_values("mean_against", ascending=not larger, kind="stable")
    best = best.drop_duplicates(["epsilon", "mechanism"])
    return best.sort_values(["epsilon", "mechanism"], kind="stable").reindex(columns=COLUMNS)


def write(trial_files: Iterable[str | os.PathLike], out: str | os.PathLike) -> None:
    """Write :func:`table` of each experiment on each data set in trial files to CSV.

    The order that families follow is that of the catalogue: what has no entry comes last.
    """
    rows = pd.concat(pd.read_csv(path, dtype=str, keep_default_na=False) for path in trial_files)
    rows = rows.sort_values("mechanism", key=lambda names: names.map(catalogue.rank), kind="stable")
    parts = []
    for (experiment, dataset), run in rows.groupby(["experiment", "dataset"], sort=False):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trials.csv")
            run.to_csv(path, index=False)
            compared = comparisons.table([path], summary.summarise([path]))
        parts.append(table(compared).assign(experiment=experiment, dataset=dataset))
    text = pd.concat(parts).to_csv(index=False, lineterminator="\n", float_format="%.6g")
    files.write_text(out, text)


def sentence(evidence: pd.DataFrame | None, experiment: str, mechanism: str) -> str:
    """Return a clause on a mechanism in an experiment; empty if the table has none."""
    if evidence is None or mechanism not in catalogue.tuned():
        return ""
    rows = evidence[evidence["experiment"].eq(experiment) & evidence["mechanism"].eq(mechanism)]
    if rows.empty or rows["verdict"].isna().all():
        return ""
    counts = rows["verdict"].value_counts()
    better, worse = (counts.get(word, 0) for word in (comparisons.BETTER, comparisons.WORSE))
    return (
        f"better in {better} of {len(rows)} comparisons on {rows['dataset'].nunique()} other data "
        f"sets, worse in {worse}"
    )
