"""Composition against exact sums and published values."""

import itertools
from math import comb

import mpmath as mp
import numpy as np
import pytest

from matrixdp.privacy import gaussian, kov

DELTA = 1e-5
GRID = list(itertools.product([1e-3, 0.1, 1, 10, 100], [1, 2, 3, 30, 1000, 10**6]))


def kov_epsilon(epsilon, releases, slack):
    """Return epsilon of k releases together, whose delta is 1 - (1 - delta)^k (1 - slack)."""
    e, slack = np.asarray(epsilon, dtype=float), np.asarray(slack, dtype=float)
    terms = [releases * e, *kov._kov_terms(e, releases, slack)]
    return np.min(np.broadcast_arrays(*terms), axis=0)[()]


def kov_delta(total, epsilon, delta, releases):
    """Return delta of k releases together at the epsilon ``total``."""
    slack = kov._kov_slack(np.asarray(total, float), np.asarray(epsilon, float), releases)
    return -np.expm1(releases * np.log1p(-np.asarray(delta, float)) + np.log1p(-slack))


@pytest.mark.parametrize(
    ("epsilon", "releases", "slack", "total"),
    [(0.1, 100, 1e-5, 5.298110), (0.01, 10**4, 1e-6, 5.756518), (0.5, 20, 1e-5, 10.0)],
)
def test_theorem_3_4(epsilon, releases, slack, total):
    found = kov_epsilon(epsilon, releases, slack)
    assert found == pytest.approx(total, abs=6e-7)


@pytest.mark.parametrize(("total", "delta"), [(1.0, 0.01056168), (1.4, 0.001374844)])
def test_theorem_3_3(total, delta):
    assert kov_delta(total, 0.1, 0, 30) == pytest.approx(delta, rel=5e-7)


def exact_delta(total, epsilon, delta, releases):
    """Sum the theorem's terms with 60 digits."""
    with mp.workdps(60):
        e, total = mp.mpf(epsilon), mp.mpf(total)
        terms = (
            comb(releases, lies) * (mp.exp((releases - lies) * e) - mp.exp(total + lies * e))
            for lies in range(releases + 1)
            if (releases - 2 * lies) * e > total
        )
        slack = mp.fsum(terms) / (1 + mp.exp(e)) ** releases
        return 1 - (1 - mp.mpf(delta)) ** releases * (1 - slack)


@pytest.mark.parametrize("releases", [1, 2, 5, 40, 1000])
def test_theorem_3_3_is_exact_and_safe(releases):
    for total, delta, spread in itertools.product((1e-3, 0.3, 30), (0, 1e-8), (0.2, 1, 4)):
        epsilon = total / releases**0.5 * spread
        true = exact_delta(total, epsilon, delta, releases)
        found = mp.mpf(kov_delta(total, epsilon, delta, releases))
        assert true * (1 - mp.mpf("1e-15")) - mp.mpf("1e-16") <= found
        assert found <= true * (1 + mp.mpf("1e-5")) + mp.mpf("1e-15")


@pytest.mark.parametrize("theorem", kov.THEOREMS)
def test_splits_are_safe_and_use_the_budget_up(theorem):
    slack = kov.SHARES * DELTA
    for epsilon, releases in GRID:
        each = kov.splits(epsilon, DELTA, releases, theorem=theorem)
        rest = -np.expm1(releases * np.log1p(-each.delta) + np.log1p(-slack))
        assert (rest <= DELTA).all()
        assert (rest >= DELTA * (1 - 1e-9)).all()
        for factor, private in ((1, True), (1.0001, False)):
            if theorem == "3.4":
                inside = kov_epsilon(factor * each.epsilon, releases, slack) <= epsilon
            else:
                found = kov_delta(epsilon, factor * each.epsilon, each.delta, releases)
                inside = found <= DELTA * (1 + 1e-12)
                # Without slack what is too much may still be tiny.
                inside[0] = inside[0] and private
            assert (inside == private).all(), (epsilon, releases)
        assert (np.diff(each.epsilon) >= 0).all()
        assert (np.diff(each.delta) < 0).all()


def test_the_exact_theorem_allows_more():
    for epsilon, releases in GRID:
        loose = kov.splits(epsilon, DELTA, releases)
        exact = kov.splits(epsilon, DELTA, releases, theorem="3.3")
        assert (exact.epsilon >= loose.epsilon * (1 - 1e-12)).all()
        assert loose.epsilon[0] == pytest.approx(epsilon / releases, rel=1e-12), "basic composition"


def test_one_release_has_the_whole_budget():
    each = kov.splits(1, DELTA, 1)
    assert each.item(0) == pytest.approx((1, DELTA), rel=1e-12)
    assert gaussian.mu(*each).argmax() == 0


@pytest.mark.parametrize(("epsilon", "releases"), [(0.01, 285), (0.1, 3180), (1, 3180), (1, 10**5)])
def test_the_simple_split_is_private_and_worse(epsilon, releases):
    simple = kov.simple_split(epsilon, DELTA, releases)
    slack = -np.expm1(np.log1p(-DELTA) - releases * np.log1p(-simple.delta))
    assert kov_epsilon(simple.epsilon, releases, slack) <= 0.71 * epsilon
    best = gaussian.mu(*kov.splits(epsilon, DELTA, releases)).max()
    assert 0.6 < gaussian.mu(*simple) / best < 0.8


def test_the_simple_split_is_not_private_for_large_epsilons():
    simple = kov.simple_split(100, DELTA, 10_000)
    assert kov_delta(100, *simple, 10_000) > 1000 * DELTA
