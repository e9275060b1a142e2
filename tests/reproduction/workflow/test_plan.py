"""What Snakemake plans: how many jobs a target has, and what a change runs again.

Numbers of jobs and their names are the workflow's contract, so these tests read dry runs.
"""

from __future__ import annotations

import os
import re

import pytest
import yaml
from tinyproject import ROOT, TINY, jobs_of, jobs_of_table, overlay

pytestmark = pytest.mark.slow

CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text())
SHIPPED, TRAINING = CONFIG["experiments"], CONFIG["training"]
TABLES = {"table3": "regression", "table4": "first_pc", "table5": "covariance"}
AUDITS = {f"audit/{name}" for name in TABLES.values()}
SHOWN = {"settings", *jobs_of_table("table2", *TABLES)}
MATRICES = len({experiment["dataset"] for experiment in SHIPPED.values()})
#: What an edit of a mechanism that the audit replays reruns, whatever mechanisms are run.
AUDITED = AUDITS | jobs_of_table(*TABLES)
QUICK = ["--configfile", "config.yaml", "workflow/config/quick.yaml"]


def counted(*experiments):
    """Return how many jobs of each rule the summaries of experiments need from nothing."""
    return {
        "matrix": len({SHIPPED[name]["dataset"] for name in experiments}),
        "trials": sum(len(SHIPPED[name]["mechanisms"]) for name in experiments),
        "summary": len(experiments),
        "settings": 1,
    }


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("table4", {**counted("first_pc"), "audit_releases": 1, "table": 1, "latex": 1}),
        (
            "readings",
            {"matrix": MATRICES, "sweep": 3, "audit_releases": 3, "figure": 1, "settings": 1},
        ),
    ],
)
def test_jobs_of_a_target(target, expected, shipped):
    named = {} if target in expected else {target: 1}
    total = sum(expected.values()) + len(named)
    assert shipped.plan(target).counts == {**expected, **named, "total": total}


def test_one_figure_is_one_figure(shipped):
    expected = {**counted("first_pc"), "audit_releases": 1, "figure": 1}
    outcome = shipped.plan("results/figures/curves_first_pc.svg")
    assert outcome.counts == {**expected, "total": sum(expected.values())}


def test_jobs_of_a_quick_run_are_the_steps_of_its_rows(shipped):
    counts = shipped.plan("all", *QUICK).counts
    quick = yaml.safe_load((ROOT / "workflow/config/quick.yaml").read_text())
    rows = [each["mechanisms"] for each in quick["experiments"].values()]
    assert counts["trials"] == sum(map(len, rows))
    assert counts["train"] == sum(len(each["schemes"]) for each in quick["training"].values())
    assert "my_records" not in counts
    # It runs every mechanism and baseline of the full run.
    full = {name for each in SHIPPED.values() for name in each["mechanisms"]}
    assert {name for names in rows for name in names} == full


def test_schemes_with_one_noise_are_trained_once_where_both_are_run(shipped):
    target = "results/trials/adult/default/matrix_mechanism.csv.gz"
    twin = "results/trials/adult/default/gaussian_2014.csv.gz"
    outcome = shipped.plan(target)
    assert outcome.counts["train"] == 2
    assert f"--twin {twin} --out {target}" in outcome.output
    alone = '{"adult": {"kind": "gradients", "schemes": ["matrix_mechanism"]}}'
    outcome = shipped.plan(target, "--config", f"training={alone}")
    assert outcome.counts["train"] == 1
    assert "--twin" not in outcome.output


def test_a_reading_has_results_of_its_own(shipped):
    outcome = shipped.plan("table4", "--config", "reading=zeta_literal")
    assert "results/other_reading/zeta=literal/tables/table4.csv" in outcome.output
    assert (counted("first_pc") | {"table": 1}).items() <= outcome.counts.items()
    counts = shipped.plan("all", "--config", "reading=zeta_literal").counts
    assert counts["table"] == len(SHIPPED)
    assert not {"train", "figure", "judge", "report"} & counts.keys()


def test_every_named_target_can_be_planned(shipped):
    lines = shipped.snakemake("--list-target-rules", "--quiet", "all").output.splitlines()
    names = [line.split(" (")[0] for line in lines]
    # Each says what it makes.
    assert not [line for line in lines if line.isidentifier()]
    # Without a matrix there is nothing to compare on it.
    of_matrix = {"my_matrix", "my_records"}
    targets = [name for name in names if name.isidentifier() and name not in of_matrix]
    assert {"all", "data", "mvg", "imgm", "figure1", "table1", "table2", *TABLES} <= set(targets)
    outcome = shipped.plan(*targets)
    # A job is planned once, whoever asks for it.
    assert outcome.counts["matrix"] == MATRICES
    assert outcome.counts["learning_set"] == len(TRAINING) - 1
    assert outcome.counts["known_bugs"] == outcome.counts["report"] == 1


