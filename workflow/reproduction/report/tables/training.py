"""Private training: accuracy and tight epsilon of every scheme of the IMGM paper.

Beside the trainings stands the tight epsilon of every setting that the paper publishes, run or not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from matrixdp.auditing.status import DECLARED
from reproduction import catalogue
from reproduction.catalogue import SchemeWords
from reproduction.experiments.readings import DEFAULT
from reproduction.report import comparisons, markup, statistics, summary
from reproduction.report.audit_status import NOT_PRIVATE
from reproduction.report.entries import Tables
from reproduction.report.markup import Cells, Grid, result, short, span
from reproduction.report.tables import comparison
from reproduction.report.tables.base import Table

#: Titles of baselines, and of rows whose scheme has no entry.
BASELINES, FURTHER = "", "Further schemes"

#: Other readings of what the paper leaves open, in words.
READINGS = {
    "classifier=bias": "a classifier with a bias; test features divided like those of the training",
    "classifier=bias_undivided": "a classifier with a bias; test features not divided",
}

#: Columns of the CSV, in order.
COLUMNS = (
    *("experiment", "scheme", "label", "group", "calibration", "remark", "status"),
    *("epsilon", "delta", "noise_std", "epsilon_delivered", "verdict"),
    *("mean", "ci95", "n_trials", "data_status", "note", "reading", "against_baseline"),
)

#: Titles of the published settings.
TITLES = {
    "gradients": "Type I: gradients, sampled and released T times",
    "features": "Type II: features of all records, released once",
}

PRIVATE = "private"
#: Mark of a number whose tight epsilon exceeds the claimed one.
DAGGER = "†"


def data(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return one row per scheme, claimed epsilon and reading (``COLUMNS``).

    The default reading comes first. Of its rows the baselines come first, without a title, then the
    schemes in the order of the catalogue, and those without an entry. ``epsilon_delivered`` is the
    tight epsilon of the noise at ``delta``. ``verdict`` is ``not private`` where it exceeds the
    claimed one. Elsewhere it is the scheme's ``status``, or ``private`` where a wrong calibration
    happens to add enough noise. ``against_baseline`` is of the default reading. ``_at`` is the
    tables' epsilon, or the largest one where that was not run.
    """
    results, settings = tables[f"summary/{experiment}"], tables["settings"]
    words = catalogue.schemes(catalogue.experiment(experiment).perturbation)
    titles = dict.fromkeys(catalogue.BASELINES, BASELINES)
    titles |= {name: scheme.group for name, scheme in words.items()}
    further = sorted({*results["mechanism"]} - titles.keys())
    titles |= dict.fromkeys(further, FURTHER if words else BASELINES)
    names, usual = results["mechanism"], results["reading"].eq(DEFAULT)
    keys = results.assign(direction="", configuration="", metric="accuracy")
    trivial = summary.trivial(keys[usual])
    outcomes = comparisons.verdicts(keys, tables[f"comparisons/{experiment}"], trivial)
    described = pd.DataFrame([vars(words.get(name, _words(name))) for name in names], results.index)
    rows = results.drop(columns="note").join(described.rename(columns={"note": "remark"}))
    rows = rows.assign(
        scheme=names,
        note=results["note"],
        group=names.map(titles),
        against_baseline=outcomes.replace(comparisons.EVEN, comparison.AT_BASELINE).where(
            usual, ""
        ),
        _other=results["reading"].mask(usual, ""),
        _place=names.map([*titles].index),
        _claimed=pd.to_numeric(results["epsilon"], errors="coerce"),
    )
    rows["verdict"] = [_verdict(row) for row in rows.to_dict("records")]
    order = ["_other", "_place", "_claimed"]
    rows = rows.sort_values(order, kind="stable", na_position="first", ignore_index=True)
    claimed_epsilon, epsilons = settings["table_epsilon"], _epsilons(rows)
    at = claimed_epsilon if claimed_epsilon in epsilons else epsilons[-1] if epsilons else ""
    return rows[[*COLUMNS]].assign(
        _baseline=trivial,
        _at=at,
        _place=summary.place_of_default(results, at),
        _batch=settings["training"][experiment].get("batch"),
    )


