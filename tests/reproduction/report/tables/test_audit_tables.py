import re
import shutil

import pandas as pd
import pytest
import runfiles
from samplerun import settle

from matrixdp.checks import InputError
from matrixdp.privacy.sensitivity import Box, IdentityQuery, SecondMomentQuery
from reproduction.auditing import attacks, experiment
from reproduction.experiments.study import Settings
from reproduction.report import audit_status

#: The verdicts that this run gets, whatever the audit's own are.
WORDS = {"mvg_binary": "certified: wasteful", "laplace": "certified: tight"}

QUERIES = {
    "identity": IdentityQuery(Box.cube(2, -1, 1), 20),
    "covariance": SecondMomentQuery(Box.cube(2, -1, 1), 20),
}


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    settings = Settings(
        experiment="regression",
        seed=1,
        trials=1,
        epsilons=("1",),
        directions={"a": (0,), "iid": ()},
        grids={"taus": ("0.75",)},
    )
    rows = [
        pd.DataFrame(experiment.run(mechanism, QUERIES, settings))
        for mechanism in ("mvg_binary", "analytic_gaussian", "laplace")
    ]
    audit = pd.concat(rows)
    ran = audit["verdict"].ne("not run: no guarantee")
    words = audit["mechanism"].map(WORDS).fillna("certified")
    audit.assign(verdict=words.where(ran, audit["verdict"])).to_csv(
        folder / "regression.csv", index=False
    )
    # No query of the experiment that its mechanisms can answer: a file without rows.
    pd.concat(rows).iloc[:0].to_csv(folder / "first_pc.csv", index=False)
    found = pd.DataFrame(attacks.run("regression", QUERIES, 1))
    found.to_csv(folder / "regression_sensitivities.csv", index=False)
    found.iloc[:0].to_csv(folder / "first_pc_sensitivities.csv", index=False)
    table = pd.DataFrame({name: ["x"] for name in ("mechanism", "mistake", "tool", "evidence")})
    table.assign(caught=True, control=True).to_csv(folder / "negative_control.csv", index=False)
    return folder


def written(parts, out):
    """Return the audit of two experiments as text; of one the mechanisms answer nothing."""
    shutil.copytree(parts, out / "audit", dirs_exist_ok=True)
    settle(out, experiments={"regression": {}, "first_pc": {}})
    runfiles.write(out, "tables/audit", "tables/effective_noise")
    return (out / "tables/audit.md").read_text()


def test_the_tables_say_what_was_found(parts, tmp_path):
    shown = written(parts, tmp_path)
    every = pd.read_csv(tmp_path / "tables/audit.csv")
    assert every["subject"].value_counts().to_dict() == {
        "releases": 4,
        "sensitivities": 8,
        "negative control": 1,
    }
    full = every[every["subject"].eq("releases")]
    assert "None of 4 releases failed" in shown
    row = next(line for line in shown.splitlines() if "MVG, binary" in line)
    assert "| 2 | 0 (mu = " in row
    assert "| exact curve |" in row
    assert row.endswith("% | certified: wasteful |")
    row = next(line for line in shown.splitlines() if "| Laplace" in line)
    assert "| 1 | 1 |" in row
    assert "| maximal loss |" in row
    assert row.endswith("% | certified: tight |")
    assert every.loc[every["subject"].eq("sensitivities"), "verdict"].str.startswith("holds").all()
    for query in ("records", "second moments"):
        (row,) = (line for line in shown.splitlines() if f"sensitivity of {query}" in line)
        assert "| search |" in row
    assert every.loc[every["subject"].eq("negative control"), "verdict"].tolist() == ["caught"]
    assert "; 1 of 1 wrong mechanisms caught" in shown
    assert "x: x" not in shown
    rescaled = full["noise_std"] / full["noise_inflation"]
    assert full["rescaled_std"].to_numpy() == pytest.approx(rescaled.to_numpy())
    noise = pd.read_csv(tmp_path / "tables/effective_noise.csv")
    assert {*noise.loc[noise["mechanism"].eq("mvg_binary"), "query"]} == {"identity"}


