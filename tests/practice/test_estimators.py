"""Estimators: scikit-learn's own checks, and what they find with much and little privacy."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixdp as mdp

WIDE = {"bounds": (-10.0, 10.0), "random_state": 0}


@parametrize_with_checks(
    [mdp.PrivatePCA(**WIDE), mdp.PrivateRidge(**WIDE, target_bounds=(-500.0, 500.0))],
)
def test_estimator_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    first = rng.uniform(-1, 1, 20_000)
    X = np.column_stack([first, 50 + 30 * first + rng.uniform(-10, 10, first.size)])
    return X, 3 * X[:, 0] - 0.1 * X[:, 1] + 7 + 0.1 * rng.standard_normal(first.size)


BOUNDS = ([-1, 10], [1, 90])


def test_components_are_those_of_scikit_learn(data):
    X, _ = data
    private = mdp.PrivatePCA(bounds=BOUNDS, epsilon=5.0).fit(X)
    exact = PCA(1).fit((X - [0, 50]) / [1, 40])
    assert abs(private.components_[0] @ exact.components_[0]) > 0.99
    assert private.transform(X[:5]).shape == (5, 1)


def test_regression_is_that_of_scikit_learn_and_noise_grows(data):
    X, y = data
    exact = LinearRegression().fit(X, y).predict(X)
    errors = []
    for epsilon in (0.01, 8.0):
        private = mdp.PrivateRidge(bounds=BOUNDS, target_bounds=(-20, 20), epsilon=epsilon)
        errors.append(np.sqrt(np.mean((private.fit(X, y).predict(X) - exact) ** 2)))
    assert errors[1] < 0.3 < errors[0]


def test_bounds_must_be_stated(data):
    X, y = data
    with pytest.raises(mdp.InputError, match="bounds is None"):
        mdp.PrivatePCA().fit(X)
    with pytest.raises(mdp.InputError, match="target_bounds is None"):
        mdp.PrivateRidge(bounds=BOUNDS).fit(X, y)
    with pytest.raises(mdp.InputError, match="each a number or 2 of them"):
        mdp.PrivatePCA(bounds=([1, 2, 3], 4)).fit(X)
    with pytest.raises(mdp.InputError, match="n_components is 3"):
        mdp.PrivatePCA(3, bounds=BOUNDS).fit(X)
