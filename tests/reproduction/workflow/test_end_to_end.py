"""Runs from data to tables: on stand-ins and originals, in any order, by Snakemake and by hand."""

from __future__ import annotations

import json
import re
import shlex
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tinyproject import TINY, jobs_of, jobs_of_table

from reproduction import machine
from reproduction.data import liver
from reproduction.data.matrices import content_sha256


def assert_status(project, status, *tables):
    """Every form of every table says whether its data are simulated, and so do the rows behind."""
    for number in tables:
        stem = project.folder / "results" / "tables" / f"table{number}"
        for suffix in (".md", ".tex"):
            text = stem.with_suffix(suffix).read_text()
            assert ("SIMULATED DATA" in text) == (status == "simulated")
        rows = pd.read_csv(stem.with_suffix(".csv"))
        if number == 2:
            said = rows.set_index("item").loc["status", [*TINY["experiments"]]]
            assert set(said) == {status}
        else:
            assert set(rows["data_status"]) == {status}


def test_tables_from_simulated_data_say_so(finished):
    assert_status(finished, "simulated", 2, 3, 4, 5)
    files = finished.results("trials", "summary")
    assert len(files) == 6 + 3
    for name in files:
        assert set(pd.read_csv(finished.folder / name)["data_status"]) == {"simulated"}


def test_a_printed_command_by_hand_writes_the_same_bytes(again, finished):
    name = "results/trials/regression/default/jl_exact.csv.gz"
    (again.folder / name).unlink()
    (command,) = re.findall(r"^Shell command: (.*jl_exact.*)$", again.plan(name).output, re.M)
    variables = {"OMP_NUM_THREADS": "1"}
    variables["PATH"] = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    assert again.run("bash", "-c", command, **variables).code == 0
    assert (again.folder / name).read_bytes() == finished.results()[name]


@pytest.mark.nightly
def test_a_file_of_other_settings_is_refused(again):
    trials = again.folder / "results" / "trials" / "regression" / "default"
    other = again.folder / "results" / "trials" / "first_pc" / "default" / "random.csv.gz"
    (trials / "jl_exact.csv.gz").write_bytes(other.read_bytes())
    outcome = again.snakemake("table3", "-c1")
    assert outcome.code != 0
    assert "jl_exact.csv.gz is of other settings; delete it and run again" in outcome.output


MODULE = """
module matrices:
    snakefile: "{project}/Snakefile"
    config: {config!r}
    prefix: "private run"


use rule * from matrices as dp_*


rule host:
    output:
        "host.txt",
    shell:
        "printenv PYTHONPATH DATA_MIRROR > {{output}} || true"
"""


def test_a_module_of_another_workflow_with_a_prefix(unrun, finished, tmp_path):
    config = {**TINY, "experiments": {"covariance": TINY["experiments"]["covariance"]}}
    text = MODULE.format(project=unrun.folder, config=config)
    (tmp_path / "Snakefile").write_text(text)
    project = type(unrun)(tmp_path)
    outcome = project.make("dp_table5", "host.txt", "-c1", PYTHONPATH="own")
    # Without `make`, too, jobs together get no more than there is.
    assert re.search(rf"mem_mb=.*\b{machine.memory()}\b", outcome.output)
    assert (tmp_path / "host.txt").read_text() == "own\n"
    assert not (tmp_path / "results").exists()
    for name in ("summary/covariance.csv", "tables/table5.tex"):
        made = (tmp_path / "private run" / "results" / name).read_bytes()
        assert made == (finished.folder / "results" / name).read_bytes()
    assert project.plan("dp_table5").idle
    # What the end of a run says of its results is of those below the prefix.
    (origin,) = tmp_path.glob("private run/results/data/*/provenance.json")
    facts = json.loads(origin.read_text())
    origin.write_text(json.dumps(facts | {"requested": "auto"}))
    outcome = project.run(sys.executable, "-m", "snakemake", "-n", "-c1", "dp_table5")
    assert f"--forcerun '{origin.relative_to(tmp_path)}' --" in outcome.output