def finding(frame: pd.DataFrame) -> str:
    """Return how many schemes are not private, and the largest of their tight epsilons."""
    schemes = _shown(frame[frame["reading"].eq(DEFAULT) & frame["epsilon"].ne("")])
    wrong = schemes[schemes["verdict"].eq(NOT_PRIVATE)]
    epsilon = f"epsilon {frame['_at'].iloc[0]}"
    data = catalogue.experiment(frame.attrs.get("experiment", "")).name
    if wrong.empty:
        every = "Both" if len(schemes) == 2 else f"All {len(schemes)}"
        return f"{data}: {every.lower()} schemes called {epsilon} keep what they promise"
    worst = short(wrong["epsilon_delivered"].max())
    count = f"{len(wrong)} of {len(schemes)}"
    return f"{data}: {count} schemes called {epsilon} are not: tight epsilons of up to {worst}"


def caption(frame: pd.DataFrame) -> str:
    """Return the setting, and the meaning of the columns."""
    usual = frame[frame["reading"].eq(DEFAULT)]
    trials = span(usual["n_trials"][usual["n_trials"] > 0]) or "no"
    batch = frame["_batch"].iloc[0]
    code = f" Formulas of the authors' code are for batches of {batch}." if batch else ""
    at, place = usual[["_at", "_place"]].iloc[0]
    readings = f" Rows under no reading's title are {place} at epsilon {at}." if place else ""
    return (
        f"Test accuracy in percent by claimed epsilon, mean over {trials} trials ± half of the "
        f"95 % confidence interval; delta = {short(usual['delta'].max())}; "
        f"{usual['data_status'].iloc[0]} data. {DAGGER}: not private (tight epsilon above the "
        f"claimed one). Other columns: at epsilon = {at}. Noise: standard "
        f"deviation on one entry. Distorted: not what the paper defines.{code}{readings}"
    )


def grid(frame: pd.DataFrame) -> Grid:
    """Return a line per scheme; titles name the reading where it is not the default."""
    titles = [
        ". ".join(filter(None, [READINGS.get(reading, "").capitalize(), title]))
        for reading, title in zip(frame["reading"], frame["group"], strict=True)
    ]
    baseline = catalogue.label(frame["_baseline"].iloc[0]).lower()
    cells: Cells = {
        "Scheme": "label",
        "Tight epsilon": _at_table("epsilon_delivered"),
        "Privacy": _at_table("verdict"),
        f"Against {baseline}": _at_table("against_baseline"),
        **{epsilon: _at(epsilon, _accuracy) for epsilon in _epsilons(frame)},
        "Noise (std)": _at_table("noise_std"),
        "How the noise is calibrated": lambda rows: ": ".join(
            filter(None, rows[["calibration", "remark"]].iloc[0])
        ),
    }
    return markup.grid(frame, pd.Series(titles, frame.index), cells, each=["label"])


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows at the epsilon of the table, and those without one."""
    return rows[rows["epsilon"].isin(["", rows["_at"].iloc[0]])]


def _at_table(column: str) -> Callable[[pd.DataFrame], str]:
    """Return the function from a scheme's rows to a cell at the epsilon of the table."""
    return lambda rows: markup.format_value(_shown(rows)[column])


def _words(name: str) -> SchemeWords:
    """Return the words for a row without a catalogue entry; a baseline has no status.

    Nothing but the scheme itself says that it is private.
    """
    status = "" if name in catalogue.BASELINES else DECLARED
    return SchemeWords(catalogue.label(name), "", "", status)


def _epsilons(frame: pd.DataFrame) -> list[str]:
    return sorted({*frame["epsilon"]} - {""}, key=float)


