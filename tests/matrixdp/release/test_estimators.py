"""Estimators: scikit-learn's own checks, and what they find with much and little privacy."""

import contextlib
import copy
import dataclasses
import inspect
import os
import pickle
from unittest import SkipTest

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import make_scorer, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import matrixdp as mdp
from matrixdp.estimator_base import Private
from matrixdp.release import fits
from matrixdp.release.outputs.output import Output
from matrixdp.release.uncertainty import MomentNoise

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
        mdp.PrivateMoments(**WIDE),
        mdp.PrivateRidge(**WIDE, target_bounds=(-500.0, 500.0)),
    ],
    expected_failed_checks=lambda estimator: EXCEPTIONS,
)
def test_estimator_checks(estimator, check, monkeypatch, few_draws):
    """No check is of losses, of which a few draws then decide."""
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
    lines = [mdp.PrivateRidge(**options).fit(rows, y) for rows in (X, X[::-1], 0 * X)]
    for fit in lines:
        assert fit.coef_ == pytest.approx(lines[0].coef_, rel=1e-12)
    slope = 0.15 / 0.3 * 20 / 1
    assert lines[0].coef_[0] == pytest.approx(slope)
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


def test_what_replace_makes_shares_the_fit(data):
    X, y = data
    ridge = mdp.PrivateRidge(**SIDES)
    others = [dataclasses.replace(ridge, epsilon=2.0), *_replaced(ridge)]
    assert "_one_fit" not in ridge.get_params()
    assert "_one_fit" not in inspect.signature(mdp.PrivateRidge).parameters
    ridge.fit(X, y)
    for other in others:
        with pytest.raises(mdp.InputError, match="may be fitted once"):
            other.fit(X, y)
    # The control: one that is made anew has a fit of its own.
    mdp.PrivateRidge(**ridge.get_params()).fit(X, y)


def _replaced(ridge):
    """Return copies by what Python has from 3.13 on."""
    return [copy.replace(ridge, alpha=1.0)] if hasattr(copy, "replace") else []


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
    given, middle = [], {"bounds": (0, 1), "missing": "middle", "even_if_useless": True}
    monkeypatch.setattr(Private, "_of_groups", lambda self, rows, *_: given.append(rows) or rows)
    for numbers, target in (
        (np.where(hidden, np.nan, X), np.where(hidden[:, 0], np.nan, y)),
        (np.ma.array(X, mask=hidden), np.ma.array(y, mask=hidden[:, 0])),
    ):
        if kind == "ridge":
            mdp.PrivateRidge(target_bounds=(0, 9), **middle).fit(numbers, target)
        else:
            mdp.Covariance(**middle).fit(numbers)
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


# --- What a fit leaves behind ---------------------------------------------------------------------

KINDS = {"covariance": mdp.Covariance, "components": mdp.PrivatePCA, "regression": mdp.PrivateRidge}
PAID = {"epsilon": 5.0, "delta": 1e-6, "bounds": (0, 1), "even_if_useless": True}
FRAME = np.random.default_rng(2).uniform(0, 1, (300, 3))
TARGET = FRAME @ [1.0, 1.0, 0.0]


def table(rows=FRAME, names="abc"):
    return pytest.importorskip("pandas").DataFrame(rows, columns=[*names])


def made(kind, **options):
    more = {"target_bounds": (0, 2)} if kind == "regression" else {}
    return KINDS[kind](**{**PAID, **more, **options})


def state(estimator):
    """Return what an estimator notes, and what it answers."""
    return pickle.dumps({name: vars(estimator)[name] for name in sorted(vars(estimator))})


def with_cell(value):
    rows = FRAME.astype(object)
    rows[7, 1] = value
    return rows


