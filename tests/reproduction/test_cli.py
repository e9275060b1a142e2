"""Every verb as a person's command: what it writes, and what it says about bad input."""

from __future__ import annotations

import copy
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import refusals
import yaml
from packages import PATH, ROOT

from reproduction import cli, config, job_settings

TABLES = Path(__file__).with_name("refusals.toml")
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())


def settings(**changes):
    """Return settings of two trials; ``changes`` are of experiment I.

    These are made after the settings were checked, as a verb must notice them by itself.
    """
    chosen = config.resolve(
        copy.deepcopy(SHIPPED) | {"experiment_defaults": {"trials": 2, "epsilons": [1]}}
    )
    chosen["experiments"]["regression"] |= {"trials_at_table_epsilon": 20, **changes}
    return chosen


def trials_words(results, mechanism, chosen, experiment="regression"):
    """Return the words that run a mechanism of an experiment."""
    text = job_settings.dump_settings(job_settings.trials(chosen, experiment, mechanism))
    data = results / "data" / job_settings.dataset(chosen, experiment) / "matrix.npy"
    out = results / "trials" / experiment / "default" / f"{mechanism}.csv.gz"
    return ["trials", mechanism, "--settings", text, "--data", data, "--out", out]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A run's folder with stand-ins of two data sets; only for copying."""
    results = tmp_path_factory.mktemp("run") / "results"
    for name in ("liver", "movement"):
        prepare = ["prepare", name, "--source", "simulated", "--seed", "7"]
        assert cli.main([*prepare, "--out", str(results / "data" / name)]) == 0
    return results


@pytest.fixture
def results(prepared, tmp_path):
    """A run's folder of its own."""
    return Path(shutil.copytree(prepared, tmp_path / "results"))


@pytest.fixture
def call(capsys):
    """Return a function that runs a verb and returns exit status, output and messages."""

    def run(*arguments):
        try:
            status = cli.main([str(word) for word in arguments])
        except SystemExit as end:
            status = end.code
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def trials(call, results):
    """Return a function that runs a regression's trials and returns their file."""

    def run(mechanism, chosen):
        words = trials_words(results, mechanism, chosen)
        outcome = call(*words)
        assert outcome[0] == 0, outcome
        return words[-1]

    return run


def verbs(call):
    return re.findall(r"^    ([\w-]+)", call("--help")[1], re.MULTILINE)


def test_every_verb_explains_itself(call):
    names = verbs(call)
    assert names == [*cli.VERBS]
    assert len(names) <= 26
    for name in names:
        status, out, err = call(name, "--help")
        assert (status, err) == (0, "")
        assert out.startswith(f"usage: python -m reproduction {name} ")
        # Usage, a sentence, arguments.
        assert out.count("\n\n") >= 2


def assert_refused(outcome, sentence):
    status, out, err = outcome
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1, err


@pytest.mark.parametrize(("words", "says"), refusals.rows(TABLES, "words"))
def test_words_are_refused(words, says, capsys, tmp_path):
    words = [word.replace("OUT", str(tmp_path)) for word in words.split()]
    refusals.command(cli.main, words, tmp_path, capsys, says)


@pytest.mark.parametrize(
    ("mechanism", "experiment", "changes", "part", "sentence"),
    [
        ("laplac", "regression", {}, {}, "mechanism is 'laplac'; did you mean 'laplace'?"),
        ("laplace", "regression", {}, {"task": "regresion"}, "did you mean 'regression'?"),
        ("laplace", "regression", {}, {"reading": "zeta_litera"}, "did you mean 'zeta_literal'?"),
        ("laplace", "regression", {}, {"dataset": "ctg"}, "needs the data set ctg, but was given"),
        ("mvg_binary", "regression", {"train": 345}, {}, "train is 345 for 345 records; leave"),
        ("mvg_binary", "regression", {"directions": {}}, {}, "direction has no values; name at"),
        ("mvg_binary", "regression", {}, {"grids": {}}, "tau has no values; name at least one"),
        ("laplace", "regression", {}, {"trials": 0}, "trials is 0; it must be a whole number"),
        ("laplace", "regression", {}, {"target": "drink"}, "'drink'; did you mean 'drinks'?"),
        ("laplace", "regression", {}, {"features": ["sgptt", "drinks"]}, "did you mean 'sgpt'?"),
        ("random", "covariance", {}, {}, "delete it and run `snakemake data`"),
    ],
)
def test_trials_that_cannot_run_are_refused(
    mechanism, experiment, changes, part, sentence, call, results
):
    words = trials_words(results, mechanism, settings(**changes), experiment)
    words[3] = job_settings.dump_settings(json.loads(words[3]) | part)
    assert_refused(call(*words), sentence)
    assert not (results / "trials").exists()


