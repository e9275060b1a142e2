"""What Snakemake plans: how many jobs a target has, and what a change runs again.

Numbers of jobs and their names are the workflow's contract, so these tests read dry runs.
"""

from __future__ import annotations

import os

import pytest
import yaml
from tinyproject import ROOT, TINY, jobs_of

from matrixdp import trials

pytestmark = pytest.mark.slow

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SHIPPED, TRAINING = CONFIG["experiments"], CONFIG["training"]
TABLES = {"table3": "regression", "table4": "first_pc", "table5": "covariance"}
REFERENCES = {"trials regression nonprivate", "trials first_pc random"}
SHOWN = {"table table2", *(f"table {name}" for name in TABLES)}
DATASETS = len({experiment["dataset"] for experiment in SHIPPED.values()})


def counted(*experiments):
    """Return how many jobs of each rule the summaries of experiments need from nothing."""
    chosen = [SHIPPED[name]["mechanisms"] for name in experiments]
    return {
        "dataset": len({SHIPPED[name]["dataset"] for name in experiments}),
        "trials": sum(len({*names} - {*trials.REFERENCES}) for names in chosen),
        **{f"references_{name}": 1 for name in experiments},
        "summary": len(chosen),
    }


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("data", {"dataset": DATASETS, "learning": len(TRAINING) - 1}),
        ("table2", {"dataset": DATASETS, "tables_table2": 1}),
        ("table4", {**counted("first_pc"), "tables_first_pc": 1}),
        ("canaries", {"canaries": 1}),
        ("readings", {"dataset": DATASETS, "sweep": 3, "figures_readings": 1}),
    ],
)
def test_jobs_of_a_target(target, expected, shipped):
    named = {} if target in expected else {target: 1}
    total = sum(expected.values()) + len(named)
    assert shipped.plan(target).counts == {**expected, **named, "total": total}


def test_jobs_of_a_quick_run(shipped):
    overlay = ["--configfile", "config.yaml", "workflow/config/quick.yaml"]
    assert shipped.plan("all", *overlay).counts["total"] <= 110


def test_jobs_of_the_mvg_paper(shipped):
    expected = counted(*TABLES.values(), "section10_2") | {"tables_table2": 1}
    assert expected.items() <= shipped.plan("mvg").counts.items()


def test_settings_on_the_command_line(shipped):
    # Without a target, at least the MVG paper is made.
    counts = shipped.plan("--config", "experiment_defaults={trials: 20, epsilons: [0.1, 1]}").counts
    assert counts["trials"] >= counted(*TABLES.values())["trials"]
    assert counts["report"] == 1


def test_a_reading_has_results_of_its_own(shipped):
    outcome = shipped.plan("table4", "--config", "reading=zeta_literal")
    assert "results/readings/zeta=literal/tables/table4.csv" in outcome.output
    expected = counted("first_pc") | {"summary_of_reading": 1, "tables_first_pc_of_reading": 1}
    del expected["summary"]
    assert expected.items() <= outcome.counts.items()


def test_every_named_target_can_be_planned(shipped):
    lines = shipped.snakemake("--list-target-rules", "--quiet", "all").output.splitlines()
    names = [line.split(" (")[0] for line in lines]
    # Each says what it makes.
    assert not [line for line in lines if line.isidentifier()]
    # Without a matrix there is nothing to compare on it.
    targets = [name for name in names if name.isidentifier() and name != "my_matrix"]
    assert {"all", "data", "mvg", "imgm", "figure1", "table1", "table2", *TABLES} <= set(targets)
    outcome = shipped.plan(*targets)
    # A job is planned once, whoever asks for it.
    assert outcome.counts["dataset"] == DATASETS


def test_a_second_run_has_nothing_to_do_however_numbers_are_written(finished):
    assert finished.plan("mvg", "--config", "experiment_defaults={epsilons: [1.0, 0.10]}").idle


@pytest.mark.parametrize(
    ("setting", "rerun"),
    [
        ("taus={grid: [0.75, 0.85]}", jobs_of(mechanisms=["mvg_binary", "directional_gaussian"])),
        ("sketch_sizes=[4,8]", jobs_of(mechanisms=["jl_exact"])),
        ("experiment_defaults={epsilons: [1, 0.1, 10]}", jobs_of() - REFERENCES),
        ("experiment_defaults={trials: 3}", jobs_of()),
        ("table_epsilon=0.1", set()),
        ("seed=1", jobs_of() | {"data liver", "data movement", "data ctg"}),
    ],
)
def test_a_changed_setting_reruns_what_it_changes(setting, rerun, finished):
    outcome = finished.plan("mvg", "--config", setting)
    # Tables may show any setting of their experiments; they take no time.
    assert outcome.jobs == rerun | SHOWN


def test_one_more_mechanism_runs_alone(finished):
    names = [*TINY["experiments"]["regression"]["mechanisms"], "zero"]
    setting = f"experiments={{regression: {{mechanisms: [{', '.join(names)}]}}}}"
    planned = finished.plan("mvg", "--config", setting).jobs
    # The experiment's other reference rows take no time.
    rows = "trials regression nonprivate zero"
    assert planned == {rows, "summary regression", "table table3", "table table2"}


def edit(project, name, change=lambda text: f"{text}\nassert True\n"):
    """Change a file of the package, by default so that something runs when it is imported."""
    file = project.folder / "workflow" / "matrixdp" / name
    before = file.read_text()
    after = change(before)
    assert after != before
    file.write_text(after)


def test_touching_and_commenting_rerun_nothing_and_an_edit_its_family(again):
    for file in (again.folder / "workflow").rglob("*"):
        os.utime(file)  # as a checkout does
    for name in ("experiments/study.py", "mechanisms/jl.py", "cli/trials.py", "report/summary.py"):
        edit(again, name, lambda text: "# Why.\n\n" + text.replace('"""', '"""In short, ', 1))
    assert again.plan("mvg").idle

    edit(again, "mechanisms/jl.py")
    assert again.plan("mvg").jobs == jobs_of(mechanisms=["jl_exact"])


def test_an_edit_reruns_all_that_rests_on_it(again):
    edit(again, "mechanisms/allocation.py")
    edit(again, "experiments/tasks/components.py")
    expected = jobs_of("first_pc", "covariance") | jobs_of(mechanisms=["mvg_binary"])
    assert again.plan("mvg").jobs == expected
