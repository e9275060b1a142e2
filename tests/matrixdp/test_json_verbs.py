"""Every verb under --json: one object on stdout with what the text says, in all digits."""

import json
import math

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
from matrixdp.cli import terminal

SPECIFICATION = """
file = "people.csv"
account = "books.json"
records = 400
missing = "middle"
total = {epsilon = 2.0, delta = 1e-5}
"""
SINGLE = f'{SPECIFICATION}query = "mean"\nepsilon = 0.5\ndelta = 1e-6\n[bounds]\nage = [0, 120]\n'
SEVERAL = f"""{SPECIFICATION}
[bounds]
age = [0, 120]
income = [0, 200000]
[[release]]
query = "mean"
[[release]]
query = "covariance"
label = "both"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,income\n" + "40,50000\n60,90000\n" * 200)
    (tmp_path / "single.toml").write_text(SINGLE)
    (tmp_path / "several.toml").write_text(SEVERAL)
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """Return a function that runs a verb: its object, and nothing on stderr."""

    def call(*words):
        assert cli.main([*words, "--json"]) == 0
        out, error = capsys.readouterr()
        assert not error
        return json.loads(out)

    return call


def test_a_release_says_its_numbers_notes_and_paths(folder, run):
    (one,) = run("release", "single.toml", "--out", "out")["releases"]
    assert one["name"] == "mean"
    missing = "a missing value counts as age 60, towards which it moves the answer"
    rest = "1 column of people.csv has no bounds, and nothing is said of them"
    assert one["notes"] == [rest, missing]
    assert one["paths"]["release"] == "out/mean.csv"
    assert one["receipt"] == json.loads((folder / one["paths"]["receipt"]).read_text())
    (name, noise), *_ = one["receipt"]["noise_std"].items()
    assert one["says"].startswith(f"noise of +- {noise:.3g} in the mean of {name}")
    (again,) = run("release", "single.toml", "--out", "out")["releases"]
    assert again["notes"] == [
        "this is the answer of an earlier run of the same request, not charged",
        rest,
        missing,
    ]
    assert {**again, "notes": [rest, missing]} == one


def test_bounds_are_an_object_of_pairs_by_column(folder, run):
    text = SPECIFICATION.replace("missing", 'columns = ["age", "income"]\nepsilon = 1.0\nmissing')
    (folder / "limits.toml").write_text(text)
    content = run("bounds", "limits.toml")
    assert content["bounds"] == {"age": [32.0, 64.0], "income": [32768.0, 131072.0]}
    assert (content["notes"], content["receipt"]["query"]) == ([], "bounds")


def test_several_releases_are_one_object(run):
    releases = run("release", "several.toml", "--even-if-useless")["releases"]
    assert [one["name"] for one in releases] == ["mean", "both"]
    assert releases[1]["paths"]["release"] == "release/both/covariance.csv"


def test_a_recommendation_says_its_rows(run, capsys):
    (one,) = run("recommend", "single.toml")["releases"]
    words = ["recommend", "single.toml"]
    assert cli.main(words) == 0
    text = capsys.readouterr().out
    for row in one["mechanisms"]:
        assert f"{row['says']}; the account has room for {row['room']} more" in text
    for line in one["details"]:
        assert f"{line}\n" in text
    in_python = mdp.recommend("single.toml")
    assert [(row["name"], row["noise"]) for row in one["mechanisms"]] == [
        (str(option).partition(":")[0], option.error) for option in in_python
    ]
    assert (one["name"], one["epsilon"], one["delta"]) == ("mean", 0.5, 1e-6)


def test_recommendations_for_several_releases_are_one_object(folder, run):
    path = folder / "several.toml"
    path.write_text(path.read_text().replace("epsilon = 2.0", "epsilon = 12.0"))
    releases = run("recommend", "several.toml")["releases"]
    assert [one["name"] for one in releases] == ["mean", "both"]
    assert "total.epsilon is 12, above 10" in releases[0]["notes"][0]


def test_an_account_says_what_is_spent_and_left(folder, run, capsys):
    empty = run("account", "single.toml")
    assert empty == {"account": str(folder / "books.json"), "releases": []}
    (released,) = run("release", "single.toml")["releases"]
    says = run("account", "people.csv")
    assert says["account"] == str(folder / "books.json")
    assert says["total"]["epsilon"] == 2
    (charge,) = says["releases"]
    assert charge["query"] == "mean"
    assert charge["receipt"] == released["receipt"]["digest"]
    assert not {"request", "answer"} & {*charge}
    assert cli.main(["account", "people.csv"]) == 0
    text = capsys.readouterr().out
    assert f"epsilon {charge['epsilon']:.4g} at delta {charge['delta']:.4g}\n" in text
    assert f"epsilon {says['spent_epsilon']:.4g}" in text
    # What is left is rounded down.
    for number in ("left_epsilon", "left_pure_epsilon"):
        assert f"epsilon {math.floor(says[number] * 100) / 100:.2f}" in text
    assert f"delta {says['left_delta']:.4g}" in text


def test_a_number_that_json_has_not_is_null(capsys):
    terminal.show({"a": [float("inf"), (np.float64("nan"), np.int64(3))], "b": {"c": 0.1}})
    assert json.loads(capsys.readouterr().out) == {"a": [None, [None, 3]], "b": {"c": 0.1}}
