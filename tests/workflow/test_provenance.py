"""Results of other settings, damaged ones and missing ones: made anew or refused, never shown."""

from __future__ import annotations

import gzip
import shutil

import pytest
from tinyproject import TINY, jobs_of

from matrixdp import cli

pytestmark = pytest.mark.slow

TRIALS = "results/trials/regression/default/jl_exact.csv.gz"
OTHER = ["--config", "seed=77", "experiment_defaults={trials: 9}"]


def test_old_results_are_known_without_what_snakemake_keeps(again):
    shutil.rmtree(again.folder / ".snakemake")
    assert again.plan("mvg").idle
    data = {"data liver", "data movement", "data ctg"}
    assert again.plan("mvg", *OTHER).jobs == jobs_of() | data | {"table table2"}


def test_summaries_of_other_settings_are_not_shown(again, capsys, monkeypatch):
    settings = again.folder / "results" / "settings.yaml"
    settings.write_text(settings.read_text().replace("seed: 2018", "seed: 77"))
    monkeypatch.chdir(again.folder)
    for command in (["report", "--out=page.html"], ["judge"], ["summary", "regression"]):
        assert cli.main(command) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "was made from other settings; delete it and run again" in said
    assert not (again.folder / "page.html").exists()


def dropped(lines):
    return [*lines[:1], *lines[2:]]


def emptied(lines):
    at = lines[0].split(",").index("epsilon_actual")
    cells = lines[1].split(",")
    cells[at] = ""
    return [lines[0], ",".join(cells), *lines[2:]]


def changed(lines):
    names = lines[0].split(",")
    at = names.index("value" if "value" in names else "mean")
    cells = lines[1].split(",")
    cells[at] = "0.5"
    return [lines[0], ",".join(cells), *lines[2:]]


@pytest.mark.parametrize("edit", [dropped, emptied, changed])
def test_an_edited_table_of_numbers_is_noticed(edit, again, capsys, monkeypatch):
    monkeypatch.chdir(again.folder)
    trials, summary = (again.folder / name for name in (TRIALS, "results/summary/regression.csv"))
    whole = trials.read_bytes()
    text = "\n".join(edit(gzip.decompress(whole).decode().splitlines())) + "\n"
    trials.write_bytes(gzip.compress(text.encode()))
    assert cli.main(["summary", "regression"]) == 2
    assert f"{TRIALS} is not as it was written (with 4 rows)" in capsys.readouterr().err
    trials.write_bytes(whole)

    summary.write_text("\n".join(edit(summary.read_text().splitlines())) + "\n")
    assert cli.main(["table", "table3"]) == 2
    assert "summary/regression.csv is not as it was written" in capsys.readouterr().err


@pytest.mark.parametrize(
    "name",
    [
        "results/tables/table3.md",
        "results/tables/table3.tex",
        "results/figures/figure4_left.png",
        "results/figures/data/figure4_left.csv",
        "results/summary/regression.csv",
        "results/data/liver/matrix.npy",
        TRIALS,
    ],
)
def test_all_asks_for_what_is_missing(name, listed):
    assert name in listed


@pytest.fixture(scope="module")
def listed(unrun):
    """What is asked for by default, from the reasons of the last job."""
    output = unrun.plan("--config", "training={}").output
    asked = output.rpartition("rule all:")[2].partition("jobid")[0]
    return {name.strip(" ,") for name in asked.replace("input:", "").split()}


def test_what_a_setting_does_not_act_on_is_said(shipped, unrun):
    said = shipped.plan("figure4", "--config", "reading=zeta_literal").output
    assert "note: the reading acts on the tables of results" in said
    assert "note: " not in unrun.plan("mvg", "--config", "seed=20").output


def test_an_experiment_that_was_taken_out_is_gone(again):
    left = {name: TINY["experiments"][name] for name in ("regression", "first_pc")}
    again.configure(experiments=left).make("table2", "-c1")
    found = {file.name for file in (again.folder / "results").rglob("*.*")}
    assert "table3.csv" in found
    assert "imgm.csv.gz" in found  # its trials
    assert not {"covariance.csv", "table5.csv", "table5.md"} & found


MODULE = """
module matrices:
    snakefile: "{project}/Snakefile"
    config: {config!r}
    prefix: "private"


use rule * from matrices as dp_*
"""


def test_a_module_of_another_workflow_with_a_prefix(unrun, finished, tmp_path):
    config = {**TINY, "experiments": {"covariance": TINY["experiments"]["covariance"]}}
    text = MODULE.format(project=unrun.folder, config=config)
    (tmp_path / "Snakefile").write_text(text)
    project = type(unrun)(tmp_path)
    project.make("dp_table5", "-c1")
    assert not (tmp_path / "results").exists()
    for name in ("summary/covariance.csv", "tables/table5.tex"):
        made = (tmp_path / "private" / "results" / name).read_bytes()
        assert made == (finished.folder / "results" / name).read_bytes()


def test_a_run_in_another_folder(unrun, finished, tmp_path):
    unrun.make("table5", "-c1", "--directory", tmp_path)
    made = (tmp_path / "results" / "tables" / "table5.csv").read_bytes()
    assert made == (finished.folder / "results" / "tables" / "table5.csv").read_bytes()
