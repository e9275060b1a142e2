"""Mechanisms of installed packages, from the installation to table, advice and page."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest
from installedpackages import add, build
from test_recipes import follow, page
from tinyproject import LOUD, ROOT, TINY, Outcome, TinyProject

pytestmark = pytest.mark.nightly

RIGHT, WRONG = ("staircase", "frobenius"), "staircase_by_entry"
PACKAGES = ROOT / "tests" / "plugins"


def library(project):
    """Return the folder of the packages of the project's environment."""
    (folder,) = (project.folder / ".venv" / "lib").glob("python*/site-packages")
    return folder


def install(project):
    """Install the example's package, and return the targets of its commands."""
    install, targets = follow(project, "matrix-mine/pyproject.toml")
    assert install[:5] == [".venv/bin/python", "-m", "pip", "install", "--no-deps"]
    # No network: the wheel is made and installed without the installer's own tools.
    add(build(project.folder / install[-1], project.folder / "wheels"), library(project))
    assert targets[0] == "snakemake"
    return targets[1:]


def run(project, *words):
    """Run Snakemake of the project's environment, which has the packages."""
    outcome = project.run(project.folder / ".venv" / "bin" / "snakemake", *LOUD, *words)
    assert outcome.code == 0, outcome.output
    return outcome


@pytest.fixture(scope="module")
def compared(unrun, tmp_path_factory):
    """A run with the example's package, a right one and a wrong one, and its targets."""
    project = unrun.copy(tmp_path_factory.mktemp("plugins") / "project").with_environment()
    first_pc = {**TINY["experiments"]["first_pc"], "mechanisms": ["random", RIGHT[0], WRONG]}
    # What a class says of its noise is no evidence: runs alone refute the wrong one, with 26 of 30
    # seeds that were tried.
    project.configure(experiments={"first_pc": first_pc}, audit_runs=20_000, seed=2027)
    for name in ("matrix-noise", "matrix-noise-wrong"):
        add(build(PACKAGES / name, project.folder / "wheels"), library(project))
    targets = install(project)
    run(project, "-c2", "--", *targets)
    return project, targets


def planned(project, targets, *words) -> Outcome:
    return run(project, "--dry-run", *words, "--", *targets)


def test_right_ones_are_tested_and_the_wrong_one_refuted(compared):
    project, _ = compared
    audit = pd.read_csv(project.folder / "results" / "audit" / "first_pc.csv")
    audit = audit.set_index("mechanism")
    for name in RIGHT:
        assert audit.loc[name, "verdict"].startswith("not refuted"), name
    row = audit.loc[WRONG]
    assert row["verdict"].startswith("refuted")
    assert row[["epsilon_attained", "epsilon_certified"]].max() > row["epsilon"]


def test_table_advice_and_page_follow(compared):
    project, _ = compared
    tables = project.folder / "results" / "tables"
    rows = (tables / "table4.md").read_text().splitlines()
    (row,) = (row for row in rows if WRONG in row)
    assert "not private: epsilon at least" in row
    for name in RIGHT:
        (row,) = (row for row in rows if f"| {name} |" in row)
        assert "not private" not in row
    advice = pd.read_csv(tables / "advice.csv")
    # Nobody has proved their epsilon, so that nothing of theirs is advised.
    listed = {
        name
        for column in ("best_mechanism", "runner_up_mechanism")
        for name in advice.get(column, ())
    }
    assert not listed & {*RIGHT, WRONG}
    html = page(project)
    assert all(name in html for name in (*RIGHT, WRONG))


def edited(project, folder, name, change):
    """Return a copy of the project whose packages have a changed file."""
    shutil.copytree(project.folder, folder, symlinks=True)
    copy = TinyProject(folder)
    file = library(copy) / name
    file.write_text(change(file.read_text()))
    return copy


@pytest.mark.parametrize(
    ("name", "change", "mechanisms"),
    [
        # A package counts by its version.
        ("matrix_mine.py", lambda text: f"{text}\nassert True\n", []),
        (
            "matrix_noise-1.0.dist-info/METADATA",
            lambda text: text.replace("1.0", "1.1"),
            ["staircase"],
        ),
        (
            # A package that no line of config.yaml names.
            "matrix_noise_wrong-1.0.dist-info/entry_points.txt",
            lambda text: f"{text}\nmore = matrix_noise_wrong:StaircaseByEntry\n",
            [],
        ),
    ],
)
def test_another_version_reruns_what_rests_on_it(name, change, mechanisms, compared, tmp_path):
    project, targets = compared
    copy = edited(project, tmp_path / "project", name, change)
    jobs = planned(copy, targets).jobs
    assert {job for job in jobs if job.startswith(("trials/", "audit/first_pc/"))} == {
        *(f"trials/first_pc/default/{one}" for one in mechanisms),
        *(f"audit/first_pc/{one}" for one in mechanisms),
    }
    assert not {job for job in jobs if "held_out" in job or "data" in job}


def test_a_name_that_is_not_installed_says_what_to_do(compared, tmp_path):
    project, targets = compared
    copy = TinyProject(shutil.copytree(project.folder, tmp_path / "project", symlinks=True))
    for file in [*library(copy).glob("matrix_mine*")]:
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    outcome = copy.run(copy.folder / ".venv" / "bin" / "snakemake", "-n", "--", *targets)
    assert outcome.code == 1
    assert "mechanisms[3] is 'frobenius'" in outcome.output
    assert "of a package that must be installed first" in outcome.output
    assert "Traceback" not in outcome.output
