"""Runs from data to tables: on stand-ins and originals, in any order, by Snakemake and by hand."""

from __future__ import annotations

import gzip
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from tinyproject import TINY, jobs_of

from matrixdp import cli
from matrixdp.data import liver
from matrixdp.data.matrices import content_sha256

pytestmark = pytest.mark.slow


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


def test_a_command_by_hand_writes_the_same_bytes(finished, tmp_path):
    results = finished.folder / "results"
    command = ["trials", "regression", "jl_exact", f"--results={results}"]
    assert cli.main([*command, f"--out={tmp_path}"]) == 0
    name = "results/trials/regression/default/jl_exact.csv.gz"
    assert (tmp_path / "jl_exact.csv.gz").read_bytes() == finished.results()[name]


def test_cores_and_order_change_no_byte(fresh, finished):
    fresh.make("table3", "table4", "-c1", "--prioritize", "table4")
    made = fresh.results()
    assert len(made) == 5 + 2 + 8
    assert made.items() <= finished.results().items()


def test_one_more_epsilon_keeps_the_old_rows(again, finished):
    outcome = again.make("table3", "--config", "experiment_defaults={epsilons: [0.1, 1, 10]}")
    assert outcome.jobs == jobs_of("regression") - {"trials regression nonprivate"}
    before, after = finished.results("trials"), again.results("trials")
    for mechanism in ("mvg_binary", "jl_exact"):
        name = f"results/trials/regression/default/{mechanism}.csv.gz"
        old, new = (gzip.decompress(files[name]).splitlines() for files in (before, after))
        assert [line for line in new if line in old] == old
        added = [line.split(b",") for line in new if line not in old]
        assert {line[new[0].split(b",").index(b"epsilon")] for line in added} == {b"10"}
        assert len(added) == 2
        del after[name], before[name]
    assert after == before


def test_original_data_replace_simulated_ones(again, mirror):
    setting = ["--config", "data={source: original}"]
    outcome = again.make("table2", "table4", *setting, DATA_MIRROR=mirror)
    datasets = {f"data {name}" for name in ("liver", "movement", "ctg")}
    assert outcome.jobs == jobs_of("first_pc") | datasets | {"table table2"}
    assert_status(again, "original", 2, 4)
    # And back.
    assert again.plan("table4").jobs == jobs_of("first_pc") | {"data movement"}


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


def test_stand_ins_for_want_of_originals_are_replaced_later(fresh, tmp_path):
    folder = give_originals(fresh, tmp_path / "originals")
    small(fresh, source="auto").with_environment()
    first = fresh.run_make("table3", "-c1")
    assert first.code == 0, first.output
    assert "cannot be reached" in first.output
    assert "warning: " in first.output
    assert "no evidence about the papers" in first.output
    assert_status(fresh, "simulated", 3)

    # What the warning advises.
    small(fresh, source="auto", mirror=folder)
    second = fresh.run_make("table3", "--printshellcmds")
    assert second.code == 0, second.output
    assert "originals have replaced the stand-ins of liver" in second.output
    assert second.jobs == {
        *("trials regression zero", "summary regression", "table table3 price"),
    }
    assert_status(fresh, "original", 3)


def test_originals_that_cannot_be_had_are_an_error_where_demanded(fresh):
    matrix = "results/data/liver/matrix.npy"
    outcome = fresh.snakemake(matrix, "--config", "data={source: original}")
    assert outcome.code != 0
    assert "cannot be reached" in outcome.output
    assert "or name a folder that has the files as data.mirror" in outcome.output
    assert "stand-in" not in outcome.output
    assert not (fresh.folder / matrix).exists()


def test_run_times_that_are_gone_do_not_fail_a_run(again):
    for file in (again.folder / "results" / "benchmarks").rglob("*.tsv"):
        file.unlink()
    outcome = again.make("table4", "--forcerun", "table4")
    assert "holds no benchmark files" in outcome.output
