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
JOB = job_settings.implied_noise(RESOLVED, "first_pc") | {"trials": 500}
NAMES = ["laplace", "jl_2012"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data") / "movement"
    store.prepare("movement", out=folder, source="simulated")
    return folder


def factors(folder, printed, interval=np.nan):
    chosen = pd.DataFrame({"mechanism": NAMES}).assign(configuration="", direction="")
    cells = pd.DataFrame({"value": printed, "interval": interval}, index=NAMES)
    rows = implied_noise.compute_implied_noise(JOB, folder, chosen, cells)
    return {row["mechanism"]: [row[name] for name in implied_noise.FACTORS] for row in rows}


def error_at(epsilon, folder):
    task, data, settings = study.prepare_job(JOB, load(folder))
    (rows,) = study.run(
        task, "laplace", data, dataclasses.replace(settings, epsilons=(epsilon,)), control=False
    )
    return float(np.mean(rows["value"]))


def test_the_error_of_more_noise_needs_as_much_more(folder):
    # Laplace noise for a quarter of epsilon is four times as large; the draws are others.
    quarter, half, eighth = (error_at(epsilon, folder) for epsilon in ("0.25", "0.5", "0.125"))
    assert factors(folder, quarter)["laplace"] == pytest.approx([4, 4, 4], rel=0.15)
    # The ends of an interval have multiples of their own.
    middle, width = (half + eighth) / 2, (eighth - half) / 2
    _, low, high = factors(folder, middle, width)["laplace"]
    assert (low, high) == (pytest.approx(2, rel=0.15), pytest.approx(8, rel=0.15))
    # Without noise there is no error. No noise loses more than a random direction does.
    _, low, high = factors(folder, quarter, 10.0)["laplace"]
    assert (low, high) == (0, np.inf)
    assert factors(folder, 10.0) == {}
    # A sketch adds no noise to a value.
    assert "jl_2012" not in factors(folder, quarter)


@pytest.mark.parametrize("name", ["gaussian_2006", "laplace"])
def test_gram_matrices_of_scaled_noise_err_as_the_records_do(name, tmp_path):
    store.prepare("ctg", out=tmp_path / "ctg", source="simulated")
    job = job_settings.implied_noise(RESOLVED, "covariance")
    task, data, settings = study.prepare_job(job, load(tmp_path / "ctg"))
    (case,) = study.calibrate_all(name, study.queries(task, data, settings), settings, data)
    count, scale = 200, 0.25
    noise = case.release.simulate(np.zeros(case.query.shape), np.random.default_rng(1), count)
    value = case.query.value(data.matrix)
    scores = task.instance(data.matrix, ()).score(value + scale * noise, output_type="matrix")
    error = implied_noise._mean_error(task, data, settings, case, count)
    wide = 4 * np.sqrt(2 / count) * scores.std()
    assert abs(error(np.log2(scale)) - scores.mean()) < wide < abs(error(-10) - scores.mean())
