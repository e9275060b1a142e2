"""The figure for a paper's column: who is in it, what it shows, that it can be read."""

import numpy as np
import pandas as pd
import pytest
from drawntexts import overlaps, texts_of
from packages import KEPT

from reproduction import catalogue, discovery
from reproduction.report import figures, inputs
from reproduction.report.figures import style

RUNS = ["regression", "first_pc", "covariance", "adult", "imdb"]
PAPERS = {name for names in catalogue.section("papers").values() for name in names}


def files(run):
    every = inputs.below(KEPT)
    names = [f"{kind}/{run}" for kind in ("summary", "comparisons", "audit")]
    return {name: every[name] for name in [*names, "settings"] if name in every}


def recipe():
    return discovery.find(figures, "FIGURES", figure="column")


def drawing_of(frame):
    with style.context():
        drawing = recipe().render(frame)
        drawing.draw_without_rendering()
    return drawing


@pytest.mark.parametrize("run", RUNS)
def test_its_text_can_be_read_in_a_column(run):
    drawing = drawing_of(recipe().frame(files(run)))
    assert drawing.get_figwidth() == 3.3
    with style.context():
        texts = texts_of(drawing)
    # Exponents are smaller than their base.
    assert {text.get_fontsize() for text in texts} == {8}
    assert overlaps(texts) == []
    box = drawing.bbox
    for text in texts:
        extent = text.get_window_extent()
        assert extent.x0 >= 0
        assert extent.y0 >= 0
        assert extent.x1 <= box.x1
        assert extent.y1 <= box.y1


@pytest.mark.parametrize("run", RUNS)
def test_it_shows_the_papers_rows_the_best_and_two_baselines(run):
    frame = recipe().frame(files(run))
    results = pd.read_csv(KEPT / f"summary/{run}.csv", dtype={"epsilon": str})
    names, ran = {*frame["mechanism"]}, {*results["mechanism"]}
    assert ran & PAPERS <= names
    further = names - PAPERS
    assert len(further & {*catalogue.BASELINES}) == 2
    assert catalogue.NONPRIVATE in further
    assert len(further - {*catalogue.BASELINES}) <= 1
    at = results[results["epsilon"].eq("1") & results["chosen"] & results["reading"].eq("default")]
    at = at[at["direction"].isin(["a"]) | at["direction"].isna()]
    at = at[~at["epsilon_delivered"].gt(1 + 1e-6)].groupby("mechanism")["mean"].first()
    best = at.idxmax() if run in ("adult", "imdb") else at.idxmin()
    assert best in names


def test_a_mechanism_without_an_entry_is_shown_and_a_refuted_one_is_not_the_best(tmp_path):
    given = files("covariance")
    before = {*recipe().frame(given)["mechanism"]}
    (best,) = before - PAPERS - {*catalogue.BASELINES}
    audit = pd.read_csv(given["audit/covariance"])
    audit.loc[audit["mechanism"].eq(best), ["verdict", "epsilon_certified"]] = ["refuted: runs", 3]
    (tmp_path / "audit").mkdir()
    audit.to_csv(tmp_path / "audit/covariance.csv", index=False)
    given["audit/covariance"] = tmp_path / "audit/covariance.csv"
    assert best not in {*recipe().frame(given)["mechanism"]}
    for kind in ("summary", "comparisons"):
        text = given[f"{kind}/covariance"].read_text().replace("jl_exact", "staircase")
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "covariance.csv").write_text(text)
        given[f"{kind}/covariance"] = tmp_path / kind / "covariance.csv"
    frame = recipe().frame(given)
    assert "staircase" in {*frame["mechanism"]}
    texts = [text.get_text() for text in texts_of(drawing_of(frame))]
    assert "staircase (declared only)" in texts


def test_curves_and_prices_are_those_of_the_run():
    frame = recipe().frame(files("regression"))
    drawing = drawing_of(frame)
    errors, prices = drawing.get_axes()
    compared = pd.read_csv(KEPT / "comparisons/regression.csv")
    priced = compared[compared["comparison"].eq("price")].set_index("mechanism")["difference"]
    for name in ("imgm", "clipped_private"):
        part = frame[frame["mechanism"].eq(name)]
        lines = [
            line
            for line in errors.lines
            if str(line.get_label()).startswith(catalogue.label(name)[:12])
        ]
        assert np.array_equal(lines[0].get_ydata(), part["mean"])
        drawn = [line.get_xdata()[0] for line in prices.lines]
        assert priced[name] in drawn
    # What lies beyond the epsilons that were run is an open triangle, at the edge.
    assert priced["mvg_binary"] == np.inf
    assert [line.get_marker() for line in prices.lines][:2] == [">", ">"]


def test_simulated_data_are_stamped(tmp_path):
    frame = recipe().frame(files("regression"))
    stamped = texts_of(drawing_of(frame.assign(data_status="simulated")))
    assert "SIMULATED" in {text.get_text() for text in stamped}
    assert "SIMULATED" not in {text.get_text() for text in texts_of(drawing_of(frame))}


def test_the_same_results_give_the_same_bytes(tmp_path):
    for place in ("first", "second"):
        figures.write("column", files("first_pc"), tmp_path / place / "column_first_pc.svg")
    for end in ("svg", "pdf", "png", "json"):
        first, second = (
            tmp_path / place / f"column_first_pc.{end}" for place in ("first", "second")
        )
        assert first.read_bytes() == second.read_bytes()
    assert b"CreationDate" not in (tmp_path / "first/column_first_pc.pdf").read_bytes()
