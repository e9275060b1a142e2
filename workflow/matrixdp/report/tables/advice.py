"""Which mechanism should I use? The best row of each task, by guarantee and epsilon.

The best row is held against all others as :mod:`matrixdp.report.comparisons` compares them. What a
mechanism releases, and that nothing speaks against its guarantee, is what the audit says, and for
schemes of private training the catalogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import nan
from typing import Any

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import comparisons, entries, evidence, markup, summary
from matrixdp.report.entries import Tables
from matrixdp.report.markup import Grid, interval, short
from matrixdp.report.statistics import ENOUGH, ROUNDING, exceeds
from matrixdp.report.tables.audit import CERTIFIED, RELEASED, standing
from matrixdp.report.tables.base import Table

COLUMNS = (
    *("task", "released", "guarantee", "epsilon", "delta", "outcome", "advice", "best", "error"),
    *("ci95", "runner_up", "runner_up_error", "difference", "low", "high", "p", "clear", "tied"),
    *("tied_with", "baseline", "chance", "over_chance", "beats_chance", "nonprivate", "metric"),
    *("noise_std", "epsilon_actual", "how", "n_trials", "held_out"),
    *("data_status", "experiment", "best_mechanism", "runner_up_mechanism"),
)

#: The row in a sentence, by its outcome.
ADVICE = {
    "clear": "Best: {best}",
    "tied": "Best: {best}; not clearly worse: {others}",
    "none": "Do not release {released}: not even {best} clearly beats the {level}",
    "few": "No winner in {n_trials} trials; ahead: {best}",
}

PURE, APPROXIMATE = "pure", "approximate"


def data(tables: Tables) -> pd.DataFrame:
    """Return one row per task, guarantee and epsilon (``COLUMNS``).

    A task is an experiment and what may be released for it: records alone, if some mechanism
    releases these, and anything; or what a training is private in. ``advice`` is the row in a
    sentence, and ``outcome`` of which kind: ``clear``, ``tied``, ``none`` (chance is not beaten) or
    ``few`` (trials). ``difference`` is the runner-up's mean minus the best one's, with its 95 %
    interval and corrected ``p``. ``tied_with`` names those that the best one is not better than,
    ``clear`` says that there are none. ``held_out`` says how a best one whose rule was made on the
    papers' data does on other data: without such evidence it is no option. ``over_chance`` is the
    best mean over that of ``baseline``, ``beats_chance`` whether it is better. Both verdicts are
    those of :mod:`matrixdp.report.comparisons`.
    """
    found = pd.DataFrame(
        [row for name in entries.by_experiment(tables, "summary") for row in _rows(name, tables)],
        columns=[*COLUMNS, "_rivals"],
    )
    # What may be released besides the records is of interest where it gives more to choose from.
    choice = ["experiment", "guarantee", "epsilon", "_rivals"]
    found = found.drop_duplicates(choice, ignore_index=True)
    rows = found.to_dict("records")
    found["outcome"] = [_outcome(row) for row in rows]
    found["advice"] = [_said(row, _outcome(row)) for row in rows]
    return found[[*COLUMNS]]


def _options(about: catalogue.Experiment, shown: pd.DataFrame, tables: Tables) -> dict[str, str]:
    """Return what each mechanism releases, of those whose guarantee nothing speaks against."""
    audit = tables.get(f"audit/{about.id}")
    if audit is None:
        known = catalogue.schemes(about.kind)
        names = [*dict.fromkeys(shown["mechanism"])]
        private = [name for name in names if name not in known or known[name].status == "private"]
        return {name: about.kind for name in private if name not in catalogue.REFERENCES}
    judged = standing(audit)
    query = dict(zip(audit["mechanism"], audit["query"], strict=True))
    return {name: RELEASED[one] for name, one in query.items() if judged[name] == CERTIFIED}


def _rows(experiment: str, tables: Tables) -> Iterator[dict[str, Any]]:
    about, results = catalogue.experiment(experiment), tables[f"summary/{experiment}"]
    shown = summary.default(results)
    pairs = comparisons.oriented(tables[f"comparisons/{experiment}"])
    options = _options(about, shown, tables)
    nominal = pd.to_numeric(shown["epsilon"], errors="coerce")
    notes = {name: evidence.sentence(tables.get("held_out"), experiment, name) for name in options}
    kept = shown["mechanism"].isin(options) & shown["mean"].notna()
    # A parameter that was chosen on the data is nothing that one can run in private.
    kept &= shown["variant"].eq("")
    # So is a rule that was made on the data, unless other data speak for it.
    kept &= shown["mechanism"].map(lambda name: name not in catalogue.tuned() or bool(notes[name]))
    kept &= shown["epsilon_actual"].notna() & ~exceeds(shown["epsilon_actual"], nominal)
    rivals = shown.assign(nominal=nominal)[kept].sort_values("nominal", kind="stable")
    levels = shown.set_index("mechanism")["mean"]
    levels = levels.mask(levels.abs().lt(ROUNDING), 0.0)
    baseline = summary.trivial(shown)
    ends = {"chance": levels.get(baseline, nan), "nonprivate": levels.get("nonprivate", nan)}
    ends["baseline"] = baseline
    # In the order of what gives away more.
    released = [one for one in dict.fromkeys(RELEASED.values()) if one in options.values()]
    kinds = released or [about.kind]
    for number in range(1, len(kinds) + 1):
        allowed = [name for name, one in options.items() if one in kinds[:number]]
        words = " or ".join(kinds[:number])
        task = f"{about.title}: {words}" if released else about.title
        own = rivals[rivals["mechanism"].isin(allowed)]
        for guarantee in (PURE, APPROXIMATE):
            some = own[own["delta"].eq(0)] if guarantee == PURE else own
            for epsilon, rows in some.groupby("nominal"):
                at = pairs[pairs["epsilon"].eq(epsilon)]
                if row := _best(rows, at, about, baseline):
                    what = {"task": task, "released": words, "guarantee": guarantee}
                    what["held_out"] = notes[row["best_mechanism"]]
                    yield row | ends | what | {"experiment": experiment}


def _best(
    rows: pd.DataFrame, pairs: pd.DataFrame, about: catalogue.Experiment, baseline: str
) -> dict[str, Any] | None:
    """Return the row of one task, guarantee and epsilon; None if fewer than two can serve it."""
    names = sorted(rows["mechanism"], key=catalogue.rank)
    twins = pairs[pairs["same_law"] & pairs["mechanism"].isin(names)]
    alike = {name: {*twins.loc[twins["mechanism"].eq(name), "against"]} for name in names}
    # One law under two names stands once, by its first name.
    once = [name for i, name in enumerate(names) if not alike[name] & {*names[:i]}]
    larger = catalogue.metric(str(rows["metric"].max())).larger
    means = rows.set_index("mechanism")["mean"]
    if len(once) < 2:
        return None
    ranked = sorted(once, key=lambda name: -means[name] if larger else means[name])
    first, second = ranked[:2]
    own = pairs[pairs["mechanism"].eq(first)].set_index("against")
    best = rows[rows["mechanism"].eq(first)].iloc[0]
    known = catalogue.schemes(about.kind).get(first)
    shown = ["epsilon", "delta", "metric", "ci95", "noise_std", "epsilon_actual", "n_trials"]
    verdicts = own["verdict"].reindex(ranked[1:])
    tied = [_named(name, alike) for name in verdicts.index[verdicts.ne(comparisons.BETTER)]]
    row = {
        **best[[*shown, "data_status"]],
        "best": _named(first, alike),
        "error": means[first],
        "how": ": ".join(filter(None, (known.calibration, known.note))) if known else "",
        "runner_up": _named(second, alike),
        "runner_up_error": means[second],
        "best_mechanism": first,
        "runner_up_mechanism": second,
        "tied": len(tied),
        "clear": not tied,
        "tied_with": "; ".join(tied),
        "_rivals": tuple(ranked[1:]),
    }
    if second in own.index:
        low, high, difference, p = own.loc[second, ["low", "high", "difference", "p_corrected"]]
        row |= {"difference": -difference, "p": p, "low": -high, "high": -low}
    if baseline in own.index:
        against = own.loc[baseline]
        row["beats_chance"] = against["verdict"] == comparisons.BETTER
        row["over_chance"] = against["mean"] / against["mean_against"]
    return row


def _named(mechanism: str, alike: Mapping[str, set[str]]) -> str:
    names = sorted({mechanism, *alike[mechanism]}, key=catalogue.rank)
    return " = ".join(catalogue.label(name) for name in names)


def _outcome(row: Mapping[str, Any]) -> str:
    """Return ``few``, ``none``, ``clear`` or ``tied``; too few trials name no winner."""
    if row["n_trials"] < ENOUGH:
        return "few"
    if not pd.isna(row["beats_chance"]) and not row["beats_chance"]:
        return "none"
    return "clear" if row["clear"] else "tied"


def _said(row: Mapping[str, Any], outcome: str) -> str:
    level = catalogue.label(row["baseline"]).lower()
    *names, last = row["tied_with"].split("; ")
    others = " or ".join(filter(None, (", ".join(names), last)))
    return ADVICE[outcome].format(**row, level=level, others=others)


def grid(found: pd.DataFrame) -> Grid:
    """Return the rows by task."""
    return markup.grid(found, "task", cells)


def cells(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a row by header."""
    ends = " to ".join(short(row[name]) for name in ("low", "high"))
    return {
        "Guarantee": row["guarantee"],
        "epsilon": str(row["epsilon"]),
        "Advice": row["advice"],
        "Error": interval(row["error"], row["ci95"]),
        "Chance": short(row["chance"]),
        "Without privacy": short(row["nonprivate"]),
        "Runner-up": f"{row['runner_up']}: {short(row['runner_up_error'])}",
        "Difference": "" if pd.isna(row["difference"]) else f"{short(row['difference'])} ({ends})",
        "True epsilon": short(row["epsilon_actual"]),
        "Noise (std)": short(row["noise_std"]),
        "Other data": row["held_out"],
    }


TABLES = {
    "advice": Table(
        title="Advice",
        caption=(
            "The best mechanism of each task, of those that the audit has no doubt of, and those "
            "not clearly worse, after correction over all pairs at an ε. Chance is the best that "
            "costs no privacy. Mechanisms whose parameter was chosen on the data are left out; "
            "rules made on the papers' data stand here only with the evidence of other data."
        ),
        inputs=(
            "summary/{experiment}",
            "comparisons/{experiment}",
            "audit/{experiment}",
            "summary/{training}",
            "comparisons/{training}",
        ),
        optional=("held_out",),
        data=data,
        grid=grid,
    ),
}
