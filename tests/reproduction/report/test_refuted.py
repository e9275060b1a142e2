"""The run in which the best mechanisms are refuted: nothing calls one private, or advises it."""

from __future__ import annotations

import html
import re
import shutil

import distinctrun
import matplotlib
import numpy as np
import pandas as pd
import pytest
import refutedrun
import runfiles
from refutedrun import DECLARED, FIGURES, REFUTED, SEARCHED, UNAUDITED

from reproduction import catalogue
from reproduction.report import inputs, page
from reproduction.report.article import build
from reproduction.report.page import cards, first_screen

LABELS = [catalogue.label(name) for name in REFUTED]
ADVISED = ("best", "runner_up", "tied_with", "advice", "best_mechanism", "runner_up_mechanism")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return the folder of the run, with all tables and the data of all figures."""
    root = tmp_path_factory.mktemp("refuted")
    refutedrun.write(root)
    for name in FIGURES:
        path = root / f"figures/data/{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        runfiles.frame(root, name).to_csv(path, index=False)
    return root


def labelled(text):
    return any(re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", text) for label in LABELS)


def test_every_row_of_a_refuted_mechanism_says_that_it_is_not_private(run):
    rows = {
        (file.stem, line)
        for file in run.glob("tables/*.md")
        for line in file.read_text().splitlines()
        if line.startswith("|") and labelled(line.split("|")[1])
    }
    assert {stem for stem, _ in rows} == {
        *("table3", "table4", "table5", "section10_2", "audit"),
    }
    for stem, line in rows:
        assert "not private" in line, (stem, line)
        assert not re.search(r"\|\s*(better|declared)", line), (stem, line)
    shown = "".join(line for _, line in rows)
    assert "not private: epsilon at least 7.5" in shown
    assert "not private: no epsilon" in shown


def test_no_refuted_mechanism_is_advised_priced_joined_or_counted(run):
    advice = pd.read_csv(run / "tables/advice.csv", keep_default_na=False)
    assert len(advice) > 5
    for column in ADVISED:
        for text in advice[column]:
            assert not labelled(text), (column, text)
            assert not {*REFUTED} & {*re.findall(r"\w+", text)}
            assert catalogue.label(DECLARED) not in text
            assert catalogue.label(UNAUDITED) not in text
    assert f"{catalogue.label(SEARCHED)} (not refuted)" in advice["best"].str.cat(sep=";") + advice[
        "tied_with"
    ].str.cat(sep=";")
    for file in [*run.glob("tables/*.csv"), *run.glob("figures/data/*.csv")]:
        text = file.read_text()
        assert not re.search(r"= of_tomorrow|of_tomorrow =", text), file
        frame = pd.read_csv(file)
        if "also" in frame:
            assert not frame["also"].astype(str).str.contains("of_tomorrow").any(), file
    price = pd.read_csv(run / "tables/price.csv").set_index("mechanism")
    assert price.loc[[*REFUTED], ["price", "low", "high"]].isna().all(axis=None)
    assert price.drop([*REFUTED])["price"].notna().all()
    for number in (3, 4, 5):
        table = pd.read_csv(run / f"tables/table{number}.csv")
        wrong = table["mechanism"].isin(REFUTED)
        assert wrong.any()
        assert table.loc[wrong, ["against_baseline", "against_paper"]].isna().all(axis=None)
        assert table.loc[wrong, "verdict"].str.startswith("not private").all()


def test_headlines_are_the_same_without_what_is_refuted(run):
    """Leaving these rows out of the frame changes no headline that counts mechanisms."""
    found = {}
    for path in [*distinctrun.TABLES, *(f"figures/{name}" for name in FIGURES)]:
        entry, name = runfiles.entry(path), path.rpartition("/")[2]
        if name in ("audit", "nominal", "readings"):
            continue
        frame, _ = entry.collect(runfiles.files(run, path))
        if "mechanism" not in frame or "audit_status" not in frame:
            continue
        kept = frame[~(frame["mechanism"].isin(REFUTED) & frame["audit_status"].eq("refuted"))]
        assert len(kept) < len(frame) or "laplace" not in {*frame["mechanism"]}, name
        found[name] = entry.headline(frame), entry.headline(kept)
    assert {"table3", "price", "curves_regression", "noise_levels", "effective_noise"} <= {*found}
    for name, (all_rows, sound) in found.items():
        assert all_rows == sound, name


def test_figures_say_not_private_beside_the_name(run):
    seen = set()
    for name in FIGURES:
        entry, frame = runfiles.entry(f"figures/{name}"), runfiles.frame(run, name)
        if name == "nominal":
            # Its rows are red, and no scheme that is refuted keeps its promise.
            rows = frame[frame["mechanism"].isin(REFUTED) & frame["batch"].isna()]
            rows = rows[rows["experiment"].isin(["regression", "first_pc", "covariance"])]
            assert {*rows["mechanism"]} == {*REFUTED}
            assert rows["verdict"].eq("not private").all()
            assert np.isinf(
                rows.loc[rows["mechanism"].eq("of_tomorrow"), "epsilon_delivered"]
            ).all()
        drawing = entry.render(frame)
        if name == "nominal":
            continue
        for text in drawing.findobj(matplotlib.text.Text):
            for part in re.split(r"; |: (?=[A-Z])", text.get_text().replace("\n", " ")):
                if labelled(part):
                    seen.add(name)
                    assert "not private" in part or name.startswith("imgm"), (name, part)
    assert {"curves_regression", "curves_first_pc", "price", "noise_levels"} <= seen


def test_the_page_and_its_answers(run):
    text = page.build(inputs.below(run), run={})
    rows = re.findall(r"<tr>.*?</tr>", text, re.DOTALL)
    named = [row for row in rows if labelled(html.unescape(row.partition("</th>")[0]))]
    assert len(named) > 10
    assert all("not private" in row for row in named)
    own = first_screen.Run(inputs.below(run))
    for sentences in first_screen.answers(own).values():
        for sentence in sentences:
            assert not labelled(sentence)
    deck = cards.cards(own)
    marks = [mark for card in deck for mark in card.marks]
    assert marks
    assert all("not private" in mark.label for mark in marks if labelled(mark.label))


def test_a_paper_whose_mechanism_is_refuted_is_not_called_private(run, tmp_path):
    root = shutil.copytree(run, tmp_path / "run")
    own = first_screen.Run(inputs.below(root))
    assert not own.refuted("MVG")
    words = catalogue.section("answers")["How much privacy did they really give?"]["mvg_guarantee"]
    assert first_screen._mvg_guarantee(own, words) is not None
    # In one experiment of three.
    audit = pd.read_csv(root / "audit/regression.csv")
    audit.loc[audit["mechanism"].eq("mvg_binary"), "verdict"] = "refuted: x"
    audit.to_csv(root / "audit/regression.csv", index=False)
    runfiles.write(root, "tables/audit", "tables/effective_noise")
    own = first_screen.Run(inputs.below(root))
    assert first_screen._mvg_guarantee(own, words) is None
    (card, *_) = cards.cards(own)
    label = catalogue.label("mvg_binary")
    (mark,) = (mark for mark in card.marks if label in mark.label)
    assert mark.label.startswith(f"{label} (not private: epsilon at least ")
    assert label not in card.headline


def test_the_article(run):
    advice = build._advice(inputs.below(run))
    assert not any(labelled(cell) for _, rows in advice["groups"] for row in rows for cell in row)
    for name in build._UNITS:
        grids = build._comparison(inputs.below(run), name)
        groups = [group for grid in grids for group in grid["groups"]]
        named = [row for _, rows in groups for row in rows if labelled(row[0])]
        assert named
        assert all("not private" in cell for row in named for cell in row[-2:])


def test_every_entry_that_shows_results_reads_the_audit():
    """An entry that reads a summary of releases reads their audit too, or shows no mechanism."""
    names = [f"tables/{name}" for name in runfiles.TABLES]
    for name in [*names, *(f"figures/{name}" for name in runfiles.FIGURES)]:
        needed = runfiles.needed(name)
        for experiment in runfiles.RELEASES:
            if {f"summary/{experiment}", f"readings/{experiment}"} & {*needed}:
                assert f"audit/{experiment}" in needed, (name, experiment)
