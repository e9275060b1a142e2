"""Private training: accuracy and delivered epsilon of every scheme of the IMGM paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from matrixdp.status import DECLARED
from reproduction import catalogue
from reproduction.catalogue import SchemeWords
from reproduction.experiments.readings import DEFAULT
from reproduction.report import comparisons, markup, statistics, summary
from reproduction.report.audit_status import NOT_PRIVATE
from reproduction.report.inputs import Run
from reproduction.report.markup import result, short, span
from reproduction.report.sheet import Cell
from reproduction.report.tables import paper_table
from reproduction.report.tables.base import Column, Table, lines

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
    *("mean", "ci95", "n_trials", "data_status", "outcome", "note", "reading"),
    "against_baseline",
)

PRIVATE = "private"
#: Title of the authors' own formulas in the catalogue.
OF_CODE = "Formulas of the authors' code, by batch"
#: Mark of a number whose delivered epsilon exceeds the claimed one.
DAGGER = "†"


def build(run: Run, experiment: str) -> Table:
    """Return one row per scheme, claimed epsilon and reading (``COLUMNS``).

    The default reading comes first. Of its rows the baselines come first, without a title, then the
    schemes in the order of the catalogue, and those without an entry. ``epsilon_delivered`` is the
    delivered epsilon of the noise at ``delta``. ``verdict`` is ``not private`` where it exceeds the
    claimed one. Elsewhere it is the scheme's ``status``, or ``private`` where a wrong calibration
    happens to add enough noise. ``against_baseline`` is of the default reading. What is shown of
    one epsilon is at the tables', or at the largest one where that was not run.
    """
    results, about = run[f"rows/{experiment}"], catalogue.experiment(experiment)
    baseline = str(results.loc[results["reading"].eq(DEFAULT), "baseline"].max())
    rows = _rows(results, about.perturbation)
    epsilons = sorted({*rows["epsilon"].dropna()})
    at = summary.shown_epsilon(rows["epsilon"], run.table_epsilon)
    batch = run.settings["training"][experiment].get("batch")
    titles = [
        ". ".join(filter(None, [READINGS.get(reading, "").capitalize(), title]))
        for reading, title in zip(rows["reading"], rows["group"], strict=True)
    ]
    return Table(
        title=about.title,
        caption=caption(rows, at, summary.place_of_default(results, at), batch),
        frame=rows.assign(epsilon=rows["epsilon"].map(markup.epsilon_text)),
        columns=columns(epsilons, at, catalogue.label(baseline).lower()),
        groups=lines(rows, pd.Series(titles, rows.index), each=["label"]),
        aside={*pd.Series(titles, rows.index)[rows["reading"].ne(DEFAULT)]},
    )


def _rows(results: pd.DataFrame, perturbation: str) -> pd.DataFrame:
    """Return results with the words for their schemes and their verdicts, in order."""
    words = catalogue.schemes(perturbation)
    titles = dict.fromkeys(catalogue.BASELINES, BASELINES)
    titles |= {name: scheme.group for name, scheme in words.items()}
    further = sorted({*results["mechanism"]} - titles.keys())
    titles |= dict.fromkeys(further, FURTHER if words else BASELINES)
    names = results["mechanism"]
    described = pd.DataFrame([vars(words.get(name, _words(name))) for name in names], results.index)
    rows = results.drop(columns="note").join(described.rename(columns={"note": "remark"}))
    outcomes = rows["against_baseline"].replace(comparisons.EVEN, paper_table.AT_BASELINE)
    rows = rows.assign(scheme=names, note=results["note"], group=names.map(titles))
    rows = rows.assign(against_baseline=outcomes)
    rows["verdict"] = [_verdict(row) for row in rows.to_dict("records")]
    claimed = rows["epsilon"].fillna(-np.inf)
    reading = rows["reading"].mask(rows["reading"].eq(DEFAULT), "").rank(method="dense")
    order = np.lexsort([claimed, names.map([*titles].index), reading])
    return rows.iloc[order].reset_index(drop=True)[[*COLUMNS]]


def caption(rows: pd.DataFrame, at: float, place: str, batch: int | None) -> str:
    """Return the setting, and the meaning of the columns."""
    usual = rows[rows["reading"].eq(DEFAULT)]
    trials = span(usual["n_trials"][usual["n_trials"] > 0]) or "no"
    code = f" Formulas of the authors' code are for batches of {batch}." if batch else ""
    of_reading = f" Rows under no reading's title are {place} at epsilon {at:g}." if place else ""
    return (
        f"Test accuracy in percent by claimed epsilon, mean over {trials} trials ± half of the "
        f"95 % confidence interval; delta = {short(usual['delta'].max())}; "
        f"{usual['data_status'].iloc[0]} data. {DAGGER}: not private (delivered epsilon above the "
        f"claimed one). Other columns: at epsilon = {at:g}. Noise: standard "
        f"deviation on one entry. Distorted: not what the paper defines.{code}{of_reading}"
    )


def columns(epsilons: Sequence[float], at: float, baseline: str) -> list[Column]:
    """Return the columns of a scheme, one for the accuracy at each epsilon."""

    def text(column: str) -> Callable[[pd.DataFrame], str]:
        return lambda rows: markup.format_value(_at(rows, at)[column])

    def value(column: str) -> Callable[[pd.DataFrame], float]:
        return lambda rows: _at(rows, at)[column].min()

    def calibration(rows: pd.DataFrame) -> str:
        return ": ".join(filter(None, rows[["calibration", "remark"]].iloc[0]))

    return [
        Column("Scheme", "label", print="Scheme"),
        Column(
            "Delivered epsilon",
            text("epsilon_delivered"),
            value("epsilon_delivered"),
            print="Delivered ε",
        ),
        Column("Privacy", text("verdict"), print="Privacy", badge=True),
        Column(f"Against {baseline}", text("against_baseline"), badge=True),
        *(
            epsilon_column(
                epsilon,
                accuracy,
                "mean",
                print="Accuracy" if epsilon == at else "",
                page=epsilon == at,
            )
            for epsilon in epsilons
        ),
        Column("Noise (std)", text("noise_std"), value("noise_std")),
        Column("How the noise is calibrated", calibration, page=None),
    ]


def epsilon_column(
    epsilon: float,
    cell: Callable[[Mapping[str, Any]], Cell],
    name: str,
    print: str = "",
    page: bool = True,
) -> Column:
    """Return the column of an epsilon for lines of several; a baseline has one row for every."""

    def marked(rows: pd.DataFrame) -> Cell:
        for row in _at(rows, epsilon).to_dict("records"):
            plain = cell(row)
            if row["verdict"] != NOT_PRIVATE:
                return plain
            last = "note" if plain.note else "text"
            return replace(plain, brief=plain.whole, **{last: getattr(plain, last) + DAGGER})
        return Cell("")

    header = f"{epsilon:g}"
    on_page = f"At claimed ε = {header}" if page else None
    return Column(header, marked, lambda rows: _at(rows, epsilon)[name].min(), print, on_page)


def _at(rows: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    return rows[rows["epsilon"].isna() | rows["epsilon"].eq(epsilon)]


def accuracy(row: Mapping[str, Any]) -> Cell:
    """Return the accuracy, or why there is none."""
    cell = result(row, "accuracy")
    return cell if cell.text else Cell(str(row["verdict"]))


def _words(name: str) -> SchemeWords:
    """Return the words for a row without a catalogue entry; a baseline has no status.

    Nothing but the scheme itself says that it is private.
    """
    status = "" if name in catalogue.BASELINES else DECLARED
    return SchemeWords(catalogue.label(name), "", "", status)


def _verdict(row: Mapping[str, Any]) -> str:
    if row["scheme"] in catalogue.BASELINES:
        return ""
    if np.isnan(row["mean"]):
        return str(row["outcome"] or paper_table.NOT_RUN)
    if statistics.exceeds(row["epsilon_delivered"], row["epsilon"]):
        return NOT_PRIVATE
    return PRIVATE if row["status"] == NOT_PRIVATE else str(row["status"])
