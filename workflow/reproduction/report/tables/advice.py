"""Which mechanism should I use? The best row of each task, by guarantee and epsilon.

:mod:`reproduction.report.comparisons` compares the best row with all others. The audit says what a
mechanism releases, and whether its guarantee is certified or not refuted. Others are not advised.
For schemes of private training the catalogue says which ones are private.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import nan
from typing import Any

import pandas as pd

from matrixdp.auditing.status import NOT_REFUTED
from reproduction import catalogue
from reproduction.report import audit_status, comparisons, entries, held_out_table, markup, summary
from reproduction.report.entries import Tables
from reproduction.report.markup import Grid, interval, short
from reproduction.report.statistics import ENOUGH, ROUNDING, exceeds
from reproduction.report.tables.audit import RELEASED
from reproduction.report.tables.base import Table

COLUMNS = (
    *("task", "released", "guarantee", "epsilon", "delta", "outcome", "advice", "best"),
    *(
        "audit_status",
        "error",
        "ci95",
        "runner_up",
        "runner_up_error",
        "difference",
        "low",
        "high",
        "p",
        "clear",
        "tied",
    ),
    *("tied_with", "baseline", "baseline_error", "beats_baseline", "nonprivate"),
    *("noise_std", "epsilon_delivered", "n_trials", "held_out", "place"),
    *("data_status", "experiment", "best_mechanism", "runner_up_mechanism"),
)

#: The row in a sentence, by its outcome.
ADVICE = {
    "clear": "Best: {best}",
    "tied": "Use: {best}; no clear difference to {others}",
    "none": "Do not release {released}: not even {best} clearly beats the {level}",
    "few": "No winner in {n_trials} trials; ahead: {best}",
}

#: The table of one row a task.
CHOICE = "What to use at ε = {}"
CHOICES = (
    "The best mechanism whose guarantee the audit certifies or tests. Those that need a parameter "
    "chosen by results are left out. Where others tie with it, the simplest that `matrixdp "
    "release` offers. No clear difference means that these trials do not tell two apart, not that "
    "they are equal. ±: half of the 95 % interval. Larger is better for accuracy, smaller for all "
    "else."
)

PURE, APPROXIMATE = "pure", "approximate"


def data(tables: Tables) -> pd.DataFrame:
    """Return one row per task, guarantee and epsilon (``COLUMNS``).

    A task is an experiment and what may be released for it: records alone (if some mechanism
    releases these), or anything. For private training it is what the training protects.

    ``outcome`` is ``clear``, ``tied``, ``none`` (the baseline is not beaten) or ``few`` (trials);
    ``advice`` is the row in a sentence. ``difference`` is the runner-up's mean minus the best mean,
    with its 95 % interval and corrected ``p``. ``tied_with`` names the mechanisms that the best one
    does not beat; ``clear`` says that there are none. ``beats_baseline`` says whether the best
    mechanism is better than ``baseline``. Both verdicts are those of the comparisons.
    ``held_out`` is the result on other data of a mechanism that was designed on the papers' data.
    ``place`` is that of the default reading among all, at the tables' epsilon.
    Without such evidence the mechanism is not advised. A person's records are such other data, and
    each mechanism there says what a specification names it. Of the best row and those that it does
    not beat, the simplest that ``matrixdp release`` offers is the best one.
    """
    frame = pd.DataFrame(
        [row for name in entries.by_experiment(tables, "summary") for row in _rows(name, tables)],
        columns=[*COLUMNS, "_rivals"],
    )
    # A task that allows more releases is listed only where it adds mechanisms to choose from.
    choice = ["experiment", "guarantee", "epsilon", "_rivals"]
    frame = frame.drop_duplicates(choice, ignore_index=True)
    rows = frame.to_dict("records")
    frame["outcome"] = [_outcome(row) for row in rows]
    frame["advice"] = [_sentence(row, _outcome(row)) for row in rows]
    return frame[[*COLUMNS]]


def _released_by(about: catalogue.Experiment, rows: pd.DataFrame, tables: Tables) -> dict[str, str]:
    """Return, by mechanism whose guarantee is not in doubt, what it releases.

    A scheme of training counts as releasing what it perturbs. ``rows`` have the statuses of
    :mod:`reproduction.report.audit_status`.
    """
    names = [*dict.fromkeys(rows["mechanism"])]
    if about.perturbation:
        schemes = catalogue.schemes(about.perturbation)
        private = {name for name, scheme in schemes.items() if scheme.status == "private"}
        return {
            name: about.perturbation for name in names if name in private - {*catalogue.BASELINES}
        }
    audit = tables[f"audit/{about.id}"]
    sound = {*rows.loc[rows["audit_status"].isin(audit_status.SOUND), "mechanism"]}
    queries = dict(zip(audit["mechanism"], audit["query"], strict=True))
    return {name: RELEASED[query] for name, query in queries.items() if name in sound}


def _rows(experiment: str, tables: Tables) -> Iterator[dict[str, Any]]:
    about, results = catalogue.experiment(experiment), tables[f"summary/{experiment}"]
    table = audit_status.joined(summary.default(results), tables.get(f"audit/{experiment}"))
    pairs = comparisons.oriented(tables[f"comparisons/{experiment}"])
    options = _released_by(about, table, tables)
    claimed_epsilon = pd.to_numeric(table["epsilon"], errors="coerce")
    notes = {
        name: held_out_table.sentence(tables.get("held_out"), experiment, name) for name in options
    }
    eligible = table["mechanism"].isin(options) & table["mean"].notna()
    # A parameter that was chosen on the data without privacy cannot be chosen by a private run.
    eligible &= table["configuration"].eq("")
    # The same holds for a rule designed on these data, unless it is tested on other data.
    settings = tables.get("settings") or {}
    eligible &= table["mechanism"].map(
        lambda name: name not in catalogue.tuned() or bool(notes.get(name))
    )
    eligible &= table["epsilon_delivered"].notna() & ~exceeds(
        table["epsilon_delivered"], claimed_epsilon
    )
    rivals = table.assign(claimed_epsilon=claimed_epsilon)[eligible].sort_values(
        "claimed_epsilon", kind="stable"
    )
    levels = table.set_index("mechanism")["mean"]
    levels = levels.mask(levels.abs().lt(ROUNDING), 0.0)
    baseline = summary.trivial(table)
    ends = {
        "baseline_error": levels.get(baseline, nan),
        "nonprivate": levels.get("nonprivate", nan),
    }
    ends["baseline"] = baseline
    # Private training is nothing that a person releases from a file.
    once = about.perturbation != "gradients"
    offered = {*catalogue.section("offered")} if once else set()
    # In the order of how much they reveal.
    released = [output for output in dict.fromkeys(RELEASED.values()) if output in options.values()]
    outputs = released or [about.perturbation]
    place = summary.place_of_default(results, settings.get("table_epsilon", ""))
    for number in range(1, len(outputs) + 1):
        allowed = [name for name, output in options.items() if output in outputs[:number]]
        words = " or ".join(outputs[:number])
        task = f"{about.title}: {words}" if released else about.title
        candidates = rivals[rivals["mechanism"].isin(allowed)]
        for guarantee in (PURE, APPROXIMATE):
            some = candidates[candidates["delta"].eq(0)] if guarantee == PURE else candidates
            for epsilon, rows in some.groupby("claimed_epsilon"):
                at = pairs[pairs["epsilon"].eq(epsilon)]
                if row := _best(rows, at, baseline, offered):
                    what = {"task": task, "released": words, "guarantee": guarantee}
                    what["place"] = place
                    what["held_out"] = notes[row["best_mechanism"]]
                    yield row | ends | what | {"experiment": experiment}


def _best(
    rows: pd.DataFrame,
    pairs: pd.DataFrame,
    baseline: str,
    offered: Collection[str],
) -> dict[str, Any] | None:
    """Return the row of one task, guarantee and epsilon; None for fewer than two mechanisms.

    Of those that tie, the first one of ``offered`` leads.
    """
    names = sorted(rows["mechanism"], key=catalogue.rank)
    twins = pairs[pairs["same_distribution"] & pairs["mechanism"].isin(names)]
    alike = {name: {*twins.loc[twins["mechanism"].eq(name), "against"]} for name in names}
    # Mechanisms with the same noise distribution are ranked once, under the first name.
    distinct = [name for i, name in enumerate(names) if not alike[name] & {*names[:i]}]
    larger = catalogue.metric(str(rows["metric"].max())).larger
    means = rows.set_index("mechanism")["mean"]
    if len(distinct) < 2:
        return None
    ranked = sorted(distinct, key=lambda name: -means[name] if larger else means[name])
    offers = [name for name in distinct if {name, *alike[name]} & {*offered}]
    leader = _leader(ranked, offers, pairs, baseline)
    ranked.sort(key=lambda name: name != leader)
    first, second = ranked[:2]
    contests = pairs[pairs["mechanism"].eq(first)].set_index("against")
    best = rows[rows["mechanism"].eq(first)].iloc[0]
    columns = ["epsilon", "delta", "ci95", "noise_std", "epsilon_delivered", "n_trials"]
    verdicts = contests["verdict"].reindex(ranked[1:])
    searched = {*rows.loc[rows["audit_status"].eq(NOT_REFUTED), "mechanism"]}

    def join(name: str) -> str:
        return _join_names({name, *alike[name]}, searched)

    tied = [join(name) for name in verdicts.index[verdicts.ne(comparisons.BETTER)]]
    row = {
        **best[[*columns, "data_status", "audit_status"]],
        "best": join(first),
        "error": means[first],
        "runner_up": join(second),
        "runner_up_error": means[second],
        "best_mechanism": first,
        "runner_up_mechanism": second,
        "tied": len(tied),
        "clear": not tied,
        "tied_with": "; ".join(tied),
        "_rivals": tuple(ranked[1:]),
    }
    if second in contests.index:
        low, high, difference, p = contests.loc[
            second, ["low", "high", "difference", "p_corrected"]
        ]
        row |= {"difference": -difference, "p": p, "low": -high, "high": -low}
    if baseline in contests.index:
        against = contests.loc[baseline]
        row["beats_baseline"] = against["verdict"] == comparisons.BETTER
    return row


def _leader(ranked: list[str], offers: list[str], pairs: pd.DataFrame, baseline: str) -> str:
    """Return the first offer that ties with the best mechanism, which is the first of ``ranked``.

    No mechanism is better than that offer, and it beats the baseline. Without such an offer, and
    where the best mechanism does not beat the baseline, the result is the best one.
    """
    verdicts = {name: pairs[pairs["mechanism"].eq(name)] for name in ranked}
    verdicts = {name: rows.set_index("against")["verdict"] for name, rows in verdicts.items()}
    beats = {name: rows.get(baseline, comparisons.BETTER) for name, rows in verdicts.items()}
    if beats[ranked[0]] == comparisons.BETTER:
        for name in offers:
            worse = comparisons.WORSE in {*verdicts[name].reindex(ranked)}
            if not worse and beats[name] == comparisons.BETTER:
                return name
    return ranked[0]


def _join_names(names: set[str], searched: set[str]) -> str:
    """Return the labels of one noise distribution; those that are only not refuted say so."""
    labels = [
        catalogue.label(name) + f" ({NOT_REFUTED})" * (name in searched)
        for name in sorted(names, key=catalogue.rank)
    ]
    return " = ".join(labels)


def _outcome(row: Mapping[str, Any]) -> str:
    """Return ``few``, ``none``, ``clear`` or ``tied``; there is no winner with too few trials."""
    if row["n_trials"] < ENOUGH:
        return "few"
    if not pd.isna(row["beats_baseline"]) and not row["beats_baseline"]:
        return "none"
    return "clear" if row["clear"] else "tied"


def _sentence(row: Mapping[str, Any], outcome: str) -> str:
    level = catalogue.label(row["baseline"]).lower()
    *names, last = row["tied_with"].split("; ")
    others = " or ".join(filter(None, (", ".join(names), last)))
    return ADVICE[outcome].format(**row, level=level, others=others)


def by_topic(rows: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first row of each topic, of one row an experiment."""
    first: dict[str, Mapping[str, Any]] = {}
    for name, row in rows.items():
        first.setdefault(catalogue.experiment(name).topic or name, row)
    return [*first.values()]


