"""Comparisons of the rows of an experiment, for every pair that a reader may compare.

The column ``verdict`` is the only judgement of a pair, already corrected for multiplicity. Tables,
figures, captions, prices, advice and the page read it.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from reproduction import catalogue, files
from reproduction.report import audit_status, contrasts, summary
from reproduction.report.statistics import (
    ENOUGH,
    LEVEL,
    ROUNDING,
    holm,
    price,
    price_interval,
)

#: Columns that identify a row of an experiment.
ROW = ["mechanism", "direction", "configuration", "epsilon"]
AGAINST = ["against", "against_direction", "against_configuration"]
COLUMNS = [
    *("experiment", "metric", "epsilon", *ROW[:-1], *AGAINST, "comparison"),
    *("mean", "mean_against", "difference", "low", "high", "p", "statistic", "n_trials"),
    *("same_distribution", "p_corrected", "verdict"),
]

#: Kinds of comparisons: two rows of a table; a publicly fixed value of a parameter against
#: baselines; a direction against direction a; the price of privacy of a mechanism (see
#: :func:`_prices`).
PAIR, FIXED, DIRECTION, PRICE = ("row", "fixed", "direction", "price")

#: Verdicts on a row against another one.
BETTER, WORSE, EVEN = "better", "worse", "even"

#: By how many equal trials two mechanisms are of one distribution, and the relative tolerance.
SHARED, EQUAL = 2, 1e-9


def compare_rows(
    source: summary.Source,
    results: pd.DataFrame,
    fixed: Mapping[str, str] | None = None,
    same_as: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Return one row per pair and epsilon (``COLUMNS``), under the default reading if it was run.

    ``difference`` is the mean over the shared trials of a row minus ``against``, with ``low`` and
    ``high`` its 95 % interval by Student's t and ``p`` two-sided. Where these differences are
    heavy-tailed (:func:`reproduction.report.contrasts.heavy_tailed`), all four refer to the
    median, and so does ``statistic``. ``same_distribution`` marks pairs of one noise distribution
    (:func:`_same_distributions`). Baselines have no epsilon, and are compared at every one.
    ``mean`` and ``mean_against`` are those on the trials of the best baseline
    (:func:`reproduction.report.contrasts.shared_mean`), as rows are drawn. ``p_corrected`` and
    ``verdict`` are those of :func:`add_verdicts`.

    Args:
        source: trial files of one experiment, at least those behind its summary, in the order of
            the configuration, which families depend on; or their rows.
        results: the summary, as :func:`reproduction.report.summary.read_summary` returns it.
        fixed: the publicly fixed configuration of mechanisms by name, such as ``tau=0.75``.
        same_as: by scheme that is not run the one whose rows it has.
    """
    compared_reading = reading(results)
    results = results[results["reading"].eq(compared_reading) & results["n_trials"].gt(0)]
    rows = report_trials(source, compared_reading, same_as)
    values = contrasts.frame(rows, ROW)
    compared = _pairs(results, fixed or {})
    if compared.empty:
        return pd.DataFrame(columns=COLUMNS)
    sides = [
        pd.MultiIndex.from_frame(compared[[*side]]) for side in (ROW, [*AGAINST, "against_epsilon"])
    ]
    first, second = (values.loc[side].to_numpy() for side in sides)
    means = _means(results, values)
    same = _same_distributions(results, values, same_as or {})
    names = zip(compared["comparison"], compared["mechanism"], compared["against"], strict=True)
    compared = compared.assign(
        experiment=results["experiment"].iloc[0],
        metric=results["metric"].max(),
        epsilon=compared["table_epsilon"],
        mean=means.loc[sides[0]].to_numpy(),
        mean_against=means.loc[sides[1]].to_numpy(),
        same_distribution=[kind == PAIR and frozenset(pair) in same for kind, *pair in names],
    ).join(contrasts.test(first - second))
    judgement = add_verdicts(compared, [*rows["mechanism"].unique()])
    return pd.concat([judgement, _prices(results, values)], ignore_index=True)[COLUMNS]


def reading(results: pd.DataFrame) -> str:
    """Return the reading whose rows are compared: the default one, if a summary has it."""
    names = {*results["reading"]}
    return summary.DEFAULT if summary.DEFAULT in names else str(min(names))


def report_trials(
    source: summary.Source, reading: str, same_as: Mapping[str, str] | None = None
) -> pd.DataFrame:
    """Return ``trial`` and ``value`` of the trials of a reading that count, by ``ROW``."""
    rows = summary.join_trials(source, same_as)
    rows = rows[rows["phase"].eq("report") & rows["reading"].eq(reading)]
    return rows[[*ROW, "trial", "value"]].astype(dict.fromkeys(ROW, str))


