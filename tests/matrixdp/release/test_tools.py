"""scikit-learn's tools around private estimators: processes, repeated records and scores."""

import multiprocessing
import os
import warnings

import joblib
import numpy as np
import pytest
from exactness import same_copies
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline

import matrixdp as mdp
from matrixdp.release import fits

SIDES = {"bounds": (-1, 1), "target_bounds": (-1, 1)}
X = np.random.default_rng(1).uniform(-1, 1, (200, 2))
Y = X @ [0.5, -0.3]

#: Of scikit-learn, on fits that are refused, and of Python, on forks beside threads.
quiet = pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning",
    "ignore::DeprecationWarning",
    "ignore::matrixdp.release.fits.ExactScoreWarning",
    "ignore:.*non-finite:UserWarning",
)


@pytest.fixture(autouse=True)
def first_time(monkeypatch, tmp_path):
    """As in a process that has warned of nothing, in a folder of its own."""
    monkeypatch.setattr(fits, "_warned", set())
    monkeypatch.chdir(tmp_path)


class Holder:
    """An estimator that forked workers inherit, without a pickle."""

    estimator: mdp.PrivateRidge


def refusal(_=None):
    try:
        Holder.estimator.fit(X, Y)
    except mdp.InputError as error:
        return str(error)
    return ""


@quiet
@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("cloned", [False, True])
def test_forked_workers_do_not_multiply_the_fits(cloned, fitted):
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("needs fork")
    ridge = mdp.PrivateRidge(**SIDES)
    Holder.estimator = clone(ridge) if cloned else ridge
    if fitted:
        assert not refusal()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        sentences = pool.map_async(refusal, range(4), chunksize=1).get(timeout=100)
    assert all("give it an account" in sentence for sentence in sentences)
    # What the workers were refused is not spent here.
    assert [bool(refusal()) for _ in range(2)] == [fitted, True]


@quiet
@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_a_search_in_other_processes_needs_an_account(tmp_path, backend):
    np.savetxt(tmp_path / "people.csv", X, header="a,b", comments="", delimiter=",")
    grid, folds = {"alpha": [0.0, 1.0]}, {"cv": 2, "refit": False, "n_jobs": 2}
    account = mdp.Account(tmp_path / "people.csv", epsilon=2.0, delta=1e-5)
    with joblib.parallel_config(backend):
        more = {"epsilon": 0.5, "account": account, "even_if_useless": True}
        counted = mdp.PrivateRidge(**SIDES, **more)
        GridSearchCV(counted, grid, **folds).fit(X, Y)
        assert len(account.releases) == 4
        with pytest.raises(ValueError, match="may be fitted once"):
            GridSearchCV(mdp.PrivateRidge(**SIDES, even_if_useless=True), grid, **folds).fit(X, Y)


class Seen(mdp.PrivateRidge):
    """A regression that notes which records it gets."""

    rows: list

    def fit(self, X, y):
        self.rows_ = np.column_stack([X, y])
        return super().fit(X, y)


def bagged(path, **how):
    account = mdp.Account(path, epsilon=6.0, delta=1e-5)
    ridge = Seen(**SIDES, epsilon=1.0, account=account)
    return BaggingRegressor(ridge, n_estimators=8, random_state=1, **how).fit(X, Y), account


def spent_by_records(ensemble):
    """Return what each of the records really spends, as mu: k times that of a fit with k of it."""
    squares = np.zeros(len(X))
    for one, places in zip(ensemble.estimators_, ensemble.estimators_samples_, strict=True):
        assert same_copies(one.rows_, np.column_stack([X, Y])[places])
        squares += (np.bincount(places, minlength=len(X)) * one.mechanism_.mu) ** 2
    return np.sqrt(squares)


def counted(account):
    return np.linalg.norm([release["mu"] for release in account.releases])


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_without_a_bootstrap_bagging_spends_what_the_account_counts(share, tmp_path):
    ensemble, account = bagged(tmp_path / "a.json", bootstrap=False, max_samples=share)
    assert len(account.releases) == 8
    spent = spent_by_records(ensemble)
    assert (spent <= counted(account)).all()
    if share == 1:
        assert spent == pytest.approx(counted(account))


def test_a_bootstrap_spends_more_than_is_counted_as_the_documentation_says(tmp_path):
    ensemble, account = bagged(tmp_path / "a.json")
    spent = spent_by_records(ensemble)
    # The squares of how often a record is drawn, n of n, are 2 on average.
    assert np.mean(spent**2) == pytest.approx(2 * counted(account) ** 2, rel=0.1)
    assert spent.max() > 1.5 * counted(account)
    assert "bootstrap=False" in mdp.PrivateRidge.__doc__


def warned(action):
    """Return the warnings of exact scores that an action gives."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        action()
    return [str(one.message) for one in found if one.category is fits.ExactScoreWarning]


def account():
    return mdp.Account("a.json", epsilon=9.0, delta=1e-4)


def ridge():
    return mdp.PrivateRidge(**SIDES, account=account())


def elsewhere():
    """Validate in other processes, of whose fits nobody here sees a warning."""
    with joblib.parallel_config("multiprocessing"):
        cross_validate(ridge(), X, Y, cv=2, n_jobs=2)


TOOLS = {
    "score": lambda: ridge().fit(X, Y).score(X, Y),
    "cross_val_score": lambda: cross_val_score(ridge(), X, Y, cv=2),
    "another score": lambda: cross_validate(ridge(), X, Y, cv=2, scoring="neg_mean_squared_error"),
    "other processes": elsewhere,
    "search": lambda: GridSearchCV(ridge(), {"alpha": [0, 1]}, cv=2).fit(X, Y),
    "pipeline": lambda: cross_val_score(
        make_pipeline(mdp.PrivatePCA(bounds=(-1, 1), account=account()), LinearRegression()),
        X,
        Y,
        cv=2,
    ),
}


@pytest.mark.parametrize("tool", TOOLS)
def test_scores_warn_once_that_they_are_exact(tool):
    (sentence,) = warned(TOOLS[tool])
    name = "PrivatePCA" if tool == "pipeline" else "PrivateRidge"
    assert sentence.startswith(f"scores of {name} are exact on the records")
    assert "best_params_" in sentence
    assert warned(TOOLS[tool]) == []


def test_a_score_is_that_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(3).bytes)
    fitted = ridge().fit(X, Y)
    weights = np.arange(len(Y)) + 1.0
    residual = Y - fitted.predict(X)
    for sample_weight in (None, weights):
        around = Y - np.average(Y, weights=sample_weight)
        expected = 1 - np.average(residual**2, weights=sample_weight) / np.average(
            around**2, weights=sample_weight
        )
        # A warning comes with the first score of an estimator alone.
        with pytest.warns(fits.ExactScoreWarning) if sample_weight is None else nothing():
            assert fitted.score(X, Y, sample_weight) == pytest.approx(expected)


def nothing():
    return warnings.catch_warnings()
