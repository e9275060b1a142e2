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
from reproduction.report import audit_status, comparisons, markup, statistics
from reproduction.report.comparisons import AGAINST, BETTER, EVEN, ROW, WORSE
from reproduction.report.entries import Tables
from reproduction.report.markup import Cells, Grid, short
from reproduction.report.tables import comparison
from reproduction.report.tables.base import Table

#: What a row has of the mechanism that it stands for: ``against``, or the one that is compared.
OF_ROW = ("delta", "epsilon_delivered", "mu", "noise_std", "data_status")

#: Columns of the CSV, in order.
COLUMNS = (
    *("experiment", "metric", "mechanism", "direction", "configuration", *AGAINST, "epsilon"),
    *("mean", "mean_against", "difference", "low", "high", "statistic", "n_trials"),
    *("p", "p_corrected", "same_distribution", "verdict"),
    *(*OF_ROW, "noise_inflation", *audit_status.COLUMNS),
)


def data(experiment: str, tables: Tables, mechanism: str) -> pd.DataFrame:
    """Return one row per other row of an experiment and epsilon (``COLUMNS``).

    ``difference`` is the mechanism minus ``against``. The first row of each epsilon is the
    mechanism itself, without a difference. From ``delta`` on all columns are of the row
    ``against``; ``noise_inflation`` is known at the epsilon of the audit. There is no ``verdict``
    where the audit refutes one of the two, or a tight epsilon exceeds the claimed one.

    Raises:
        InputError: the mechanism is none of the experiment.
    """
    results, settings = tables[f"summary/{experiment}"], tables["settings"]
    results = results[results["reading"].eq(settings["reading"])]
    private = results[~results["mechanism"].isin(catalogue.BASELINES)]
    checks.choice(dict.fromkeys(private["mechanism"]), mechanism=mechanism)
    compared = tables[f"comparisons/{experiment}"]
    rows = comparisons.oriented(compared)
    rows = rows[rows["mechanism"].eq(mechanism) & rows["epsilon"].notna()]
    own = rows.drop_duplicates("epsilon").assign(mean_against=np.nan, verdict="")
    own[AGAINST] = own[ROW[:-1]].to_numpy()
    own["n_trials"] = rows.groupby("epsilon")["n_trials"].max().reindex(own["epsilon"]).to_numpy()
    own[["difference", "low", "high", "p", "p_corrected"]] = np.nan
    own[["statistic", "same_distribution"]] = ["", False]
    rows = pd.concat([own, rows], ignore_index=True)
    rows = _described(rows, results, tables.get(f"audit/{experiment}"))
    wrong = rows["_doubt"].ne("")
    wrong |= rows["epsilon"].isin(rows.loc[wrong & _is_own(rows), "epsilon"])
    rows["verdict"] = rows["verdict"].mask(wrong, "")
    rank = {name: number for number, name in enumerate(sorted({*rows["against"]}, key=_rank))}
    rows = rows.assign(_own=~_is_own(rows), _rank=rows["against"].map(rank))
    rows = rows.sort_values(["epsilon", "_own", "_rank"], kind="stable", ignore_index=True)
    at = float(settings["table_epsilon"])
    at = at if rows["epsilon"].eq(at).any() else rows["epsilon"].max()
    perturbation = catalogue.experiment(experiment).perturbation
    return rows[[*COLUMNS, "_epsilon_exact", "_doubt"]].assign(_at=at, _perturbation=perturbation)


def _described(
    rows: pd.DataFrame, results: pd.DataFrame, audit: pd.DataFrame | None
) -> pd.DataFrame:
    """Return rows with what summary and audit say of ``against``, and why it is not private."""
    keys = dict(zip(ROW[:-1], AGAINST, strict=True))
    facts = results.assign(epsilon=pd.to_numeric(results["epsilon"], errors="coerce"))
    if audit is not None:
        text = ["mechanism", "direction", "configuration"]
        audited = audit.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))
        audited = audited.assign(epsilon=pd.to_numeric(audited["epsilon"], errors="coerce"))
        inflation = audited.groupby(ROW, sort=False)["noise_inflation"].max().reset_index()
        facts = facts.merge(inflation, how="left", on=ROW)
    facts = audit_status.joined(facts, audit)
    facts = facts.rename(columns={"epsilon_exact": "_epsilon_exact"}).reindex(
        columns=[*ROW, *OF_ROW, "_epsilon_exact", "noise_inflation", *audit_status.COLUMNS]
    )
    facts = facts.rename(columns=keys)
    # Baselines have one row for all epsilons.
    baseline = facts["epsilon"].isna()
    ends = [
        rows.merge(facts[~baseline], how="inner", on=[*AGAINST, "epsilon"]),
        rows.merge(facts[baseline].drop(columns="epsilon"), how="inner", on=AGAINST),
    ]
    rows = pd.concat(ends, ignore_index=True)
    above = statistics.exceeds(rows["epsilon_delivered"], rows["epsilon"])
    doubt = [audit_status.text(row) for row in rows.to_dict("records")]
    plain = np.where(above, audit_status.NOT_PRIVATE, "")
    return rows.assign(_doubt=[words or other for words, other in zip(doubt, plain, strict=True)])


