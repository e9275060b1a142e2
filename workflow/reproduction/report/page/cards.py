"""One card per experiment, all on one scale: 0 is the baseline, 1 the result without privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from reproduction import catalogue
from reproduction.report import audit_status, comparisons, summary
from reproduction.report.page.run import PageRun, trials
from reproduction.report.rows import take_shared_means

#: A standard private training, which a card shows where the advice names none.
STANDARD = "pld_gaussian"

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
class CardMark:
    """A mechanism: our value, the published one if any, and our verdict against the baseline.

    The label of a mechanism that the audit refutes says that it is not private.

    ``role`` is ``ours``, ``best`` for the best private mechanism by the advice, or ``baseline`` for
    a random guess where another baseline is better. ``condition`` is the theorem that composes
    the releases, where the paper leaves open which one does. ``zeros`` is what the same noise gives
    on records of zeros, if that was run.
    """

    label: str
    ours: Dot
    published: Dot | None = None
    stands: str = ""
    role: str = "ours"
    condition: str = ""
    zeros: Dot | None = None

    @property
    def way(self) -> str:
        """How far the mechanism goes to no privacy, and how far on records of zeros."""
        zeros = f"; on all-zero data {self.zeros.text}" if self.zeros else ""
        return f"{self.ours.text} of the way{zeros}"


@dataclass(frozen=True)
class Card:
    """An experiment with the papers' mechanisms, and the best private mechanism by the advice.

    Where the advice names none, private training has the standard one in its place.

    ``place`` is that of the reading that is shown among all of its readings, ``better`` are the
    labels of the papers' mechanisms that clearly beat the baseline, with the share of the way to no
    privacy that each has gone.
    """

    about: catalogue.Experiment
    place: str
    trials: int
    better: list[str]
    marks: list[CardMark]
    baseline: str


def dot(share: float) -> Dot:
    """Return the dot for a share of the way from the baseline to no privacy."""
    beyond = -1 if share < LOW else 1 if share > HIGH else 0
    at = 100 * (min(max(share, LOW), HIGH) - LOW) / (HIGH - LOW)
    return Dot(share, round(at, 2), f"{share:.2f}".replace("-", "−"), beyond)


ZERO, ONE = dot(0.0), dot(1.0)


def cards(run: PageRun) -> list[Card]:
    """Return a card for each experiment that has a baseline and a result without privacy.

    One without a mechanism of the papers has none.

    Raises:
        InputError: a file is damaged.
    """
    advice, deck = run.advice(), []
    for name, rows in run.results.items():
        about = catalogue.experiment(name)
        means = _means(take_shared_means(rows), run)
        zeros = _means(rows, run, "zeros_mean")
        baseline = rows["baseline"].max()
        conditions = {
            mechanism: words
            for paper in catalogue.section("papers")
            for mechanism, words in catalogue.paper_rows(paper, about.perturbation).items()
        }
        mechanisms = [mechanism for mechanism in conditions if mechanism in means]
        if not {baseline, "nonprivate"} <= means.keys() or not mechanisms:
            continue
        zero, nonprivate = means[baseline], means["nonprivate"]
        stands, published = run.verdicts(name, mechanisms), paper_values(run, about, means)
        best = advice[name]["best_mechanism"] if name in advice else ""
        standard = STANDARD if about.perturbation == "gradients" and not best else best
        names = [*([catalogue.RANDOM] if published else []), *mechanisms, standard]
        remarks = {row["mechanism"]: audit_status.text(row) for row in rows.to_dict("records")}
        kinds = {catalogue.RANDOM: "baseline", best: "best"}
        places, on_zeros = (
            {key: dot((mean - zero) / (nonprivate - zero)) for key, mean in values.items()}
            for values in (means, zeros)
        )
        # The paper's random guess lies at ours, by the scale.
        theirs = {
            key: dot((value - zero) / (nonprivate - zero))
            for key, value in published.items()
            if key != catalogue.RANDOM
        }
        marks = [
            CardMark(
                label=_label(mechanism, conditions.get(mechanism, ""), remarks[mechanism]),
                ours=places[mechanism],
                published=theirs.get(mechanism),
                stands=stands.get(mechanism, ""),
                role=kinds.get(mechanism, "ours"),
                condition=conditions.get(mechanism, ""),
                zeros=on_zeros.get(mechanism),
            )
            for mechanism in dict.fromkeys(names)
            if mechanism in means and mechanism != baseline
        ]
        better = [
            f"{mark.label} ({mark.way})" for mark in marks if mark.stands == comparisons.BETTER
        ]
        place = summary.place_of_default(run[f"rows/{name}"], run.table_epsilon)
        label = catalogue.label(baseline)
        deck.append(Card(about, place, trials(rows), better, marks, label))
    return deck


def _label(mechanism: str, condition: str, remark: str) -> str:
    words = f" ({remark})" if remark else ""
    label = catalogue.shorten_remark(catalogue.label(mechanism))
    return (f"IMGM {condition}" if condition else label) + words


def paper_values(
    run: PageRun, about: catalogue.Experiment, means: dict[str, float]
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


def _means(table: pd.DataFrame, run: PageRun, column: str = "mean") -> dict[str, float]:
    """Return the means of the baselines and of those at the tables' epsilon."""
    rows = table[run.at_epsilon(table) | table["mechanism"].isin(catalogue.BASELINES)]
    means = dict(zip(rows["mechanism"], rows[column], strict=True))
    return {name: mean for name, mean in means.items() if math.isfinite(mean)}
