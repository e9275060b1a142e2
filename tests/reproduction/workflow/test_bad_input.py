"""What a newcomer sees after a mistake: one sentence that says what to change, and nothing done."""

from __future__ import annotations

import pytest
from tinyproject import overlay

pytestmark = pytest.mark.nightly

#: What Snakemake says in any case.
GREETING = ("Using workflow specific profile", "Config file ")


def assert_refused(outcome, sentence, noise):
    """The sentence, and at most so many other lines."""
    assert outcome.code != 0
    assert sentence in outcome.output
    assert "Traceback" not in outcome.output
    lines = [line for line in outcome.output.splitlines() if not line.startswith(GREETING)]
    assert len(lines) <= noise + 1, outcome.output


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("sede=3", "has the unknown key 'sede'; did you mean 'seed'? It must be one of"),
        ("experiments={first_pc: {mechanisms: [gao]}}", "[0] is 'gao'; did you mean 'goe'?"),
    ],
)
def test_a_bad_setting(setting, sentence, fresh):
    outcome = fresh.snakemake("table5", "--config", setting)
    # Before it: where; after it: where again.
    assert_refused(outcome, sentence, noise=2)
    assert not (fresh.folder / "results").exists()


@pytest.mark.parametrize(
    "target",
    [
        "tabel3",
        "results/trials/regression/default/nosuch.csv.gz",
        "results/audit/regression/nosuch.csv",
        "results/data/liver/nosuch/matrix.npy",
    ],
)
def test_a_target_of_nothing_that_is_configured(target, fresh):
    outcome = fresh.snakemake(target)
    assert_refused(outcome, f"No rule to produce {target}", noise=20)
    assert not (fresh.folder / "results").exists()


def test_a_file_in_the_place_of_the_results(fresh):
    (fresh.folder / "results").write_text("")
    outcome = fresh.snakemake("table5")
    assert_refused(outcome, "results is a file, where the folder of all results goes;", noise=2)


def test_a_folder_of_a_name_with_braces(unrun, tmp_path):
    project = unrun.copy(tmp_path / "run {1}")
    assert_refused(project.snakemake("table5"), "run {1} has braces", noise=2)


def test_the_log_of_a_failed_job_is_shown(again, tmp_path):
    (again.folder / "results" / "data" / "movement" / "matrix.npy").write_bytes(b"damaged")
    setting = overlay(tmp_path, experiment_defaults={"trials": 7})
    outcome = again.snakemake("results/summary/first_pc.csv", "-c1", *setting)
    assert_refused(outcome, "matrix.npy is not the file of its provenance.json", noise=60)
    left = {file.name for file in (again.folder / "results" / "trials" / "first_pc").rglob("*.*")}
    # The old file of the other job, and no part of a new one.
    assert len(left) == 1