def test_from_trials_to_a_table(call, trials, results):
    rows = ["nonprivate", "laplace", "imgm"]
    chosen = settings(mechanisms=rows)
    (results / "settings.yaml").write_text(config.text(chosen))
    made = [trials(row, chosen) for row in rows]
    file = made[-1]
    digests = [job_settings.digest(trials_words(results, row, chosen)[3]) for row in rows]
    places = [results / kind / "regression.csv" for kind in ("summary", "comparisons")]
    words = ["summary", *made, "--out", places[0], "--comparisons", places[1], "--settings"]

    def job(*digests):
        return job_settings.dump_settings({"experiment": "regression", "digests": digests})

    others = call(*words, job("0", *digests[1:]))
    assert_refused(others, f"{made[0]} is of other settings; delete it and run again")
    assert_refused(call(*words, job(digests[0])), "1 digests for 3 files")
    assert_refused(call(*words, digests[0]), "no JSON object with an experiment")
    printed, rows_file = ROOT / "workflow/published/table3.csv", results / "rows/regression.csv"
    joined = {"experiment": "regression", "table_epsilon": "1", "same_as": {}}
    join = ["rows", *places, *made, printed, "--settings", job_settings.dump_settings(joined)]
    made_from = [rows_file, printed, results / "settings.yaml"]
    of_regression = ["--experiment", "regression"]
    table3 = ["table", "paper_table", *made_from, *of_regression, "--out"]
    table3 += [results / "tables/table3.csv"]
    for verb in ([*words, job(*digests)], [*join, "--out", rows_file], table3):
        outcome = call(*verb)
        assert outcome[0] == 0, outcome
    # What it is made from must be there, and be enough.
    absent, nowhere = results / "audit/regression.csv", results / "other/table3.csv"
    for files, sentence in (
        ([*made_from, absent], f"{absent} is missing; run `snakemake {absent}`"),
        (made_from[1:], "rows/regression is not among the files of this step; run `snakemake`"),
        (made_from[:-1], f"{rows_file} has no settings.yaml beside it; name that of the run too"),
    ):
        assert_refused(
            call("table", "paper_table", *files, *of_regression, "--out", nowhere), sentence
        )
    for recipe, sentence in (
        ("paper_tabel", "did you mean 'paper_table'?"),
        ("paper_table", "paper_table is of one experiment; add --experiment NAME"),
    ):
        assert_refused(call("table", recipe, *made_from, "--out", nowhere), sentence)
    assert not nowhere.parent.exists()
    summary = pd.read_csv(results / "summary" / "regression.csv")
    assert {*summary["mechanism"]} == {*rows}
    table = pd.read_csv(results / "tables" / "table3.csv").set_index("mechanism")
    # What claims are judged by beside them stands in no table.
    shown = pd.read_csv(file).query("phase == 'report'")
    assert table.loc["imgm", "mean"] == pytest.approx(shown["value"].mean())
    for suffix in (".md", ".tex"):
        assert "SIMULATED DATA" in (results / "tables" / f"table3{suffix}").read_text()


def test_the_settings_decide_and_nothing_else(trials, results):
    def values(file):
        return pd.read_csv(file)["value"].to_numpy()

    file = trials("laplace", settings())
    first, content = values(file), file.read_bytes()
    # Nor what else is run in the same process.
    trials("zero", settings())
    np.testing.assert_allclose(values(trials("laplace", settings())), first, rtol=1e-9)
    features = SHIPPED["experiments"]["section10_2"]["features"]
    other = values(trials("laplace", settings(features=features, directions={})))
    assert not np.isin(other, first).any()
    # Only the rows are in the file: no name, no time.
    assert gzip.compress(gzip.decompress(content), 3, mtime=0)[10:] == content[10:]
    assert content[3:8] == bytes(5)


def test_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "reproduction", "prepare", "nothing", "--out", "nowhere"],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("python -m reproduction prepare: dataset is 'nothing'")
    assert done.stderr.count("\n") == 1
