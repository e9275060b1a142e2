"""Private training: accuracy and tight epsilon of every scheme of the IMGM paper."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from matrixdp import catalogue
from matrixdp.catalogue import SchemeWords
from matrixdp.experiments.readings import DEFAULT
from matrixdp.report import markup, statistics, summary
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Cells, Grid, result, short, span
from matrixdp.report.tables import comparison
from matrixdp.report.tables.base import Table

#: Titles of reference rows, and of rows whose scheme has no entry.
REFERENCES, FURTHER = "", "Further schemes"

#: Other readings of what the paper leaves open, in words.
READINGS = {
    "classifier=bias": "a classifier with a bias; test features divided like those of the training",
    "classifier=bias_undivided": "a classifier with a bias; test features not divided",
}

#: Columns of the CSV, in order.
COLUMNS = (
    *("experiment", "scheme", "label", "group", "calibration", "remark", "status"),
    *("epsilon", "delta", "noise_std", "epsilon_actual", "verdict"),
    *("mean", "ci95", "n_trials", "data_status", "note"),
)

PRIVATE, NOT_PRIVATE = "private", comparison.NOT_PRIVATE


def grouped(experiment: str, names: Iterable[str]) -> dict[str, list[str]]:
    """Return the schemes under each title, in the order of tables and panels.

    Reference rows come first, without a title; names without an entry come last.
    """
    names = {*names}
    titles = dict.fromkeys(catalogue.REFERENCES, REFERENCES)
    words = catalogue.schemes(catalogue.experiment(experiment).kind)
    titles |= {name: scheme.group for name, scheme in words.items()}
    titles |= dict.fromkeys(sorted(names - titles.keys()), FURTHER if words else REFERENCES)
    members: dict[str, list[str]] = {}
    for name, title in titles.items():
        if name in names:
            members.setdefault(title, []).append(name)
    return members


def table(results: pd.DataFrame, reading: str = DEFAULT) -> pd.DataFrame:
    """Return one row per scheme and claimed epsilon (``COLUMNS``), in the order of :func:`grouped`.

    ``epsilon_actual`` is the tight epsilon of the noise at ``delta``. ``verdict`` is ``not
    private`` where it exceeds the claimed one. Elsewhere it is the scheme's ``status``, or
    ``private`` where a wrong calibration happens to add enough noise. ``results`` is a summary.
    """
    results = results[results["reading"] == reading]
    (experiment,) = results["experiment"].unique()
    words = catalogue.schemes(catalogue.experiment(experiment).kind)
    titles = grouped(experiment, results["mechanism"])
    title_of = {name: title for title, members in titles.items() for name in members}
    rows = results.rename(columns={"mechanism": "scheme"})
    names = rows["scheme"]
    rows = rows.assign(group=names.map(title_of), _place=names.map([*title_of].index))
    rows["_epsilon"] = pd.to_numeric(rows["epsilon"], errors="coerce")
    descriptions = pd.DataFrame([vars(words.get(name, _words(name))) for name in names], rows.index)
    descriptions = descriptions.drop(columns="group").rename(columns={"note": "remark"})
    rows = rows.join(descriptions)
    rows["verdict"] = [_verdict(row) for row in rows.to_dict("records")]
    rows = rows.sort_values(["_place", "_epsilon"], na_position="first", ignore_index=True)
    return rows[[*COLUMNS]]


def data(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return :func:`table` with ``against_chance``; the grid shows the rows at ``_at``.

    ``_at`` is the tables' epsilon, or the largest one where that was not run.
    """
    schemes = table(tables[f"summary/{experiment}"])
    epsilons = _epsilons(schemes)
    settings = tables["settings"]
    table_epsilon = settings["table_epsilon"]
    rows = schemes.rename(columns={"scheme": "mechanism"}).assign(direction="", variant="")
    trivial = summary.trivial(rows.assign(metric="accuracy"))
    return schemes.assign(
        against_chance=comparison.against(trivial, rows, tables[f"comparisons/{experiment}"]),
        _baseline=trivial,
        _at=table_epsilon if table_epsilon in epsilons else epsilons[-1] if epsilons else "",
        _batch=settings["training"][experiment].get("batch"),
    )


def finding(frame: pd.DataFrame) -> str:
    """Return how many schemes are not private, and the largest of their tight epsilons."""
    schemes = frame[frame["epsilon"].eq(frame["_at"])]
    wrong = schemes[schemes["verdict"].eq(NOT_PRIVATE)]
    epsilon = f"epsilon {frame['_at'].iloc[0]}"
    if wrong.empty:
        return f"All {len(schemes)} schemes called {epsilon} keep what they promise"
    worst = short(wrong["epsilon_actual"].max())
    count = f"{len(wrong)} of {len(schemes)}"
    return f"{count} schemes called {epsilon} are not: tight epsilons of up to {worst}"