def test_a_target_asks_for_all_of_its_files(again):
    (again.folder / "results" / "tables" / "table4.md").unlink()
    assert again.plan("table4").jobs == jobs_of_table("table4")


def test_all_asks_for_what_is_missing(unrun):
    # What is asked for by default, from the reasons of the last job.
    output = unrun.plan("--config", "training={}").output
    asked = output.rpartition("rule all:")[2].partition("jobid")[0]
    names = {name.strip(" ,") for name in asked.replace("input:", "").split()}
    assert names >= {
        "results/tables/table3.tex",
        "results/figures/figure4_left.png",
        "results/figures/data/figure4_left.csv",
        "results/summary/regression.csv",
        "results/trials/regression/default/jl_exact.csv.gz",
    }


def test_the_rule_graph_fits_a_page_and_stands_in_contributing(shipped):
    graph = shipped.snakemake("all", "--rulegraph", "--quiet", "all").output
    names = dict(re.findall(r'^\s*(\d+)\[label = "(\w+)"', graph, re.MULTILINE))
    assert 15 <= len(names) <= 25
    edges = re.findall(r"^\s*(\d+) -> (\d+)", graph, re.MULTILINE)
    planned = {(names[one], names[other]) for one, other in edges}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawn = set()
    for line in text.partition("```mermaid\ngraph TD\n")[2].partition("```")[0].splitlines():
        ones, _, others = line.strip().partition(" --> ")
        drawn |= {(one, other) for one in ones.split(" & ") for other in others.split(" & ")}
    assert drawn == {(one, other) for one, other in planned if other != "all"}


def test_rules_are_written_out():
    text = "\n".join(file.read_text() for file in (ROOT / "workflow" / "rules").glob("*.smk"))
    assert not re.search(r"^ +(rule|name|use rule)\b.*:", text, re.MULTILINE)
    assert "directory(" not in text
    own = {*re.findall(r"\bworkflow\.(\w+)", text)}
    assert own <= {"current_basedir", "overwrite_configfiles"}


def test_a_second_run_has_nothing_to_do_however_numbers_are_written(finished, tmp_path):
    numbers = {"experiment_defaults": {"epsilons": [1.0, 0.10]}, "taus": {"grid": [0.750]}}
    assert finished.plan("mvg", *overlay(tmp_path, **numbers)).idle


@pytest.mark.parametrize(
    ("setting", "rerun"),
    [
        ({"sketch_sizes": [4, 8]}, jobs_of(mechanisms=["jl_exact"])),
        ({"seed": 1}, jobs_of() | {"data/liver", "data/movement", "data/ctg"}),
    ],
)
def test_a_changed_setting_reruns_what_it_changes(setting, rerun, finished, tmp_path):
    outcome = finished.plan("mvg", *overlay(tmp_path, **setting))
    # Tables may show any setting; they take no time.
    assert outcome.jobs == rerun | SHOWN


def test_one_more_mechanism_runs_alone(finished):
    names = [*TINY["experiments"]["regression"]["mechanisms"], "zero"]
    setting = f"experiments={{regression: {{mechanisms: [{', '.join(names)}]}}}}"
    planned = finished.plan("mvg", "--config", setting).jobs
    rows = {"trials/regression/default/zero", "summary/regression", "audit/regression"}
    assert planned == rows | SHOWN


def edit(project, name, change=lambda text: f"{text}\nassert True\n"):
    """Change a file of the package, by default so that something runs when it is imported."""
    file = project.folder / "workflow" / "reproduction" / name
    before = file.read_text()
    after = change(before)
    assert after != before
    file.write_text(after)


def test_touching_reruns_nothing_and_an_edit_its_family(again):
    for file in [*(again.folder / "src").rglob("*"), *(again.folder / "workflow").rglob("*")]:
        os.utime(file)  # as a checkout does
    # No table rests on networks, and no prepared data on an entry of another data set.
    edit(again, "experiments/training/lstm.py")
    entry = "mine: {title: x, scalings: {}}\n"
    edit(again, "../datasets.yaml", lambda text: f"{text}\n{entry}")
    assert again.plan("mvg").idle
    edit(again, "mechanisms/jl.py")
    outcome = again.plan("mvg")
    assert outcome.jobs == jobs_of(mechanisms=["jl_exact"]) | AUDITED
    assert "Updated input files: workflow/reproduction/mechanisms/jl.py" in outcome.output


#: A module that several mechanisms import and a file that one table reads: what rests on each.
FLOORS = {
    "../../src/matrixdp/mechanisms/allocation.py": AUDITED
    | jobs_of(mechanisms=["mvg_binary", "directional_gaussian"]),
    "../published/table3.csv": jobs_of_table("table3"),
}


@pytest.mark.parametrize("place", FLOORS)
def test_an_edit_reruns_what_rests_on_it(place, again):
    edit(again, place, lambda text: f"{text}\n")
    assert again.plan("mvg").jobs == FLOORS[place]
