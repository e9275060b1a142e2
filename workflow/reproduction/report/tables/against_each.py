"""One mechanism against each other row of its experiment, for the paper that brings it in.

Differences, p-values and verdicts are those of :mod:`reproduction.report.comparisons`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from matrixdp import checks
from reproduction import catalogue
from reproduction.report import audit_status, comparisons, markup, statistics, summary
from reproduction.report.comparisons import AGAINST, EVEN, ROW
from reproduction.report.inputs import Run
from reproduction.report.markup import short
from reproduction.report.sheet import Cell
from reproduction.report.tables import paper_table
from reproduction.report.tables.base import Column, Table, lines

#: What a row has of the mechanism that it stands for: ``against``, or the one that is compared.
OF_ROW = ("delta", "epsilon_delivered", "mu", "noise_std", "data_status")

#: Columns of the CSV, in order.
COLUMNS = (
    *("experiment", "metric", "mechanism", "direction", "configuration", *AGAINST, "epsilon"),
    *("mean", "mean_against", "difference", "low", "high", "statistic", "n_trials"),
    *("p", "p_corrected", "same_distribution", "verdict"),
    *(*OF_ROW, "noise_inflation", *audit_status.COLUMNS),
)


def build(run: Run, experiment: str, mechanism: str) -> Table:
    """Return one row per other row of an experiment and epsilon (``COLUMNS``).

    ``difference`` is the mechanism minus ``against``. The first row of each epsilon is the
    mechanism itself, without a difference. From ``delta`` on all columns are of the row
    ``against``; ``noise_inflation`` is known at the epsilon of the audit. There is no ``verdict``
    where the audit refutes one of the two, or a delivered epsilon exceeds the claimed one.

    Raises:
        InputError: the mechanism is none of the experiment.
    """
    results, about = run[f"rows/{experiment}"], catalogue.experiment(experiment)
    results = results[results["reading"].eq(run.settings["reading"])]
    private = results[~results["mechanism"].isin(catalogue.BASELINES)]
    checks.choice(dict.fromkeys(private["mechanism"]), mechanism=mechanism)
    rows = _rows(mechanism, run[f"comparisons/{experiment}"])
    rows = _described(rows, results, run.get(f"audit/{experiment}"))
    wrong = rows["doubt"].ne("")
    wrong |= rows["epsilon"].isin(rows.loc[wrong & _is_own(rows), "epsilon"])
    rows["verdict"] = rows["verdict"].mask(wrong, "")
    rank = {name: number for number, name in enumerate(sorted({*rows["against"]}, key=_rank))}
    order = [rows["against"].map(rank), ~_is_own(rows), rows["epsilon"]]
    rows = rows.iloc[np.lexsort(order)].reset_index(drop=True)
    label = catalogue.label(mechanism, about.perturbation)
    table = rows[rows["epsilon"].eq(summary.shown_epsilon(rows["epsilon"], run.table_epsilon))]
    titles = table["against"].isin(catalogue.BASELINES)
    titles = titles.map({True: "Baselines", False: "Mechanisms"}).mask(_is_own(table), "")
    return Table(
        title=f"{about.title}: {label} against each",
        caption=caption(table, label),
        frame=rows[[*COLUMNS]],
        columns=columns(table, about.perturbation),
        groups=lines(table, titles),
    )


def _rows(mechanism: str, compared: pd.DataFrame) -> pd.DataFrame:
    """Return a mechanism against each other row, and against itself without a difference."""
    rows = comparisons.both_orders(compared)
    rows = rows[rows["mechanism"].eq(mechanism) & rows["epsilon"].notna()]
    itself = rows.drop_duplicates("epsilon").assign(mean_against=np.nan, verdict="")
    itself[AGAINST] = itself[ROW[:-1]].to_numpy()
    trials = rows.groupby("epsilon")["n_trials"].max()
    itself["n_trials"] = trials.reindex(itself["epsilon"]).to_numpy()
    itself[["difference", "low", "high", "p", "p_corrected"]] = np.nan
    itself[["statistic", "same_distribution"]] = ["", False]
    return pd.concat([itself, rows], ignore_index=True)


def _described(
    rows: pd.DataFrame, results: pd.DataFrame, audit: pd.DataFrame | None
) -> pd.DataFrame:
    """Return rows with what is known of ``against``, and why it is not private."""
    keys = dict(zip(ROW[:-1], AGAINST, strict=True))
    facts = results
    if audit is not None:
        text = ["mechanism", "direction", "configuration"]
        audited = audit.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))
        inflation = audited.groupby(ROW, sort=False)["noise_inflation"].max().reset_index()
        facts = facts.merge(inflation, how="left", on=ROW)
    facts = facts.reindex(
        columns=[*ROW, *OF_ROW, "epsilon_exact", "noise_inflation", *audit_status.COLUMNS]
    )
    facts = facts.rename(columns=keys)
    # Baselines have one row for all epsilons.
    baseline = facts["epsilon"].isna()
    ends = [
        rows.merge(facts[~baseline], how="inner", on=[*AGAINST, "epsilon"]),
        rows.merge(facts[baseline].drop(columns="epsilon"), how="inner", on=AGAINST),
    ]
    rows = pd.concat(ends, ignore_index=True)
    return rows.assign(doubt=[audit_status.doubt(row) for row in rows.to_dict("records")])


def _is_own(rows: pd.DataFrame) -> pd.Series:
    return rows["mechanism"].eq(rows["against"])


def _rank(name: str) -> tuple[bool, tuple[int, str]]:
    return name in catalogue.BASELINES, catalogue.rank(name)


def columns(rows: pd.DataFrame, perturbation: str) -> list[Column]:
    """Return the columns of rows at one epsilon: the mechanism itself, the others, baselines."""
    about = catalogue.metric(rows["metric"].iloc[0])

    def scaled(row: Mapping[str, Any], *names: str) -> str:
        numbers = (row[name] * about.scale for name in names if pd.notna(row[name]))
        return " to ".join(short(x if abs(x) > statistics.ROUNDING else 0.0) for x in numbers)

    def mean(row: Mapping[str, Any]) -> str:
        return "mean" if row["mechanism"] == row["against"] else "mean_against"

    def difference(row: Mapping[str, Any]) -> Cell:
        note = "(median)" if row["statistic"] == "median" else ""
        return Cell(scaled(row, "difference"), note=note)

    result = [
        Column("Method", lambda row: catalogue.label(row["against"], perturbation)),
        Column(about.name, lambda row: scaled(row, mean(row)), lambda row: row[mean(row)]),
        Column("Difference", difference, "difference"),
        Column("95 % interval", lambda row: scaled(row, "low", "high"), "low"),
        Column("Corrected p", lambda row: short(row["p_corrected"], 2), "p_corrected"),
        Column("Verdict", _verdict),
        Column("Delivered epsilon", paper_table.privacy, "epsilon_delivered"),
        Column("delta", "delta", "delta"),
    ]
    # Schemes of training have no audit.
    if rows["audit_status"].ne("").any():
        result += [Column("Noise inflation", "noise_inflation", "noise_inflation")]
        result += [Column("Audit", "audit_status")]
    return result


def _verdict(row: Mapping[str, Any]) -> str:
    same = " (the same noise)" if row["same_distribution"] and row["verdict"] == EVEN else ""
    return row["doubt"] or row["verdict"] + same


def caption(rows: pd.DataFrame, label: str) -> str:
    """Return what is compared, and how."""
    about = catalogue.metric(rows["metric"].iloc[0])
    sign = "positive" if about.larger else "negative"
    return (
        f"Difference of {about.name} from {label} to each row, mean over the "
        f"{markup.span(rows['n_trials'])} trials that both share, with its 95 % interval; "
        f"{sign} favours {label}. Corrected p: after Holm. Claimed epsilon "
        f"{rows['epsilon'].iloc[0]:g}; {rows['data_status'].iloc[0]} data. Delivered epsilon, "
        "delta and what the audit says are of the row. The CSV has every epsilon."
    )