def _means(results: pd.DataFrame, values: pd.DataFrame) -> pd.Series:
    """Return the mean of each row of ``values``, as it would be over all trials of the baseline."""
    baseline = summary.best_free_baseline(results)
    if not baseline:
        return values.mean(axis=1)
    level = values.loc[(baseline, "", "", "")].to_numpy()
    return pd.Series(contrasts.shared_mean(values.to_numpy(), level).value, values.index)


def add_verdicts(compared: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    """Add ``p_corrected`` and ``verdict`` to pairs of one experiment.

    ``verdict`` is ``BETTER`` or ``WORSE`` where the corrected p-value is below ``LEVEL``, else
    ``EVEN``; it is empty below ``ENOUGH`` trials. Identically distributed noise is even, and does
    not count as a test. A pair is even, too, where the ``difference``, which may be a median, is 0
    or has another sign than that of the means: no verdict contradicts the means beside it.

    Holm's correction is over families of tests:

    - at each epsilon all pairs of the papers' mechanisms (:func:`catalogue.papers_mechanisms`);
    - at each epsilon all of these against the same baseline;
    - at each epsilon all tests of a further mechanism against the papers' ones, baselines, and the
      further mechanisms before it in ``order``;
    - all pairs of baselines;
    - all directions of the same mechanism.

    So a further mechanism that comes last moves no verdict on the others. The error is controlled
    within each family, not over all of them.
    """
    usual = catalogue.papers_mechanisms() | {*catalogue.BASELINES}
    places = {name: i for i, name in enumerate(order) if name not in usual}
    later = compared[["mechanism", "against"]].apply(lambda names: names.map(places)).max(axis=1)
    pair = compared["comparison"].isin([PAIR, FIXED])
    further = pair & later.notna()
    baseline = compared["against"].where(compared["against"].isin(catalogue.BASELINES), "")
    family = [
        later.where(further, -1),
        compared["comparison"].mask(further, ""),
        compared["epsilon"].astype(str).where(pair, compared["mechanism"]),
        baseline.mask(further | compared["epsilon"].eq(""), ""),
    ]
    tested = compared["p"].notna() & ~compared["same_distribution"].astype(bool)
    p = compared["p"].where(tested)
    corrected = p[tested].groupby([key[tested] for key in family]).transform(holm)
    corrected = corrected.reindex(compared.index)
    larger = catalogue.metric(str(compared["metric"].iloc[0])).larger
    wins = compared["difference"].gt(0) == larger
    means = compared["mean"] - compared["mean_against"]
    agrees = (means * compared["difference"]).gt(0)
    verdict = wins.map({True: BETTER, False: WORSE}).where(corrected.lt(LEVEL) & agrees, EVEN)
    verdict = verdict.where(compared["n_trials"].ge(ENOUGH), "")
    return compared.assign(p_corrected=corrected, verdict=verdict)


def _prices(results: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Return the price of privacy of each mechanism, as ``difference`` with ``low`` and ``high``.

    The interval is a percentile bootstrap over trials, in which a row, the baseline and the result
    without privacy have the same trials. Below ``ENOUGH`` trials it is NaN.
    """
    ran = summary.table_rows(results)
    baseline, nonprivate = summary.best_free_baseline(ran), catalogue.NONPRIVATE
    if not baseline or not ran["mechanism"].eq(nonprivate).any():
        return pd.DataFrame(columns=COLUMNS)
    ends = [values.loc[(name, "", "", "")].to_numpy() for name in (nonprivate, baseline)]
    rows = []
    for name, curve_rows in add_delivered_epsilon(ran).groupby("mechanism", sort=False):
        curve = values.loc[pd.MultiIndex.from_frame(curve_rows[ROW])].to_numpy()
        trials = np.isfinite([*ends, *curve]).all(axis=0)
        count = int(trials.sum())
        low = high = float("nan")
        if count >= ENOUGH:
            stack = np.stack([*ends, *curve])[:, trials]
            low, high = price_interval(curve_rows["promised"], stack)
        free_mean, baseline_mean, *means = np.stack([*ends, *curve])[:, trials].mean(axis=1)
        cost = price(
            curve_rows["promised"], (np.array(means) - free_mean) / (baseline_mean - free_mean)
        )
        rows.append(
            {"mechanism": name, "difference": cost, "low": low, "high": high, "n_trials": count}
        )
    first = results.iloc[0]
    of = {"experiment": first["experiment"], "metric": results["metric"].max(), "epsilon": ""}
    blank = dict.fromkeys(
        ("direction", "configuration", "against_direction", "against_configuration"), ""
    )
    table = pd.DataFrame(rows, columns=["mechanism", "difference", "low", "high", "n_trials"])
    table = table.assign(
        **of, **blank, comparison=PRICE, against=baseline, same_distribution=False, verdict=""
    )
    return table.reindex(columns=COLUMNS)


def add_delivered_epsilon(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the private rows with a mean, and ``promised``, the epsilon that their noise delivers.

    It is the larger one of the claimed and the delivered epsilon.
    """
    private = rows[rows["mean"].notna() & ~rows["mechanism"].isin(catalogue.BASELINES)]
    claimed_epsilon = pd.to_numeric(private["epsilon"], errors="coerce")
    larger = pd.concat([claimed_epsilon, private["epsilon_delivered"]], axis=1).max(axis=1)
    private = private.assign(promised=larger)
    return private[np.isfinite(private["promised"])]


def write_comparisons(
    source: summary.Source,
    summary_file: str | os.PathLike,
    out: str | os.PathLike,
    fixed: Mapping[str, str] | None = None,
    same_as: Mapping[str, str] | None = None,
) -> None:
    """Write :func:`compare_rows` to the CSV ``out``, numbers to six digits.

    Raises:
        InputError: a file is damaged.
    """
    compared = compare_rows(source, summary.read_summary(summary_file), fixed, same_as)
    text = compared.to_csv(index=False, lineterminator="\n", float_format="%.6g")
    files.write_text(out, text)


def both_orders(compared: pd.DataFrame, comparison: str = PAIR) -> pd.DataFrame:
    """Return one type of pairs in both orders, with a verdict each; epsilon is a number."""
    compared = compared[compared["comparison"].eq(comparison)]
    compared = compared.assign(epsilon=pd.to_numeric(compared["epsilon"], errors="coerce"))
    text = ["direction", "configuration", "against_direction", "against_configuration", "verdict"]
    compared = compared.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))
    ends = [*ROW[:-1], "mean"], [*AGAINST, "mean_against"]
    names = dict(zip(ends[0] + ends[1], ends[1] + ends[0], strict=True))
    turned = compared.rename(columns=names | {"low": "high", "high": "low"})
    signed = ["difference", "low", "high"]
    turned[signed] = -turned[signed]
    turned["verdict"] = turned["verdict"].replace({BETTER: WORSE, WORSE: BETTER})
    return pd.concat([compared, turned[compared.columns]], ignore_index=True)


