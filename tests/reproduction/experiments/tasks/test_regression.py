from dataclasses import replace

import numpy as np
import pytest
from exactness import same_copies
from sklearn.kernel_ridge import KernelRidge

from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import Box, SecondMomentQuery
from reproduction.experiments.tasks.regression import (
    Regression,
    coefficients_of_records,
    ridge_coefficients,
)
from reproduction.mechanisms.adassp import NormalEquations
from reproduction.seeds import streams

CUBE = Box.cube(6, -1, 1)


@pytest.fixture
def matrix():
    rng = np.random.default_rng(3)
    mixing = rng.standard_normal((6, 6))
    return np.tanh(mixing @ rng.standard_normal((6, 345)) / 3)


def split_streams(trials=4):
    return streams(0, "split", trials=range(trials))


def test_the_target_may_be_any_feature(matrix):
    coefficients = ridge_coefficients((matrix @ matrix.T)[None], 2, 0.5)[0]
    others = np.delete(matrix, 2, axis=0)
    expected = np.linalg.solve(others @ others.T + 0.5 * np.eye(5), others @ matrix[2])
    np.testing.assert_allclose(coefficients, expected, rtol=1e-9)


def test_records_of_unequal_size_keep_the_digits_that_a_gram_matrix_loses(matrix):
    (even,) = coefficients_of_records(matrix[None], 2, 0.5)
    (expected,) = ridge_coefficients((matrix @ matrix.T)[None], 2, 0.5)
    np.testing.assert_allclose(even, expected, rtol=1e-9)
    # Features U S V^T of sizes S: the coefficients of target t are U S (S^2 + 1)^-1 V^T t.
    rng = np.random.default_rng(4)
    left, right = (np.linalg.qr(rng.standard_normal(shape))[0] for shape in ((5, 5), (345, 5)))
    sizes = np.array([1e9, 1e5, 10.0, 1.0, 0.1])
    records = np.vstack([(left * sizes) @ right.T, matrix[5]])
    exact = left @ (sizes / (sizes**2 + 1) * (right.T @ matrix[5]))
    (coefficients,) = coefficients_of_records(records[None], 5, 1.0)
    np.testing.assert_allclose(coefficients, exact, rtol=1e-5)
    (lost,) = ridge_coefficients((records @ records.T)[None], 5, 1.0)
    assert np.abs(lost / exact - 1).max() > 1e-2


def test_without_a_penalty_singular_records_have_the_coefficients_of_least_norm(matrix):
    records = matrix.copy()
    records[1] = 2 * records[0]
    (coefficients,) = coefficients_of_records(records[None], 5, 0.0)
    np.testing.assert_allclose(coefficients, np.linalg.pinv(records[:5].T) @ records[5], rtol=1e-9)


def test_splits_are_disjoint_complete_and_differ_between_trials(matrix):
    instance = Regression(target=5, train=248).instance(matrix, split_streams())
    assert instance.matrix.shape == (4, 6, 248)
    for t in range(4):
        both = np.concatenate([instance.matrix[t][5], instance._target[t]])
        assert same_copies(np.sort(both), np.sort(matrix[5]))
    assert (instance.matrix[0] != instance.matrix[1]).any()


def test_the_score_of_clean_records_is_the_nonprivate_rmse(matrix):
    instance = Regression(target=5, train=248).instance(matrix, split_streams())
    train, test = instance.matrix, instance._features
    model = KernelRidge(kernel="linear", alpha=1.0).fit(train[1][:5].T, train[1][5])
    errors = model.predict(test[1].T) - instance._target[1]
    score = instance.score(train, output_type="matrix")
    assert score[1] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-9)
    np.testing.assert_allclose(instance.baseline("nonprivate", split_streams(), CUBE), score)


