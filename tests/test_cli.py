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

import pandas as pd
import pytest
import yaml

from matrixdp import cli, config

ROOT = Path(__file__).parents[1]
SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())


def settings(results, **changes):
    """Write settings of two trials where verbs read them; ``changes`` are of experiment I.

    These are made after the settings were checked, as a verb must notice them by itself.
    """
    chosen = config.resolve(
        copy.deepcopy(SHIPPED) | {"experiment_defaults": {"trials": 2, "epsilons": [1]}}
    )
    chosen["experiments"]["regression"] |= changes
    config.write(chosen, results)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A run's folder with stand-ins of two data sets; only for copying."""
    results = tmp_path_factory.mktemp("run") / "results"
    settings(results)
    for name in ("liver", "movement"):
        prepare = ["data", name, "--source", "simulated", "--seed", "7"]
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
    """Return a function that runs a regression's trials and returns the file of the last one."""

    def run(*mechanisms):
        folder = results / "trials" / "regression" / "default"
        outcome = call("trials", "regression", *mechanisms, "--results", results, "--out", folder)
        assert outcome[0] == 0, outcome
        return folder / f"{mechanisms[-1]}.csv.gz"

    return run


def verbs(call):
    return re.findall(r"^    (\w+)\b", call("--help")[1], re.MULTILINE)


def test_every_verb_explains_itself(call):
    names = verbs(call)
    assert names == [*cli.VERBS]
    assert len({*names} - {"recommend", "release"}) <= 16  # two are not the workflow's
    for name in names:
        status, out, err = call(name, "--help")
        assert (status, err) == (0, "")
        assert out.startswith(f"usage: matrixdp {name} ")
        # Usage, a sentence, arguments.
        assert out.count("\n\n") >= 2


def assert_refused(outcome, sentence):
    status, out, err = outcome
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1, err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("", "the following arguments are required: VERB"),
        ("tables", "invalid choice: 'tables' (choose from"),
        ("data liverr --out OUT", "dataset is 'liverr'; did you mean 'liver'?"),
        ("data liver --source simulate --out OUT", "did you mean 'simulated'?"),
        ("data liver --seed -1 --out OUT", "'-1' must be a whole number of at least 0"),
        ("data liver --seed x --out OUT", "'x' must be a whole number of at least 0"),
        ("data liver --mirror OUT/no --out OUT", "which is no folder; correct it or leave it out"),
        ("data liver", "the following arguments are required: --out"),
        ("summary regression --results OUT", "settings.yaml does not exist; run `snakemake`"),
        ("trials regression laplace --results OUT --out OUT", "settings.yaml does not exist"),
        ("trials regression --out OUT", "the following arguments are required: mechanism"),
        ("theory bound --out OUT", "theory is 'bound'; did you mean 'bounds'?"),
        ("theory bounds --seed x --out OUT", "'x' must be a whole number of at least 0"),
        ("timing --results OUT", "holds no benchmark files (*.tsv); run the workflow first"),
    ],
)
def test_bad_input_is_one_sentence(words, sentence, call, tmp_path):
    arguments = [word.replace("OUT", str(tmp_path)) for word in words.split()]
    assert_refused(call(*arguments), sentence)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("trials regresion laplace", "experiment is 'regresion'; did you mean 'regression'?"),
        ("trials regression laplac", "mechanism is 'laplac'; did you mean 'laplace'?"),
        ("trials regression laplace --reading zeta_litera", "did you mean 'zeta_literal'?"),
        ("trials covariance random", "does not exist; run `snakemake data`"),
        ("sweep regresion", "experiment is 'regresion'; did you mean 'regression'?"),
        ("audit regresion", "experiment is 'regresion'; did you mean 'regression'?"),
        ("train adults imgm", "experiment is 'adults'; did you mean 'adult'?"),
        ("extract adult", "adult trains on its data as they are; it has no extractor"),
    ],
)
def test_bad_experiments_are_one_sentence(words, sentence, call, results):
    out = results / "new"
    assert_refused(call(*words.split(), "--results", results, "--out", out), sentence)
    assert not out.exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"train": 345}, "train is 345 for 345 records; leave at least one"),
        ({"directions": {}}, "direction has no values; name at least one"),
    ],
)
def test_bad_settings_are_one_sentence(changes, sentence, call, results):
    settings(results, **changes)
    words = ["trials", "regression", "mvg_binary", "--results", results, "--out", results / "new"]
    assert_refused(call(*words), sentence)
    assert not (results / "new").exists()


