"""One folder of results a configuration; what is planned follows from that alone."""

from __future__ import annotations

import re

import pytest
import yaml
from tinyproject import ROOT, overlay

from reproduction import config

pytestmark = pytest.mark.nightly

QUICK = ["--configfile", "workflow/config/quick.yaml"]
MNIST = ["--configfile", "workflow/config/mnist.yaml"]
SECOND_SEED = ["--configfile", "workflow/config/second_seed.yaml"]


def folders(plan):
    """Return the results' folders of planned jobs, from the places of their logs."""
    return {*re.findall(r"(?:>|tee) '?(results/[^>]*?)logs/", plan.output)}


def test_a_quick_run_leaves_the_results_of_a_full_one_alone(shipped):
    assert folders(shipped.plan("all", *QUICK)) == {"results/quick/"}
    assert folders(shipped.plan("all")) == {"results/"}


def test_an_overlay_that_names_a_folder_has_its_results_there(finished, tmp_path):
    changes = overlay(tmp_path, seed=1, pathvars={"results": "results/seed 1"})
    assert folders(finished.plan("mvg", *changes)) == {"results/seed 1/"}
    assert finished.plan("mvg").idle


@pytest.mark.parametrize("first", [[], ["config.yaml"]])
def test_an_overlay_alone_and_behind_config_yaml_are_one_configuration(first, finished, tmp_path):
    small = {"taus": [0.75], "experiments": {"covariance": {"trials": 2}}}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small))
    assert finished.plan("mvg", "--configfile", *first, tmp_path / "small.yaml").idle


def test_private_gradients_on_mnist_have_a_run_of_their_own(shipped):
    every = shipped.plan("all")
    assert "trials/mnist_features/default/analytic_gaussian" in every.jobs
    assert not [job for job in every.jobs if job.startswith("trials/mnist/")]
    alone = shipped.plan("mnist", "mnist_features", "claims", *MNIST)
    assert folders(alone) == {"results/mnist/"}
    assert {"train", "judge_claims"} <= alone.counts.keys()
    assert not {"trials", "audit_releases", "held_out"} & alone.counts.keys()
    refused = shipped.snakemake("mnist", "-n")
    assert refused.code != 0
    assert "this configuration does not run mnist; `make mnist` does" in refused.output


def test_a_second_seed_runs_what_verdicts_rest_on_alone(shipped):
    outcome = shipped.plan("results/second_seed/claims.csv", *SECOND_SEED)
    assert folders(outcome) == {"results/second_seed/"}
    assert {"trials", "train", "readings_trials", "judge_claims"} <= outcome.counts.keys()
    assert not {"audit_releases", "held_out", "table", "figure"} & outcome.counts.keys()


def test_a_run_that_differs_from_a_kept_one_in_the_seed_alone_has_a_table_of_both(
    shipped, tmp_path
):
    again = shipped.copy(tmp_path / "my project")
    kept = "results/reference/second_seed"
    full = yaml.safe_load((ROOT / "config.yaml").read_text())
    other = config.resolve({**full, "seed": full["seed"] + 1})
    (again.folder / kept).mkdir(parents=True)
    (again.folder / kept / "settings.yaml").write_text(config.text(other))
    (again.folder / kept / "claims.csv").touch()
    table = again.plan("results/tables/second_seed.csv")
    assert f"table second_seed results/claims.csv {kept}/claims.csv {kept}/settings.yaml" in (
        table.output
    )
    # Neither has one a run with other trials or the same seed, nor one beside nothing.
    for project, folder, *words in (
        (again, "results/quick", *QUICK),
        (again, "results", "--config", f"seed={other['seed']}"),
        (shipped, "results"),
    ):
        refused = project.snakemake("-n", f"{folder}/tables/second_seed.csv", *words)
        assert "No rule to produce" in refused.output


def test_no_result_of_another_run_changes_a_plan(fresh):
    before = fresh.plan("all").jobs
    for place in ("results/summary", "results/mnist/summary"):
        (fresh.folder / place).mkdir(parents=True, exist_ok=True)
        (fresh.folder / place / "mnist.csv").touch()
    assert fresh.plan("all").jobs == before
