"""Estimators: scikit-learn's own checks, and what they find with much and little privacy."""

import contextlib
import copy
import os
import pickle
from unittest import SkipTest

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixdp as mdp
from matrixdp.estimator_base import Private
from matrixdp.release import fits

WIDE = {"bounds": (-10.0, 10.0), "missing": "middle", "even_if_useless": True}
EXCEPTIONS = {
    "check_transformer_general": "fit_transform is refused",
    "check_transformer_data_not_an_array": "fit_transform is refused",
    "check_transformer_preserve_dtypes": "fit_transform is refused",
    "check_supervised_y_no_nan": "one record must not decide whether there is a fit",
}


@parametrize_with_checks(
    [
        mdp.Covariance(**WIDE),
        mdp.PrivatePCA(**WIDE),
        mdp.PrivateRidge(**WIDE, target_bounds=(-500.0, 500.0)),
    ],
    expected_failed_checks=lambda estimator: EXCEPTIONS,
)
def test_estimator_checks(estimator, check, monkeypatch):
    spend = Private._spend

    def repeated(self, release):
        # Many checks compare two fits.
        monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
        spend(self, release)

    monkeypatch.setattr(Private, "_spend", repeated)
    monkeypatch.setattr(fits.OneFit, "spend", lambda *_: None)
    # Checks of other kinds of estimators (array libraries, fits without chance) leave by this.
    with contextlib.suppress(SkipTest):
        check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    first = rng.uniform(-1, 1, 20_000)
    X = np.column_stack([first, 50 + 30 * first + rng.uniform(-10, 10, first.size)])
    return X, 3 * X[:, 0] - 0.1 * X[:, 1] + 7 + 0.1 * rng.standard_normal(first.size)


BOUNDS = {0: (-1, 1), 1: (10, 90)}
SIDES = {"bounds": BOUNDS, "target_bounds": (-20, 20)}


