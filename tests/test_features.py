"""Experiments that leave features out before anything else."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from matrixdp import cli, config, data
from matrixdp.checks import InputError

SHIPPED = yaml.safe_load((Path(__file__).parents[1] / "config.yaml").read_text())
FEATURES = ("mcv", "sgpt", "drinks")


@pytest.fixture
def dataset(monkeypatch):
    """Let the verbs load three features, of which the middle one is the third one's double."""
    rng = np.random.default_rng(1)
    matrix = np.clip(rng.normal(size=(3, 60)) / 4, -1, 1)
    matrix[2] = matrix[1] / 2
    loaded = data.Dataset(
        name="liver",
        matrix=matrix,
        features=FEATURES,
        lower=(-9.0, -1.0, -1.0),
        upper=(9.0, 1.0, 1.0),
        status="original",
        provenance={"scaling": {"name": "default"}},
    )
    monkeypatch.setattr(data, "load", lambda _: loaded)
    return loaded


def run(out, *words, mechanism="gaussian_2006", features="drinks,sgpt"):
    arguments = ["trials", "section10_2", mechanism, "--data", "x", "--trials", "30"]
    arguments += ["--target", "drinks", "--train", "40", "--out", str(out), *words]
    return cli.main([*arguments, *(["--features", features] if features else [])])


def test_left_out_features_bring_no_noise_and_no_information(dataset, tmp_path):
    assert run(tmp_path / "two.csv.gz") == 0
    assert run(tmp_path / "all.csv.gz", features="") == 0
    two, all_ = (
        pd.read_csv(tmp_path / f"{name}.csv.gz")["noise_std"].max() for name in ("two", "all")
    )
    # Noise is proportional to the sensitivity: sqrt(2^2 + 2^2), with mcv sqrt(18^2 + 2^2 + 2^2).
    assert all_ / two == pytest.approx(np.sqrt((18**2 + 8) / 8))
    assert run(tmp_path / "exact.csv.gz", mechanism="nonprivate", features="mcv,drinks") == 0
    assert run(tmp_path / "known.csv.gz", mechanism="nonprivate") == 0
    exact, known = (
        pd.read_csv(tmp_path / f"{name}.csv.gz")["value"].mean() for name in ("exact", "known")
    )
    assert known < exact / 2


def test_a_feature_must_exist_and_the_target_be_kept(dataset, tmp_path, capsys):
    assert run(tmp_path / "x", features="drinks,sgtp") == 2
    assert "did you mean 'sgpt'" in capsys.readouterr().err
    assert run(tmp_path / "x", features="mcv,sgpt") == 2
    assert "target is 'drinks'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"features": ["sgpt", "drink"]}, "features names 'drink'; did you mean 'drinks'"),
        ({"features": ["sgpt"]}, "must be a list of at least two features"),
        ({"features": ["sgpt", "mcv"]}, "target is 'drinks'"),
        ({"directions": {"a": ["mcv"]}}, "directions.a names 'mcv'"),
    ],
)
def test_the_configuration_checks_features(change, sentence):
    bad = copy.deepcopy(SHIPPED)
    bad["experiments"]["section10_2"] |= change
    with pytest.raises(InputError, match=sentence):
        config.resolve(bad)