def test_failures_cannot_be_missed(parts, tmp_path):
    shutil.copytree(parts, tmp_path / "in")
    table = pd.read_csv(parts / "regression.csv")
    laplace = table["mechanism"].eq("laplace")
    table.loc[laplace, "verdict"] = "refuted: the black box proves it"
    table.loc[laplace, ["epsilon_attained", "epsilon_certified"]] = [1.0, 1.7]
    table.to_csv(tmp_path / "in" / "regression.csv", index=False)
    bad = pd.read_csv(parts / "negative_control.csv").assign(caught=False)
    bad.to_csv(tmp_path / "in" / "negative_control.csv", index=False)
    shown = written(tmp_path / "in", tmp_path / "out")
    assert shown.startswith("> **Failed releases: 1. Failed negative control: 1.**")
    assert "; 0 of 1 wrong mechanisms caught" in shown
    assert "1 of 4 releases failed" in shown
    (row,) = (line for line in shown.splitlines() if "| Laplace" in line)
    assert "not private: epsilon at least 1.7" in row
    noise = pd.read_csv(tmp_path / "out/tables/effective_noise.csv").set_index("mechanism")
    assert noise.loc["laplace", ["noise_inflation", "rescaled_std"]].isna().all()


def test_not_refuted_is_not_failed(parts, tmp_path):
    shutil.copytree(parts, tmp_path / "in")
    table = pd.read_csv(parts / "regression.csv")
    table.loc[table["mechanism"].eq("laplace"), "verdict"] = "not refuted: the bound is above"
    table.to_csv(tmp_path / "in" / "regression.csv", index=False)
    shown = written(tmp_path / "in", tmp_path / "out")
    assert shown.startswith("> **1 release of others' classes: not refuted, and not certified.")
    assert "None of 4 releases failed" in shown


def test_what_nothing_certifies_is_declared_and_no_more():
    verdicts = {
        "tight": ["certified: tight", "not run: no guarantee"],
        "wishart": ["declared: not certifiable at this sample size: ..."],
        "mixed": ["certified", "declared: the bound is above the claimed epsilon"],
        "wrong": ["certified", "declared: a doubt", "refuted: the black box proves it"],
        "seen": ["certified", "not refuted"],
        "none": ["not run: no guarantee"],
    }
    rows = [(name, verdict) for name, found in verdicts.items() for verdict in found]
    table = pd.DataFrame(rows, columns=["mechanism", "verdict"])
    assert audit_status.by_mechanism(table)["audit_status"].to_dict() == {
        "tight": "certified",
        "wishart": "declared",
        "mixed": "declared",
        "wrong": "refuted",
        "seen": "not refuted",
        "none": "",
    }


@pytest.mark.parametrize(
    ("attained", "proved", "text"),
    [
        (1.0, 3.14, "not private: epsilon at least 3.14"),
        (2.5, 0.3, "not private: epsilon at least 2.5"),
        (float("inf"), 0.3, "not private: no epsilon"),
        (float("nan"), 3.0, "not private: epsilon at least 3"),
        # Nothing above the claimed epsilon is known.
        (1.0, 0.3, "not private"),
        (float("nan"), float("nan"), "not private"),
    ],
)
def test_a_refutation_says_what_epsilon_it_shows(attained, proved, text):
    table = pd.DataFrame({"mechanism": "wrong", "verdict": ["refuted: x", "certified"]})
    table = table.assign(
        epsilon=1.0, epsilon_attained=[attained, 50.0], epsilon_certified=[proved, 60.0]
    )
    rows = audit_status.joined(pd.DataFrame({"mechanism": ["wrong", "other"]}), table)
    wrong, other = rows.to_dict("records")
    assert (audit_status.text(wrong), audit_status.text(other)) == (text, "")
    assert audit_status.mark("1", wrong) == text
    assert audit_status.refuted(rows).tolist() == [True, False]


def test_a_declared_epsilon_is_marked_and_the_power_is_told(parts, tmp_path):
    (tmp_path / "in").mkdir()
    for file in parts.iterdir():
        shutil.copy(file, tmp_path / "in")
    table = pd.read_csv(parts / "regression.csv")
    laplace = table["mechanism"].eq("laplace")
    table.loc[laplace, ["verdict", "tool"]] = "declared: not certifiable", "black box"
    table.loc[laplace, ["epsilon_attained", "shortfall"]] = float("nan")
    table.to_csv(tmp_path / "in" / "regression.csv", index=False)
    shown = written(tmp_path / "in", tmp_path / "out")
    assert "1 (declared only)" in shown
    assert "untested" in shown
    assert re.search(r"[\d.]+% too small \(1 untested\)", shown)


def test_a_damaged_part_is_named(parts, tmp_path):
    written(parts, tmp_path)
    (tmp_path / "audit/regression.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"audit/regression.* lacks .*; delete it and run again"):
        runfiles.write(tmp_path, "tables/audit")
