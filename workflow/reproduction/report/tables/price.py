"""The price of privacy: the smallest epsilon from which on a mechanism loses half at most.

The loss is 0 at the result without privacy, and 1 at the best baseline (random or constant). The
price orders mechanisms even where none of them beats the baseline at the papers' epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reproduction import catalogue
from reproduction.report import comparisons, markup, standings, summary
from reproduction.report.entries import Tables, by_experiment
from reproduction.report.markup import Cells, Grid, short
from reproduction.report.tables.base import Table

COLUMNS = (
    *("experiment", "mechanism", "also", *standings.COLUMNS, "price", "low", "high"),
    *(
        "smallest",
        "largest",
        "n_trials",
        "baseline",
        "baseline_mean",
        "nonprivate_mean",
        "data_status",
    ),
)


def data(tables: Tables) -> pd.DataFrame:
    """Return one row per experiment and mechanism, the experiments' mechanisms by price.

    ``price`` is an epsilon: the claimed one, or the tight one where that is larger. It is 0 or
    infinite where it lies beyond the ``smallest`` or the ``largest`` epsilon that was run. ``low``
    and ``high`` are the ends of the 95 % interval of :mod:`reproduction.report.comparisons`. The
    loss is 1 at the row ``baseline``. ``also`` are other names of the same noise distribution;
    ``standing`` is that of :mod:`reproduction.report.standings`. Mechanisms that the audit refutes
    have no price, and come last.
    """
    parts = [pd.DataFrame(columns=[*COLUMNS])]
    for experiment, results in by_experiment(tables, "summary").items():
        table = summary.default(results)
        if f"audit/{experiment}" in tables:
            table = standings.joined(table, tables[f"audit/{experiment}"])
        rows = _rows(experiment, table, tables[f"comparisons/{experiment}"])
        if len(part := pd.DataFrame(rows, columns=[*COLUMNS])):
            parts.append(part)
    frame = pd.concat(parts[1:] or parts, ignore_index=True)
    place = pd.factorize(frame["experiment"])[0]
    order = frame.assign(_place=place, _price=frame[["price", "smallest"]].max(axis=1))
    order["_price"] = order["_price"].mask(standings.refuted(frame))
    order = order.sort_values(["_place", "_price", "high"], kind="stable", ignore_index=True)
    return order[[*COLUMNS]]


def _rows(experiment: str, table: pd.DataFrame, compared: pd.DataFrame) -> Iterator[dict[str, Any]]:
    ran = table[table["mean"].notna()]
    levels = ran[ran["mechanism"].isin(catalogue.BASELINES)].set_index("mechanism")["mean"]
    baseline = summary.trivial(ran)
    if "nonprivate" not in levels or not baseline:
        return
    prices = compared[compared["kind"].eq(comparisons.PRICE)].set_index("mechanism")
    private = comparisons.once(comparisons.promised(ran), compared)
    for name, rows in private.groupby("mechanism", sort=False):
        value, low, high = map(float, prices.loc[name, ["difference", "low", "high"]])
        if standings.refuted(rows).any():
            value = low = high = float("nan")
        judged = rows.iloc[0].reindex(standings.COLUMNS).fillna({"standing": ""})
        yield (
            {"experiment": experiment, "mechanism": name, "also": rows["also"].iloc[0]}
            | judged.to_dict()
            | {"price": value, "low": low, "high": high}
            | {"smallest": rows["promised"].min(), "largest": rows["promised"].max()}
            | {"baseline": baseline, "baseline_mean": levels[baseline]}
            | {"nonprivate_mean": levels["nonprivate"]}
            | {"n_trials": rows["n_trials"].max(), "data_status": rows["data_status"].iloc[0]}
        )


def grid(table: pd.DataFrame) -> Grid:
    """Return the mechanisms by experiment, the cheapest first."""
    levels = table.drop_duplicates("experiment").set_index("experiment")

    def title(experiment: str) -> str:
        row, name = levels.loc[experiment], catalogue.experiment(experiment).title
        ends = row[["nonprivate_mean", "baseline_mean"]].map(lambda mean: max(0.0, round(mean, 12)))
        free, baseline = map(short, ends)
        return (
            f"{name}: without privacy {free}, {catalogue.label(row['baseline']).lower()} {baseline}"
        )

    def ends(row: Mapping[str, Any]) -> str:
        if pd.isna(row["low"]):
            return ""
        return " to ".join(dict.fromkeys(format_price(row[name], row) for name in ("low", "high")))

    def name(row: Mapping[str, Any]) -> str:
        names = [row["mechanism"], *filter(None, row["also"].split("; "))]
        return " = ".join(map(catalogue.label, names))

    cells: Cells = {
        "Mechanism": name,
        "Price in epsilon": lambda row: standings.mark(format_price(row["price"], row), row),
        "95 % interval": ends,
        "Trials": "n_trials",
    }
    return markup.grid(table, "experiment", cells, title=title)


def format_price(value: float, row: Mapping[str, Any]) -> str:
    """Return a price as text; ``<`` or ``>`` where it lies beyond the epsilons that were run."""
    if value == 0:
        return f"< {short(row['smallest'])}"
    return f"> {short(row['largest'])}" if np.isinf(value) else short(value)


def finding(table: pd.DataFrame, kind: str = "cases") -> str:
    """Return how many mechanisms have a price of at most 1; ``kind`` says what is counted."""
    table = table[~standings.refuted(table)]
    cheap = f"{table['price'].le(1).sum()} of {len(table)} {kind}"
    return f"In {cheap} ε = 1 recovers half of the gap between baseline and non-private"


TABLES = {
    "price": Table(
        title="The price of privacy",
        caption=(
            "The ε from which on a mechanism recovers half of the gap between the best baseline "
            "and the result without privacy, interpolated between those that were run; where its "
            "tight ε is larger, that one. Intervals are by the bootstrap over trials, from ten "
            "trials on."
        ),
        finding=finding,
        data=data,
        grid=grid,
    ),
}