def test_noise_of_records_with_a_largest_norm_follows_from_it():
    """Unit vectors of 20 columns have 10 times less noise than records of [-1, 1]^20."""
    X = np.random.default_rng(0).standard_normal((500, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    options = {"bounds": (-1, 1), "mechanism": "gaussian", "epsilon": 2.0}
    wide, ball = (mdp.Covariance(**options, max_norm=norm).fit(X) for norm in (None, 1.0))
    assert wide.mechanism_.noise_std / ball.mechanism_.noise_std == pytest.approx(21 / 2, rel=0.05)


def test_the_ridge_follows_from_released_moments_alone(data, monkeypatch):
    """The same moments of other records give the same line; a ridge stands where it is needed."""
    X, y = data
    moments = np.diag([0.3, 0.2, 1.0, 0.4])
    moments[0, 3] = moments[3, 0] = 0.15
    monkeypatch.setattr(mdp.AdditiveMechanism, "release_value", lambda self, value: moments)
    options = {**SIDES, "epsilon": 9.0, "mechanism": "gaussian"}
    fits = [mdp.PrivateRidge(**options).fit(rows, y) for rows in (X, X[::-1], 0 * X)]
    for fit in fits:
        assert fit.coef_ == pytest.approx(fits[0].coef_, rel=1e-12)
    slope = 0.15 / 0.3 * 20 / 1
    assert fits[0].coef_[0] == pytest.approx(slope)
    moments[1, 1] = 1e-6
    shrunk = mdp.PrivateRidge(**options).fit(X, y).coef_[0] / slope
    ridge = 0.3 / shrunk - 0.3
    assert ridge > 1e-4
    for times, expected in ((5.9, shrunk), (6.1, 1.0)):
        moments[1, 1] = times * ridge
        fitted = mdp.PrivateRidge(**options).fit(X, y).coef_[0]
        assert fitted == pytest.approx(expected * slope, rel=1e-9)


def test_raw_values_of_estimators_are_those_that_noise_left(data, monkeypatch):
    X, _ = data
    moments = np.array([[1.5, 0.0, 0.0], [0.0, 1.0, 1.2], [0.0, 1.2, 1.0]])
    monkeypatch.setattr(mdp.AdditiveMechanism, "release_value", lambda self, value: moments)
    fit = mdp.Covariance(bounds=(-1, 1), mechanism="gaussian", epsilon=9.0).fit(np.clip(X, -1, 1))
    mean = np.array([0.0, 1.2])
    np.testing.assert_allclose(fit.raw_location_, mean)
    np.testing.assert_allclose(fit.raw_covariance_, [[1.5, 0.0], [0.0, 1.0 - 1.44]], atol=1e-12)
    np.testing.assert_allclose(fit.location_, [0.0, 1.0])
    np.testing.assert_allclose(fit.covariance_, [[1.0, 0.0], [0.0, 0.0]], atol=1e-12)


def test_standard_errors_shrink_with_the_noise_and_are_in_the_units_of_x_and_y(data):
    X, y = data
    errors = [mdp.PrivateRidge(**SIDES, epsilon=e).fit(X, y).coef_std_ for e in (1.0, 10.0)]
    assert (errors[1] < errors[0] / 3).all()
    stretched = mdp.PrivateRidge(
        bounds={0: (-2, 2), 1: (10, 90)}, target_bounds=(-60, 60), epsilon=10.0
    ).fit(X * [2, 1], 3 * y)
    assert stretched.coef_std_ / [1.5, 3] == pytest.approx(errors[1], rel=0.2)
    assert stretched.intercept_std_ > 0
    through_zero = mdp.PrivateRidge(**SIDES, epsilon=10.0, fit_intercept=False).fit(X, y)
    assert through_zero.intercept_std_ == through_zero.intercept_ == 0


def test_no_parameter_seeds_the_noise(data, account):
    X, y = data
    ridge = mdp.PrivateRidge(**SIDES, account=account)
    assert not [name for name in ridge.get_params() if "random" in name or "seed" in name]
    bagged = [
        BaggingRegressor(clone(ridge), n_estimators=2, random_state=1).fit(X, y).predict(X[:3])
        for _ in range(2)
    ]
    assert not np.allclose(*bagged, rtol=1e-12)


@pytest.fixture
def account(tmp_path):
    return mdp.Account(tmp_path / "a.json", epsilon=9.0, delta=1e-4)


def test_every_fit_beyond_the_first_needs_an_account(data, account):
    X, y = data
    ridge = mdp.PrivateRidge(**SIDES)
    with pytest.warns(match="each fit spends epsilon and delta again"):
        scores = cross_val_score(ridge, X, y, cv=5)
    assert np.isfinite(scores).sum() == 1
    with pytest.raises(mdp.InputError, match="give it an account"):
        clone(ridge).fit(X, y)
    counted = mdp.PrivateRidge(**SIDES, account=account)
    assert np.isfinite(cross_val_score(counted, X, y, cv=5)).all()
    assert len(account.releases) == 5


def test_copies_share_the_fit_and_those_of_other_processes_are_refused(data):
    X, y = data
    ridge = mdp.PrivateRidge(**SIDES)
    copied = copy.deepcopy(ridge).fit(X, y)
    with pytest.raises(mdp.InputError, match="may be fitted once"):
        ridge.fit(X, y)
    pickled = pickle.loads(pickle.dumps(copied))
    assert pickled.predict(X[:3]) == pytest.approx(copied.predict(X[:3]))
    for made in (pickled, clone(pickled), pickle.loads(pickle.dumps(mdp.PrivateRidge(**SIDES)))):
        with pytest.raises(mdp.InputError, match="may be fitted once"):
            made.fit(X, y)


def test_threads_share_the_fit(data):
    X, y = data
    ridge = mdp.PrivateRidge(**SIDES)
    with joblib.parallel_config("threading", n_jobs=4), pytest.warns(match="may be fitted once"):
        scores = cross_val_score(ridge, X, y, cv=5)
    assert np.isfinite(scores).sum() == 1


def test_projections_of_private_records_are_refused_alone(data):
    X, y = data
    with pytest.raises(mdp.InputError, match="exact projections"):
        _ = mdp.PrivatePCA(bounds=BOUNDS).fit_transform
    pipeline = make_pipeline(mdp.PrivatePCA(bounds=BOUNDS), Ridge()).fit(X, y)
    assert pipeline.predict(X[:3]).shape == (3,)


@pytest.mark.parametrize("kind", ["ridge", "covariance"])
def test_masked_numbers_are_missing(data, kind, monkeypatch):
    X, y = (np.array(part, dtype=float) for part in data)
    hidden = np.arange(X.size).reshape(X.shape) % 7 == 0
    given = []
    monkeypatch.setattr(Private, "_counting", lambda self, rows, *_: given.append(rows) or rows)
    for numbers, target in (
        (np.where(hidden, np.nan, X), np.where(hidden[:, 0], np.nan, y)),
        (np.ma.array(X, mask=hidden), np.ma.array(y, mask=hidden[:, 0])),
    ):
        if kind == "ridge":
            mdp.PrivateRidge(bounds=(0, 1), target_bounds=(0, 9)).fit(numbers, target)
        else:
            mdp.Covariance(bounds=(0, 1)).fit(numbers)
    assert given[0].tobytes() == given[1].tobytes()


def test_missing_and_infinite_values_decide_nothing(data):
    X, y = (part.copy() for part in data)
    X[:3, 0], y[:3] = (np.nan, np.inf, -np.inf), (np.inf, np.nan, -np.inf)
    assert np.isfinite(
        mdp.PrivatePCA(bounds=BOUNDS, epsilon=5.0, missing="middle").fit(X).components_
    ).all()
    ridge = mdp.PrivateRidge(**SIDES, epsilon=5.0, missing="middle").fit(X, y)
    exact = LinearRegression().fit(*data).predict(data[0])
    assert np.std(ridge.predict(data[0]) - exact) < 0.5


@pytest.mark.parametrize(("number", "components"), [(None, 3), (2.0, 2), (np.int64(1), 1)])
def test_a_number_of_components_is_whole_and_none_is_all(number, components):
    X = np.random.default_rng(0).uniform(0, 1, (400, 3))
    pca = mdp.PrivatePCA(number, bounds=(0, 1), epsilon=5.0).fit(X)
    assert pca.components_.shape == (components, 3)
    assert len(pca.explained_variance_ratio_) == len(pca.get_feature_names_out()) == components
