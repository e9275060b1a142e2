"""The rows of an experiment: one frame of all that tables, figures, advice and page say of a row.

What several files say of a row is joined here and nowhere else. A reader selects from this frame.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reproduction import catalogue, files
from reproduction.report import (
    advisable,
    audit_status,
    comparisons,
    contrasts,
    held_out_table,
    statistics,
    summary,
)
from reproduction.trials import CONTROL

#: Columns beside those of a summary; :func:`build_rows` explains them.
JOINED = (
    *("shown", "baseline", "against_baseline", *audit_status.COLUMNS, "advisable", "also"),
    *("repeats", "shared_mean", "shared_ci95", "zeros_mean", "zeros_ci95"),
    *("printed", "printed_ci95"),
    *("noise_factor", "noise_factor_low", "noise_factor_high"),
)
COLUMNS = (*summary.COLUMNS, *JOINED)

#: Types of columns; all others are text.
_TYPES = summary.TYPES | dict.fromkeys(("shown", "repeats"), bool)
_TYPES |= dict.fromkeys(("epsilon", "epsilon_least", *JOINED[-9:]), float)


def build_rows(
    experiment: str,
    run: Mapping[str, Any],
    *,
    epsilon: float,
    trials: Sequence[str | os.PathLike] = (),
    same_as: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return the rows of a summary, in its order, with what else is known of each (``COLUMNS``).

    ``epsilon`` is a number, NaN for baselines, and ``metric`` that of the experiment. The columns
    beside those of :func:`reproduction.report.summary.summarise_trials` are

    - ``shown``: a table of its reading has the row (:func:`reproduction.report.summary.table_rows`)
    - ``baseline``: the best one of its reading that costs no privacy, and ``against_baseline``: the
      verdict against it, in the reading that is compared (:mod:`reproduction.report.comparisons`)
    - ``audit_status`` and ``epsilon_least``: see :mod:`reproduction.report.audit_status`
    - ``advisable``: see :mod:`reproduction.report.advisable`
    - ``also``: other mechanisms of the same noise distribution, and ``repeats``: an earlier one has
      the row, too (:func:`reproduction.report.comparisons.mark_equal_distributions`)
    - ``shared_mean`` and ``shared_ci95``: mean and half its interval as they would be over all
      trials of the baseline (:func:`reproduction.report.contrasts.shared_mean`); NaN without trials
    - ``zeros_mean`` and ``zeros_ci95``: mean and half its interval of the same noise on records of
      zeros, judged on the records: what of a result is there without data; NaN without such trials
    - ``printed`` and ``printed_ci95``: what the paper prints of a shown row, without its power of
      ten, and ``noise_factor``: the noise that this would need, as a multiple of ours, with the
      multiples at the ends of the printed interval

    Args:
        experiment: its name.
        run: summary and comparisons of a run, and as far as they are there audit, results on other
            data, printed values and the noise that these need, by the names of
            :mod:`reproduction.report.inputs`.
        epsilon: the claimed one at which that noise was searched.
        trials: trial files behind the summary, which only means on shared trials and on zeros need.
        same_as: by scheme that is not run the one whose rows it has.
    """
    results, compared = run[f"summary/{experiment}"], run[f"comparisons/{experiment}"]
    rows = results.assign(
        epsilon=pd.to_numeric(results["epsilon"], errors="coerce"),
        # Without trials a row has no metric, but its experiment has one.
        metric=results["metric"].max(),
    )
    readings = [part for _, part in rows.groupby("reading", sort=False)]
    baselines = {part["reading"].iloc[0]: summary.best_free_baseline(part) for part in readings}
    shown = pd.concat([summary.table_rows(part) for part in readings]).index
    rows = rows.assign(shown=rows.index.isin(shown), baseline=rows["reading"].map(baselines))
    rows = audit_status.add_audit_status(rows, run.get(f"audit/{experiment}"))
    rows = advisable.add_advisable(
        rows, held_out_table.tested_mechanisms(run.get("held_out"), experiment)
    )
    reading = comparisons.reading(results)
    verdicts = comparisons.verdicts(rows, compared, baselines[reading])
    rows = rows.assign(against_baseline=verdicts.where(rows["reading"].eq(reading), ""))
    rows = comparisons.mark_equal_distributions(rows, compared)
    rows = rows.join(_shared(results, rows["baseline"], reading, trials, same_as))
    rows = rows.join(_on_zeros(results, trials))
    rows = _printed(rows, run.get(f"published/{catalogue.experiment(experiment).results}"))
    return _searched(rows, run.get(f"implied_noise/{experiment}"), epsilon)[[*COLUMNS]]


