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
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import matrixdp as mdp
from matrixdp import estimators
from matrixdp.mechanisms.moments import centred, regression, with_constant
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.noise import safe
from matrixdp.release import fits

WIDE = {"bounds": (-10.0, 10.0), "missing": "middle"}
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
    spend = estimators._Private._spend

    def repeated(self, release):
        # Many checks compare two fits.
        monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
        spend(self, release)

    monkeypatch.setattr(estimators._Private, "_spend", repeated)
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


def off_centre(count, rng):
    """Return ages about 30 and incomes that fall with them."""
    age = 30 + 4 * rng.standard_normal(count)
    return np.column_stack([age, 1e5 - 4000 * (age - 30) + 8000 * rng.standard_normal(count)])


def rotated(count, rng):
    basis = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    return 0.3 + rng.standard_normal((count, 4)) * [0.4, 0.1, 0.05, 0.02] @ basis.T


def heavy(count, rng):
    tails = rng.standard_t(3, (count, 2)) * [0.2, 0.02]
    return 0.4 + tails @ [[0.8, 0.6], [-0.6, 0.8]]


SHAPES = {
    "off-centre": (off_centre, {0: (0, 120), 1: (0, 200_000)}),
    "rotated": (rotated, (-1, 2)),
    "heavy tails": (heavy, (-2, 2)),
}


def sides_of(bounds):
    """Return the lowest and the highest values, (2,) or (2, m)."""
    return np.array([*bounds.values()] if isinstance(bounds, dict) else bounds).T


