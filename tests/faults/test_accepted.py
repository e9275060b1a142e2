"""What a configuration may say can be run: every mechanism at the ends of every setting."""

from __future__ import annotations

import copy

import mutations
import numpy as np
import pytest

from matrixdp import config, parts
from matrixdp.data import store
from matrixdp.experiments import study

#: Ends of the schema; what is left out is one value in the middle.
ENDS = {
    "small epsilon": {"epsilons": [1e-6], "table_epsilon": 1e-6},
    "large epsilon": {"epsilons": [1e6], "table_epsilon": 1e6},
    "small delta": {"delta": 1e-15},
    "large delta": {"delta": 1 - 1e-9},
    "small delta, large epsilon": {"delta": 1e-15, "epsilons": [1e6], "table_epsilon": 1e6},
    "large delta, small epsilon": {"delta": 1 - 1e-9, "epsilons": [1e-6], "table_epsilon": 1e-6},
    "small shares": {"taus": [1e-6], "public_tau": 1e-6, "rows": [1], "radii": [1e-6]},
    "large shares": {"taus": [1 - 1e-6], "public_tau": 1 - 1e-6, "rows": [1000], "radii": [1]},
    "small training set": {"train": 2.0, "trials": "1.0"},
    "large training set": {"train": "344", "seed": 2**63 - 1},
}
MIDDLE = {"trials": 1, "epsilons": [1], "table_epsilon": 1.0, "taus": [0.75], "rows": [4]}
MIDDLE["radii"] = [0.25]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("liver", "movement", "ctg"):
        store.prepare(name, out=folder / name, source="simulated")
    return folder


@pytest.mark.parametrize("name", ENDS)
def test_every_mechanism_runs_at_the_ends_of_what_is_allowed(folder, name):
    chosen = copy.deepcopy(mutations.SHIPPED) | MIDDLE | ENDS[name] | {"training": {}}
    train = chosen.pop("train", 60)
    for own in chosen["experiments"].values():
        own |= {"claim_trials": 0} | ({"train": train} if "train" in own else {})
    settings = config.resolve(chosen)
    ran = 0
    for experiment, own in settings["experiments"].items():
        part = parts.trials(settings, experiment, *own["mechanisms"])
        for _, rows in study.trials(part, own["mechanisms"], folder / own["dataset"]):
            for block in rows:
                assert np.isfinite(block.get("value", 0)).all()
                if block.get("epsilon_actual") is not None:
                    assert block["epsilon_actual"] <= float(block["epsilon"]) * (1 + 1e-9)
                    assert block["noise_std"] != 0
                    ran += 1
    assert ran > 40
