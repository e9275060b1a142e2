"""What each rule's jobs depend on: for every rule, edits that must change its jobs or must not.

No job is run: the outputs of all jobs are pretended, so that a dry run tells what an edit changes.
"""

from __future__ import annotations

import re

import pytest
from test_dag import edit
from test_training import TINY as TRAINING
from tinyproject import TINY

from matrixdp import catalogue

pytestmark = pytest.mark.slow

EXPERIMENTS = ("regression", "first_pc")
REFERENCES = {f"references_{name}" for name in EXPERIMENTS}
#: What rests on a task, and what on mechanisms too.
MECHANISMS = {"trials", "sweep", "audit_experiment"}
TASKS = MECHANISMS | REFERENCES
#: One of the canaries is a wrong Laplace mechanism.
LAPLACE = {"trials regression laplace", "sweep regression", "audit regression", "audit canaries"}

#: Where in the package (or beside it) an edit is made; rules that must notice it themselves, not
#: as something that they are made from changes.
RUNS = {
    "cli/data.py": {"dataset", "learning"},
    "cli/trials.py": {"trials"} | REFERENCES,
    "cli/sweep.py": {"sweep"},
    "cli/audit.py": {"audit_experiment", "canaries"},
    "cli/theory.py": {"theory", "sampler_times"},
    "cli/extract.py": {"features"},
    "cli/train.py": {"train"},
    "cli/summary.py": {"summary"},
    "cli/judge.py": {"judge"},
    "cli/report.py": {"report"},
    "cli/refresh.py": set(),
    "cli/timing.py": set(),
    "cli/keep.py": set(),
    "cli/verify.py": set(),
    "cli/__init__.py": set(),
    "sources.py": set(),
    "config.py": set(),
    "dependence.py": set(),
    "experiments/tasks/regression.py": {"trials", "sweep", "audit_experiment"}
    | {"references_regression"},
    "experiments/study.py": TASKS,
    # One of the canaries is a run of private training.
    "experiments/schemes/gradients.py": {"train", "theory", "canaries"},
    "audit/canaries.py": {"canaries"},
    "data/liver.py": {"dataset"},
    "data/adult.py": {"learning"},
    "report/page/layout.yaml": {"report"},
}


@pytest.fixture(scope="session")
def pretended(once, unrun):
    """A clone in which every job seems to be done; only for copying."""

    def fill(folder):
        regression = {**TINY["experiments"]["regression"]}
        regression["mechanisms"] = [*regression["mechanisms"], "laplace"]
        chosen = {"regression": regression, "first_pc": TINY["experiments"]["first_pc"]}
        project = unrun.copy(folder).configure(experiments=chosen, training=TRAINING)
        listed = project.snakemake("--summary", "all", "canaries").output
        for name in re.findall(r"^(results/\S+)\t", listed, re.MULTILINE):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()
        project.make("--touch", "--forceall", "all", "canaries")
        assert project.plan("all").idle

    return once("pretended", fill)


@pytest.fixture
def project(pretended, tmp_path):
    """A copy of it to edit."""
    return pretended.copy(tmp_path / "my project")


def changed(outcome):
    """Return the rules whose own parameters have changed."""
    # In the summary of reasons; each job has its own, in other words.
    summary = r"^    params have changed since last execution:\s+([\w, ]+)"
    found = re.findall(summary, outcome.output, re.MULTILINE)
    return {rule(name) for names in found for name in re.split(r",\s*", names.strip())}


def rule(name):
    """Return the name that the rules of bundles of schemes share."""
    return "train" if name.startswith("train_") else name


@pytest.mark.parametrize("place", RUNS)
def test_an_edit_changes_the_rules_that_run_it(place, project):
    # Of a package above, what its file does would count, but not what it defines.
    code = "SCALE = 1" if place.endswith("__init__.py") else "assert True"
    text = "\nextra: {}\n" if place.endswith(".yaml") else f"\n{code}\n"
    edit(project, place, lambda before: f"{before}{text}")
    noticed = changed(project.plan("all"))
    # Tables and figures may rest on anything that they show.
    own = {name for name in noticed if not name.startswith(("tables", "figures"))}
    assert own - {"judge", "report"} == RUNS[place] - {"judge", "report"}
    assert RUNS[place] <= noticed


def test_every_rule_is_covered(project):
    listed = project.snakemake("--list-rules", "--quiet", "all").output.split("\n")
    names = {line.split(" (")[0] for line in listed}
    rules = {rule(name) for name in names if name.isidentifier()}
    named = {*catalogue.section("targets"), "my_matrix", "summary_of_reading"}
    shown = {rule for rule in rules if rule.startswith(("tables", "figures"))}
    assert rules - named - shown - {"all"} == set().union(*RUNS.values())


def test_a_mechanism_changes_its_own_jobs(project):
    edit(project, "mechanisms/laplace.py")
    outcome = project.plan("all")
    assert {
        job for job in outcome.jobs if job.split()[0] in ("trials", "sweep", "audit")
    } == LAPLACE


def test_words_change_what_shows_them_alone(project):
    file = "../catalogue.yaml"
    edit(project, file, lambda text: text.replace("label: Laplace", "label: Double exponential"))
    outcome = project.plan("all")
    assert {"figures_regression", "tables_regression", "report"} <= outcome.counts.keys()
    others = {"train", "features", "theory", "sampler_times", "canaries", "summary"}
    assert not outcome.counts.keys() & (TASKS | others)
    edit(project, file, lambda text: text.replace("label: Double exponential", "label: Laplace"))
    edit(project, file, lambda text: f"# Why.\n{text}")
    assert project.plan("all").idle


@pytest.mark.parametrize(
    ("file", "old", "new", "noticed"),
    [
        ("claims.yaml", "paper: MVG", "paper: Note", "judge"),
        ("errata.yaml", "", "- {}\n", "tables_and_figures_theory"),
        ("published/table3.csv", "", "\n", "tables_regression"),
        ("published/table4.csv", "", "\n", "tables_first_pc"),
    ],
)
def test_files_beside_the_package_change_what_reads_them(file, old, new, noticed, project):
    edit(project, f"../{file}", lambda text: text.replace(old, new, 1) if old else text + new)
    found = changed(project.plan("all"))
    assert noticed in found
    assert not found & (TASKS | {"train", "features", "theory", "canaries", "summary"})


def test_another_data_set_prepares_none_again(project):
    entry = "mine: {title: x, scalings: {}}\n"
    edit(project, "../datasets.yaml", lambda text: f"{text}\n{entry}")
    assert project.plan("all").idle