def test_clipping_without_noise_is_a_row_of_its_own(matrix):
    instance = Regression(target=5, train=248).instance(matrix, split_streams())
    clipped = Ball(np.sqrt(6 / 16), 6).clip(instance.matrix)
    assert np.linalg.norm(clipped, axis=1).max() == pytest.approx(np.sqrt(6 / 16))
    found = instance.baseline("clipped_16", split_streams(), CUBE)
    np.testing.assert_allclose(found, instance.score(clipped, output_type="matrix"))
    assert (found != instance.baseline("nonprivate", split_streams(), CUBE)).all()


def test_a_sketch_that_holds_the_ridge_gets_only_what_is_missing(matrix):
    instance = Regression(target=5, train=248).instance(matrix, split_streams())
    gram = instance.matrix @ np.swapaxes(instance.matrix, 1, 2)
    clean = instance.score(instance.matrix, output_type="matrix")
    root = np.linalg.cholesky(gram + 0.25 * np.eye(6))
    np.testing.assert_allclose(instance.score(root, output_type="sketch", ridge=0.25), clean)
    root = np.linalg.cholesky(gram + 1e12 * np.eye(6))
    zero = instance.baseline("zero", split_streams(), CUBE)
    np.testing.assert_allclose(
        instance.score(root, output_type="sketch", ridge=1e12), zero, rtol=1e-6
    )


def test_zero_and_random_predictors(matrix):
    instance = Regression(target=5, train=248).instance(matrix, split_streams(400))
    truth = (instance._target**2).mean(axis=1)
    np.testing.assert_allclose(instance.baseline("zero", [], CUBE), np.sqrt(truth))
    guess = instance.baseline("random", streams(0, "noise", trials=range(400)), CUBE)
    # A uniform guess on [-1, 1] has variance 1/3 and is independent of the truth.
    assert np.mean(guess**2 - truth) == pytest.approx(1 / 3, abs=0.01)


def test_second_moments_get_the_public_ridge_of_their_noise(matrix):
    """2 s sqrt(m) on the Gram matrix, s on the diagonal of an orthogonal ensemble on it."""
    task = Regression(target=5, train=248)
    assert "second_moments" in task.accepts
    assert "second_moments" not in replace(task, kernel="rbf").accepts
    assert "second_moments" not in replace(task, clip_released=True).accepts
    instance = task.instance(matrix, split_streams())
    gram = instance.matrix @ np.swapaxes(instance.matrix, 1, 2)
    s = 0.7
    rms = s * np.sqrt((6 + 30 / 2) / 36) / 248
    score = instance.score(gram / 248, output_type="second_moments", noise_std=rms)
    model = KernelRidge(kernel="linear", alpha=2 * s * np.sqrt(6))
    train, test = instance.matrix[1], instance._features[1]
    errors = model.fit(train[:5].T, train[5]).predict(test.T) - instance._target[1]
    assert score[1] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-9)
    release = Gaussian().calibrate(
        SecondMomentQuery(Box.cube(6, -1, 1), 248), epsilon=1, delta=0.01
    )
    assert moments_ridge(release.noise_std, 6) == pytest.approx(
        2 * release.noise.size[0, 0] * np.sqrt(6)
    )


def test_second_moments_that_bring_their_ridge_get_none(matrix):
    instance = Regression(target=5, train=248).instance(matrix, split_streams())
    gram = instance.matrix @ np.swapaxes(instance.matrix, 1, 2)
    clean = instance.score(instance.matrix, output_type="matrix")
    score = instance.score((gram + np.eye(6)) / 248, output_type="second_moments")
    np.testing.assert_allclose(score, clean, rtol=1e-9)


def test_the_normal_equations_know_the_target():
    box = Box.cube(6, -1, 1)
    query = Regression(target=3, train=40).query("normal_equations", box, 40, "zero_out")
    assert query == NormalEquations(box, 40, "zero_out", target=3)
    moments = Regression(target=3, train=40).query("covariance", box, 40, "replace")
    assert moments == SecondMomentQuery(box, 40)