@pytest.mark.nightly
def test_a_run_in_another_folder(unrun, finished, tmp_path):
    name = "results/summary/covariance.csv"
    outcome = unrun.make(name, "-c1", "--resources", "mem_mb=7007", "--directory", tmp_path)
    assert re.search(r"mem_mb=.*\b7007\b", outcome.output)
    assert (tmp_path / name).read_bytes() == (finished.folder / name).read_bytes()
    assert unrun.plan(name, "--directory", tmp_path).idle


@pytest.mark.nightly
def test_original_data_replace_simulated_ones(again, mirror):
    setting = ["--config", "data={source: original}"]
    outcome = again.make("table2", "table4", *setting, DATA_MIRROR=mirror)
    datasets = {f"data/{name}" for name in ("liver", "movement", "ctg")}
    assert outcome.jobs == jobs_of("first_pc") | jobs_of_table("table2") | datasets | {"settings"}
    assert_status(again, "original", 2, 4)
    # And back.
    assert again.plan("table4").jobs == jobs_of("first_pc") | {"data/movement", "settings"}


def small(project, **data):
    """Let the project run one quick row on the liver data."""
    experiment = {**TINY["experiments"]["regression"], "mechanisms": ["zero"]}
    return project.configure(experiments={"regression": experiment}, data=data)


def give_originals(project, folder: Path):
    """Put made-up liver data into a folder, and their checksum into the catalogue."""
    rng = np.random.default_rng(1)
    lines = [",".join(map(str, row)) for row in rng.integers(1, 99, (345, 7))]
    file = folder / "bupa.data"
    file.parent.mkdir()
    file.write_text("\n".join(lines))
    catalogue = project.folder / "workflow" / "datasets.yaml"
    entries = yaml.safe_load(catalogue.read_text())
    records = liver.read({"bupa.data": file.read_bytes()})
    entries["liver"]["sha256"] = content_sha256(records)
    entries["liver"]["files"]["bupa.data"]["sha256"] = sha256(file.read_bytes()).hexdigest()
    catalogue.write_text(yaml.safe_dump(entries, sort_keys=False))
    return str(folder)


#: What the warning and the end of the run advise, with a command of its own.
ADVICE = [r"start again with `(--forcerun \S+)`", r"say `.venv/bin/snakemake (.*)`, and start"]


@pytest.mark.nightly
@pytest.mark.parametrize("advice", ADVICE)
def test_stand_ins_for_want_of_originals_are_replaced_later(advice, fresh, tmp_path):
    folder = give_originals(fresh, tmp_path / "originals")
    small(fresh, source="auto").with_environment()
    (fresh.folder / "mine.yaml").write_text("pathvars: {results: results/mine}\n")
    name, *mine = "results/mine/summary/regression.csv", "--configfile", "mine.yaml"
    first = fresh.run_make(name, "-c1", *mine)
    assert first.code == 0, first.output
    assert "cannot be reached" in first.output
    assert "warning: " in first.output
    assert "no evidence about the papers" in first.output
    assert {*pd.read_csv(fresh.folder / name)["data_status"]} == {"simulated"}

    (words,) = re.findall(advice, first.output)
    again = shlex.split(words)
    if "--" in again:
        assert fresh.run(".venv/bin/snakemake", *again, DATA_MIRROR=folder).code == 0
        again = []
    second = fresh.run_make(name, "--printshellcmds", *again, *mine, DATA_MIRROR=folder)
    assert second.code == 0, second.output
    assert second.output.count("python -m reproduction trials zero") == 1
    assert "SIMULATED" not in second.output
    assert {*pd.read_csv(fresh.folder / name)["data_status"]} == {"original"}


@pytest.mark.nightly
def test_originals_that_cannot_be_had_are_an_error_where_demanded(fresh):
    matrix = "results/data/liver/matrix.npy"
    outcome = fresh.snakemake(matrix, "--config", "data={source: original}")
    assert outcome.code != 0
    assert "cannot be reached" in outcome.output
    assert "or name a folder that has the files as data.mirror" in outcome.output
    assert "stand-in" not in outcome.output
    assert not (fresh.folder / matrix).exists()