def topic(row: Mapping[str, Any]) -> str:
    """Return what a row is about: for private training with its experiment and reading."""
    about = catalogue.experiment(row["experiment"])
    if not about.perturbation:
        return about.topic or about.name
    which = [about.name, markup.format_value(row.get("place"))]
    return f"{about.topic} ({', '.join(filter(None, which))})"


def choice(
    rows: Iterable[Mapping[str, Any]], metrics: Mapping[str, str], claimed_epsilon: float
) -> Grid:
    """Return what to use for each task at one epsilon, with what ties and what it gives.

    Args:
        rows: rows of :func:`data`, as they are read from its file.
        metrics: the metric of each experiment.
        claimed_epsilon: the epsilon of all rows.
    """
    lines = [_choice(row, catalogue.metric(metrics[row["experiment"]])) for row in rows]
    return markup.grouped({"": lines}, name=CHOICE.format(short(claimed_epsilon)), caption=CHOICES)


def _choice(row: Mapping[str, Any], metric: catalogue.Metric) -> dict[str, str]:
    ends = {name: short(row[name] * metric.scale, 4) for name in ("baseline_error", "nonprivate")}
    unit = " in %" if metric.scale == 100 else ""
    baseline = catalogue.label(markup.format_value(row["baseline"])).lower()
    best = row["best"] if row["outcome"] in ("clear", "tied") else _sentence(row, row["outcome"])
    return {
        "Task": f"{topic(row)}: {metric.name}{unit}",
        "Use": best,
        "No clear difference to": markup.format_value(row["tied_with"]) or "none: it is the best",
        "It gives": interval(row["error"] * metric.scale, row["ci95"] * metric.scale, metric.step),
        "Baseline": f"{ends['baseline_error']} ({baseline})" if baseline else "",
        "Without privacy": ends["nonprivate"],
        "On other data": markup.format_value(row["held_out"]) or "no rule was made on these data",
    }


TABLES = {
    "advice": Table(
        title="Advice for every task and budget",
        caption=(
            "The best mechanism of each task, which the audit certifies or (marked) tests, and "
            "those without a clear difference to it, after correction. The simplest that "
            "`matrixdp release` offers stands first. The baseline costs no privacy. Mechanisms "
            "with a parameter chosen by results are left out. Rules made on the papers' data need "
            "a result on other data."
        ),
        data=data,
        grid=None,
    ),
}
