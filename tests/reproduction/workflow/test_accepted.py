"""What a configuration may say can be run: every mechanism at the ends of every setting."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from packages import ROOT

from reproduction import config, job_settings
from reproduction.data import store
from reproduction.experiments import study

#: Ends of the schema; what is left out is one value in the middle.
ENDS = {
    "small epsilon": {"epsilon": 1e-6},
    "large epsilon": {"epsilon": 1e6},
    "small delta": {"delta": 1e-15},
    "large delta": {"delta": 1 - 1e-9},
    "small delta, large epsilon": {"delta": 1e-15, "epsilon": 1e6},
    "large delta, small epsilon": {"delta": 1 - 1e-9, "epsilon": 1e-6},
    "small fractions": {
        "taus": [1e-6],
        "tau_untuned": 1e-6,
        "sketch_multiples": [1],
        "squared_radius_fractions": [1e-6],
    },
    "large fractions": {
        "taus": [1 - 1e-6],
        "tau_untuned": 1 - 1e-6,
        "sketch_multiples": [1000],
        "squared_radius_fractions": [1],
    },
    "small training set": {"train": 2},
    "large training set": {"train": 344, "seed": 2**63 - 1},
}
#: Ends that others have too: `make test-all` also tries them alone.
ALONE = ("small epsilon", "large epsilon", "small delta", "large delta")
NAMES = [pytest.param(name, marks=pytest.mark.nightly) if name in ALONE else name for name in ENDS]
MIDDLE = {
    "taus": [0.75],
    "sketch_multiples": [4],
    "squared_radius_fractions": [0.25],
    "training": {},
}

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("liver", "movement", "ctg"):
        store.prepare(name, out=folder / name, source="simulated")
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_runs_at_the_ends_of_what_is_allowed(folder, name):
    chosen = yaml.safe_load((ROOT / "config.yaml").read_text()) | MIDDLE | ENDS[name]
    train, trials = chosen.pop("train", 60), chosen.pop("trials", 1)
    epsilon = chosen["table_epsilon"] = chosen.pop("epsilon", 1.0)
    defaults = {"trials": trials, "trials_at_table_epsilon": 0, "epsilons": [epsilon]}
    chosen["experiment_defaults"] = defaults
    for own in chosen["experiments"].values():
        own |= {"train": train} if "train" in own else {}
    settings = config.resolve(chosen)
    ran = 0
    for experiment, own in settings["experiments"].items():
        for mechanism in own["mechanisms"]:
            part = job_settings.trials(settings, experiment, mechanism)
            for block in study.trials(part, mechanism, folder / own["dataset"]):
                assert np.isfinite(block.get("value", 0)).all()
                if block.get("epsilon_delivered") is not None:
                    assert block["epsilon_delivered"] <= float(block["epsilon"]) * (1 + 1e-9)
                    assert block["noise_std"] != 0
                    ran += 1
    assert ran > 40
