"""The multiple of the textbook noise that a printed error would need."""

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from reproduction import config, job_settings
from reproduction.data import store
from reproduction.data.prepared import load
from reproduction.experiments import implied_noise, study

RESOLVED = config.resolve(yaml.safe_load((Path(__file__).parents[3] / "config.yaml").read_text()))
JOB = job_settings.implied_noise(RESOLVED, "first_pc") | {"trials": 1000}
NAMES = ["laplace", "goe", "jl_2012"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "movement"
    store.prepare("movement", out=folder, source="simulated")
    return folder


def factors(folder, printed):
    chosen = pd.DataFrame({"mechanism": NAMES}).assign(configuration="", direction="")
    rows = implied_noise.table(JOB, folder, chosen, pd.Series(printed, index=NAMES))
    return {row["mechanism"]: row["noise_factor"] for row in rows}


def test_the_error_of_more_noise_needs_as_much_more(folder):
    task, data, settings = study.prepared(JOB, load(folder))
    # Laplace noise for a quarter of epsilon is four times as large; the draws are others.
    quarter = dataclasses.replace(settings, epsilons=("0.25",))
    (rows,) = study.run(task, "laplace", data, quarter, control=False)
    printed = float(np.mean(rows["value"]))
    assert factors(folder, printed)["laplace"] == pytest.approx(4, rel=0.15)
    # A sketch adds no noise to a value. No noise loses more than a random direction does.
    assert "jl_2012" not in factors(folder, printed)
    assert factors(folder, 10.0) == {}
