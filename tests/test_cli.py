"""Every verb as a person's command: what it writes, and what it says about bad input."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from matrixdp import cli

ROOT = Path(__file__).parents[1]
REGRESSION = ["--target", "drinks", "--train", "248", "--trials", "2"]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with a stand-in of the liver data."""
    folder = tmp_path_factory.mktemp("results") / "data"
    for name in ("liver", "movement"):
        prepare = ["data", name, "--source", "simulated", "--seed", "7"]
        assert cli.main([*prepare, "--out", str(folder / name)]) == 0
    return folder


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
def trials(call, data, tmp_path):
    """Return a function that runs a regression's trials and returns its file."""

    def run(mechanism, *options, name="rows"):
        file = tmp_path / f"{name}.csv.gz"
        where = ["--data", data / "liver", "--out", file]
        assert call("trials", "regression", mechanism, *where, *REGRESSION, *options)[0] == 0
        return file

    return run


def verbs(call):
    return re.findall(r"^    (\w+) ", call("--help")[1], re.MULTILINE)


def test_every_verb_explains_itself(call):
    names = verbs(call)
    known = {"data", "refresh", "status", "trials", "train", "summary", "table", "timing"}
    assert known <= set(names)
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
        ("summary OUT/no.csv.gz --out OUT/s.csv", "no.csv.gz is not a whole trial file"),
        ("table 6 --summary OUT/s.csv --out OUT", "must be one of 3, 4, 5"),
        ("table 3 --summary OUT/s.csv --epsilon 0 --out OUT", "epsilon is '0'; it must be"),
        ("table 3 --summary OUT/s.csv --out OUT", "s.csv is not a whole summary file"),
        ("setups 2 OUT/no.json --config {trials:1} --out OUT", "config.yaml"),
        ("setups 2 OUT/no.json --config { --out OUT", "config.yaml is not valid YAML"),
        ("setups 2 OUT/no.json --config {} --out OUT", "lacks the key 'experiments'"),
        ("setups 3 OUT/no.json --config {experiments:{}} --out OUT", "config.yaml"),
        ("schemes liver --summary OUT/s.csv --out OUT", "must be one of adult, cora, imdb"),
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
        ("regresion laplace", "experiment is 'regresion'; did you mean 'regression'?"),
        ("regression laplac", "mechanism is 'laplac'; did you mean 'laplace'?"),
        ("regression laplace --target drink", "target is 'drink'; did you mean 'drinks'?"),
        ("regression laplace --features sgpt,drink", "features is 'drink'; did you mean 'drinks'?"),
        ("regression laplace --trials 0", "trials is 0; it must be a whole number of at least 1"),
        ("regression laplace --trials x", "invalid int value: 'x'"),
        ("regression laplace --seed -1", "'-1' must be a whole number of at least 0"),
        ("regression laplace --train 345", "train is 345 for 345 records; leave at least one"),
        ("regression laplace --adjacency swap", "adjacency is 'swap'"),
        ("regression laplace --epsilons 1,0", "epsilons is '0'; it must be a finite number above"),
        ("regression laplace --epsilons=-1", "epsilons is '-1'; it must be a finite number above"),
        ("regression laplace --epsilons nan", "epsilons is 'nan'; it must be a finite number"),
        ("regression laplace --epsilons inf", "epsilons is 'inf'; it must be a finite number"),
        ("regression laplace --epsilons ,", "',' must name at least one value"),
        ("regression laplace --delta 2", "delta is 2.0; it must be a number strictly between"),
        ("regression laplace --delta 0", "delta is '0'; it must be a finite number above 0"),
        ("regression laplace --delta x", "delta is 'x'; it must be a finite number above 0"),
        ("regression mvg_binary", "direction has no values; name at least one"),
        ("regression mvg_binary --direction a=sgpt", "tau has no values; name at least one"),
        ("regression mvg_binary --direction a=sgtp --taus 0.5", "did you mean 'sgpt'?"),
        ("regression mvg_binary --direction sgpt --taus 0.5", "must have the form NAME=FEATURE"),
        ("regression mvg_binary --direction =sgpt --taus 0.5", "must have the form NAME=FEATURE"),
        ("regression mvg_binary --direction a=sgpt --taus 1.5", "tau is 1.5; it must be a number"),
        ("regression jl_exact --rows 0.5", "rows is 0.5"),
    ],
)
def test_bad_trials_are_one_sentence(words, sentence, call, data, tmp_path):
    fixed = ["--data", data / "liver", "--out", tmp_path / "rows.csv.gz", *REGRESSION]
    assert_refused(call("trials", *fixed, *words.split()), sentence)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["target", "train"])
def test_what_a_regression_needs_is_named(option, call, data, tmp_path):
    fixed = ["--data", data / "liver", "--out", tmp_path / "rows.csv.gz"]
    given = {"target": ["--train", "248"], "train": ["--target", "drinks"]}[option]
    outcome = call("trials", "regression", "zero", *fixed, *given)
    assert_refused(outcome, f"regression lacks --{option}; give it")


