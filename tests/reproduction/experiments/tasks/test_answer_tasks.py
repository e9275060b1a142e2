"""Tasks on a person's own records: scores by the measure of what a release answers."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression

from matrixdp.privacy.sensitivity import Box, second_moments
from reproduction.data.prepared import Dataset
from reproduction.experiments import study, tasks
from reproduction.experiments.tasks.personal import (
    CapturedVariance,
    InterceptRegression,
    MomentsError,
)
from reproduction.job_settings import Settings
from reproduction.mechanisms import registry
from reproduction.trials import MEAN, MY_MATRIX, NONPRIVATE, RANDOM, ZERO

RNG = np.random.default_rng(1)
#: Three features in [-1, 1], far from the middle, of which the last follows from the others.
X = np.clip(-0.6 + 0.1 * RNG.standard_normal((2, 400)), -1, 1)
MATRIX = np.vstack([X, 0.5 * X[0] - 0.3 * X[1] + 0.4 + 0.01 * RNG.standard_normal(400)])
STREAMS = [np.random.default_rng(seed) for seed in range(3)]
BOX = Box.cube(3, -1.0, 1.0)


def constant(rows):
    return np.vstack([rows[:-1], np.ones((1, rows.shape[1])), rows[-1:]])


def test_second_moments_are_scored_by_their_size_too():
    instance = MomentsError().instance(MATRIX, STREAMS)
    moments = second_moments(MATRIX)
    scores = instance.score(
        np.stack([moments, moments / 4.4, 0 * moments]), output_type="second_moments"
    )
    assert scores == pytest.approx([0, 1 - 1 / 4.4, 1])
    assert instance.baseline(ZERO, STREAMS, BOX) == pytest.approx(1)
    assert instance.baseline(NONPRIVATE, STREAMS, BOX) == pytest.approx(0, abs=1e-12)


def test_the_known_bias_of_noisy_records_is_taken_off():
    instance = MomentsError().instance(np.tile(MATRIX, 50), STREAMS)
    noisy = np.tile(MATRIX, 50) + np.random.default_rng(2).standard_normal((1, 3, 20_000))
    assert instance.score(noisy, output_type="matrix", noise_std=1.0)[0] < 0.1
    assert instance.score(noisy, output_type="matrix")[0] > 0.5


def test_a_component_is_that_about_the_mean():
    instance = CapturedVariance().instance(MATRIX, STREAMS)
    np.testing.assert_allclose(instance.matrix, constant(MATRIX))
    exact = PCA().fit(MATRIX.T)
    wide = second_moments(constant(MATRIX))[None]
    assert instance.score(wide, output_type="second_moments") == pytest.approx(0, abs=1e-9)
    assert instance.baseline(NONPRIVATE, STREAMS, BOX) == pytest.approx(0, abs=1e-9)
    random = instance.baseline(RANDOM, STREAMS, BOX)
    assert ((random > 0) & (random <= 1)).all()
    # The last component captures what it captures.
    flat = np.eye(4)
    flat[[[0], [1], [3]], [0, 1, 3]] = np.outer(exact.components_[2], exact.components_[2])
    ratio = exact.explained_variance_[2] / exact.explained_variance_[0]
    assert instance.score(flat[None], output_type="second_moments") == pytest.approx(1 - ratio)


def test_a_regression_has_an_intercept_and_is_held_against_the_mean():
    task = InterceptRegression(target=2, train=300)
    instance = task.instance(MATRIX, [np.random.default_rng(5)])
    train, test = task._split(MATRIX, [np.random.default_rng(5)])
    exact = LinearRegression().fit(train[0, :2].T, train[0, 2])
    error = np.sqrt(np.mean((exact.predict(test[0, :2].T) - test[0, 2]) ** 2))
    assert instance.baseline(NONPRIVATE, STREAMS, BOX) == pytest.approx(error)
    moments = second_moments(instance.matrix)
    assert instance.score(moments, output_type="second_moments", noise_std=0.0) == pytest.approx(
        error
    )
    assert instance.score(instance.matrix, output_type="matrix")[0] < 2 * error
    level = np.sqrt(np.mean((train[0, 2].mean() - test[0, 2]) ** 2))
    assert instance.baseline(MEAN, STREAMS, BOX) == pytest.approx(level)
    # The middle of the bounds is a straw man.
    assert level < 0.2 * np.sqrt(np.mean(test[0, 2] ** 2))


def test_columns_of_very_different_size_and_copies_are_no_singular_matrix():
    rows = np.vstack([MATRIX[0], MATRIX[0], 1e-9 * MATRIX[1], MATRIX[2]])
    instance = InterceptRegression(target=3, train=300).instance(rows, STREAMS)
    scores = instance.score(1e8 * instance.matrix, output_type="matrix")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("name", ["moments_error", "captured_variance", "intercept_regression"])
def test_every_mechanism_runs_or_says_why_not(name):
    needs = {"target": 2, "train": 300} if name == "intercept_regression" else {}
    task = tasks.find(name).build(**needs)
    data = Dataset(MY_MATRIX, MATRIX, ("a", "b", "c"), (-1.0,) * 3, (1.0,) * 3, "original")
    settings = Settings(
        experiment="x", seed=0, trials=2, epsilons=("1",), delta=1e-6, directions={"a": (0,)},
        grids={"taus": ("0.9",), "sketch_multiples": ("2",), "squared_radius_fractions": ("0.1",)},
    )  # fmt: skip
    posed = study.queries(task, data, settings)
    for mechanism in registry():
        rows = study.run(task, mechanism, data, settings)
        notes = [row.get("note") for row in rows]
        serves = study.serves(task, mechanism, posed, settings)
        if not all(notes):
            assert serves
            assert all(np.isfinite(row["value"]).all() for row in rows if "value" in row)
        elif "skipped" in notes[0]:
            assert not serves
    if name != "moments_error":
        position = [task.position(i, 3) for i in range(3)]
        assert [posed["covariance"].domain.upper[i] for i in position] == [1, 1, 1]
        assert position == [0, 1, 3]


def test_a_mechanism_that_fails_on_own_records_is_a_row(monkeypatch, tmp_path):
    data = Dataset(MY_MATRIX, MATRIX, ("a", "b", "c"), (-1.0,) * 3, (1.0,) * 3, "private")
    monkeypatch.setattr(study, "load", lambda *given: data)
    part = {
        "experiment": "my_second_moments", "task": "moments_error", "dataset": MY_MATRIX, "seed": 0,
        "trials": 2, "epsilons": ["1"], "delta": "1/n", "adjacency": "replace",
        "reading": "default",
    }  # fmt: skip

    def fail(*given):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(MomentsError, "instance", fail)
    ((name, rows),) = study.trials(part, ["laplace"], tmp_path)
    assert name == "laplace"
    assert [row["note"] for row in rows] == ["failed: Singular matrix"]
    monkeypatch.setattr(study, "MY_MATRIX", "another")
    with pytest.raises(np.linalg.LinAlgError):
        list(study.trials(part, ["laplace"], tmp_path))
