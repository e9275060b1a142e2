"""Options of tasks that readings choose."""

from dataclasses import replace

import numpy as np
import pytest
from rowframes import run
from sklearn.kernel_ridge import KernelRidge

from reproduction.experiments.readings import adjust_mechanism, find_reading
from reproduction.experiments.tasks.components import FirstComponent
from reproduction.experiments.tasks.regression import (
    PENALTIES,
    Regression,
    radial_kernels,
    radial_predictions,
)
from reproduction.job_settings import Settings
from reproduction.seeds import streams

REGRESSION = Regression(target=3, train=40)
SETTINGS = Settings(
    experiment="regression",
    seed=7,
    trials=3,
    epsilons=("1",),
    grids={"sketch_multiples": ("2", "4")},
)


def test_radial_predictions_are_those_of_scikit_learn():
    rng = np.random.default_rng(5)
    train, test = rng.standard_normal((3, 5, 80)), rng.standard_normal((3, 5, 30))
    target = rng.standard_normal((3, 80))
    ours = radial_predictions(*radial_kernels(train, test, gamma=0.2), target, penalty=0.3)
    for t in range(3):
        model = KernelRidge(kernel="rbf", alpha=0.3, gamma=0.2).fit(train[t].T, target[t])
        np.testing.assert_allclose(ours[t], model.predict(test[t].T), rtol=1e-9, atol=1e-12)
    # Records that are far from everything predict nothing.
    kernels = radial_kernels(1e8 * train, test, gamma=0.2)
    far = radial_predictions(*kernels, target, penalty=0.3)
    assert np.abs(far).max() < 1e-12


def rmse(task, data, released):
    instance = task.instance(data.matrix, streams(0, "split", trials=range(len(released))))
    return instance.score(released, output_type="matrix"), instance


def test_clipping_acts_on_released_records_and_on_predictions(data):
    noise = 3 * np.random.default_rng(2).standard_normal((2, 4, 40))
    instance = REGRESSION.instance(data.matrix, streams(0, "split", trials=range(2)))
    released = instance.matrix + noise
    plain, _ = rmse(REGRESSION, data, released)
    clipped, _ = rmse(replace(REGRESSION, clip_released=True), data, released)
    expected, _ = rmse(REGRESSION, data, np.clip(released, -1, 1))
    np.testing.assert_allclose(clipped, expected)
    assert (clipped != plain).all()
    # Targets a hundred times too large make predictions that leave the box.
    scale = np.array([1, 1, 1, 100])[:, None]
    bounded, own = rmse(replace(REGRESSION, clip_predictions=True), data, scale * own_matrix(data))
    wild, _ = rmse(REGRESSION, data, scale * own_matrix(data))
    assert (bounded < wild).all()
    assert (bounded <= np.sqrt(((1 + np.abs(own._target)) ** 2).mean(axis=1))).all()


def own_matrix(data):
    return REGRESSION.instance(data.matrix, streams(0, "split", trials=range(2))).matrix


def test_the_chosen_ridge_is_the_best_one_on_splits_of_its_own(data):
    noisy = 0.5 * np.sin(4 * data.matrix[0]) + 0.1 * data.matrix[3]
    data = replace(data, matrix=np.vstack([data.matrix[:3], noisy]))
    task = replace(REGRESSION, penalty=None, kernel="rbf")
    tuned = task.tuned(data.matrix, streams(7, "tune", trials=range(5)))
    instance = REGRESSION.instance(data.matrix, streams(7, "tune", trials=range(5)))
    errors = []
    for penalty in PENALTIES:
        total = 0.0
        for t in range(5):
            train, target = instance.matrix[t][:3].T, instance.matrix[t][3]
            model = KernelRidge(kernel="rbf", alpha=penalty, gamma=1 / 3).fit(train, target)
            error = model.predict(instance._features[t].T) - instance._target[t]
            total += np.sqrt((error**2).mean())
        errors.append(total)
    assert tuned.penalty == PENALTIES[int(np.argmin(errors))]
    assert 0 < np.argmin(errors) < len(PENALTIES) - 1
    assert REGRESSION.tuned(data.matrix, []) is REGRESSION


@pytest.mark.parametrize("reading", ["kernel=rbf", "released=clipped"])
def test_what_means_nothing_on_a_sketch_is_skipped_with_the_reason(reading, data):
    task = adjust_mechanism(REGRESSION, find_reading(reading).parameters)
    table = run(task, "jl_exact", data, replace(SETTINGS, reading=reading))
    assert table["outcome"].tolist() == ["skipped"]
    assert table["note"].tolist() == ["it releases a sketch, the task needs a matrix"]
    assert table["reading"].tolist() == [reading]


def test_the_singular_vector_is_that_of_the_matrix_as_it_is(data):
    rng = np.random.default_rng(4)
    released = rng.standard_normal((5, 4, 4))
    moments = data.matrix @ data.matrix.T / 60
    for vector in ("symmetric", "singular"):
        score = (
            FirstComponent(vector)
            .instance(data.matrix, [])
            .score(released, output_type="second_moments")
        )
        for t in range(5):
            symmetric = np.linalg.eigh((released[t] + released[t].T) / 2)[1][:, -1]
            # The first left singular vector of A is the top eigenvector of A A^T.
            singular = np.linalg.eigh(released[t] @ released[t].T)[1][:, -1]
            top = symmetric if vector == "symmetric" else singular
            expected = np.linalg.eigvalsh(moments)[-1] - top @ moments @ top
            assert score[t] == pytest.approx(expected, abs=1e-9)
