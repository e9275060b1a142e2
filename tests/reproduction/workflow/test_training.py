"""The neural experiments in the workflow: what is planned, run, and run again."""

from __future__ import annotations

import shutil

import pytest
import yaml
from test_plan import commented, edit
from tinyproject import ROOT, overlay

from reproduction import job_settings

pytestmark = pytest.mark.nightly

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())["training"]
SMALL = {"trials": 2, "records": 256, "lot": 64, "epochs": 2, "epsilons": [1]}
TINY = {
    "adult": {
        **SMALL,
        "perturbation": "gradients",
        "dataset": "adult",
        "schemes": ["nonprivate", "imgm"],
    },
    "imdb": {
        **SMALL,
        "perturbation": "features",
        "dataset": "imdb",
        "extractor_epochs": 1,
        "schemes": ["imgm_amplified"],
    },
}


@pytest.fixture(scope="session")
def trained(once, unrun):
    """A finished run of the neural experiments on simulated data; only for looking and copying."""

    def fill(folder):
        unrun.copy(folder).configure(training=TINY).make("table1", *tables(), "-c2")

    return once("trained", fill)


def tables():
    return [f"results/tables/imgm_{name}.md" for name in TINY]


def test_jobs_of_the_imgm_paper(shipped):
    counts = shipped.plan("imgm").counts
    settings = {"training": SHIPPED, "experiments": {}}
    runs = [*SHIPPED]
    assert counts["train"] == sum(len(job_settings.distinct_rows(settings, name)) for name in runs)
    once_each = {"learning_set": len(SHIPPED), "summary": len(runs), "settings": 1}
    once_each["features"] = sum("extractor_epochs" in each for each in SHIPPED.values())
    assert once_each.items() <= counts.items()
    assert not {"matrix", "trials"} & counts.keys()
    table1 = {"learning_set", "settings", "table", "table1", "total"}
    assert set(shipped.plan("table1").counts) == table1


def test_without_neural_experiments_nothing_is_trained(unrun):
    outcome = unrun.plan("all")
    assert not {"features", "learning_set", "train"} & outcome.counts.keys()


def test_tables_of_simulated_data_say_so_and_are_not_made_twice(trained):
    for name in ["results/tables/table1.md", *tables()]:
        assert "SIMULATED DATA" in (trained.folder / name).read_text()
    assert trained.plan("table1", *tables()).idle


def test_a_changed_setting_trains_what_it_changes(trained, tmp_path):
    def planned(**changes):
        return trained.plan(*tables(), *overlay(tmp_path, training={"adult": changes})).jobs

    both = {"trials/adult/default/nonprivate", "trials/adult/default/imgm"}
    # Tables may show any setting.
    shown = {"settings", "summary/adult", "rows/adult", "tables/imgm_adult", "tables/imgm_imdb"}
    assert planned(epochs=3) == both | shown
    assert planned(delta=1e-6) == {"trials/adult/default/imgm"} | shown


def test_an_edit_trains_what_rests_on_it(trained, tmp_path):
    project = trained.copy(tmp_path / "my project")
    # What releases are, and the words on readings: networks are trained without them.
    edit(project, "experiments/study.py")
    edit(project, "../readings.yaml", commented)
    assert project.plan(*tables()).jobs <= {"tables/imgm_adult", "tables/imgm_imdb"}
    edit(project, "experiments/schemes/features.py")
    jobs = project.plan(*tables()).jobs - {"tables/imgm_adult"}
    made = {f"{kind}/imdb" for kind in ("summary", "rows")} | {"tables/imgm_imdb"}
    assert jobs == {"trials/imdb/default/imgm_amplified", *made}
    edit(project, "experiments/training/extractor.py")
    assert "features/imdb" in project.plan(*tables()).jobs


def test_a_scheme_that_fails_takes_no_other_with_it(trained, tmp_path):
    project = trained.copy(tmp_path / "my project")
    old, new = "SCHEMES = {", 'SCHEMES = {\n    "broken": None,'
    edit(project, "experiments/schemes/gradients.py", lambda text: text.replace(old, new, 1))
    shutil.rmtree(project.folder / "results/trials")
    project.configure(training={"adult": {**TINY["adult"], "schemes": ["broken", "nonprivate"]}})
    outcome = project.snakemake("results/summary/adult.csv", "-c1", "--keep-going")
    assert outcome.code != 0
    made = {file.name for file in (project.folder / "results/trials/adult/default").iterdir()}
    assert made == {"nonprivate.csv.gz"}
