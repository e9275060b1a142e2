"""Summaries of trials: one row per mechanism, configuration, direction, reading and epsilon."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from matrixdp.checks import InputError
from reproduction import catalogue, files
from reproduction.report import contrasts, statistics
from reproduction.trials import CONTROL, NO_GUARANTEE
from reproduction.trials import DEFAULT as DEFAULT

#: Columns that identify a summary row.
KEYS = (
    *("experiment", "dataset", "metric", "reading"),
    *("mechanism", "direction", "configuration", "epsilon"),
)
TEXT = (*KEYS, "data_status", "epsilon_exact", "phase", "outcome", "note")
NUMBERS = ("delta", "epsilon_delivered", "mu", "noise_std", "trial", "value")

#: Columns of a summary, in order.
COLUMNS = (
    *("experiment", "dataset", "data_status", "mechanism", "configuration", "direction", "reading"),
    *("epsilon", "delta", "epsilon_delivered", "mu", "epsilon_exact", "noise_std", "metric"),
    *("mean", "sd", "ci95", "median", "median_low", "median_high"),
    *("n_trials", "select_mean", "chosen", "outcome", "note"),
)

#: Columns of heavy-tailed rows: the median and the ends of its interval.
MEDIAN = ("median", "median_low", "median_high")

#: Types of its columns; all others are text.
TYPES: dict[str, type] = {"n_trials": int, "chosen": bool}
TYPES |= dict.fromkeys(("delta", "epsilon_delivered", "mu", "noise_std", "mean", "sd"), float)
TYPES |= dict.fromkeys(("ci95", *MEDIAN, "select_mean"), float)

PHASES = ("report", "select", CONTROL)
SIMULATED = "simulated"

#: Directions in the order of preference for tables: the paper's best, those of the private SVD,
#: none.
DIRECTIONS = ("a", "dp_svd", "")

#: Trial files in any order, or their rows as :func:`join_trials` returns them.
Source: TypeAlias = Iterable[str | os.PathLike] | pd.DataFrame


def join_trials(source: Source, same_as: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return the rows of trial files, and under each name of ``same_as`` those of its value.

    Rows that were read are returned as they are. Those of the phase ``control`` are left out.
    ``KEYS`` and the phase are categories, which take a byte a row: an experiment has millions.

    Raises:
        InputError: a file is damaged.
    """
    if isinstance(source, pd.DataFrame):
        return source
    parts, copies = [], []
    for path in source:
        rows = read_trials(path)
        rows = rows[rows["phase"].ne(CONTROL)].astype(dict.fromkeys((*KEYS, "phase"), "category"))
        parts.append(rows)
        for name, other in (same_as or {}).items():
            copied = rows[rows["mechanism"].eq(other)]
            copies.append(copied.assign(mechanism=pd.Categorical([name] * len(copied))))
    if not parts:
        raise InputError("trial_files are empty; give at least one trial file")
    frames = [*parts, *copies]
    for name in (*KEYS, "phase"):
        every = sorted({text for rows in frames for text in rows[name].cat.categories})
        frames = [rows.assign(**{name: rows[name].cat.set_categories(every)}) for rows in frames]
    return pd.concat(frames, ignore_index=True)