def test_data_that_are_not_there_or_damaged(call, data, tmp_path):
    words = ["trials", "first_pc", "random", "--out", tmp_path / "rows.csv.gz", "--data"]
    assert_refused(call(*words, tmp_path / "no"), "does not exist; run `snakemake data`")
    broken = tmp_path / "movement"
    broken.mkdir()
    provenance = (data / "movement" / "provenance.json").read_bytes()
    (broken / "provenance.json").write_bytes(provenance)
    (broken / "matrix.npy").write_bytes((data / "movement" / "matrix.npy").read_bytes()[:-8])
    assert_refused(call(*words, broken), "is damaged or of another run than its neighbours")
    (broken / "provenance.json").write_bytes(provenance[:100])
    assert_refused(call(*words, broken), "is damaged or of another run than its neighbours")
    assert not (tmp_path / "rows.csv.gz").exists()


@pytest.mark.parametrize("verb", ["data", "trials", "summary"])
def test_a_place_that_cannot_be_written(verb, call, data, trials, tmp_path):
    (tmp_path / "file").touch()
    blocked = tmp_path / "file" / "there"
    where = ["--data", data / "liver", *REGRESSION]
    words = {
        "data": ["liver", "--source", "simulated"],
        "trials": ["regression", "zero", *where],
        "summary": [trials("zero")],
    }
    outcome = call(verb, *words[verb], "--out", blocked)
    assert_refused(outcome, f"{blocked}")
    assert "cannot be written" in outcome[2]
    assert not list(tmp_path.glob(".*"))


def test_from_trials_to_a_table(call, trials, tmp_path):
    files = [trials(name, name=name) for name in ("nonprivate", "laplace", "imgm")]
    summary = tmp_path / "regression.csv"
    assert call("summary", *files, "--out", summary)[0] == 0
    assert {*pd.read_csv(summary)["mechanism"]} == {"nonprivate", "laplace", "imgm"}
    assert call("table", "3", "--summary", summary, "--out", tmp_path)[0] == 0
    table = pd.read_csv(tmp_path / "table3.csv").set_index("mechanism")
    assert table.loc["laplace", "mean"] == pytest.approx(pd.read_csv(files[1])["value"].mean())
    for suffix in (".md", ".tex"):
        assert "SIMULATED DATA" in (tmp_path / f"table3{suffix}").read_text()


def test_table_2(call, data, tmp_path):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["experiments"] = {"regression": config["experiments"]["regression"]}
    words = [data / "liver" / "provenance.json", "--config", yaml.safe_dump(config)]
    assert call("setups", 2, *words, "--out", tmp_path)[0] == 0
    assert {file.name for file in tmp_path.iterdir()} == {
        f"table2.{s}" for s in ("csv", "md", "tex")
    }


def test_the_seed_decides_and_nothing_else(trials):
    first = trials("laplace", "--seed", "1").read_bytes()
    assert trials("laplace", "--seed", "1", name="other").read_bytes() == first
    assert trials("laplace", "--seed", "2").read_bytes() != first
    # Only the rows are in the file: no name, no time.
    assert gzip.compress(gzip.decompress(first), 6, mtime=0)[10:] == first[10:]
    assert first[3] == 0
    assert first[4:8] == bytes(4)


def test_equal_numbers_are_one(trials):
    once = trials("mvg_binary", "--direction", "a=sgpt", "--taus", "0.5", "--epsilons", "1")
    twice = trials(
        "mvg_binary", "--direction", "a=sgpt", "--taus", "0.5,0.50", "--epsilons", "1,1.0"
    )  # fmt: skip
    assert twice.read_bytes() == once.read_bytes()


def test_features_are_left_out(trials):
    rows = pd.read_csv(trials("laplace", "--features", "sgpt,drinks"))
    assert len(rows) == 2
    assert rows["noise_std"][0] < pd.read_csv(trials("laplace"))["noise_std"][0]


def wanted_originals(data, folder):
    """Copy prepared data as if they were simulated for want of the originals."""
    for name in ("matrix.npy", "provenance.json"):
        target = folder / "results" / "data" / "liver" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((data / "liver" / name).read_bytes())
    facts = json.loads(target.read_text())
    target.write_text(json.dumps({**facts, "requested": "auto"}))
    return folder / "results"


def test_status_warns_of_stand_ins_that_nobody_asked_for(call, data, tmp_path):
    assert call("status", "--results", data.parent) == (0, "", "")
    assert call("status", "--results", tmp_path / "nothing") == (0, "", "")
    status, _, err = call("status", "--results", wanted_originals(data, tmp_path))
    assert status == 0
    assert "simulated stand-ins take the place of liver" in err
    assert err.count("\n") == 1


def test_refresh_looks_where_it_is_told(call, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for variable in ("HTTP_PROXY", "HTTPS_PROXY", "https_proxy", "http_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    monkeypatch.delenv("DATA_MIRROR", raising=False)
    results = wanted_originals(data, tmp_path)
    assert call("refresh", "--results", data.parent) == (0, "", "")
    status, _, err = call("refresh")
    assert status == 0
    assert "cannot be reached" in err
    status, _, err = call("refresh", "--mirror", "nowhere")
    assert "data.mirror is 'nowhere', which is no folder" in err
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    config["data"] = {"source": "auto", "mirror": "elsewhere"}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
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
