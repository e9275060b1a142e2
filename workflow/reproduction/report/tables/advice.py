"""Which mechanism should I use? The best row of each task, by guarantee and epsilon.

:mod:`reproduction.report.comparisons` compares the best row with all others. The audit says what a
mechanism releases, and whether its guarantee is certified or not refuted. Others are not advised.
For schemes of private training the catalogue says which ones are private.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from math import nan
from typing import Any

import pandas as pd

from matrixdp.status import NOT_REFUTED
from reproduction import catalogue
from reproduction.report import advisable, audit_status, comparisons, held_out_table, summary
from reproduction.report.inputs import Run
from reproduction.report.markup import epsilon_text, format_value
from reproduction.report.rows import take_shared_means
from reproduction.report.statistics import ENOUGH, ROUNDING
from reproduction.report.tables.audit import RELEASED
from reproduction.report.tables.base import Column, Table, empty, lines

COLUMNS = (
    *("task", "released", "guarantee", "epsilon", "delta", "outcome", "best"),
    *("audit_status", "error", "ci95", "runner_up", "runner_up_error", "difference", "low", "high"),
    *("p", "clear", "tied", "tied_with", "baseline", "baseline_error", "beats_baseline"),
    *("nonprivate", "noise_std", "epsilon_delivered", "n_trials", "held_out", "place"),
    *("data_status", "experiment", "best_mechanism", "runner_up_mechanism"),
    *("offer_mechanism", "offer_error"),
)

#: Columns of the best row in the summary.
OF_BEST = (
    *("epsilon", "delta", "ci95", "noise_std", "epsilon_delivered", "n_trials", "data_status"),
    "audit_status",
)

SHOWN = (
    Column("Guarantee", "guarantee"),
    Column("ε", "epsilon", "epsilon"),
    Column("Outcome", "outcome"),
    Column("Mechanism", "best"),
    Column("Result", "error", "error"),
    Column("Ties with", "tied_with"),
    Column("Baseline", "baseline_error", "baseline_error"),
    Column("No privacy", "nonprivate", "nonprivate"),
)

PURE, APPROXIMATE = "pure", "approximate"


CAPTION = (
    "The best mechanism of each task, which the audit certifies or (marked) tests, and those "
    "without a clear difference to it, after correction. The simplest that `matrixdp release` "
    "offers stands first. The baseline costs no privacy. Mechanisms with a parameter chosen by "
    "results are left out. Rules made on the papers' data need a result on other data."
)


def build(run: Run) -> Table:
    """Return one row per task, guarantee and epsilon (``COLUMNS``).

    A task is an experiment and what may be released for it: records alone (if some mechanism
    releases these), or anything. For private training it is what the training protects.

    ``outcome`` is ``clear``, ``tied``, ``none`` (the baseline is not beaten) or ``few`` (trials);
    Means are on shared trials (:func:`reproduction.report.rows.take_shared_means`).
    ``difference`` is the runner-up's mean minus the best mean,
    with its 95 % interval and corrected ``p``. ``tied_with`` names the mechanisms that the best one
    does not beat; ``clear`` says that there are none. ``beats_baseline`` says whether the best
    mechanism is better than ``baseline``. Both verdicts are those of the comparisons.
    ``held_out`` is the result on other data of a mechanism that was designed on the papers' data.
    ``place`` is that of the default reading among all, at the tables' epsilon.
    Without such evidence the mechanism is not advised. A person's records are such other data, and
    each mechanism there says what a specification names it. Of the best row and those that it does
    not beat, the simplest that ``matrixdp release`` offers is the best one. ``offer_mechanism`` has
    the least error of those that it offers.
    """
    title = "Advice for every task and budget"
    rows = [row for name in run.each("rows") for row in _rows(name, run)]
    if not rows:
        return empty(title, run)
    for row in rows:
        row["outcome"] = _outcome(row)
    frame = pd.DataFrame(rows, columns=[*COLUMNS, "rivals"])
    # A task that allows more releases is listed only where it adds mechanisms to choose from.
    choice = ["experiment", "guarantee", "epsilon", "rivals"]
    frame = frame.drop_duplicates(choice, ignore_index=True)
    return Table(
        title=title,
        caption=CAPTION,
        frame=frame[[*COLUMNS]],
        columns=SHOWN,
        groups=lines(frame, "task"),
    )


def _rows(experiment: str, run: Run) -> Iterator[dict[str, Any]]:
    """Return the rows of an experiment; none of a part of another one."""
    about, every = catalogue.experiment(experiment), run[f"rows/{experiment}"]
    if about.part_of:
        return
    evidence = run.get("held_out")
    table = take_shared_means(every[every["shown"] & every["reading"].eq(summary.DEFAULT)])
    released_by = _released_by(about, table, run)
    notes = {
        name: held_out_table.held_out_sentence(evidence, experiment, name) for name in released_by
    }
    candidates = _candidates(table)
    pairs = comparisons.both_orders(run[f"comparisons/{experiment}"])
    ends = _ends(table) | {
        "place": summary.place_of_default(every, run.table_epsilon),
        "experiment": experiment,
    }
    # Private training is nothing that a person releases from a file.
    offered = {*catalogue.section("offered")} if about.perturbation != "gradients" else set()
    for task, released, outputs in _tasks(about, {*released_by.values()}):
        allowed = [name for name, output in released_by.items() if output in outputs]
        some = candidates[candidates["mechanism"].isin(allowed)]
        for guarantee, rows in ((PURE, some[some["delta"].eq(0)]), (APPROXIMATE, some)):
            for epsilon, at in rows.groupby("epsilon"):
                contests = pairs[pairs["epsilon"].eq(epsilon)]
                if best := _best(at, contests, ends["baseline"], offered):
                    what = {"task": task, "released": released, "guarantee": guarantee}
                    yield best | ends | what | {"held_out": notes[best["best_mechanism"]]}


def _tasks(
    about: catalogue.Experiment, outputs: Collection[str]
) -> Iterator[tuple[str, str, list[str]]]:
    """Return tasks with what they release, in words, and all outputs that they allow."""
    # In the order of how much they reveal.
    released = [output for output in dict.fromkeys(RELEASED.values()) if output in outputs]
    if not released:
        yield about.title, about.perturbation, [about.perturbation]
    for number in range(1, len(released) + 1):
        words = " or ".join(released[:number])
        yield f"{about.title}: {words}", words, released[:number]


def _released_by(about: catalogue.Experiment, rows: pd.DataFrame, run: Run) -> dict[str, str]:
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
    audit = run[f"audit/{about.id}"]
    sound = {*rows.loc[rows["audit_status"].isin(audit_status.SOUND), "mechanism"]}
    queries = dict(zip(audit["mechanism"], audit["query"], strict=True))
    return {name: RELEASED[query] for name, query in queries.items() if name in sound}


def _candidates(table: pd.DataFrame) -> pd.DataFrame:
    """Return the private rows that may be advised, by their claimed epsilon."""
    rows = table[table["advisable"].eq(advisable.YES) & table["mean"].notna()]
    return rows.dropna(subset="epsilon").sort_values("epsilon", kind="stable")


def _ends(table: pd.DataFrame) -> dict[str, Any]:
    """Return the best baseline of an experiment, its mean, and the mean without privacy."""
    means = table.set_index("mechanism")["mean"]
    means = means.mask(means.abs().lt(ROUNDING), 0.0)
    baseline = table["baseline"].max()
    return {
        "baseline": baseline,
        "baseline_error": means.get(baseline, nan),
        "nonprivate": means.get("nonprivate", nan),
    }


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
    if len(distinct) < 2:
        return None
    larger = catalogue.metric(str(rows["metric"].max())).larger
    means = rows.set_index("mechanism")["mean"]
    ranked = sorted(distinct, key=lambda name: -means[name] if larger else means[name])
    offers = [name for name in distinct if {name, *alike[name]} & {*offered}]
    offer = next((name for name in ranked if name in offers), None)
    leader = _leader(ranked, offers, pairs, baseline)
    ranked.sort(key=lambda name: name != leader)
    searched = {*rows.loc[rows["audit_status"].eq(NOT_REFUTED), "mechanism"]}
    labels = {name: _join_names({name, *alike[name]}, searched) for name in distinct}
    of_best = rows[rows["mechanism"].eq(leader)].iloc[0][[*OF_BEST]].to_dict()
    contests = pairs[pairs["mechanism"].eq(leader)].set_index("against")
    return {
        **of_best | {"epsilon": epsilon_text(of_best["epsilon"])},
        **_against_others(ranked, labels, means, contests, baseline),
        "offer_mechanism": offer or "",
        "offer_error": means[offer] if offer else nan,
    }


def _against_others(
    ranked: list[str],
    labels: Mapping[str, str],
    means: pd.Series,
    contests: pd.DataFrame,
    baseline: str,
) -> dict[str, Any]:
    """Return what the first of ``ranked`` is against the others; ``contests`` are its pairs."""
    first, second, *_ = ranked
    verdicts = contests["verdict"].reindex(ranked[1:])
    tied = [labels[name] for name in verdicts.index[verdicts.ne(comparisons.BETTER)]]
    row = {
        "best": labels[first],
        "error": means[first],
        "runner_up": labels[second],
        "runner_up_error": means[second],
        "best_mechanism": first,
        "runner_up_mechanism": second,
        "tied": len(tied),
        "clear": not tied,
        "tied_with": "; ".join(tied),
        "rivals": tuple(ranked[1:]),
        "beats_baseline": nan,
    }
    if second in contests.index:
        contest = contests.loc[second]
        row |= {"difference": -contest["difference"], "p": contest["p_corrected"]}
        row |= {"low": -contest["high"], "high": -contest["low"]}
    if baseline in contests.index:
        row["beats_baseline"] = contests.loc[baseline, "verdict"] == comparisons.BETTER
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


def first_by_topic(rows: Mapping[str, Mapping[str, Any]]) -> list[Mapping[str, Any]]:
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
    which = [about.name, format_value(row.get("place"))]
    return f"{about.topic} ({', '.join(filter(None, which))})"
