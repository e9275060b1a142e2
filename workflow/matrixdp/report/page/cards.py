"""One card per experiment, all on one scale: from the baseline, 0, to non-private, 1."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from matrixdp import catalogue
from matrixdp.report import comparisons, summary
from matrixdp.report.markup import short
from matrixdp.report.page.answers import Run, trials
from matrixdp.report.statistics import ENOUGH, WITHIN

#: The ends of the scale that is drawn; what lies beyond is an arrow at its end.
LOW, HIGH = -0.25, 1.15


@dataclass(frozen=True)
class Dot:
    """A value on the scale: where it is drawn, in percent, and how it is said; beyond: -1, 0, 1."""

    at: float
    said: str
    beyond: int


@dataclass(frozen=True)
class Mark:
    """A mechanism: our value, the paper's if it prints one, and how ours stands to the baseline."""

    label: str
    ours: Dot
    printed: Dot | None
    stands: str
    best: bool = False


@dataclass(frozen=True)
class Card:
    """An experiment with the papers' mechanisms, and with the best private one if that is clear."""

    about: catalogue.Experiment
    headline: str
    marks: list[Mark]
    guess: str


def dot(share: float) -> Dot:
    """Return where a share of the way from the baseline to no privacy is drawn."""
    beyond = -1 if share < LOW else 1 if share > HIGH else 0
    at = 100 * (min(max(share, LOW), HIGH) - LOW) / (HIGH - LOW)
    return Dot(round(at, 2), f"{share:.2f}".replace("-", "−"), beyond)


ZERO, ONE = dot(0.0), dot(1.0)


def cards(run: Run) -> list[Card]:
    """Return a card for each experiment that has a row of chance and one without privacy.

    Raises:
        InputError: a file is damaged.
    """
    advice, found = run.advice(), []
    for name, shown in run.experiments().items():
        about = catalogue.experiment(name)
        means = _means(shown, run.nominal)
        chance = summary.trivial(shown)
        if not {chance, "nonprivate"} <= means.keys():
            continue
        zero, one = means[chance], means["nonprivate"]
        own = [x for names in catalogue.section("papers").values() for x in names if x in means]
        stands, printed = run.verdicts(name, own), paper_values(run, about, means)
        best = advice[name]["best_mechanism"] if name in advice else ""
        marks = [
            Mark(
                catalogue.label(one_of),
                dot((means[one_of] - zero) / (one - zero)),
                dot((printed[one_of] - zero) / (one - zero)) if one_of in printed else None,
                stands.get(one_of, ""),
                best=one_of == best,
            )
            for one_of in dict.fromkeys([*own, *([best] if best in means else [])])
        ]
        guess, headline = catalogue.label(chance), _headline(marks, trials(shown))
        found.append(Card(about, headline, marks, guess))
    return found


def paper_values(
    run: Run, about: catalogue.Experiment, means: dict[str, float]
) -> dict[str, float]:
    """Return what a paper prints by mechanism, in our units by its own two reference rows.

    They lie between our rows without privacy and of the random guess as the paper's lie between its
    own. Without these two rows there is nothing to go by.
    """
    rows = run.table(f"published/{about.results}")
    rows = rows[pd.to_numeric(rows["value"], errors="coerce").notna()]
    printed = dict(zip(rows["mechanism"], rows["value"].astype(float), strict=True))
    if not {"random", "nonprivate"} <= printed.keys() & means.keys():
        return {}
    ends = [known["random"] - known["nonprivate"] for known in (means, printed)]
    scale = ends[0] / ends[1]
    return {
        name: means["nonprivate"] + (value - printed["nonprivate"]) * scale
        for name, value in printed.items()
    }


def scale(run: Run) -> str:
    """Return what the scale is, and once what is wrong with the units that papers print."""
    ratios, words = {}, catalogue.section("cards")
    for about in map(catalogue.experiment, run.experiments()):
        table = run.table(f"tables/{about.results}") if about.conjecture else pd.DataFrame()
        if len(table):
            free = table[table["mechanism"].isin(catalogue.REFERENCES) & table["ratio"].gt(0)]
            if not free["verdict"].eq(WITHIN).all():
                named = about.results.replace("table", "Table ")
                ratios[named] = short(free["ratio"].max(), 2)
    told = {"times": " and ".join(ratios.values()), "tables": " and ".join(ratios)}
    slip = words["slip"].format(s="" if len(ratios) > 1 else "s", **told) if ratios else ""
    return words["scale"].format(nominal=short(run.nominal), slip=slip)


def _means(shown: pd.DataFrame, nominal: float) -> dict[str, float]:
    """Return the means of the reference rows and of those at the tables' epsilon."""
    at = pd.to_numeric(shown["epsilon"], errors="coerce")
    rows = shown[at.eq(nominal) | shown["mechanism"].isin(catalogue.REFERENCES)]
    means = dict(zip(rows["mechanism"], rows["mean"], strict=True))
    return {name: mean for name, mean in means.items() if math.isfinite(mean)}


def _headline(marks: list[Mark], ran: int) -> str:
    words = catalogue.section("cards")
    if ran < ENOUGH:
        return words["few"].format(trials=ran)
    names = [mark.label for mark in marks if mark.stands == comparisons.BETTER]
    s = "" if len(names) > 1 else "s"
    return words["beaten"].format(names=" and ".join(names), s=s) if names else words["even"]
