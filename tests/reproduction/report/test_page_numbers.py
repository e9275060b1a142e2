"""The page's own numbers, recomputed from a run with no two results alike."""

from __future__ import annotations

import re
import shutil

import distinctrun
import pandas as pd
import pytest
import runfiles
from distinctrun import Key
from numbertexts import shows
from samplerun import put
from scipy.stats import ttest_1samp
from test_published import FACTORS, PRINTED

from reproduction import catalogue
from reproduction.report import comparisons, inputs, summary
from reproduction.report.page import appendix, cards, first_screen

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
    found = {card.about.id: card for card in cards.cards(first_screen.Run(inputs.below(root)))}
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
    run = first_screen.Run(inputs.below(folder))
    advised = {name: row["best_mechanism"] for name, row in run.advice().items()}
    assert advised.keys() == {*TABLES.values(), "adult", "imdb"}
    for card in cards.cards(run):
        best = [mark.label for mark in card.marks if mark.role == "best"]
        assert best == [catalogue.label(advised[one]) for one in [card.about.id] if one in advised]
    rows = pd.read_csv(folder / "trials/regression.csv", dtype=str, keep_default_na=False)
    late = pd.to_numeric(rows["trial"]) >= 9
    rows[~late].to_csv(folder / "trials/regression.csv", index=False)
    files = [folder / "trials/regression.csv"], folder / "summary/regression.csv"
    summary.write(*files)
    comparisons.write(*files, folder / "comparisons/regression.csv")
    run = first_screen.Run(inputs.below(folder))
    (card,) = (one for one in cards.cards(run) if one.about.id == "regression")
    assert not any(mark.role == "best" or mark.stands for mark in card.marks)
    assert card.headline == "9 trials: too few to name a winner"
    assert "regression" not in run.advice()


def test_the_unit_that_is_in_doubt_is_told_once(root):
    factors = {}
    for number in (3, 5):
        own, printed = shown(TABLES[number]), PRINTED[f"table{number}"]
        unit = float(FACTORS[f"table{number}"])
        factors[f"Table {number}"] = max(
            own[name].mean / (float(printed[name].split()[0]) * unit)
            for name in ("nonprivate", "random")
            if float(printed[name].split()[0])
        )
    told = cards.scale(first_screen.Run(inputs.below(root)))
    values, names = re.search(r"touches are (.*) times what (.*) prints?\.", told).groups()
    assert names.split(" and ") == [*factors]
    for said, factor in zip(values.split(" and "), factors.values(), strict=True):
        assert float(said.replace(",", "")) == pytest.approx(factor, rel=0.051)


def test_every_number_of_the_answers_is_recomputed(root, tmp_path):
    folder = shutil.copytree(root, tmp_path / "run")
    noise = "experiment,mechanism,epsilon,noise_std,noise_inflation\n"
    noise += "a,mvg_binary,1,5,1234.5\na,mvg_thm3,1,5,23.4\na,mvg_maxpnr,1,,4\n"
    put(folder / "tables/effective_noise.csv", noise + "a,mvg_thm2,10,5,9\na,laplace,1,5,1\n")
    settings = "dataset,perturbation,scheme,lots,epsilon,epsilon_delivered\n"
    settings += "x,features,imgm_amplified,paper,1,83.2\ny,features,imgm_amplified,paper,1,241\n"
    settings += "x,gradients,imgm_amplified,paper,1,1.2\nx,gradients,imgm_code,paper,1,222\n"
    put(folder / "theory/settings.csv", settings + "x,features,imgm_amplified,paper,3,999\n")
    ledger = "id,paper,claim_type,verdict,alike,beaten_by\nM2,MVG,theorem,reproduced,,\n"
    ledger += "M3,MVG,lemma,reproduced,,\nI13,IMGM,theorem,reproduced,,\n"
    ledger += "I1,IMGM,theorem,undecided,,\nM12,MVG,experiment,undecided,,\n"
    ledger += "I5,IMGM,experiment,undecided,,\n"
    put(folder / "claims.csv", ledger)
    runfiles.write(folder, "tables/advice")

    def said():
        found = first_screen.answers(first_screen.Run(inputs.below(folder)))
        return " ".join(text for texts in found.values() for text in texts)

    text = said()
    own = {name: shown(name) for name in distinctrun.KINDS}
    of_mvg = max(
        cell.epsilon_delivered
        for name, some in own.items()
        if name in ("regression", "first_pc", "covariance")
        for mechanism, cell in some.items()
        if mechanism in catalogue.section("papers")["MVG"]
    )
    assert "ask for 23.4 to 1,230 times" in text
    assert "Of the 1 theorems that MVG proves** [1 holds](#claims)" in text
    assert "Of MVG's 1 claims on experiments** [1 is open](#claims)." in text
    assert "Of its 2 theorems [1 holds and 1 is open](#claims); of its 1 cl" in text
    tight = r"In its experiments a claimed ε of 1 is a .* of at most ([\d.e-]+)\."
    assert shows(re.search(tight, text)[1], of_mvg)
    assert shows(
        re.search(r"by its Theorem 4 a claimed ε of 1 is \[really (\S+)\]", text)[1],
        own["adult"]["imgm"].epsilon_delivered,
    )
    assert "a claimed ε of 1 is then [really 83 to 241](#tables-imgm-settings). Calib" in text
    assert "promise: up to 222, with the paper's lots taken for Poisson samples." in text
    assert text.count("; ") >= 2
    verdicts = ["reproduced"] * 3 + ["not reproduced"] * 2 + ["reproduced only under x"]
    more = [
        f"M{40 + i},MVG,experiment,{verdict},{i < 4},{'zero' * (i in (0, 5))}\n"
        for i, verdict in enumerate(verdicts)
    ]
    put(folder / "claims.csv", "".join([ledger, *more]))
    assert "Of MVG's 7 claims on experiments** [3 hold, 1 holds only in a narrower" in said()
    assert "2 fail and 1 is open](#claims). 1 of those that hold do so in direct" in said()
    assert "With every record at zero, 4 of all come out alike." in said()
    # Without what it rests on a sentence is not said.
    put(folder / "claims.csv", ledger.replace("M3,MVG,lemma,repro", "M3,MVG,lemma,not repro"))
    assert "far too much noise" in text
    assert "far too much noise" not in said()
    put(folder / "theory/settings.csv", settings.replace("83.2", "0.9"))
    assert "not private" not in said()
    put(folder / "theory/settings.csv", settings + "x,features,imgm_amplified,other,1,318\n")
    assert "[really 83 to 241](#tables-imgm-settings) (83 to 318 in all readings of q)" in said()


def test_gaps_are_the_cells_that_did_not_run(root):
    summaries = [summary.read(root / f"summary/{name}.csv") for name in distinctrun.KINDS]
    rows = appendix.gaps(summaries).groups[""]
    found = {(row["experiment"], catalogue.label(row["mechanism"]), row["epsilon"]) for row in rows}
    assert found == {
        (catalogue.experiment(name).name, catalogue.label(mechanism), epsilon)
        for mechanism, epsilon in distinctrun.REFUSED
        for name, some in distinctrun.MECHANISMS.items()
        if mechanism in some
    }
    assert Key("regression", "gaussian_2006", "", "", "10") not in distinctrun.cells()
