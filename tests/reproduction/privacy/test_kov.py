"""Composition against the worst releases and published values."""

import itertools

import numpy as np
import pytest
from scipy import stats

from matrixdp.privacy import gaussian_dp
from reproduction.privacy import kov

DELTA = 1e-5
GRID = list(itertools.product([1e-3, 0.1, 1, 10, 100], [1, 2, 3, 30, 1000, 10**6]))


def kov_epsilon(epsilon, releases, slack):
    """Return epsilon of k releases together, whose delta is 1 - (1 - delta)^k (1 - slack)."""
    e, slack = np.asarray(epsilon, dtype=float), np.asarray(slack, dtype=float)
    terms = [releases * e, *kov._kov_terms(e, releases, slack)]
    return np.min(np.broadcast_arrays(*terms), axis=0)[()]


def worst_delta(total, epsilon, delta, releases):
    """Return delta at the epsilon ``total`` of the worst k releases (Theorem 3.3).

    These are randomised responses with odds e^epsilon for the truth: l lies make a privacy loss of
    (k - 2 l) epsilon.
    """
    lie, most = 1 / (1 + np.exp(epsilon)), np.ceil((releases - total / epsilon) / 2) - 1
    p = stats.binom.cdf(most, releases, lie)
    slack = p - np.exp(total + stats.binom.logcdf(most, releases, 1 - lie))
    return -np.expm1(releases * np.log1p(-delta) + np.log1p(-slack))


@pytest.mark.parametrize(
    ("epsilon", "releases", "slack", "total"),
    [(0.1, 100, 1e-5, 5.298110), (0.01, 10**4, 1e-6, 5.756518), (0.5, 20, 1e-5, 10.0)],
)
def test_theorem_3_4(epsilon, releases, slack, total):
    found = kov_epsilon(epsilon, releases, slack)
    assert found == pytest.approx(total, abs=6e-7)


def test_the_worst_releases_are_those_of_theorem_3_3():
    assert worst_delta(1.0, 0.1, 0, 30) == pytest.approx(0.01056168, rel=5e-7)
    assert worst_delta(1.4, 0.1, 0, 30) == pytest.approx(0.001374844, rel=5e-7)


@pytest.mark.parametrize(("epsilon", "releases"), GRID)
def test_splits_are_safe_and_use_the_budget_up(epsilon, releases):
    each = kov.splits(epsilon, DELTA, releases)
    slack = kov.SHARES * DELTA
    rest = -np.expm1(releases * np.log1p(-each.delta) + np.log1p(-slack))
    assert (rest <= DELTA).all()
    assert (rest >= DELTA * (1 - 1e-9)).all()
    for factor, private in ((1, True), (1.0001, False)):
        composed = kov_epsilon(factor * each.epsilon, releases, slack)
        assert set((composed <= epsilon).tolist()) == {private}
    assert (np.diff(each.epsilon) >= 0).all()
    assert (np.diff(each.delta) < 0).all()
    assert each.epsilon[0] == pytest.approx(epsilon / releases, rel=1e-12), "basic composition"


@pytest.mark.parametrize(("epsilon", "releases"), [(0.1, 30), (1, 30), (1, 1000)])
def test_splits_are_private_for_the_worst_releases(epsilon, releases):
    each = kov.splits(epsilon, DELTA, releases)
    assert (worst_delta(epsilon, each.epsilon, each.delta, releases) <= DELTA).all()


def test_one_release_has_the_whole_budget():
    each = kov.splits(1, DELTA, 1)
    assert each.item(0) == pytest.approx((1, DELTA), rel=1e-12)
    assert gaussian_dp.mu(*each).argmax() == 0


@pytest.mark.parametrize(("epsilon", "releases"), [(0.01, 285), (0.1, 3180), (1, 3180), (1, 10**5)])
def test_the_simple_split_is_private_and_worse(epsilon, releases):
    simple = kov.simple_split(epsilon, DELTA, releases)
    slack = -np.expm1(np.log1p(-DELTA) - releases * np.log1p(-simple.delta))
    assert kov_epsilon(simple.epsilon, releases, slack) <= 0.71 * epsilon
    best = gaussian_dp.mu(*kov.splits(epsilon, DELTA, releases)).max()
    assert 0.6 < gaussian_dp.mu(*simple) / best < 0.8


def test_the_simple_split_is_not_private_for_large_epsilons():
    simple = kov.simple_split(100, DELTA, 10_000)
    assert worst_delta(100, *simple, 10_000) > 1000 * DELTA