def _verdict(row: Mapping[str, Any]) -> str:
    if row["scheme"] in catalogue.BASELINES:
        return ""
    if np.isnan(row["mean"]):
        return str(row["note"]).partition(":")[0] or comparison.NOT_RUN
    if statistics.exceeds(row["epsilon_delivered"], float(row["epsilon"])):
        return NOT_PRIVATE
    return PRIVATE if row["status"] == NOT_PRIVATE else str(row["status"])


def _accuracy(row: Mapping[str, Any]) -> str:
    """Return the accuracy, or why there is none."""
    return result(row, "accuracy") or str(row["verdict"])


def published_data(tables: Tables) -> pd.DataFrame:
    """Return the published settings with ``label``, the scheme's name, and ``verdict``."""
    numbers = tables["theory/settings"]
    keys = zip(numbers["perturbation"], numbers["scheme"], strict=True)
    too_large = statistics.exceeds(numbers["epsilon_delivered"], numbers["epsilon"])
    return numbers.assign(
        label=[catalogue.schemes(perturbation)[name].label for perturbation, name in keys],
        verdict=too_large.map({True: NOT_PRIVATE, False: PRIVATE}),
    )


def on_features(table: pd.DataFrame, every: bool = False) -> pd.DataFrame:
    """Return the rows of IMGM's printed settings on features, those of ``theory/settings``.

    They are by the default reading of q; with ``every``, by each one.
    """
    rows = table["perturbation"].eq("features") & table["scheme"].eq("imgm_amplified")
    return table[rows & (every | table["lots"].eq("paper"))]


def published_finding(table: pd.DataFrame) -> str:
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
    one = f"tight epsilons of {ranges[0]} at claimed 1"
    other = f", {ranges[1]} in all readings of q" if ranges[1] != ranges[0] else ""
    return f"IMGM on features promises too much in {cases}: {one}{other}"


def published_grid(table: pd.DataFrame) -> Grid:
    """Return one line per data set and scheme, with a column per claimed epsilon."""
    table = table.assign(
        _batch=table["batch"].fillna(0),
        dataset=[catalogue.experiment(name).name for name in table["dataset"]],
    )
    columns = {"Data set": "dataset", "Scheme": "label", "Lots of the": "lots"}
    cells: Cells = {**columns, "Batch": "batch", "q": "rate", "T": "steps"}
    for epsilon in sorted({*table["epsilon"]}):
        cells[f"{epsilon:g}"] = _at(epsilon, lambda row: short(row["epsilon_delivered"], 4))
    keys = ["dataset", "scheme", "lots", "_batch"]
    return markup.grid(table, "perturbation", cells, title=TITLES.__getitem__, each=keys)


def _at(epsilon: Any, cell: Callable[[Mapping[str, Any]], str]) -> Callable[[pd.DataFrame], str]:
    """Return the function from rows to the cell at an epsilon; a baseline has one at every."""

    def show(rows: pd.DataFrame) -> str:
        for row in rows[rows["epsilon"].isin(["", epsilon])].to_dict("records"):
            return cell(row) + DAGGER * (row["verdict"] == NOT_PRIVATE)
        return ""

    return show


TABLES = {
    "training": Table(
        title="{title}",
        finding=finding,
        caption=caption,
        of_experiment=True,
        data=data,
        grid=grid,
    ),
    "imgm_settings": Table(
        title="Tight epsilon of the published settings",
        caption=(
            "Tight ε by claimed ε in the settings of Table 1, at the same δ; q is the share of "
            "records in a lot or block, T counts releases. †: not private. Two other readings of "
            "q, and the authors' public code (commit 2b7b36e), stand in rows of their own. Lots "
            "count as Poisson samples, though the code shuffles."
        ),
        finding=published_finding,
        data=published_data,
        grid=published_grid,
    ),
}
