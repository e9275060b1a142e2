"""One card per experiment, all on one scale: 0 is the baseline, 1 the result without privacy."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

from reproduction import catalogue
from reproduction.report import comparisons, summary
from reproduction.report.audit_status import NOT_PRIVATE
from reproduction.report.markup import short, span
from reproduction.report.page.first_screen import Run, trials
from reproduction.report.statistics import ENOUGH

#: The ends of the scale; a value beyond them is drawn as an arrow at the end.
LOW, HIGH = -0.25, 1.15


@dataclass(frozen=True)
class Dot:
    """A value on the scale: position in percent, text, and the end that it lies beyond (-1, 1).

    ``beyond`` is 0 for a value within the scale. ``share`` is the value itself.
    """

    share: float
    at: float
    text: str
    beyond: int


@dataclass(frozen=True)
class Mark:
    """A mechanism: our value, the published one if any, and our verdict against the baseline.

    The label of a mechanism that the audit refutes says that it is not private.

    ``role`` is ``ours``, ``best`` for the best private mechanism by the advice, or ``baseline`` for
    a random guess where another baseline is better. ``condition`` is the theorem that composes
    the releases, where the paper leaves open which one does.
    """

    label: str
    ours: Dot
    published: Dot | None = None
    stands: str = ""
    role: str = "ours"
    condition: str = ""


@dataclass(frozen=True)
class Card:
    """An experiment with the papers' mechanisms, and the best private mechanism by the advice.

    ``place`` is that of the reading that is shown among all of its readings.
    """

    about: catalogue.Experiment
    place: str
    headline: str
    marks: list[Mark]
    baseline: str


def dot(share: float) -> Dot:
    """Return the dot for a share of the way from the baseline to no privacy."""
    beyond = -1 if share < LOW else 1 if share > HIGH else 0
    at = 100 * (min(max(share, LOW), HIGH) - LOW) / (HIGH - LOW)
    return Dot(share, round(at, 2), f"{share:.2f}".replace("-", "−"), beyond)


ZERO, ONE = dot(0.0), dot(1.0)


def cards(run: Run) -> list[Card]:
    """Return a card for each experiment that has a baseline and a result without privacy.

    One without a mechanism of the papers has none.

    Raises:
        InputError: a file is damaged.
    """
    advice, deck = run.advice(), []
    for name, rows in run.experiments().items():
        about = catalogue.experiment(name)
        means = _means(rows, run.claimed_epsilon)
        baseline = summary.trivial(rows)
        conditions = {
            mechanism: words
            for paper in catalogue.section("papers")
            for mechanism, words in catalogue.rows_of(paper, about.perturbation).items()
        }
        mechanisms = [mechanism for mechanism in conditions if mechanism in means]
        if not {baseline, "nonprivate"} <= means.keys() or not mechanisms:
            continue
        zero, nonprivate = means[baseline], means["nonprivate"]
        stands, published = run.verdicts(name, mechanisms), paper_values(run, about, means)
        best = advice[name]["best_mechanism"] if name in advice else ""
        names = [*([catalogue.RANDOM] if published else []), *mechanisms, best]
        kinds = {catalogue.RANDOM: "baseline", best: "best"}
        places = {key: dot((mean - zero) / (nonprivate - zero)) for key, mean in means.items()}
        # The paper's random guess lies at ours, by the scale.
        theirs = {
            key: dot((value - zero) / (nonprivate - zero))
            for key, value in published.items()
            if key != catalogue.RANDOM
        }
        marks = [
            Mark(
                label=_label(mechanism, conditions.get(mechanism, ""), stands.get(mechanism, "")),
                ours=places[mechanism],
                published=theirs.get(mechanism),
                stands=stands.get(mechanism, ""),
                role=kinds.get(mechanism, "ours"),
                condition=conditions.get(mechanism, ""),
            )
            for mechanism in dict.fromkeys(names)
            if mechanism in means and mechanism != baseline
        ]
        headline = _headline(marks, trials(rows), {*conditions.values()})
        place = summary.place_of_default(
            run.table(f"summary/{name}"), run.settings["table_epsilon"]
        )
        deck.append(Card(about, place, headline, marks, catalogue.label(baseline)))
    return deck


def _label(mechanism: str, condition: str, verdict: str) -> str:
    words = f" ({verdict})" if verdict.startswith(NOT_PRIVATE) else ""
    name = f"IMGM {condition}" if condition else catalogue.marked(catalogue.label(mechanism))
    return name + words


def paper_values(
    run: Run, about: catalogue.Experiment, means: dict[str, float]
) -> dict[str, float]:
    """Return a paper's published values by mechanism, rescaled to our units.

    The scale maps the paper's random and non-private rows to ours. Without these rows the result
    is empty.
    """
    rows = run.published(about.results)
    rows = rows[pd.to_numeric(rows["value"], errors="coerce").notna()]
    published = dict(zip(rows["mechanism"], rows["value"].astype(float), strict=True))
    if not {"random", "nonprivate"} <= published.keys() & means.keys():
        return {}
    ends = [values["random"] - values["nonprivate"] for values in (means, published)]
    scale = ends[0] / ends[1]
    return {
        name: means["nonprivate"] + (value - published["nonprivate"]) * scale
        for name, value in published.items()
    }


def scale(run: Run) -> str:
    """Return a note on the scale, and on published units that do not fit the baselines."""
    ratios, words = {}, catalogue.section("cards")
    for about in map(catalogue.experiment, run.experiments()):
        table = run.table(f"tables/{about.results}") if about.conjecture else pd.DataFrame()
        if len(table):
            baselines = table[table["mechanism"].isin(catalogue.BASELINES) & table["ratio"].gt(0)]
            if len(baselines):
                label = about.results.replace("table", "Table ")
                ratios[label] = short(baselines["ratio"].max(), 2)
    fields = {"times": " and ".join(ratios.values()), "tables": " and ".join(ratios)}
    slip = words["slip"].format(s="" if len(ratios) > 1 else "s", **fields) if ratios else ""
    claimed_epsilon = short(run.claimed_epsilon)
    return words["scale"].format(claimed_epsilon=claimed_epsilon, slip=slip, above=_above(run))


def _above(run: Run) -> str:
    """Return where clipping without noise is better than the result without privacy, and by what.

    Empty where it nowhere is.
    """
    shares = {}
    for name, rows in run.experiments().items():
        means = _means(rows, run.claimed_epsilon)
        clipped = pd.Series({key: means[key] for key in catalogue.CLIPPED if key in means})
        zero = summary.trivial(rows)
        if len(clipped) and {zero, "nonprivate"} <= means.keys():
            share = (clipped - means[zero]) / (means["nonprivate"] - means[zero])
            if share.max() > 1:
                shares[catalogue.experiment(name).name] = span(share, lambda end: dot(end).text)
    if not shares:
        return ""
    texts = " and ".join(f"{text} in {name}" for name, text in shares.items())
    return catalogue.section("cards")["above"].format(clipped=texts)


def _means(table: pd.DataFrame, claimed_epsilon: float) -> dict[str, float]:
    """Return the means of the baselines and of those at the tables' epsilon."""
    at = pd.to_numeric(table["epsilon"], errors="coerce")
    rows = table[at.eq(claimed_epsilon) | table["mechanism"].isin(catalogue.BASELINES)]
    means = dict(zip(rows["mechanism"], rows["mean"], strict=True))
    return {name: mean for name, mean in means.items() if math.isfinite(mean)}


def _headline(marks: list[Mark], ran: int, conditions: Collection[str]) -> str:
    """Return which mechanisms beat the baseline, under which of the ``conditions``."""
    words = catalogue.section("cards")
    if ran < ENOUGH:
        return words["few"].format(trials=ran)
    beats = [mark for mark in marks if mark.stands == comparisons.BETTER]
    if not beats:
        run = [mark.condition for mark in marks if mark.condition]
        alone = words["alone"].format(condition=" and ".join(run))
        return words["even"] + (alone if 0 < len(run) < len({*conditions} - {""}) else "")
    names = " and ".join(mark.label for mark in beats)
    text = words["beaten"].format(names=names, s="" if len(beats) > 1 else "s")
    others = [mark.condition for mark in marks if mark.condition and mark not in beats]
    some = others and any(mark.condition for mark in beats)
    return text + (words["otherwise"].format(condition=" and ".join(others)) if some else "")