def test_damaged_data_are_one_sentence(call, results):
    words = ["trials", "first_pc", "random", "--results", results, "--out", results / "new"]
    matrix = results / "data" / "movement" / "matrix.npy"
    matrix.write_bytes(matrix.read_bytes()[:-8])
    assert_refused(call(*words), "is damaged or of another run than its neighbours")
    matrix.with_name("provenance.json").write_text("{")
    assert_refused(call(*words), "is damaged or of another run than its neighbours")
    assert not (results / "new").exists()


@pytest.mark.parametrize("verb", ["data", "trials"])
def test_a_place_that_cannot_be_written(verb, call, results):
    (results / "file").touch()
    blocked = results / "file" / "there"
    words = {
        "data": ["liver", "--source", "simulated"],
        "trials": ["regression", "zero", "--results", results],
    }
    outcome = call(verb, *words[verb], "--out", blocked)
    assert_refused(outcome, f"{blocked}")
    assert "cannot be written" in outcome[2]


def test_from_trials_to_a_table(call, trials, results):
    rows = ["nonprivate", "laplace", "imgm"]
    settings(results, mechanisms=rows)
    file = trials(*rows)
    for words in (["summary", "regression"], ["table", "table3"]):
        outcome = call(*words, "--results", results)
        assert outcome[0] == 0, outcome
    summary = pd.read_csv(results / "summary" / "regression.csv")
    assert {*summary["mechanism"]} == {*rows}
    table = pd.read_csv(results / "tables" / "table3.csv").set_index("mechanism")
    # What claims are judged by beside them stands in no table.
    shown = pd.read_csv(file).query("phase == 'report'")
    assert table.loc["imgm", "mean"] == pytest.approx(shown["value"].mean())
    for suffix in (".md", ".tex"):
        assert "SIMULATED DATA" in (results / "tables" / f"table3{suffix}").read_text()


def test_the_settings_decide_and_nothing_else(trials, results):
    first = trials("laplace").read_bytes()
    # Nor what else is run in the same process.
    assert trials("zero", "laplace").read_bytes() == first
    features = SHIPPED["experiments"]["section10_2"]["features"]
    settings(results, features=features, directions={})
    assert trials("laplace").read_bytes() != first
    # Only the rows are in the file: no name, no time.
    assert gzip.compress(gzip.decompress(first), 6, mtime=0)[10:] == first[10:]
    assert first[3] == 0
    assert first[4:8] == bytes(4)


def want_originals(results):
    """Let a stand-in be there for want of the originals."""
    file = results / "data" / "liver" / "provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "requested": "auto"}))


def test_refresh_warns_of_stand_ins_that_nobody_asked_for(call, results):
    words = ["refresh", "--status", "--results", results]
    assert call(*words) == (0, "", "")
    assert call(*words[:-1], results / "nothing") == (0, "", "")
    want_originals(results)
    status, _, err = call(*words)
    assert status == 0
    assert "simulated stand-ins take the place of liver" in err
    assert err.count("\n") == 1


def test_refresh_looks_where_it_is_told(call, results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.delenv("DATA_MIRROR", raising=False)
    assert call("refresh") == (0, "", "")
    want_originals(results)
    status, _, err = call("refresh")
    assert status == 0
    assert "cannot be reached" in err
    status, _, err = call("refresh", "--mirror", "nowhere")
    assert "data.mirror is 'nowhere', which is no folder" in err
    elsewhere = {**SHIPPED, "data": {"source": "auto", "mirror": "elsewhere"}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(elsewhere))
    assert "data.mirror is 'elsewhere', which is no folder" in call("refresh")[2]
    monkeypatch.setenv("DATA_MIRROR", "nowhere")
    assert "data.mirror is 'nowhere', which is no folder" in call("refresh")[2]
    (tmp_path / "config.yaml").write_text("trials: [")
    monkeypatch.delenv("DATA_MIRROR")
    assert_refused(call("refresh"), "config.yaml is not valid YAML")
    assert json.loads((results / "data" / "liver" / "provenance.json").read_text())


def test_timing_sums_the_jobs(call, tmp_path):
    folder = tmp_path / "benchmarks" / "trials" / "regression"
    folder.mkdir(parents=True)
    for name in ("laplace", "imgm"):
        (folder / f"{name}.tsv").write_text("s\tcpu_time\tmax_rss\n1.5\t1.25\t100\n")
    status, out, _ = call("timing", "--results", tmp_path)
    assert status == 0
    assert re.search(r"all +2 +3\.0 +2\.5 +100", out)
    assert len(pd.read_csv(tmp_path / "timing.csv")) == 2


def test_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "matrixdp", "data", "nothing", "--out", "nowhere"],
        env={**os.environ, "PYTHONPATH": str(ROOT / "workflow")},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("matrixdp data: dataset is 'nothing'")
    assert done.stderr.count("\n") == 1
