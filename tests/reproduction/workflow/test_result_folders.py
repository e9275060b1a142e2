"""One folder of results a configuration, and experiments that run on request alone."""

from __future__ import annotations

import re

import pytest
import yaml
from test_training import TINY as TRAINING
from tinyproject import ROOT, overlay

pytestmark = pytest.mark.slow

QUICK = ["--configfile", "workflow/config/quick.yaml"]


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


def test_other_readings_stay_below_the_folder_of_a_configuration(shipped):
    planned = shipped.plan("table4", "--config", "reading=zeta_literal", *QUICK)
    assert folders(planned) == {"results/quick/other_reading/zeta=literal/"}


@pytest.mark.parametrize("first", [[], ["config.yaml"]])
def test_an_overlay_alone_and_behind_config_yaml_are_one_configuration(first, finished, tmp_path):
    small = {"taus": [0.75], "experiments": {"covariance": {"trials": 2}}}
    (tmp_path / "small.yaml").write_text(yaml.safe_dump(small))
    assert finished.plan("mvg", "--configfile", *first, tmp_path / "small.yaml").idle


def test_private_gradients_on_mnist_run_on_request_alone(shipped):
    every, alone = shipped.plan("all"), shipped.plan("mnist")
    assert "trials/mnist_features/default/imgm" in every.jobs
    assert not [job for job in every.jobs if job.startswith("trials/mnist/")]
    assert "trials/mnist/default/imgm" in alone.jobs
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    assert [name for name, each in config["training"].items() if each.get("on_request")] == [
        "mnist"
    ]


def test_what_ran_on_request_is_neither_run_again_nor_dropped(fresh):
    adult = {**TRAINING["adult"], "on_request": True, "trials": 1, "epochs": 1}
    fresh.configure(training={"adult": adult})
    before = fresh.plan("results/tables/price.csv", "results/claims.csv")
    assert "summary/adult" not in before.jobs
    fresh.make("adult", "-c2")
    after = fresh.plan("results/tables/price.csv", "results/claims.csv")
    assert {"tables/price", "claims"} <= after.jobs
    assert not {job for job in after.jobs if "adult" in job}
    (command,) = re.findall(r"reproduction claims .*", after.output)
    assert "results/summary/adult.csv" in command