@pytest.mark.parametrize("epsilon", [1.0, 10.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_first_component_is_that_of_scikit_learn_wherever_the_mean_is(shape, epsilon):
    make, bounds = SHAPES[shape]
    X = make(5000, np.random.default_rng(1))
    private = mdp.PrivatePCA(bounds=bounds, epsilon=epsilon).fit(X)
    sides = sides_of(bounds)
    scaled = np.clip(X, *sides) / np.broadcast_to(np.ptp(sides, axis=0), X.shape[1])
    exact = PCA(1).fit(2 * scaled)
    captured = np.var(2 * scaled @ private.components_[0]) / exact.explained_variance_[0]
    assert captured > (0.85 if epsilon == 1 else 0.99)
    if epsilon == 10:
        largest = np.broadcast_to(np.ptp(sides, axis=0), X.shape[1])
        error = np.abs(private.mean_ - np.clip(X, *sides).mean(axis=0))
        assert (error < 0.02 * largest).all()


def test_second_component_and_variances_are_those_of_scikit_learn(data):
    X, _ = data
    private = mdp.PrivatePCA(2, bounds=BOUNDS, epsilon=15.0).fit(X)
    exact = PCA(2).fit((X - [0, 50]) / [1, 40])
    assert np.abs((private.components_ * exact.components_).sum(axis=1)) == pytest.approx(
        1, abs=0.01
    )
    assert private.explained_variance_ == pytest.approx(exact.explained_variance_, abs=0.01)
    shown = private.transform(X[:5])
    assert np.abs(shown) == pytest.approx(
        np.abs(exact.transform((X[:5] - [0, 50]) / [1, 40])), abs=0.05
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_covariance_is_that_of_numpy_wherever_the_mean_is(shape):
    make, bounds = SHAPES[shape]
    sides = sides_of(bounds)
    X = np.clip(make(20_000, np.random.default_rng(1)), *sides)
    half = np.broadcast_to(np.ptp(sides, axis=0) / 2, X.shape[1])
    private = mdp.Covariance(bounds=bounds, epsilon=10.0).fit(X)
    exact = np.cov(X.T, bias=True)
    # The noise alone; about the middle of the bounds, records off centre are further away.
    limit = 6 * private.release_.noise_std * np.outer(half, half)
    assert (np.abs(private.covariance_ - exact) < limit).all()
    assert (
        np.abs(private.location_ - X.mean(axis=0)) < 6 * private.release_.noise_std * half
    ).all()
    values = np.linalg.eigvalsh(private.covariance_)[::-1]
    assert private.eigenvalues_ == pytest.approx(values, abs=1e-9 * values[0])
    about_the_middle = exact + np.outer(*[X.mean(axis=0) - np.mean(sides, axis=0)] * 2)
    if shape == "off-centre":
        assert not (np.abs(about_the_middle - exact) < limit).all()


def narrow(count, rng):
    """Return records of heavy tails that fill a fiftieth of their bounds, with a target last."""
    X = 0.4 + 0.02 * rng.standard_t(3, (count, 5)) @ rng.standard_normal((5, 5)) / np.sqrt(5)
    X[:, -1] = 0.4 + (X[:, :-1] - 0.4) @ [1, -1, 0.5, 0] + 0.005 * rng.standard_t(3, count)
    return X


def test_clipped_moments_do_better_where_records_fill_little_of_their_bounds():
    X = narrow(50_000, np.random.default_rng(1))
    budget = {"epsilon": 1.0, "mechanism": "clipped", "bounds": (-1, 1)}
    component = mdp.PrivatePCA(**budget).fit(X).components_[0]
    captured = np.var(X @ component) / PCA(1).fit(X).explained_variance_[0]
    ridge = mdp.PrivateRidge(**budget, target_bounds=(-1, 1)).fit(X[:, :-1], X[:, -1])
    wrong = np.mean((ridge.predict(X[:, :-1]) - X[:, -1]) ** 2)
    query = mdp.SecondMomentQuery(mdp.Box.cube(6, -1, 1), len(X))
    noise = mdp.options(query, epsilon=1.0, delta=1e-6)[0].release
    private = centred(noise.release(with_constant(X)))
    slopes, shift = regression(private, moments_ridge(noise.noise_std, 4))
    additive = np.mean((X[:, :-1] @ slopes + shift - X[:, -1]) ** 2)
    assert captured > 0.99
    assert wrong < 0.5 * additive
    assert mdp.Covariance(epsilon=1.0, mechanism="clipped", bounds=(-1, 1)).fit(X).location_ == (
        pytest.approx(0.4, abs=0.02)
    )


@pytest.mark.parametrize("shift", [0.0, 500.0])
def test_shift_unit_sign_and_order_change_nothing(data, shift, monkeypatch):
    # A wrong unit, sign or order moves coefficients by far more than these tolerances; the noise of
    # both fits comes from these bits.
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
    X, y = data
    plain = mdp.PrivateRidge(**SIDES, epsilon=15.0).fit(X, y)
    factor = np.array([-1000.0, 0.001])
    sides = np.sort((sides_of(BOUNDS) + shift) * factor, axis=0).T
    moved = mdp.PrivateRidge(
        bounds=dict(enumerate(sides[::-1].tolist())),
        target_bounds=(-60, 60),
        epsilon=15.0,
    ).fit(((X + shift) * factor)[:, ::-1], 3 * y)
    assert moved.coef_[::-1] * factor / 3 == pytest.approx(plain.coef_, rel=0.02, abs=0.005)
    assert moved.predict(((X + shift) * factor)[:, ::-1]) / 3 == pytest.approx(
        plain.predict(X), abs=0.1
    )


def test_the_middle_of_the_bounds_does_not_decide(data):
    X, y = data
    bounds = {0: (-1, 3), 1: (10, 170)}
    wide = mdp.PrivateRidge(bounds=bounds, target_bounds=(-20, 60), epsilon=15.0)
    exact = LinearRegression().fit(X, y).predict(X)
    assert np.std(wide.fit(X, y).predict(X) - exact) < 0.1
    component = mdp.PrivatePCA(bounds=bounds, epsilon=15.0).fit(X).components_[0]
    assert abs(component @ PCA(1).fit(X / [2, 80]).components_[0]) > 0.99


@pytest.mark.parametrize("mechanism", ["recommend", "clipped"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 4e4])
def test_penalty_and_intercept_are_those_of_scikit_learn(
    data, monkeypatch, mechanism, intercept, alpha
):
    # Without noise: what is left of it is the ridge that it asks for, which falls with the records.
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    X, y = np.tile(data[0], (20, 1)), np.tile(data[1], 20)
    private = mdp.PrivateRidge(
        **SIDES, epsilon=15.0, alpha=alpha, fit_intercept=intercept, mechanism=mechanism
    ).fit(X, y)
    exact = Ridge(alpha, fit_intercept=intercept).fit(X, y)
    assert np.abs(private.predict(X) - exact.predict(X)).max() < 0.05
    assert private.coef_ == pytest.approx(exact.coef_, rel=0.02)
    assert private.intercept_ == pytest.approx(exact.intercept_, rel=0.02)
    # Neither is without effect.
    other = Ridge(4e4 - alpha, fit_intercept=intercept).fit(X, y)
    assert np.abs(private.coef_ - other.coef_).max() > 0.2
    other = Ridge(alpha, fit_intercept=not intercept).fit(X, y)
    assert np.abs(private.predict(X) - other.predict(X)).max() > 0.2


def test_noise_of_records_with_a_largest_norm_follows_from_it():
    """Unit vectors of 20 columns: second moments have 15 times less noise than of [-1, 1]^20."""
    X = np.random.default_rng(0).standard_normal((500, 20))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    options = {"bounds": (-1, 1), "mechanism": "goe", "epsilon": 2.0}
    wide, ball = (mdp.Covariance(**options, max_norm=norm).fit(X) for norm in (None, 1.0))
    assert wide.release_.noise_std / ball.release_.noise_std == pytest.approx(21 / 2, rel=0.05)
    # A record beyond the norm is shrunk to it, with the bounds as they are.
    far = mdp.Covariance(**options | {"bounds": (-9, 9), "epsilon": 1e4}, max_norm=1.0).fit(7 * X)
    assert np.trace(far.covariance_) == pytest.approx(1, rel=0.05)


def test_the_ridge_follows_from_released_moments_alone(data, monkeypatch):
    """The same moments of other records give the same line; a ridge stands where it is needed."""
    X, y = data
    moments = np.diag([0.3, 0.2, 1.0, 0.4])
    moments[0, 3] = moments[3, 0] = 0.15
    monkeypatch.setattr(mdp.AdditiveMechanism, "release", lambda self, records: moments)
    options = {**SIDES, "epsilon": 9.0, "mechanism": "goe"}
    fits = [mdp.PrivateRidge(**options).fit(rows, y) for rows in (X, X[::-1], 0 * X)]
    for fit in fits:
        assert fit.coef_.tolist() == fits[0].coef_.tolist()
    slope = 0.15 / 0.3 * 20 / 1
    assert fits[0].coef_[0] == pytest.approx(slope)
    moments[1, 1] = 1e-6
    assert mdp.PrivateRidge(**options).fit(X, y).coef_[0] < 0.99 * slope


def test_raw_values_of_estimators_are_those_that_noise_left(data, monkeypatch):
    X, _ = data
    moments = np.diag([1.5, -0.2, 1.0])
    moments[0, 1] = moments[1, 0] = 1.2
    monkeypatch.setattr(mdp.AdditiveMechanism, "release", lambda self, records: moments)
    fit = mdp.Covariance(bounds=(-1, 1), mechanism="goe", epsilon=9.0).fit(np.clip(X, -1, 1))
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
    monkeypatch.setattr(
        estimators._Private, "_counting", lambda self, rows, *_: given.append(rows) or rows
    )
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
