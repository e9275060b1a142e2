"""Which rows of an experiment differ: every pair that a reader may compare, by its shared trials.

What tables, captions and advice say of two rows is read from here; nobody else compares means.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

from matrixdp import catalogue, files
from matrixdp.report import summary
from matrixdp.report.statistics import LEVEL, holm, mean_of

#: What tells one row of an experiment from another.
ROW = ["mechanism", "direction", "variant", "epsilon"]
AGAINST = ["against", "against_direction", "against_variant"]
COLUMNS = [
    *("experiment", "metric", "epsilon", *ROW[:-1], *AGAINST, "kind"),
    *("mean", "mean_against", "difference", "low", "high", "p", "n_trials", "same_law"),
]

#: Two rows as tables show them; a direction against direction a; a variant against the base one.
PAIR, DIRECTION, VARIANT = ("row", "direction", "variant")

#: How a row stands to a guess that uses no record.
BETTER, WORSE, EVEN = "better", "worse", "at chance"

#: Parameter -> the value that the others are compared with, if it was run (else the middle one).
BASES = {"tau": "0.75", "rows": "8", "radius": "0.0625"}


def table(trial_files: Iterable[str | os.PathLike], results: pd.DataFrame) -> pd.DataFrame:
    """Return one row per pair at one epsilon (``COLUMNS``), of the default reading, if it was run.

    ``difference`` is the mean over the shared trials of a row minus ``against``, ``low`` and
    ``high`` its 95 % interval after Student, ``p`` two-sided; ``same_law`` says that the two are
    one law of noise under two names, which chance alone tells apart. References have no epsilon,
    and stand in pairs at every one.

    Args:
        trial_files: of one experiment, all or more than those behind its summary.
        results: the summary, as :func:`matrixdp.report.summary.read` returns it.
    """
    found = {*results["reading"]}
    reading = summary.DEFAULT if summary.DEFAULT in found else min(found)
    results = results[results["reading"].eq(reading) & results["n_trials"].gt(0)]
    rows = pd.concat([summary.read_trials(path) for path in trial_files])
    rows = rows[rows["phase"].eq("report") & rows["reading"].eq(reading) & rows["trial"].notna()]
    values = rows.pivot(index=ROW, columns="trial", values="value")
    parts = [
        _compared(kind, one, other, values)
        for kind, one, other in _pairs(results)
        if len(one) and len(other)
    ]
    if not parts:
        return pd.DataFrame(columns=COLUMNS)
    laws = same_laws(results)
    compared = pd.concat(parts, ignore_index=True)
    same = [
        kind == PAIR and frozenset(names) in laws
        for kind, *names in compared[["kind", "mechanism", "against"]].itertuples(index=False)
    ]
    first = results.iloc[0]
    return compared.assign(
        experiment=first["experiment"], metric=results["metric"].max(), same_law=same
    )[COLUMNS]


def write(
    trial_files: Iterable[str | os.PathLike],
    summary_file: str | os.PathLike,
    out: str | os.PathLike,
) -> None:
    """Write :func:`table` to the CSV ``out``, numbers to six digits.

    Raises:
        InputError: a file is damaged.
    """
    compared = table(trial_files, summary.read(summary_file))
    text = compared.to_csv(index=False, lineterminator="\n", float_format="%.6g")
    files.write_text(out, text)


def oriented(compared: pd.DataFrame, kind: str = PAIR) -> pd.DataFrame:
    """Return the pairs of a kind in both orders, epsilon a number, with ``clear`` and ``better``.

    ``clear``: the interval excludes 0, and the two are not one law. ``better``: it is clear, and
    the row has the better metric than the one that it is held against.
    """
    compared = compared[compared["kind"].eq(kind)]
    compared = compared.assign(epsilon=pd.to_numeric(compared["epsilon"], errors="coerce"))
    text = ["direction", "variant", "against_direction", "against_variant"]
    compared = compared.astype(dict.fromkeys(text, object)).fillna(dict.fromkeys(text, ""))
    ends = [*ROW[:-1], "mean"], [*AGAINST, "mean_against"]
    names = dict(zip(ends[0] + ends[1], ends[1] + ends[0], strict=True))
    turned = compared.rename(columns=names | {"low": "high", "high": "low"})
    signed = ["difference", "low", "high"]
    turned[signed] = -turned[signed]
    both = pd.concat([compared, turned[compared.columns]], ignore_index=True)
    clear = both["p"].lt(LEVEL) & ~both["same_law"].astype(bool)
    larger = both["metric"].map(lambda name: catalogue.metric(name).larger)
    wins = both["difference"].where(larger.astype(bool), -both["difference"]).gt(0)
    return both.assign(clear=clear, better=clear & wins)


def against_chance(compared: pd.DataFrame, chance: str) -> pd.DataFrame:
    """Return rows that are held against the guess ``chance``: ``ROW`` and ``stands``.

    Epsilon is a number, NaN for reference rows. ``stands`` is ``BETTER`` or ``WORSE`` where that is
    clear after Holm's correction over all rows of one epsilon, else ``EVEN``.
    """
    rows = oriented(compared)
    rows = rows[rows["against"].eq(chance) & rows["p"].notna()]
    p = rows.groupby("epsilon", dropna=False)["p"].transform(holm)
    words = rows["better"].map({True: BETTER, False: WORSE})
    return rows[ROW].assign(stands=words.where(rows["clear"] & p.lt(LEVEL), EVEN))


def same_laws(results: pd.DataFrame) -> set[frozenset[str]]:
    """Return the pairs of mechanisms that add i.i.d. Gaussian noise of one size at every epsilon.

    Each is one law under two names: no number of trials can order the two. Noise with a direction
    never counts, since its size does not say where it lies. ``results`` are of one reading.
    """
    laws = {}
    for name, rows in results[results["chosen"] & results["n_trials"].gt(0)].groupby("mechanism"):
        size = rows.set_index("epsilon")[["noise_std", "mu_actual"]].sort_index()
        if rows["direction"].eq("").all() and size.notna().all(axis=None):
            laws[name] = size
    return {
        frozenset((one, other))
        for one, other in itertools.combinations(laws, 2)
        if laws[one].index.equals(laws[other].index)
        and np.allclose(laws[one], laws[other], rtol=1e-9, atol=0)
    }


def _pairs(results: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, pd.DataFrame]]:
    """Yield kind, rows and those that they are held against, one frame of ``ROW`` each."""
    rows = results[ROW]
    free = results["mechanism"].isin(catalogue.REFERENCES)
    shown = results.index.isin(summary.shown(results).index)
    levels = rows[free]
    for epsilon, own in rows[~free & shown].groupby("epsilon", sort=False):
        both = pd.concat([own, levels])
        first, second = np.triu_indices(len(both), 1)
        # References are held against each other once, below.
        some = first < len(own)
        shown_at = both.iloc[first[some]].assign(epsilon_shown=epsilon)
        yield PAIR, shown_at, both.iloc[second[some]]
    first, second = np.triu_indices(len(levels), 1)
    yield PAIR, levels.iloc[first].assign(epsilon_shown=""), levels.iloc[second]
    for kind, some, keys in (
        (DIRECTION, results["chosen"], ["mechanism", "epsilon"]),
        (VARIANT, summary.in_first_direction(results), ["mechanism", "epsilon", "direction"]),
    ):
        if (own := rows[~free & some]).empty:
            continue
        is_base = own[kind].eq(_bases(own, kind)) & own[kind].ne("")
        both = own[~is_base].merge(own[is_base], on=keys, suffixes=("", "_base"))
        names = [name for name in ROW if name not in keys]
        against = both.assign(**{name: both[f"{name}_base"] for name in names})
        yield kind, both.assign(epsilon_shown=both["epsilon"]), against


def _bases(rows: pd.DataFrame, column: str) -> pd.Series:
    """Return the direction or variant that each row is held against; empty for none."""
    if column == "direction":
        return rows["direction"].where(rows["direction"].eq(""), "a")
    parts = rows["variant"].str.partition("=")
    found = {
        key: f"{key[1]}={base(key[1], values)}"
        for key, values in parts[2].groupby([rows["mechanism"], parts[0]])
        if key[1] in BASES
    }
    keys = zip(rows["mechanism"], parts[0], strict=True)
    return pd.Series([found.get(key, "") for key in keys], rows.index)


def base(parameter: str, values: Iterable[str]) -> str:
    """Return the value of a parameter in ``BASES`` that the others are held against."""
    ran = sorted({*values}, key=float)
    return BASES[parameter] if BASES[parameter] in ran else ran[(len(ran) - 1) // 2]


def _compared(
    kind: str, rows: pd.DataFrame, against: pd.DataFrame, values: pd.DataFrame
) -> pd.DataFrame:
    first, second = (
        values.loc[pd.MultiIndex.from_frame(one[ROW])].to_numpy() for one in (rows, against)
    )
    found = mean_of(first - second)
    low, high = found.interval()
    return pd.DataFrame(
        {
            **{name: rows[name].to_numpy() for name in ROW[:-1]},
            "epsilon": rows["epsilon_shown"].to_numpy(),
            **dict(zip(AGAINST, (against[name].to_numpy() for name in ROW[:-1]), strict=True)),
            "kind": kind,
            "mean": mean_of(first).value,
            "mean_against": mean_of(second).value,
            "difference": found.value,
            "low": low,
            "high": high,
            "p": found.p,
            "n_trials": np.isfinite(first - second).sum(axis=1),
        }
    )