#: Calls of ``fit`` that are refused: parameters that change, and records in other columns than
#: those of the fit before.
REFUSED = {
    "spent": ({}, (FRAME[:, :2], TARGET)),
    "account": ({}, (table(names="cba"), TARGET)),
    "text": ({}, (table(with_cell("x"), "cba"), TARGET)),
    "missing": ({}, (table(with_cell(None), "cba"), TARGET)),
    "columns": ({"bounds": {"a": (0, 1)}}, (table(names="cba"), TARGET)),
    "number": ({"n_components": 9, "alpha": -1.0, "max_norm": -1.0}, (FRAME[:, :2], TARGET)),
    "budget": ({"delta": 1e-17}, (table(names="cba"), TARGET)),
    "groups": ({}, (table(names="cba"), TARGET, [*range(300)])),
    "useless": ({"epsilon": 1e-3, "even_if_useless": False}, (table(names="cba"), TARGET)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reason", REFUSED)
def test_a_refused_fit_leaves_the_estimator_as_it_was(kind, reason, tmp_path):
    changes, given = REFUSED[reason]
    room = 5.0 if reason == "account" else 14.0
    account = mdp.Account(tmp_path / "b.json", epsilon=room, delta=1e-4)
    fit = made(kind, account=None if reason == "spent" else account).fit(table(), TARGET)
    changes = {name: changes[name] for name in {*changes} & {*fit.get_params()}}
    before, releases = state(fit), len(account.releases)
    with pytest.raises(mdp.InputError):
        fit.set_params(**changes).fit(*given)
    assert state(fit.set_params(**{name: getattr(made(kind), name) for name in changes})) == before
    fresh = clone(fit).set_params(**changes)
    with pytest.raises(mdp.InputError):
        fresh.fit(*given)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)
    assert len(account.releases) == releases
    # The control: a fit that is not refused changes what the estimator notes.
    if reason not in ("spent", "account"):
        assert state(fit.fit(table(names="cba"), TARGET)) != before


def test_a_refused_first_fit_is_not_the_one_fit():
    ridge = made("regression")
    for wrong in ((table(), None), (table(with_cell("x")), TARGET), (FRAME, TARGET[1:])):
        with pytest.raises(ValueError, match="y to be passed|a text in record|inconsistent"):
            ridge.fit(*wrong)
        with pytest.raises(NotFittedError):
            ridge.predict(FRAME)
    assert ridge.fit(FRAME, TARGET).n_features_in_ == 3
    assert not hasattr(ridge, "feature_names_in_")


def test_a_fit_on_an_array_forgets_the_names_of_an_earlier_one(account):
    pca = made("components", epsilon=1.0, account=account).fit(table())
    assert [*pca.feature_names_in_] == ["a", "b", "c"]
    assert not hasattr(pca.fit(FRAME), "feature_names_in_")


# --- One rule for values, in fit, predict, transform and score -----------------------------------

ODD = FRAME.copy()
ODD[::7, 1], ODD[1::7, 1], ODD[2::7, 2] = np.nan, np.inf, -np.inf
PUBLIC = np.where(np.isnan(ODD), 0.5, np.where(np.isinf(ODD), np.clip(ODD, 0, 1), ODD))
ODD_TARGET = np.where(np.arange(300) % 5, TARGET, np.where(np.arange(300) % 2, np.nan, np.inf))
PUBLIC_TARGET = np.where(np.isnan(ODD_TARGET), 1.0, np.where(np.isinf(ODD_TARGET), 2.0, ODD_TARGET))


def test_what_is_missing_or_infinite_counts_after_a_fit_as_in_it():
    ridge = made("regression", missing="middle").fit(ODD, ODD_TARGET)
    pca = made("components", missing="middle").fit(ODD)
    np.testing.assert_allclose(ridge.predict(ODD), ridge.predict(PUBLIC), rtol=1e-9)
    np.testing.assert_allclose(pca.transform(ODD), pca.transform(PUBLIC), rtol=1e-9, atol=1e-12)
    score = r2_score(PUBLIC_TARGET, ridge.predict(PUBLIC))
    assert ridge.score(ODD, ODD_TARGET) == pytest.approx(score)
    # A finite value beyond its bounds is on the line.
    far = PUBLIC + [[0.0, 5.0, 0.0]]
    np.testing.assert_allclose(ridge.predict(far), ridge.predict(PUBLIC) + 5 * ridge.coef_[1])


@pytest.mark.parametrize("rule", [None, "refuse"])
def test_a_missing_value_is_refused_after_a_fit_as_in_it(rule):
    ridge = made("regression", missing=rule).fit(FRAME, TARGET)
    pca = made("components", missing=rule).fit(FRAME)
    for call in (
        lambda: ridge.predict(ODD),
        lambda: ridge.score(ODD, TARGET),
        lambda: ridge.score(FRAME, ODD_TARGET),
        lambda: pca.transform(ODD),
    ):
        with pytest.raises(mdp.InputError, match=f"missing is {rule!r}, and a record of Private"):
            call()
    # Another rule needs no other fit.
    np.testing.assert_allclose(
        ridge.set_params(missing="middle").predict(ODD), ridge.predict(PUBLIC), rtol=1e-9
    )


@pytest.mark.filterwarnings("ignore::matrixdp.release.fits.ExactScoreWarning")
def test_searches_have_scores_where_values_are_missing(account):
    ridge = made("regression", missing="middle", epsilon=1.0, account=account)
    assert np.isfinite(cross_val_score(ridge, ODD, ODD_TARGET, cv=3)).all()
    search = GridSearchCV(ridge, {"alpha": [0.0, 1.0]}, cv=2).fit(ODD, ODD_TARGET)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert len(account.releases) == 3 + 5
    pca = made("components", missing="middle", epsilon=1.0, account=account)
    pipeline = make_pipeline(pca, LinearRegression())
    assert np.isfinite(cross_val_score(pipeline, ODD, TARGET, cv=2)).all()


@pytest.mark.filterwarnings("ignore::matrixdp.release.fits.ExactScoreWarning")
@pytest.mark.parametrize("part", ["X", "y"])
def test_a_search_that_could_not_score_a_part_is_refused_before_a_charge(account, part):
    """One record lacks a value: the fold that leaves it out would fit, and not be scored."""
    X, y = FRAME.copy(), TARGET.copy()
    (X[:, 1] if part == "X" else y)[5] = np.nan
    ridge = made("regression", epsilon=1.0, account=account)
    with pytest.raises(ValueError, match="a record of PrivateRidge lacks a value"):
        cross_val_score(ridge, X, y, cv=5)
    assert not account.releases


#: Scorers, whether records of one fold lack y, and whether the fits are charged.
SCORERS = {
    "score": (None, True, True),
    "own": (lambda ridge, X, y: ridge.score(X, y), True, True),
    "named": ("neg_mean_squared_error", True, False),
    "several": (["r2", "neg_mean_absolute_error"], True, False),
    "made": (make_scorer(r2_score), True, False),
    "named, all present": ("neg_mean_squared_error", False, True),
}


@pytest.mark.filterwarnings("ignore::matrixdp.release.fits.ExactScoreWarning")
@pytest.mark.parametrize("scorer", SCORERS)
def test_a_fit_whose_scorer_refuses_a_missing_target_is_not_charged(account, scorer):
    scoring, lacking, charged = SCORERS[scorer]
    ridge = made("regression", missing="middle", epsilon=1.0, account=account)
    y = ODD_TARGET if lacking else TARGET
    if charged:
        scores = cross_validate(ridge, FRAME, y, cv=2, scoring=scoring)
        assert np.isfinite(scores["test_score"]).all()
        assert len(account.releases) == 2
        return
    with pytest.raises(ValueError, match="y lacks a value, which scorers of scikit-learn refuse"):
        cross_validate(ridge, FRAME, y, cv=2, scoring=scoring)
    assert not account.releases


# --- What is charged is answered ------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
def test_a_warning_as_an_error_comes_before_the_charge(account):
    ridge = made("regression", account=account)
    with pytest.raises(Warning, match="column-vector"):
        ridge.fit(FRAME, TARGET[:, None])
    with pytest.raises(fits.WeakGuaranteeWarning):
        made("covariance", epsilon=8.5, delta=5e-3, account=account).fit(FRAME)
    assert not account.releases
    # What depends on the answer is a note.
    weak = made("covariance", epsilon=0.2, mechanism="gaussian", account=account).fit(FRAME)
    assert any("noise may be all there is" in note for note in weak.notes_)
    assert len(account.releases) == 1


STEPS = {
    "answer": (Output, "means"),
    "details": (Output, "described"),
    "noise": (MomentNoise, "__init__"),
    "eigenvalues": (np.linalg, "eigh"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mechanism", ["gaussian", "clipped"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", [RuntimeError, MemoryError, np.linalg.LinAlgError])
def test_a_fit_keeps_its_draw_whatever_describes_it(
    kind, mechanism, step, fault, account, monkeypatch
):
    place, name = STEPS[step]
    function = getattr(place, name)

    def fail(*given, **more):
        if account.releases:
            raise fault("it fails")
        return function(*given, **more)

    estimator = made(kind, mechanism=mechanism, account=account, epsilon=2.0)
    monkeypatch.setattr(place, name, fail)
    records = (table(), TARGET) if kind == "regression" else (table(),)
    assert estimator.fit(*records) is estimator
    assert len(account.releases) == 1
    drawn = estimator.draw_ if mechanism == "gaussian" else estimator.draw_.moments
    size = 3 + (kind == "regression")
    assert drawn.shape == (size + (mechanism == "gaussian"),) * 2
    if not hasattr(estimator, "coef_") and kind == "regression":
        with pytest.raises(NotFittedError):
            estimator.predict(FRAME)
    described = [
        name for name in ("coef_", "components_", "covariance_") if hasattr(estimator, name)
    ]
    assert bool(described) != any(
        "the description of this fit fails" in n for n in estimator.notes_
    )
    monkeypatch.undo()


def test_a_fit_that_could_not_be_described_is_refused_before_the_charge(account, monkeypatch):
    def fail(*_):
        raise RuntimeError("it fails")

    monkeypatch.setattr(Output, "described", fail)
    with pytest.raises(mdp.InputError, match="cannot be described, as a trial on public values"):
        made("covariance", account=account).fit(FRAME)
    assert not account.releases