def verdicts(rows: pd.DataFrame, compared: pd.DataFrame, baseline: str) -> pd.Series:
    """Return the verdict of each row (``ROW``) against a baseline; empty where there is none."""
    epsilon = pd.to_numeric(rows["epsilon"], errors="coerce").astype(float)
    keys = rows[ROW].assign(epsilon=epsilon)
    pairs = pd.concat([both_orders(compared), both_orders(compared, FIXED)])
    pairs = pairs[pairs["against"].eq(baseline) & pairs["p"].notna()]
    outcomes = keys.merge(pairs[[*ROW, "verdict"]], how="left", on=ROW)["verdict"]
    return outcomes.fillna("").set_axis(rows.index)


def _same_distributions(
    results: pd.DataFrame, values: pd.DataFrame, same_as: Mapping[str, str]
) -> set[frozenset[str]]:
    """Return the pairs of mechanisms whose noise is one draw, so that no trials can order the two.

    Noise of the same distribution comes from the same random numbers. So all trials that two
    mechanisms share must be equal up to rounding, at all epsilons, and at least ``SHARED`` at each.
    What mechanisms declare of their noise can only part them: equal accuracies of few trials prove
    nothing. So the size of the noise and mu must be equal, too. Schemes of gradients have no mu;
    of these only ``same_as`` can be one. Anisotropic noise is never included.

    Args:
        results: the summary, of one reading.
        values: values of the report trials, one row per row of the summary (``ROW``).
        same_as: by scheme that is not run the one whose rows it has.
    """
    copied = {frozenset(pair) for pair in same_as.items()}
    epsilons, sizes, drawn = {}, {}, {}
    for name, rows in results[results["chosen"] & results["n_trials"].gt(0)].groupby("mechanism"):
        if rows["direction"].eq("").all():
            ordered = rows.sort_values("epsilon", kind="stable")
            epsilons[str(name)] = [*ordered["epsilon"]]
            sizes[str(name)] = ordered[["noise_std", "mu"]].to_numpy(float)
            keys = pd.MultiIndex.from_frame(ordered[ROW])
            drawn[str(name)] = values.reindex(keys).to_numpy()
    return {
        frozenset((first, second))
        for first, second in itertools.combinations(sizes, 2)
        if epsilons[first] == epsilons[second]
        and np.allclose(sizes[first], sizes[second], rtol=EQUAL, atol=0, equal_nan=True)
        and (frozenset((first, second)) in copied or not np.isnan(sizes[first]).any())
        and _one_draw(drawn[first], drawn[second])
    }