def caption(frame: pd.DataFrame) -> str:
    """Return the setting, and the meaning of the columns."""
    batch = frame["_batch"].iloc[0]
    code = f" Formulas of the authors' public code are for batches of {batch}." if batch else ""
    return (
        f"{_setting(frame)} Rows are at claimed epsilon = {frame['_at'].iloc[0]}; noise is the "
        f"standard deviation on one entry. Not private: the tight epsilon "
        f"exceeds the claimed one. Distorted: noise that is not what the paper defines.{code}"
    )


def grid(frame: pd.DataFrame) -> Grid:
    """Return the schemes at one epsilon."""
    chance = catalogue.label(frame["_baseline"].iloc[0]).lower()
    cells: Cells = {
        "Scheme": "label",
        "Tight epsilon": "epsilon_actual",
        "Accuracy (%)": _accuracy,
        f"Against {chance}": "against_chance",
        "Privacy": "verdict",
        "Noise (std)": "noise_std",
        "How the noise is calibrated": lambda row: ": ".join(
            filter(None, [row["calibration"], row["remark"]])
        ),
    }
    return markup.grid(frame[frame["epsilon"].isin(["", frame["_at"].iloc[0]])], "group", cells)


def data_over_epsilon(experiment: str, tables: Tables) -> pd.DataFrame:
    """Return :func:`table` of every reading, the default one first."""
    results = tables[f"summary/{experiment}"]
    readings = [DEFAULT, *sorted({*results["reading"]} - {DEFAULT})]
    parts = [table(results, reading).assign(reading=reading) for reading in readings]
    return pd.concat(parts, ignore_index=True)


def finding_over_epsilon(frame: pd.DataFrame) -> str:
    """Return by how many times tight epsilons exceed claimed ones; empty if none does."""
    times = frame["epsilon_actual"] / pd.to_numeric(frame["epsilon"])
    above = statistics.exceeds(times.max(), 1)
    return f"Tight epsilons are {span(times)} times the claimed ones" if above else ""


def caption_over_epsilon(frame: pd.DataFrame) -> str:
    """Return the setting, and the meaning of the cells."""
    setting = _setting(frame[frame["reading"].eq(DEFAULT)])
    return f"{setting} Columns: claimed epsilon; in brackets the tight one."


def grid_over_epsilon(frame: pd.DataFrame) -> Grid:
    """Return a column per epsilon; titles name the reading where it is not the default."""
    titles = [
        ". ".join(filter(None, [READINGS.get(reading, "").capitalize(), title]))
        for reading, title in zip(frame["reading"], frame["group"], strict=True)
    ]
    cells: Cells = {"Scheme": "label"} | {
        epsilon: functools.partial(_at, epsilon) for epsilon in _epsilons(frame)
    }
    return markup.grid(frame, pd.Series(titles, frame.index), cells, each=["label"])


def _words(name: str) -> SchemeWords:
    """Return the words for a row without a catalogue entry; a reference row has no status."""
    status = "" if name in catalogue.REFERENCES else PRIVATE
    return SchemeWords(catalogue.label(name), "", "", status)


def _epsilons(frame: pd.DataFrame) -> list[str]:
    return sorted({*frame["epsilon"]} - {""}, key=float)


def _verdict(row: Mapping[str, Any]) -> str:
    if row["scheme"] in catalogue.REFERENCES:
        return ""
    if np.isnan(row["mean"]):
        return str(row["note"]).partition(":")[0] or comparison.NOT_RUN
    if statistics.exceeds(row["epsilon_actual"], float(row["epsilon"])):
        return NOT_PRIVATE
    return PRIVATE if row["status"] == NOT_PRIVATE else str(row["status"])


def _setting(frame: pd.DataFrame) -> str:
    trials = span(frame["n_trials"][frame["n_trials"] > 0]) or "no"
    return (
        f"Test accuracy in percent, mean over {trials} trials ± half of the 95 % confidence "
        f"interval, at delta = {short(frame['delta'].max())}; {frame['data_status'].iloc[0]} data."
    )


def _accuracy(row: Any) -> str:
    return result(row, "accuracy")


def _at(epsilon: str, rows: pd.DataFrame) -> str:
    """Return accuracy and tight epsilon; a reference row has the same accuracy at every epsilon."""
    for _, row in rows[rows["epsilon"].isin(["", epsilon])].iterrows():
        delivered = short(row["epsilon_actual"])
        return (_accuracy(row) or row["verdict"]) + (f" [{delivered}]" if delivered else "")
    return ""


TABLES = {
    "imgm_{experiment}": Table(
        title="{title}",
        finding=finding,
        caption=caption,
        inputs=("summary/{experiment}", "comparisons/{experiment}", "settings"),
        each="training",
        data=data,
        grid=grid,
    ),
    "imgm_{experiment}_grid": Table(
        title="{title}: over epsilon",
        caption=caption_over_epsilon,
        finding=finding_over_epsilon,
        inputs=("summary/{experiment}",),
        each="training",
        data=data_over_epsilon,
        grid=grid_over_epsilon,
    ),
}
