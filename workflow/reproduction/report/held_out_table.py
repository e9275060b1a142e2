"""Results, on other data, of mechanisms that were designed on the papers' data."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pandas as pd

from reproduction import catalogue, files
from reproduction.report import advisable, comparisons, summary

COLUMNS = (
    *("experiment", "dataset", "simulated", "epsilon", "mechanism", "against", "mean"),
    *("mean_against", "difference", "low", "high", "p_corrected", "verdict", "n_trials"),
)

#: What a verdict is against, in a sentence.
RIVAL = "the best other mechanism or free baseline"


def compare_held_out(compared: pd.DataFrame, results: pd.DataFrame) -> pd.DataFrame:
    """Return each tuned mechanism against the best alternative, at each epsilon (``COLUMNS``).

    Alternatives are mechanisms and baselines that may be advised without results on other data
    (:mod:`reproduction.report.advisable`). The best one is that with the best mean over the same
    trials, which is in its favour. The verdict is that of :mod:`reproduction.report.comparisons`,
    corrected.

    Args:
        compared: comparisons of one experiment.
        results: its summary.
    """
    rows = advisable.add_advisable(summary.default_rows(results))
    refused = rows.loc[rows["advisable"].ne(advisable.YES) & rows["mean"].notna(), "mechanism"]
    pairs = comparisons.both_orders(compared)
    pairs = pairs[pairs["epsilon"].notna() & ~pairs["against"].isin(refused)]
    pairs = pairs[pairs["mechanism"].isin(catalogue.tuned())]
    larger = catalogue.metric(str(compared["metric"].iloc[0])).larger
    best = pairs.sort_values("mean_against", ascending=not larger, kind="stable")
    best = best.drop_duplicates(["epsilon", "mechanism"])
    return best.sort_values(["epsilon", "mechanism"], kind="stable").reindex(columns=COLUMNS)


def write_held_out(trial_files: Iterable[str | os.PathLike], out: str | os.PathLike) -> None:
    """Write :func:`compare_held_out` of each experiment on each data set in trial files to CSV.

    The order that families follow is that of the catalogue: what has no entry comes last.
    """
    rows = pd.concat(map(summary.read_trials, trial_files), ignore_index=True)
    rows = rows.sort_values("mechanism", key=lambda names: names.map(catalogue.rank), kind="stable")
    parts = []
    for (experiment, dataset), run in rows.groupby(["experiment", "dataset"], sort=False):
        results = summary.summarise_trials(run)
        compared = comparisons.compare_rows(run, results)
        of = {"experiment": experiment, "dataset": dataset}
        simulated = run["data_status"].eq(summary.SIMULATED).any()
        parts.append(compare_held_out(compared, results).assign(**of, simulated=simulated))
    text = pd.concat(parts).to_csv(index=False, lineterminator="\n", float_format="%.6g")
    files.write_text(out, text)


def tested_mechanisms(evidence: pd.DataFrame | None, experiment: str) -> set[str]:
    """Return the mechanisms with verdicts on other data in an experiment."""
    if evidence is None:
        return set()
    rows = evidence[evidence["experiment"].eq(experiment) & evidence["verdict"].notna()]
    return {*rows["mechanism"]}


def held_out_sentence(evidence: pd.DataFrame | None, experiment: str, mechanism: str) -> str:
    """Return a clause on a mechanism in an experiment; empty if the table has none.

    It names the data sets on which the mechanism is worse.
    """
    if (
        evidence is None
        or mechanism not in tested_mechanisms(evidence, experiment) & catalogue.tuned()
    ):
        return ""
    rows = evidence[evidence["experiment"].eq(experiment) & evidence["mechanism"].eq(mechanism)]
    counts = rows["verdict"].value_counts()
    better, worse = (counts.get(word, 0) for word in (comparisons.BETTER, comparisons.WORSE))
    sets = rows.drop_duplicates("dataset")
    losses = rows.loc[rows["verdict"].eq(comparisons.WORSE), "dataset"].unique()
    budgets = rows["epsilon"].nunique()
    names = f" ({', '.join(losses).replace('_', ' ')})" if len(losses) else ""
    return (
        f"better than {RIVAL} in {better} of {len(rows)} comparisons on {len(sets)} other data "
        f"sets ({sets['simulated'].sum()} simulated) at {budgets} "
        f"budget{'s' if budgets > 1 else ''}, worse in {worse}{names}"
    )