def _one_draw(first: Array, second: Array) -> bool:
    """Return whether shared trials are equal, shapes (epsilons, trials); NaN was not run."""
    equal = np.isclose(first, second, rtol=EQUAL, atol=ROUNDING)
    shared = np.isfinite(first) & np.isfinite(second)
    return bool((equal | ~shared).all() and shared.sum(axis=1).min() >= SHARED)


def mark_equal_distributions(rows: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Mark mechanisms with the same noise distribution as an earlier one.

    The column ``repeats`` is true for these. ``also`` has their identifiers at the first one, with
    spaces between as in every column of several identifiers. Where there
    is an audit, only the sound ones are joined (:mod:`reproduction.report.audit_status`).
    ``compared`` are the comparisons of the rows.
    """
    same = compared[compared["same_distribution"].astype(str).eq("True")]
    # Schemes of training have no audit, and no status.
    if "audit_status" in rows and rows["audit_status"].any():
        sound = rows.loc[rows["audit_status"].isin(audit_status.SOUND), "mechanism"]
        same = same[same["mechanism"].isin(sound) & same["against"].isin(sound)]
    pairs = {frozenset(pair) for pair in zip(same["mechanism"], same["against"], strict=True)}
    names = sorted({*rows["mechanism"]}, key=catalogue.rank)
    others: dict[str, list[str]] = {}
    for name in names:
        first = next((earlier for earlier in others if frozenset((earlier, name)) in pairs), name)
        others.setdefault(first, []).extend([name] * (first != name))
    also = rows["mechanism"].map({name: " ".join(same) for name, same in others.items()})
    return rows.assign(also=also.fillna(""), repeats=~rows["mechanism"].isin(others))


def equal_names(row: Mapping[str, Any]) -> list[str]:
    """Return the names of a row's distribution, its own first."""
    return [str(row["mechanism"]), *row["also"].split()]


def _pairs(results: pd.DataFrame, fixed: Mapping[str, str]) -> pd.DataFrame:
    """Return the pairs of rows that are compared.

    The columns are ``ROW``, ``AGAINST`` and ``against_epsilon``, ``comparison``, and
    ``table_epsilon``, under which tables list the pair.
    """
    baselines = results["mechanism"].isin(catalogue.BASELINES)
    visible = results.index.isin(summary.table_rows(results).index)
    levels = [*results.index[baselines]]
    pairs = []
    for epsilon, private in results[~baselines & visible].groupby("epsilon", sort=False):
        for i, first in enumerate(private.index):
            others = [*private.index[i + 1 :], *levels]
            pairs += [(PAIR, first, second, epsilon) for second in others]
    pairs += [(PAIR, *pair, "") for pair in itertools.combinations(levels, 2)]
    private = results[~baselines & summary.mark_first_direction(results)]
    public = private["configuration"].eq(private["mechanism"].map(fixed))
    beside = private[public & ~private.index.isin(results.index[visible])]
    pairs += [(FIXED, i, j, beside.at[i, "epsilon"]) for i in beside.index for j in levels]
    directed = results[~baselines & results["chosen"] & results["direction"].ne("")].reset_index()
    first = directed["direction"].eq("a")
    both = directed[~first].merge(directed[first], on=["mechanism", "epsilon"])
    pairs += [
        (DIRECTION, *row) for row in both[["index_x", "index_y", "epsilon"]].itertuples(index=False)
    ]
    table = pd.DataFrame(pairs, columns=["comparison", "first", "second", "table_epsilon"])
    sides = (
        results.loc[table[side], ROW].set_axis(names, axis=1).reset_index(drop=True)
        for side, names in (("first", ROW), ("second", [*AGAINST, "against_epsilon"]))
    )
    return pd.concat([table[["comparison", "table_epsilon"]], *sides], axis=1)
