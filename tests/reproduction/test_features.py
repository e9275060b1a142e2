"""Experiments that leave features out before anything else."""

from pathlib import Path

import numpy as np
import pytest
import yaml

from reproduction import config, job_settings, trials
from reproduction.data import Dataset
from reproduction.experiments import study

SHIPPED = yaml.safe_load((Path(__file__).parents[2] / "config.yaml").read_text())
FEATURES = ("mcv", "sgpt", "drinks")


@pytest.fixture
def dataset():
    """Three features, of which the middle one is the third one's double."""
    rng = np.random.default_rng(1)
    matrix = np.clip(rng.normal(size=(3, 60)) / 4, -1, 1)
    matrix[2] = matrix[1] / 2
    return Dataset("liver", matrix, FEATURES, (-9.0, -1.0, -1.0), (9.0, 1.0, 1.0), "original")


def run(dataset, mechanism="gaussian_2006", column="noise_std", **changes):
    """Return a column of the trials of section 10.2 on the data set."""
    resolved = config.resolve({**SHIPPED, "experiment_defaults": {"trials": 30, "epsilons": [1]}})
    part = job_settings.trials(resolved, "section10_2", mechanism) | {"train": 40, **changes}
    task, private, settings = study.prepared(part, dataset)
    return np.array(trials.columns(study.run(task, mechanism, private, settings))[column])


def test_left_out_features_bring_no_noise_and_no_information(dataset):
    two, all_ = (
        run(dataset, features=features).max() for features in (["drinks", "sgpt"], [*FEATURES])
    )
    # Noise is proportional to the sensitivity: sqrt(2^2 + 2^2), with mcv sqrt(18^2 + 2^2 + 2^2).
    assert all_ / two == pytest.approx(np.sqrt((18**2 + 8) / 8))
    known, left = (
        run(dataset, "nonprivate", "value", features=features).mean()
        for features in ([*FEATURES], ["mcv", "drinks"])
    )
    assert known < left / 2
