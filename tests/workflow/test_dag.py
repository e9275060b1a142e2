"""What Snakemake plans: how many jobs a target has, and what a change runs again.

Numbers of jobs and their names are the workflow's contract, so these tests read dry runs.
"""

from __future__ import annotations

import os

import pytest
import yaml
from tinyproject import ROOT, TINY, jobs_of

pytestmark = pytest.mark.slow

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SHIPPED, TRAINING = CONFIG["experiments"], CONFIG["training"]
TABLES = {"table3": "regression", "table4": "first_pc", "table5": "covariance"}
REFERENCES = {"trials regression nonprivate", "trials first_pc random"}
DATASETS = len({experiment["dataset"] for experiment in SHIPPED.values()})


def counted(*experiments):
    """Return how many jobs of each rule the summaries of experiments need from nothing."""
    chosen = [SHIPPED[name] for name in experiments]
    return {
        "dataset": len({experiment["dataset"] for experiment in chosen}),
        "trials": sum(len(experiment["mechanisms"]) for experiment in chosen),
        "summary": len(chosen),
    }


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("data", {"dataset": DATASETS, "learning": len(TRAINING)}),
        ("table2", {"dataset": DATASETS, "setups": 1}),
        ("table4", {**counted("first_pc"), "comparison": 1}),
    ],
)
def test_jobs_of_a_target(target, expected, shipped):
    total = sum(expected.values()) + 1
    assert shipped.plan(target).counts == {**expected, target: 1, "total": total}


def test_jobs_of_the_mvg_paper(shipped):
    expected = counted(*TABLES.values(), "section10_2") | {"comparison": 3, "setups": 1}
    assert expected.items() <= shipped.plan("mvg").counts.items()


def test_settings_on_the_command_line(shipped):
    outcome = shipped.plan("--config", "trials=20", "epsilons=[0.1,1]")
    # Without a target, at least the MVG paper is made.
    assert outcome.counts["comparison"] == 3
    commands = [line for line in outcome.output.splitlines() if "matrixdp trials" in line]
    assert len(commands) == outcome.counts["trials"] >= counted(*TABLES.values())["trials"]
    assert all(" --trials 20 " in command for command in commands)
    budgets = [command for command in commands if " --epsilons " in command]
    assert all(" --epsilons 0.1,1 " in command for command in budgets)
    assert len(budgets) > 30


def test_every_named_target_can_be_planned(shipped):
    lines = shipped.snakemake("--list-target-rules", "--quiet", "all").output.splitlines()
    targets = [line for line in lines if line.isidentifier()]
    assert {"all", "data", "mvg", "imgm", "figure1", "table1", "table2", *TABLES} <= set(targets)
    outcome = shipped.plan(*targets)
    # A job is planned once, whoever asks for it.
    assert outcome.counts["dataset"] == DATASETS


def test_a_second_run_has_nothing_to_do_however_numbers_are_written(finished):
    assert finished.plan("mvg", "--config", "epsilons=[1.0,0.10]", "taus=[0.750]").idle


@pytest.mark.parametrize(
    ("setting", "rerun"),
    [
        ("taus=[0.75,0.85]", jobs_of(mechanisms=["mvg_binary", "directional_gaussian"])),
        ("rows=[4,8]", jobs_of(mechanisms=["jl_exact"])),
        ("epsilons=[1,0.1,10]", jobs_of() - REFERENCES),
        ("trials=3", jobs_of()),
        ("public_tau=0.8", {"table 3", "table 4", "table 5"}),
        ("seed=1", jobs_of() | {"data liver", "data movement", "data ctg"}),
    ],
)
def test_a_changed_setting_reruns_what_it_changes(setting, rerun, finished):
    outcome = finished.plan("mvg", "--config", setting)
    # Table 2 lists the settings.
    assert outcome.jobs == rerun | {"setups 2"}


def test_one_more_mechanism_runs_alone(finished):
    names = [*TINY["experiments"]["regression"]["mechanisms"], "zero"]
    setting = f"experiments={{regression: {{mechanisms: [{', '.join(names)}]}}}}"
    planned = finished.plan("mvg", "--config", setting).jobs
    assert planned == {"trials regression zero", "summary regression", "table 3", "setups 2"}


def edit(project, name, change):
    file = project.folder / "workflow" / "matrixdp" / name
    before = file.read_text()
    after = change(before)
    assert after != before
    file.write_text(after)


def test_touching_and_commenting_rerun_nothing_and_an_edit_its_family(again):
    for file in (again.folder / "workflow").rglob("*"):
        os.utime(file)  # as a checkout does
    for name in ("study.py", "mechanisms/jl.py", "data/store.py", "results/tables.py"):
        edit(again, name, lambda text: "# Why.\n\n" + text.replace('"""', '"""In short, ', 1))
    assert again.plan("mvg").idle

    edit(again, "mechanisms/jl.py", lambda text: f"{text}\nSCALE = 1\n")
    assert again.plan("mvg").jobs == jobs_of(mechanisms=["jl_exact"])


def test_an_edit_reruns_all_that_rests_on_it(again):
    edit(again, "mechanisms/allocation.py", lambda text: f"{text}\nSCALE = 1\n")
    edit(again, "tasks/components.py", lambda text: f"{text}\nSCALE = 1\n")
    planned = again.plan("mvg").jobs
    expected = jobs_of("first_pc", "covariance") | jobs_of(mechanisms=["mvg_binary"])
    # Table 2 is made together with Table 1, which knows the schemes.
    assert planned == expected | {"setups 2"}