def _shared(
    results: pd.DataFrame,
    baseline: pd.Series,
    reading: str,
    trials: Sequence[str | os.PathLike],
    same_as: Mapping[str, str] | None,
) -> pd.DataFrame:
    """Return ``shared_mean`` and ``shared_ci95``, those of fewer trials of the one reading."""
    levels = results[results["mechanism"].eq(baseline)].set_index("reading")["n_trials"]
    count = results["reading"].map(levels)
    # With as many trials a row has the same ones.
    same = results["n_trials"].eq(count) & count.gt(0)
    means = results[["mean", "ci95"]].where(same)
    fewer = results[results["n_trials"].gt(0) & results["n_trials"].lt(count)]
    fewer = fewer[fewer["reading"].eq(reading)]
    if len(fewer) and trials:
        report = comparisons.report_trials(trials, reading, same_as)
        values = contrasts.frame(report, comparisons.ROW)
        level = values.loc[(baseline[fewer.index[0]], "", "", "")].to_numpy()
        drawn = values.loc[pd.MultiIndex.from_frame(fewer[comparisons.ROW])].to_numpy()
        mean = contrasts.shared_mean(drawn, level)
        size = fewer["n_trials"].to_numpy()
        half = statistics.half_width(mean.error * np.sqrt(size), size)
        means.loc[fewer.index] = np.column_stack([mean.value, half])
    return means.set_axis(["shared_mean", "shared_ci95"], axis=1)


def _on_zeros(results: pd.DataFrame, trials: Sequence[str | os.PathLike]) -> pd.DataFrame:
    """Return ``zeros_mean`` and ``zeros_ci95`` of the rows that have trials on records of zeros."""
    keys, columns = [*comparisons.ROW, "reading"], ["zeros_mean", "zeros_ci95"]
    parts = [summary.read_trials(path, (*keys, "phase", "trial", "value")) for path in trials]
    if not parts:
        return pd.DataFrame(columns=columns, index=results.index, dtype=float)
    rows = pd.concat([part[part["phase"].eq(CONTROL)] for part in parts])
    drawn = rows.groupby(keys)["value"].agg(["mean", "std", "count"])
    means = drawn.reindex(pd.MultiIndex.from_frame(results[keys])).set_index(results.index)
    half = statistics.half_width(means["std"], means["count"])
    return pd.concat([means["mean"], half], axis=1, keys=columns)


def _printed(rows: pd.DataFrame, published: pd.DataFrame | None) -> pd.DataFrame:
    """Return rows with ``printed`` and ``printed_ci95``."""
    columns, keys = ["printed", "printed_ci95"], ["mechanism", "epsilon"]
    if published is None:
        return rows.assign(**dict.fromkeys(columns, np.nan))
    numbers = published[["epsilon", "value", "interval"]]
    numbers = numbers.apply(pd.to_numeric, errors="coerce").astype(float)
    unit = published["unit_factor"].astype(float)
    cells = published[["mechanism"]].assign(
        epsilon=numbers["epsilon"],
        printed=numbers["value"] * unit,
        printed_ci95=numbers["interval"] * unit,
    )
    rows = rows.merge(cells.drop_duplicates(keys), how="left", on=keys)
    rows[columns] = rows[columns].where(rows["shown"])
    return rows


def _searched(rows: pd.DataFrame, noise: pd.DataFrame | None, epsilon: float) -> pd.DataFrame:
    """Return rows with ``noise_factor``; simulated data say nothing of what is printed."""
    names = ["noise_factor", "noise_factor_low", "noise_factor_high"]
    if noise is None:
        return rows.assign(**dict.fromkeys(names, np.nan))
    factors = noise.set_index("mechanism")[names].reindex(rows["mechanism"])
    at = rows["shown"] & rows["epsilon"].eq(epsilon) & rows["data_status"].ne(summary.SIMULATED)
    rows[names] = factors.set_axis(rows.index).where(at)
    return rows


def take_shared_means(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose ``mean`` and ``ci95`` are those on shared trials, as far as they have them.

    Means over different trials have no order: whoever draws or ranks rows takes these.
    """
    means = {name: rows[f"shared_{name}"].fillna(rows[name]) for name in ("mean", "ci95")}
    return rows.assign(**means)


def write_rows(
    experiment: str, run: Mapping[str, Any], out: str | os.PathLike, **options: Any
) -> None:
    """Write :func:`build_rows` to the CSV ``out``; ``options`` are those of that function."""
    text = build_rows(experiment, run, **options).to_csv(index=False, lineterminator="\n")
    files.write_text(out, text)


def read_rows(path: str | os.PathLike) -> pd.DataFrame:
    """Return rows as :func:`write_rows` left them.

    Raises:
        InputError: the file is not one of rows.
    """
    types = {name: _TYPES.get(name, str) for name in COLUMNS}
    return summary.read_csv(path, types, "rows")[[*COLUMNS]]
