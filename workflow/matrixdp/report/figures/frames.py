"""What figures take from summaries and from the papers' tables, in tidy rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import comparisons, markup, summary

#: Below this a metric is an exact 0, which has no place on a logarithmic axis.
NOTHING = 1e-12

COLUMNS = (
    *("kind", "experiment", "metric", "mechanism", "direction", "variant", "chosen"),
    *("epsilon", "mu_actual", "mu_exact", "noise_std", "mean", "ci95", "note"),
)


def cells(table: pd.DataFrame, further: Iterable[str] = ()) -> pd.DataFrame:
    """Return a summary's rows of the default reading, ``epsilon`` a number, ``COLUMNS`` and more.

    ``kind`` is ``level`` for reference rows, else ``mechanism``. Pairs of task and mechanism that
    make no sense are left out. ``further`` are columns to keep as well.
    """
    rows = table[table["reading"].eq(summary.DEFAULT)]
    rows = rows[~rows["note"].str.startswith(summary.SKIPPED)]
    rows = rows.assign(
        epsilon=pd.to_numeric(rows["epsilon"], errors="coerce"),
        kind=rows["mechanism"].isin(catalogue.REFERENCES).map({True: "level", False: "mechanism"}),
        # Without trials a row has no metric, but its experiment has one.
        metric=rows["metric"].max(),
    )
    order = ["mechanism", "direction", "epsilon", "variant"]
    return rows[[*COLUMNS, *further]].sort_values(order, kind="stable", ignore_index=True)


def shown(table: pd.DataFrame, further: Iterable[str] = ()) -> pd.DataFrame:
    """Return the cells that a table would show (see :func:`matrixdp.report.summary.shown`)."""
    return summary.shown(cells(table, further)).reset_index(drop=True)


def named(rows: pd.DataFrame, label: Callable[[str], str] = catalogue.label) -> str:
    """Return the label of a mechanism's rows, with those that are one law with it."""
    also = rows["also"].iloc[0] if "also" in rows else ""
    names = [str(rows["mechanism"].iloc[0]), *(also.split("; ") if also else [])]
    return ", and ".join(map(label, names)) + ": one law" * (len(names) > 1)


def count(number: float, digits: int = 2) -> str:
    """Return a number for a picture: few digits, thousands apart, millions in words."""
    for size, word in ((1e9, " billion"), (1e6, " million")):
        if number >= size:
            return markup.short(number / size, digits) + word
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 1000 else markup.short(rounded, digits)


def least(numbers: pd.Series, seen: float) -> str:
    """Return the smallest number for a picture that shows none below ``seen``."""
    return count(numbers.min()) if numbers.min() >= seen else f"below {seen:g}"


def ordered(rows: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Return the rows of each mechanism, in the order of the families."""
    names = sorted({*rows["mechanism"]}, key=catalogue.rank)
    return [(name, rows[rows["mechanism"].eq(name)]) for name in names]


def axis(frame: pd.DataFrame) -> str:
    """Return the name and unit on an axis of the metric that the rows have."""
    metric, known = str(frame["metric"].dropna().iloc[0]), catalogue.metrics()
    return known[metric].axis if metric in known else metric


def printed(table: pd.DataFrame, experiment: str) -> pd.DataFrame:
    """Return published results as rows of kind ``published``, in the unit of an experiment.

    ``printed`` is in the printed unit, ``factor`` leads from there to the one that we suspect
    behind it (1 where the printed unit is plausible), ``mean`` and ``ci95`` are after this factor.
    """
    conjecture = catalogue.experiment(experiment).conjecture or 1.0
    unit = table["unit_factor"].astype(float)
    value = pd.to_numeric(table["value"]) * unit
    return pd.DataFrame(
        {
            "kind": "published",
            "experiment": experiment,
            "mechanism": table["mechanism"],
            "epsilon": pd.to_numeric(table["epsilon"], errors="coerce"),
            "printed": value,
            "factor": 1 / conjecture,
            "mean": value / conjecture,
            "ci95": pd.to_numeric(table["interval"], errors="coerce") * unit / conjecture,
        }
    )


def join(parts: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return frames below each other; what one lacks is empty in text and NaN in numbers."""
    joined = pd.concat([pd.DataFrame(), *parts], ignore_index=True)
    text = ["direction", "variant", "mu_exact", "note", "also", "against_chance"]
    text = joined.columns.intersection(text)
    joined[text] = joined[text].fillna("")
    return joined


def setup(table2: pd.DataFrame, item: str, experiment: str) -> str:
    """Return what Table 2 says of an experiment as it was run; empty if it says nothing."""
    found = table2.loc[table2["item"].eq(item)].get(experiment, pd.Series(dtype=str)).dropna()
    return "" if found.empty else str(found.iloc[0])


def bounds(table2: pd.DataFrame, experiment: str) -> tuple[float, float]:
    """Return the public range of an entry, NaN where features have different ones."""
    found = re.fullmatch(r"\[(\S+), (\S+)\]", setup(table2, "bounds", experiment))
    lower, upper = map(float, found.groups() if found else ("nan", "nan"))
    return lower, upper


def directions(text: str) -> dict[str, str]:
    """Return what each direction favours, from the cell of Table 2: ``(a) sgpt, drinks; ...``."""
    named = {}
    for name, features in re.findall(r"\((\w+)\) ([^;]+)", text):
        members = [catalogue.column(feature) for feature in features.split(", ")]
        if members[0] == "none":
            named[name] = "i.i.d. noise"
        else:
            some = ", ".join(members) if len(members) < 5 else f"the {len(members)} others"
            named[name] = f"({name}) {some}"
    return named


def told(rows: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Add what captions say of rows of one experiment that a table shows.

    ``against_chance`` is the verdict against chance, empty where there is none; ``_tied`` are the
    mechanisms that a row is not better than at its epsilon.
    """
    chance = summary.trivial(rows)
    pairs = comparisons.oriented(compared)
    keys = ["mechanism", "epsilon"]
    verdicts = pairs[pairs["against"].eq(chance)].set_index(keys)["verdict"]
    even = pairs["verdict"].ne(comparisons.BETTER)
    others = pairs[even & ~pairs["against"].isin(catalogue.REFERENCES)]
    tied = others.groupby(keys)["against"].agg(" ".join)
    found = pd.DataFrame({"against_chance": verdicts, "_tied": tied}).reset_index()
    rows = rows.merge(found, on=keys, how="left")
    return rows.assign(against_chance=rows["against_chance"].fillna(""))


def verdicts(compared: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return how rows stand to their base, of the kind ``direction`` or ``variant``.

    Returned are the keys of the rows, and ``verdict``.
    """
    rows = comparisons.oriented(compared, kind)
    return rows.loc[: len(rows) // 2 - 1, ["experiment", *comparisons.ROW, "verdict"]]


def tied(row: pd.Series, among: Container[str] | None = None) -> str:
    """Return how many others (of some, if given) the best row is not clearly better than."""
    names = [] if pd.isna(row["_tied"]) else row["_tied"].split()
    count = sum(among is None or name in among for name in names)
    return f", not clearly better than {count} other{'s' * (count > 1)}" if count else ""


def level(frame: pd.DataFrame, mechanism: str) -> float:
    """Return the mean of a reference row, NaN if it was not run."""
    found = frame.loc[frame["kind"].eq("level") & frame["mechanism"].eq(mechanism), "mean"]
    return float(found.iloc[0]) if len(found) else float("nan")