def _is_own(rows: pd.DataFrame) -> pd.Series:
    return rows["mechanism"].eq(rows["against"])


def _rank(name: str) -> tuple[bool, tuple[int, str]]:
    return name in catalogue.BASELINES, catalogue.rank(name)


def grid(table: pd.DataFrame) -> Grid:
    """Return the mechanism itself, the other mechanisms and the baselines, at one epsilon."""
    rows = table[table["epsilon"].eq(table["_at"])]
    about = catalogue.metric(rows["metric"].iloc[0])
    own = _is_own(rows)
    titles = rows["against"].isin(catalogue.BASELINES).map({True: "Baselines", False: "Mechanisms"})

    def scaled(row: Mapping[str, Any], *names: str) -> str:
        numbers = (row[name] * about.scale for name in names if pd.notna(row[name]))
        return " to ".join(short(x if abs(x) > statistics.ROUNDING else 0.0) for x in numbers)

    def mean(row: Mapping[str, Any]) -> str:
        return scaled(row, "mean" if row["mechanism"] == row["against"] else "mean_against")

    def difference(row: Mapping[str, Any]) -> str:
        return scaled(row, "difference") + " (median)" * (row["statistic"] == "median")

    cells: Cells = {
        "Method": lambda row: catalogue.label(row["against"], row["_perturbation"]),
        about.name: mean,
        "Difference": difference,
        "95 % interval": lambda row: scaled(row, "low", "high"),
        "Corrected p": lambda row: short(row["p_corrected"], 2),
        "Verdict": _verdict,
        "Tight epsilon": comparison.privacy,
        "delta": "delta",
    }
    # Schemes of training have no audit.
    if rows["audit_status"].ne("").any():
        cells |= {"Noise inflation": "noise_inflation", "Audit": "audit_status"}
    return markup.grid(rows, titles.mask(own, ""), cells, title=str)


def _verdict(row: Mapping[str, Any]) -> str:
    same = " (the same noise)" if row["same_distribution"] and row["verdict"] == EVEN else ""
    return row["_doubt"] or row["verdict"] + same


def finding(table: pd.DataFrame) -> str:
    """Return how many private rows the mechanism is better and worse than; empty without one.

    Rows whose guarantee is only declared do not count.
    """
    rows = table[table["epsilon"].eq(table["_at"]) & table["verdict"].ne("")]
    rows = rows[rows["audit_status"].isin([*audit_status.SOUND, ""])]
    rows = rows[~rows["against"].isin(catalogue.BASELINES)]
    if rows.empty:
        return ""
    better, worse = (int(rows["verdict"].eq(word).sum()) for word in (BETTER, WORSE))
    at = f"at epsilon {table['_at'].iloc[0]:g}"
    return f"Better than {better} and worse than {worse} of {len(rows)} private rows {at}"


def caption(table: pd.DataFrame) -> str:
    """Return what is compared, and how."""
    rows = table[table["epsilon"].eq(table["_at"])]
    about = catalogue.metric(rows["metric"].iloc[0])
    sign = "positive" if about.larger else "negative"
    return (
        f"Difference of {about.name} from {table.attrs['mechanism']} to each row, mean over the "
        f"{markup.span(rows['n_trials'])} trials that both share, with its 95 % interval; "
        f"{sign} favours {table.attrs['mechanism']}. Corrected p: after Holm. Claimed epsilon "
        f"{rows['epsilon'].iloc[0]:g}; {rows['data_status'].iloc[0]} data. Tight epsilon, delta "
        "and what the audit says are of the row. The CSV has every epsilon."
    )


TABLES = {
    "against_each": Table(
        title="{title}: {mechanism} against each",
        finding=finding,
        caption=caption,
        of_experiment=True,
        of_mechanism=True,
        data=data,
        grid=grid,
    ),
}
