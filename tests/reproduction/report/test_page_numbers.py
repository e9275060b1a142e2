"""The page's own numbers, recomputed from a run with no two results alike."""

from __future__ import annotations

import shutil

import distinctrun
import pandas as pd
import pytest
import runfiles
from scipy.stats import ttest_1samp
from test_published import PRINTED

from reproduction import catalogue
from reproduction.report import comparisons, inputs, summary
from reproduction.report.page import cards
from reproduction.report.page.run import PageRun

TABLES = {3: "regression", 4: "first_pc", 5: "covariance"}


@pytest.fixture(scope="module")
def root(root, tmp_path_factory):
    """Return the distinct run with the papers' tables alone."""
    folder = tmp_path_factory.mktemp("papers")
    for path in root.iterdir():
        if path.name != "tables":
            (folder / path.name).symlink_to(path)
    (folder / "tables").mkdir()
    for number in TABLES:
        for path in root.glob(f"tables/table{number}.*"):
            (folder / "tables" / path.name).symlink_to(path)
    return folder


def shown(experiment):
    """Return the cells that a table shows at epsilon 1, by mechanism."""
    chosen = distinctrun.chosen(distinctrun.cells(), experiment=experiment)
    return {
        key.mechanism: cell
        for key, cell in chosen.items()
        if key.epsilon in ("", "1") and key.direction in ("", "a")
    }


def chance(own, experiment):
    """Return the best of the baselines that use no record."""
    best = max if distinctrun.METRICS[experiment] == "accuracy" else min
    return best({*own} & {"random", "zero"}, key=lambda name: own[name].mean)


def read_off(one):
    """Return the value that a dot stands at; an end of the scale for one that is beyond it."""
    zero, full = cards.dot(0).at, cards.dot(1).at
    return (one.at - zero) / (full - zero)


def test_dots_of_the_cards_can_be_read_off_their_scale(root):
    found = {card.about.id: card for card in cards.cards(PageRun(inputs.files_of_folder(root)))}
    # Of Adult there is no row of chance.
    assert found.keys() == {*TABLES.values(), "imdb"}
    for number, experiment in (*TABLES.items(), (None, "imdb")):
        own = shown(experiment)
        guess, best = own[chance(own, experiment)].mean, own["nonprivate"].mean
        texts = PRINTED[f"table{number}"].items() if number else ()
        printed = {name: float(text.split()[0]) for name, text in texts}
        papers = [name for names in catalogue.section("papers").values() for name in names]
        marks = {mark.label: mark for mark in found[experiment].marks}
        named = {catalogue.label(name) for name in papers if name in own}
        baselines = {label for label, mark in marks.items() if mark.role == "baseline"}
        assert marks.keys() == named | baselines
        # The random guess stands where the paper is rescaled by it and another baseline is better.
        at_random = chance(own, experiment) == "random" or not printed
        assert baselines == (set() if at_random else {catalogue.label("random")})
        for name in papers:
            if name not in own:
                continue
            mark = marks[catalogue.label(name)]
            share = (guess - own[name].mean) / (guess - best)
            values = [(mark.ours, share)]
            assert (mark.published is None) == (name not in printed)
            if name in printed:
                way = (printed["random"] - printed[name]) / (
                    printed["random"] - printed["nonprivate"]
                )
                in_ours = own["random"].mean + way * (best - own["random"].mean)
                values.append((mark.published, (guess - in_ours) / (guess - best)))
            for one, value in values:
                assert float(one.text.replace("−", "-")) == pytest.approx(value, abs=0.0051)
                assert one.beyond == (value > cards.HIGH) - (value < cards.LOW)
                drawn = min(max(value, cards.LOW), cards.HIGH)
                assert read_off(one) == pytest.approx(drawn, abs=0.001)
            apart = own[name].report - own[chance(own, experiment)].report
            assert mark.stands in (comparisons.BETTER, comparisons.WORSE, comparisons.EVEN)
            if mark.stands != comparisons.EVEN:
                assert ttest_1samp(apart, 0).pvalue < 0.05
                larger = distinctrun.METRICS[experiment] == "accuracy"
                assert (mark.stands == "better") == ((apart.mean() > 0) == larger)


def test_the_best_mechanism_is_the_one_of_the_advice_and_few_trials_have_none(root, tmp_path):
    folder = shutil.copytree(root, tmp_path / "run")
    runfiles.write(folder, "tables/advice")
    run = PageRun(inputs.files_of_folder(folder))
    advised = {name: row["best_mechanism"] for name, row in run.advice().items()}
    assert advised.keys() == {*TABLES.values(), "adult", "imdb"}
    for card in cards.cards(run):
        best = [mark.label for mark in card.marks if mark.role == "best"]
        assert best == [catalogue.label(advised[one]) for one in [card.about.id] if one in advised]
    rows = pd.read_csv(folder / "trials/regression.csv", dtype=str, keep_default_na=False)
    late = pd.to_numeric(rows["trial"]) >= 9
    rows[~late].to_csv(folder / "trials/regression.csv", index=False)
    files = [folder / "trials/regression.csv"], folder / "summary/regression.csv"
    summary.write_summary(*files)
    comparisons.write_comparisons(*files, folder / "comparisons/regression.csv")
    runfiles.write_rows(folder)
    run = PageRun(inputs.files_of_folder(folder))
    (card,) = (one for one in cards.cards(run) if one.about.id == "regression")
    assert not any(mark.role == "best" or mark.stands for mark in card.marks)
    assert (card.trials, card.better) == (9, [])
    assert "regression" not in run.advice()
    runfiles.write(folder, "tables/advice")
    rows = pd.read_csv(folder / "tables/advice.csv").query("experiment == 'regression'")
    assert {*rows["outcome"]} == {"few"}
