"""Tidy rows for figures, from summaries and from the papers' tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status, comparisons, markup, summary
from reproduction.report.rows import take_shared_means
from reproduction.trials import SKIPPED

#: Columns of text, which are empty where a row has none.
TEXT = (
    *("direction", "configuration", "epsilon_exact", "outcome", "note", "also"),
    *("against_baseline", "audit_status"),
)

COLUMNS = (
    *("role", "experiment", "metric", "mechanism", "direction", "configuration", "chosen"),
    *("epsilon", "epsilon_delivered", "mu", "epsilon_exact", "noise_std", "mean", "ci95"),
    *("n_trials", "outcome", "note"),
)


def rows_to_draw(rows: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return rows of the default reading (``COLUMNS`` and further ``columns``), in order.

    ``role`` is ``level`` for baselines, else ``mechanism``. Pairs of task and mechanism that
    make no sense are left out. ``rows`` are those of :mod:`reproduction.report.rows`, and their
    means are on shared trials (:func:`reproduction.report.rows.take_shared_means`).
    """
    rows = take_shared_means(rows[rows["reading"].eq(summary.DEFAULT)])
    rows = rows[rows["outcome"].ne(SKIPPED)]
    baseline = rows["mechanism"].isin(catalogue.BASELINES)
    rows = rows.assign(role=baseline.map({True: "level", False: "mechanism"}))
    order = ["mechanism", "direction", "epsilon", "configuration"]
    return rows[[*COLUMNS, *columns]].sort_values(order, kind="stable", ignore_index=True)


def mechanism_label(rows: pd.DataFrame) -> str:
    """Return the label of a mechanism, with the labels of the same noise distribution.

    One that is refuted, or only declared, says so (:mod:`reproduction.report.audit_status`).
    """
    row = {"also": "", **rows.iloc[0]}
    experiment = str(rows["experiment"].iloc[0]) if "experiment" in rows else ""
    perturbation = catalogue.experiment(experiment).perturbation
    words = audit_status.remark(row).replace("epsilon", "ε")
    names = comparisons.equal_names(row)
    label = " = ".join(catalogue.label(name, perturbation) for name in names)
    return label + (f" ({words})" if words else "")


def count(number: float) -> str:
    """Return a number for a picture: two digits, commas at thousands, millions in words."""
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if number >= size:
            return markup.short(number / size, 2) + word
    rounded = float(f"{number:.2g}")
    return f"{rounded:,.0f}" if rounded >= 1000 else markup.short(number, 2)


def split_mechanisms(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each mechanism, in the order of the families."""
    names = sorted({*rows["mechanism"]}, key=catalogue.rank)
    return [(name, rows[rows["mechanism"].eq(name)]) for name in names]


def axis(frame: pd.DataFrame) -> str:
    """Return the axis label, name and unit, of the metric of the rows."""
    metric, metrics = str(frame["metric"].dropna().iloc[0]), catalogue.metrics()
    return metrics[metric].axis if metric in metrics else metric


def published_rows(table: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Return published results as rows of role ``published``, in the unit of an experiment.

    ``printed`` is in the printed unit. ``factor`` converts it to the unit that we suspect (1 where
    the printed unit is plausible); ``mean`` and ``ci95`` are in that unit.
    """
    conjecture = catalogue.experiment(experiment).conjecture or 1.0
    unit = table["unit_factor"].astype(float)
    value = pd.to_numeric(table["value"]) * unit
    return pd.DataFrame(
        {
            "role": "published",
            "experiment": experiment,
            "mechanism": table["mechanism"],
            "epsilon": pd.to_numeric(table["epsilon"], errors="coerce"),
            "printed": value,
            "factor": 1 / conjecture,
            "mean": value / conjecture,
            "ci95": pd.to_numeric(table["interval"], errors="coerce") * unit / conjecture,
        }
    )


def stack_frames(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below each other; missing columns are empty in text and NaN in numbers."""
    joined = pd.concat([pd.DataFrame(), *parts], ignore_index=True)
    text = joined.columns.intersection(TEXT)
    joined[text] = joined[text].fillna("")
    return joined


def directions(features: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return what each direction favours, from the settings of an experiment."""
    labels = {}
    for name, favoured in features.items():
        members = [catalogue.column(feature) for feature in favoured]
        some = ", ".join(members) if len(members) < 5 else f"the {len(members)} others"
        labels[name] = f"({name}) {some}" if members else "i.i.d. noise"
    return labels


def level(frame: pd.DataFrame, mechanism: str) -> float:
    """Return the mean of a baseline, NaN if it was not run."""
    means = frame.loc[frame["role"].eq("level") & frame["mechanism"].eq(mechanism), "mean"]
    return float(means.iloc[0]) if len(means) else float("nan")
