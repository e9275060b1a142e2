"""Mean, covariance and regression from second moments with a constant."""

import numpy as np
import pytest

from matrixdp.mechanisms.moments import centred, positive, regression, with_constant
from matrixdp.privacy.domain import Ball

RNG = np.random.default_rng(1)


def records(count=2000):
    return 0.3 + 0.1 * RNG.standard_normal((count, 3)) @ RNG.standard_normal((3, 3))


def moments(rows):
    wide = with_constant(rows)
    return wide.T @ wide / len(wide)


def test_without_noise_mean_and_covariance_are_those_of_numpy():
    rows = records()
    for weighted in (False, True):
        mean, covariance, weight = centred(moments(rows), weighted=weighted)
        assert mean == pytest.approx(rows.mean(axis=0))
        assert covariance == pytest.approx(np.cov(rows.T, bias=True), abs=1e-12)
        assert weight == pytest.approx(1)


def test_a_covariance_is_positive_semi_definite_whatever_the_noise():
    noise = RNG.standard_normal((50, 4, 4))
    covariances = centred(moments(records()) + noise + np.swapaxes(noise, 1, 2)).covariance
    assert np.linalg.eigvalsh(covariances).min() > -1e-12
    assert positive(np.diag([2.0, -1.0])) == pytest.approx(np.diag([2.0, 0.0]))


@pytest.mark.parametrize("scale", [1.0, 1e-9, 1e9])
def test_regression_is_that_of_scikit_learn_even_where_columns_are_copies(scale):
    LinearRegression = pytest.importorskip("sklearn.linear_model").LinearRegression
    rows = records() * [1.0, scale, 1.0]
    exact = LinearRegression().fit(rows[:, :2], rows[:, 2])
    coefficients, intercept = regression(centred(moments(rows)), 0.0)
    if scale == 1:
        assert coefficients == pytest.approx(exact.coef_)
        assert intercept == pytest.approx(exact.intercept_)
    rows[:, 1] = rows[:, 0]
    coefficients, intercept = regression(centred(moments(rows)), 0.0)
    assert np.isfinite(coefficients).all()
    exact = LinearRegression().fit(rows[:, :2], rows[:, 2]).predict(rows[:, :2])
    assert rows[:, :2] @ coefficients + intercept == pytest.approx(exact)


@pytest.mark.parametrize("radius", [3.0, 5.0])
def test_records_that_a_ball_shortens_keep_the_line(radius):
    x = np.random.default_rng(2).uniform(0, 4, 200_000)
    y = 0.5 * x + 3.0
    rows = with_constant(np.column_stack([x, y]) / radius)
    short = Ball(np.sqrt(2), 3).clip(rows.T)
    assert (short[1] < 1).any()
    estimate = centred(short @ short.T / x.size, weighted=True)
    (slope,), intercept = regression(estimate, 0.0)
    assert (slope, intercept * radius) == pytest.approx((0.5, 3.0))
