"""One mechanism against each: what the judge says, of the right row, and nothing beside it."""

import re

import pandas as pd
import pytest
from packages import KEPT

from matrixdp.checks import InputError
from reproduction import catalogue
from reproduction.report import inputs, markup, tables
from reproduction.report.comparisons import BETTER, EVEN, PAIR, WORSE

TURNED = {BETTER: WORSE, WORSE: BETTER, EVEN: EVEN}
ROWS = [("first_pc", "laplace"), ("covariance", "imgm"), ("adult", "pld_gaussian")]


def files(run):
    every = inputs.below(KEPT)
    names = [f"{kind}/{run}" for kind in ("summary", "comparisons", "audit")]
    return {name: every[name] for name in [*names, "settings"] if name in every}


def make(run, mechanism, folder, given=None):
    tables.write("against_each", given or files(run), folder / "table.csv", mechanism)
    return inputs.read(
        "tables/table", inputs.below(folder.parent) | {"tables/table": folder / "table.csv"}
    )


@pytest.mark.parametrize(("run", "mechanism"), ROWS)
def test_each_difference_and_verdict_is_the_judges(run, mechanism, tmp_path):
    table = make(run, mechanism, tmp_path)
    table = table[table["against"].ne(mechanism)]
    judged = pd.read_csv(KEPT / f"comparisons/{run}.csv", keep_default_na=False, na_values=[""])
    judged = judged[judged["comparison"].eq(PAIR) & judged["epsilon"].notna()]
    left, right = (judged[judged[side].eq(mechanism)] for side in ("mechanism", "against"))
    assert len(table) == len(left) + len(right) > 0
    found = {(row.against, float(row.epsilon)): row for row in table.itertuples()}
    for sign, part, other in ((1, left, "against"), (-1, right, "mechanism")):
        for row in part.to_dict("records"):
            mine = found[row[other], float(row["epsilon"])]
            ends = [sign * row[name] for name in ("low", "high")][::sign]
            assert [mine.difference, mine.low, mine.high] == [sign * row["difference"], *ends]
            assert mine.p_corrected == row["p_corrected"] or row["same_distribution"]
            wrong = mine.epsilon_delivered > float(row["epsilon"]) * (1 + 1e-6)
            verdict = row["verdict"] if sign == 1 else TURNED[row["verdict"]]
            assert (mine.verdict == verdict) != wrong


@pytest.mark.parametrize(("run", "mechanism"), ROWS)
def test_privacy_stands_beside_each_row(run, mechanism, tmp_path):
    table = make(run, mechanism, tmp_path)
    results = pd.read_csv(KEPT / f"summary/{run}.csv", dtype=str, keep_default_na=False)
    results = results[results["chosen"].eq("True")]
    for row in table.to_dict("records"):
        baseline = row["against"] in catalogue.BASELINES
        of = results[results["mechanism"].eq(row["against"])]
        if not baseline:
            of = of[of["epsilon"].astype(float).eq(float(row["epsilon"]))]
        delivered = {float(text) for text in of["epsilon_delivered"] if text}
        assert (row["epsilon_delivered"] in delivered) != baseline
        assert pd.isna(row["delta"]) or row["delta"] in {*map(float, of["delta"])}
    # The audit, and with it the noise that is too much, is of one epsilon.
    audited = table.loc[table["noise_inflation"].notna(), "epsilon"]
    assert {*map(float, audited)} == (set() if run == "adult" else {1.0})


def test_what_is_refuted_has_no_verdict(tmp_path):
    given = files("first_pc")
    audit = pd.read_csv(given["audit/first_pc"])
    goe = audit["mechanism"].eq("goe")
    audit.loc[goe, ["verdict", "epsilon_certified"]] = ["refuted: by its runs", 3.0]
    (tmp_path / "audit").mkdir()
    given["audit/first_pc"] = tmp_path / "audit/first_pc.csv"
    audit.to_csv(given["audit/first_pc"], index=False)
    table = make("first_pc", "laplace", tmp_path, given)
    verdicts = table.groupby("against")["verdict"].agg(lambda words: words.notna().any())
    assert not verdicts["goe"]
    assert verdicts.drop(["goe", "laplace"]).all()
    assert "not private: epsilon at least 3" in (tmp_path / "table.md").read_text()
    table = make("first_pc", "goe", tmp_path, given)
    assert table["verdict"].isna().all()
    assert "Better than" not in (tmp_path / "table.md").read_text()


def test_what_is_only_declared_is_in_no_headline(tmp_path):
    given = files("first_pc")
    audit = pd.read_csv(given["audit/first_pc"])
    beaten = audit["mechanism"].eq("mvg_thm2")
    audit.loc[beaten, "verdict"] = "declared: nothing could test it"
    (tmp_path / "audit").mkdir()
    given["audit/first_pc"] = tmp_path / "audit/first_pc.csv"
    audit.to_csv(given["audit/first_pc"], index=False)
    for source, expected in (
        (None, "13 and worse than 3 of 16 private rows"),
        (given, "12 and worse than 3 of 15 private rows"),
    ):
        make("first_pc", "laplace", tmp_path, source)
        assert expected in (tmp_path / "table.md").read_text()
    assert "| declared |" in (tmp_path / "table.md").read_text()


def test_the_mechanism_is_one_of_the_experiment(tmp_path):
    for name, message in (
        ("laplac", "did you mean 'laplace'"),
        ("nonprivate", "must be one of"),
        ("", "name the one that is shown"),
    ):
        with pytest.raises(InputError, match=message):
            make("first_pc", name, tmp_path)
    with pytest.raises(InputError, match="leave it out"):
        tables.write("experiment", files("first_pc"), tmp_path / "table.csv", "laplace")


def test_it_goes_into_a_paper(tmp_path):
    make("first_pc", "laplace", tmp_path)
    grid = markup.read(tmp_path / "table.json")
    assert [title for title, _ in grid.groups] == ["", "Mechanisms", "Baselines"]
    assert [row[0] for row in grid.groups[0][1]] == ["Laplace"]
    latex = markup.latex(grid)
    number = r"\$-\$0\.\d+"
    assert re.search(rf"MVG, Theorem 2 & 0\.\d+ & {number} & {number} to {number} &", latex)
    assert r"\label{tab:experimentiifirstprincipalcomponentlaplaceagainsteach}" in latex
