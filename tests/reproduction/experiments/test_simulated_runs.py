"""Every experiment of config.yaml runs on its stand-in, in shape and type, and is marked."""

import copy
import functools

import numpy as np
import pytest
import yaml
from packages import ROOT

from reproduction import config, job_settings
from reproduction.data import store
from reproduction.experiments import study

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())
FEW = {"experiment_defaults": {"trials": 2, "trials_at_table_epsilon": 0, "epsilons": [1]}}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a function that prepares a stand-in once and returns its folder."""
    folder = tmp_path_factory.mktemp("prepared")

    @functools.cache
    def prepare(name):
        store.prepare(name, out=folder / name, source="simulated")
        return folder / name

    return prepare


@pytest.mark.parametrize("experiment", SHIPPED["experiments"])
def test_every_experiment_on_releases_runs_and_is_marked(experiment, prepared):
    settings = config.resolve(copy.deepcopy(SHIPPED) | FEW)
    folder = prepared(job_settings.dataset(settings, experiment))
    for mechanism in ("nonprivate", "jl_exact", "analytic_gaussian"):
        if mechanism in job_settings.rows(settings, experiment):
            job = job_settings.trials(settings, experiment, mechanism)
            job = job_settings.load_settings(job_settings.dump_settings(job))
            for block in study.trials(job, mechanism, folder):
                assert block["data_status"] == "simulated"
                assert np.isfinite(block["value"]).all()


SHORT = {"records": 256, "lot": 256, "epochs": 1, "trials": 1, "epsilons": [1]}
#: Their extractors take twenty seconds each.
AT_NIGHT = ["imdb", "mnist_features"]


@pytest.mark.parametrize(
    "experiment",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name in AT_NIGHT else [])
        for name in SHIPPED["training"]
    ],
)
def test_every_training_runs_and_is_marked(experiment, prepared, tmp_path):
    from reproduction.experiments.training import base, extractor

    entry = SHIPPED["training"][experiment] | SHORT
    entry |= {"extractor_epochs": 1} if "extractor_epochs" in entry else {}
    settings = config.resolve(copy.deepcopy(SHIPPED) | {"training": {experiment: entry}})
    path = prepared(entry["dataset"])
    if "extractor_epochs" in entry:
        job = job_settings.extraction(settings, experiment)
        extractor.write_features(
            job_settings.load_settings(job_settings.dump_settings(job)),
            path,
            tmp_path / "features.npz",
        )
        path = tmp_path / "features.npz"
    job = job_settings.training(settings, experiment, "imgm")
    for block in base.trials(
        job_settings.load_settings(job_settings.dump_settings(job)), "imgm", path
    ):
        assert block["data_status"] == "simulated"
        assert np.isfinite(block["value"]).all()