def summarise_trials(source: Source, same_as: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return a row per mechanism, configuration, direction, reading and epsilon (``COLUMNS``).

    ``mean``, ``sd``, ``ci95`` and ``n_trials`` are over the report trials. Heavy-tailed ones
    (:func:`reproduction.report.contrasts.heavy_tailed`) also have ``median`` and its 95 %
    interval. ``select_mean`` is over the select trials. ``chosen`` marks the configuration with the
    smallest ``select_mean`` of its mechanism, direction, reading and epsilon, or the only
    configuration. A row without trials has its ``outcome``, and the reason in ``note``. Trials of
    the phase ``control`` are ignored.

    Args:
        source: trial files (CSV, gzipped if the name ends in .gz), or their rows.
        same_as: by scheme that is not run the one whose rows it has.

    Raises:
        InputError: there is no file, one is damaged, a trial occurs twice, or original and
            simulated data are mixed.
    """
    rows = join_trials(source, same_as)
    statuses = sorted(rows["data_status"].unique())
    if len(statuses) != 1:
        raise InputError(
            f"data_status is {' and '.join(statuses)} in one summary; results on original and on "
            "simulated data never mix, run all of them on one"
        )
    _no_trial_twice(rows)
    places = _places(rows)
    # Sort, so that sums do not depend on the order of the files.
    rows = rows.sort_values("trial", kind="stable")
    table = rows.groupby([*KEYS], sort=False, observed=True).agg(
        data_status=("data_status", "first"),
        delta=("delta", "first"),
        # With private directions each trial has different noise: state the least private one.
        epsilon_delivered=("epsilon_delivered", "max"),
        mu=("mu", "max"),
        epsilon_exact=("epsilon_exact", "min"),  # "False" comes before "True"
        noise_std=("noise_std", _root_mean_square),
        outcome=("outcome", "max"),  # a text before an empty one
        note=("note", "max"),
    )
    report = _values(rows, "report").agg(["mean", "std", "count"])
    table["mean"], table["sd"] = report["mean"], report["std"]
    table["n_trials"] = report["count"].reindex(table.index, fill_value=0).astype(int)
    table["ci95"] = statistics.half_width(table["sd"], table["n_trials"])
    table["select_mean"] = _values(rows, "select").mean()
    medians = {
        key: contrasts.median(values)[:3]
        for key, values in _values(rows, "report")
        if contrasts.heavy_tailed(values)
    }
    none = (np.nan,) * len(MEDIAN)
    table[[*MEDIAN]] = np.array([medians.get(key, none) for key in table.index])
    table = _sorted(table.reset_index().astype(dict.fromkeys(KEYS, str)), places)
    table["chosen"] = _chosen(table)
    return table[list(COLUMNS)]


def check_settings(trial_files: Sequence[str], digests: Sequence[str]) -> None:
    """Check that trial files were made with the settings of these digests.

    Raises:
        InputError: one was not, or the numbers of files and digests differ.
    """
    if len(trial_files) != len(digests):
        raise InputError(f"settings has {len(digests)} digests for {len(trial_files)} files")
    for path, digest in zip(trial_files, digests, strict=True):
        if {*read_csv(path, {"settings": str}, "trial")["settings"].unique()} != {digest}:
            raise InputError(f"{path} is of other settings; delete it and run again")


def write_summary(
    source: Source, out: str | os.PathLike, same_as: Mapping[str, str] | None = None
) -> None:
    """Write the summary of trial files to the CSV ``out`` (see :func:`summarise_trials`)."""
    text = summarise_trials(source, same_as).to_csv(index=False, lineterminator="\n")
    files.write_text(out, text)


def read_summary(path: str | os.PathLike) -> pd.DataFrame:
    """Return a summary as :func:`write_summary` left it.

    Raises:
        InputError: the file is not a summary, or has no rows.
    """
    table = read_csv(path, {name: TYPES.get(name, str) for name in COLUMNS}, "summary")
    if table.empty:
        raise InputError(f"{path} holds no rows; delete it and run the experiment again")
    return table[list(COLUMNS)]


def read_trials(
    path: str | os.PathLike, columns: Iterable[str] = (*TEXT, *NUMBERS)
) -> pd.DataFrame:
    """Return the rows of a trial file with some columns, by default those that summaries need.

    The fewer columns, the faster. Epsilon, phase, trial and value must be among them.

    Raises:
        InputError: the file is damaged, has no rows, or has a trial without a finite result.
    """
    rows = read_csv(path, {name: float if name in NUMBERS else str for name in columns}, "trial")
    if rows.empty:
        raise InputError(f"{path} holds no rows; delete it and run again, which makes it anew")
    trials = rows[rows["trial"].notna()]
    for _, bad in trials[~np.isfinite(trials["value"])].iterrows():
        raise InputError(
            f"{path} holds the value {bad['value']} in trial {bad['trial']:.0f} at epsilon "
            f"{bad['epsilon']}; every trial must end in a finite number"
        )
    for phase in sorted({*trials["phase"].unique()} - {*PHASES}):
        raise InputError(f"{path} holds the phase {phase!r}; it must be one of {PHASES}")
    return rows


def mark_first_direction(table: pd.DataFrame) -> pd.Series:
    """Return a mask of the rows with the direction of their mechanism that tables show."""
    rank = table["direction"].map({name: i for i, name in enumerate(DIRECTIONS)})
    return rank.eq(rank.groupby(table["mechanism"]).transform("min"))


def table_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a table shows: chosen configurations in the first of ``DIRECTIONS``.

    A budget at which no value of a grid has a guarantee has one row that says so.
    """
    refused = table["outcome"].eq(NO_GUARANTEE)
    rows = table[mark_first_direction(table) & (table["chosen"] | refused)]
    chosen_first = rows.sort_values("chosen", ascending=False, kind="stable")
    return chosen_first.drop_duplicates(["mechanism", "epsilon"]).sort_index(kind="stable")


def best_free_baseline(rows: pd.DataFrame) -> str:
    """Return the best baseline that costs no privacy; empty for none.

    ``rows`` are of one experiment and reading, with ``mechanism``, ``metric`` and ``mean``.
    """
    baselines = rows[rows["mechanism"].isin(catalogue.RECORD_FREE) & rows["mean"].notna()]
    if baselines.empty:
        return ""
    larger = catalogue.metric(str(baselines["metric"].iloc[0])).larger
    means = baselines.set_index("mechanism")["mean"]
    return str(means.idxmax() if larger else means.idxmin())


def shown_epsilon(epsilons: pd.Series, epsilon: float) -> float:
    """Return an epsilon if rows have it, or else their largest; NaN without any."""
    return epsilon if epsilons.eq(epsilon).any() else float(epsilons.max())


def place_of_default(table: pd.DataFrame, epsilon: float) -> str:
    """Return the place of the default reading among all readings of rows; empty for one alone.

    It is by the mean of the experiment's own mechanisms, those that its paper brings in, at an
    epsilon.
    """
    paper = catalogue.experiment(str(table["experiment"].iloc[0])).paper if len(table) else ""
    names = catalogue.section("papers").get(paper, [])
    rows = table[table["mechanism"].isin(names) & table["epsilon"].eq(epsilon)]
    means = rows.groupby("reading")["mean"].mean().dropna()
    if DEFAULT not in means or len(means) == 1:
        return ""
    larger = catalogue.metric(str(rows["metric"].iloc[0])).larger
    ranks = means.rank(ascending=not larger, method="min")
    places = {1: "most favourable", len(means): "least favourable"}
    return f"the {places.get(int(ranks[DEFAULT]), 'middle')} of {len(means)} readings"


def default_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the default reading that a table shows."""
    return table_rows(table[table["reading"].eq(DEFAULT)])


def read_csv(path: str | os.PathLike, types: Mapping[str, type], description: str) -> pd.DataFrame:
    """Return columns of a CSV file by their types; an empty cell is NaN in numbers alone.

    Args:
        path: the file.
        types: type of each column.
        description: what messages call the file.

    Raises:
        InputError: the file is damaged, or lacks a column.
    """
    blank = {name: [""] for name, dtype in types.items() if dtype is float}
    try:
        return pd.read_csv(
            path,
            usecols=list(types),
            dtype=types,
            keep_default_na=False,
            na_values=blank,
        )
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(
            f"{path} is not a whole {description} file ({reason}); delete it and run again, which "
            "makes it anew"
        ) from error


def _no_trial_twice(rows: pd.DataFrame) -> None:
    trials = rows[rows["trial"].notna()]
    for _, twice in trials[trials.duplicated([*KEYS, "phase", "trial"])].iterrows():
        raise InputError(
            f"trial {twice['trial']:.0f} of {twice['mechanism']} at epsilon {twice['epsilon']} is "
            "there twice; give every trial file once"
        )


def _values(rows: pd.DataFrame, phase: str) -> pd.api.typing.SeriesGroupBy:
    ran = rows[(rows["phase"] == phase) & rows["trial"].notna()]
    return ran.groupby([*KEYS], sort=False, observed=True)["value"]


def _root_mean_square(values: pd.Series) -> float:
    # Return a constant exactly, without rounding.
    return values.max() if values.nunique() <= 1 else float(np.sqrt((values**2).mean()))


def _places(rows: pd.DataFrame) -> dict[tuple[str, str], int]:
    """Return the place of each configuration of a mechanism in its trial files.

    It is that of the parameter's value in the settings.
    """
    configurations = rows[["mechanism", "configuration"]].drop_duplicates()
    return {pair: i for i, pair in enumerate(configurations.itertuples(index=False, name=None))}


def _sorted(table: pd.DataFrame, places: Mapping[tuple[str, str], int]) -> pd.DataFrame:
    """Sort by the keys; configurations by their places, and epsilon as a number."""
    pairs = zip(table["mechanism"], table["configuration"], strict=True)
    table = table.assign(
        _epsilon=pd.to_numeric(table["epsilon"], errors="coerce"),
        _place=[places[pair] for pair in pairs],
    )
    order = [*KEYS[:-2], "_place", "_epsilon", "epsilon"]
    return table.sort_values(order, kind="stable", na_position="first", ignore_index=True)


def _chosen(table: pd.DataFrame) -> pd.Series:
    family = [key for key in KEYS if key != "configuration"]
    alone = table.groupby(family)["configuration"].transform("size") == 1
    tried = table.dropna(subset="select_mean")
    best = tried.groupby(family)["select_mean"].idxmin()
    return alone | table.index.isin(best)
