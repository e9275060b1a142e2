import functools
import itertools

import mpmath
import numpy as np
import pytest
from numpy.random import default_rng
from scipy.stats import chi2

from matrixdp.privacy.sensitivity import ADJACENCIES
from reproduction.privacy import sketching


def delta_of(epsilon, leverage, rows, adjacency):
    arguments = (np.asarray(number, float) for number in (epsilon, leverage, rows))
    return np.exp(sketching.log_delta(*np.broadcast_arrays(*arguments), adjacency))


# --- values ----------------------------------------------------------------------------------


def added_and_removed(epsilon, leverage, rows):
    """Both directions in chi-square tails, with 60 digits."""
    e, s, k = mpmath.mpf(epsilon), mpmath.mpf(leverage), mpmath.mpf(rows) / 2

    def upper(x):
        return mpmath.gammainc(k, x / 2, mpmath.inf, regularized=True)

    def lower(x):
        return mpmath.gammainc(k, 0, x / 2, regularized=True)

    edge = 2 * (e - k * mpmath.log(1 - s)) / s
    added = upper(edge * (1 - s)) - mpmath.exp(e) * upper(edge)
    edge = 2 * (-k * mpmath.log(1 - s) - e) / s
    removed = lower(edge) - mpmath.exp(e) * lower(edge * (1 - s)) if edge > 0 else mpmath.mpf(0)
    return added, removed


def replaced(epsilon, leverage, rows):
    """The loss as a difference of two gamma variables, whose density is a Bessel function."""
    e, s, k = mpmath.mpf(epsilon), mpmath.mpf(leverage), mpmath.mpf(rows) / 2
    fall, rise = (1 - s) / s, 1 / s
    order = k - mpmath.mpf(1) / 2

    constant = (fall * rise) ** k / (mpmath.sqrt(mpmath.pi) * mpmath.gamma(k))

    def integrand(v):
        x = e + v
        bessel = mpmath.besselk(order, (fall + rise) * x / 2)
        power = (x / (fall + rise)) ** order
        return constant * power * mpmath.exp(x / 2) * bessel * -mpmath.expm1(-v)

    scale = mpmath.sqrt(2 * rows) * s / (1 - s)
    points = [0, *(scale * mpmath.mpf(x) for x in (0.01, 0.1, 0.5, 1, 2, 4, 8, 16, 40))]
    return mpmath.quad(integrand, points)


@pytest.mark.parametrize(
    ("epsilon", "leverage", "rows"),
    [
        (0, 1e-12, 1),
        (1e-3, 1e-3, 1),
        (1, 0.9999, 1),
        (0, 0.5, 2),
        (1, 0.02, 12),
        (10, 0.3, 12),
        (0.01, 0.001, 84),
        (5, 0.03, 1050),
        (1, 1e-3, 5000),
    ],
)
def test_one_more_or_less_against_60_digits(epsilon, leverage, rows):
    with mpmath.workdps(60):
        directions = added_and_removed(epsilon, leverage, rows)
    found = delta_of(epsilon, leverage, rows, "zero_out")
    # Down to 1e-100 and below, and for the smaller direction as well.
    assert found == pytest.approx(float(max(directions)), rel=1e-10, abs=0)
    point = (np.array(float(x)) for x in (epsilon, leverage, rows))
    removed = float(np.exp(sketching._log_delta_remove(*point)))
    assert removed == pytest.approx(float(directions[1]), rel=1e-10, abs=0)


@pytest.mark.parametrize(
    ("epsilon", "leverage", "rows"),
    [(0, 1e-12, 4), (0.01, 0.01, 2), (1, 0.3, 2), (0, 0.1, 6), (1, 0.9, 12), (0.1, 0.001, 100)],
)
def test_replacement_against_30_digits(epsilon, leverage, rows):
    with mpmath.workdps(30):
        expected = float(replaced(epsilon, leverage, rows))
    found = delta_of(epsilon, leverage, rows, "replace")
    assert found == pytest.approx(expected, rel=1e-10, abs=0)


def test_many_values_at_once_are_the_single_values():
    epsilon, leverage = np.array([0.0, 0.5, 4.0])[:, None], np.array([1e-6, 0.1, 0.99])
    for adjacency in ADJACENCIES:
        found = delta_of(epsilon, leverage, 7, adjacency)
        assert found.shape == (3, 3)
        singles = [[delta_of(e, s, 7, adjacency) for s in leverage] for e in epsilon[:, 0]]
        np.testing.assert_allclose(found, singles, rtol=1e-12)


# --- the claim behind the values: sketches of real neighbours --------------------------------


def simulated_delta(first, second, rows, epsilon, draws, rng):
    """Mean and standard error of (1 - e^(epsilon - L))_+ over sketches drawn from N(0, first)."""
    factor = np.linalg.cholesky(first)
    log_ratio = np.linalg.slogdet(second)[1] - np.linalg.slogdet(first)[1]
    form = np.linalg.inv(second) - np.linalg.inv(first)
    sketches = factor @ rng.standard_normal((draws, len(first), rows))
    quadratic = np.einsum("tir,ij,tjr->t", sketches, form, sketches, optimize=True)
    loss = (rows * log_ratio + quadratic) / 2
    gain = np.maximum(-np.expm1(epsilon - loss), 0)
    return gain.mean(), gain.std() / np.sqrt(draws)


@pytest.mark.parametrize("case", ["added", "removed", "replaced"])
def test_simulated_sketches_of_the_worst_neighbours(case):
    rng, rows, ridge, radius = default_rng(7), 10, 3.0, 1.2
    axes = np.linalg.qr(rng.standard_normal((3, 3))).Q
    shared = ridge * np.eye(3) + 5 * np.outer(axes[:, 2], axes[:, 2])
    x, y = (shared + radius**2 * np.outer(axes[:, i], axes[:, i]) for i in (0, 1))
    pairs = {"added": (x, shared), "removed": (shared, x), "replaced": (x, y)}
    mean, error = simulated_delta(*pairs[case], rows, 1.0, 200_000, rng)
    curve = {
        "added": "_log_delta_add",
        "removed": "_log_delta_remove",
        "replaced": "_log_delta_replace",
    }[case]

    def exact(leverage):
        point = (np.array(float(x)) for x in (1.0, leverage, rows))
        return float(np.exp(getattr(sketching, curve)(*point)))

    leverage = radius**2 / (ridge + radius**2)
    assert abs(exact(leverage) - mean) < 4 * error
    # Power: leverages 3 % off, or one row less, would be noticed.
    for wrong in (0.97 * leverage, 1.03 * leverage):
        assert abs(exact(wrong) - mean) > 5 * error


def test_two_orthogonal_records_of_full_norm_are_the_worst_replacement():
    rng, ridge, radius, rows = default_rng(11), 2.0, 1.5, 8
    leverage = radius**2 / (ridge + radius**2)
    spectra = []
    for _ in range(200):
        others = rng.standard_normal((4, 6)) * rng.choice([0.0, 0.1, 1.0], size=(4, 1))
        x, y = rng.standard_normal((2, 4)) ** 3
        shared = others @ others.T + ridge * np.eye(4)
        first, second = (shared + np.outer(v, v) * radius**2 / (v @ v) for v in (x, y))
        values = np.sort(np.linalg.eigvals(np.linalg.solve(second, first)).real)
        np.testing.assert_allclose(values[1:3], 1.0, atol=1e-8)
        spectra.append(values[[0, 3]])
    low, high = np.array(spectra).T
    # Whitened, a replacement scales one axis by at most 1 / (1 - s) and one by at least 1 - s ...
    assert 1 - leverage < low.min() < 1 - 0.95 * leverage < low.max() <= 1 + 1e-9
    assert 1 - 1e-9 <= high.min() < 1 / (1 - 0.95 * leverage) < high.max() < 1 / (1 - leverage)
    # ... and the widest scales are the worst.
    worst = delta_of(1.0, leverage, rows, "replace")
    assert scaled_delta(1.0, 1 - leverage, 1 / (1 - leverage), rows) == pytest.approx(worst)
    proper = (high > 1.01) & (low < 0.99)
    assert proper.sum() > 150
    pairs = zip(low[proper], high[proper], strict=True)
    assert max(scaled_delta(1.0, *pair, rows) for pair in pairs) < worst


def scaled_delta(epsilon, low, high, rows):
    """delta of ``rows`` draws from N(0, diag(low, high)) against N(0, I), in chi-square tails."""
    x, weights = chi_square_rule(rows)
    # The loss is a constant plus (a - 1) X_a / 2 for both variances a, X_a chi-square.
    known = epsilon + rows * np.log(low * high) / 2 - (low - 1) * x / 2
    first = weights @ chi2.sf(2 * known / (high - 1), rows)
    known = epsilon + rows * np.log(low * high) / 2 + (1 / low - 1) * x / 2
    second = weights @ chi2.sf(2 * known / (1 - 1 / high), rows)
    return first - np.exp(epsilon) * second


@functools.cache
def chi_square_rule(rows):
    nodes, weights = np.polynomial.legendre.leggauss(300)
    end = chi2.isf(1e-14, rows)
    x = end * (nodes + 1) / 2
    return x, weights * chi2.pdf(x, rows) * end / 2


# --- shape and safety ------------------------------------------------------------------------


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_delta_grows_with_leverage_and_rows_and_falls_with_epsilon(adjacency):
    leverage = np.linspace(0.02, 0.98, 49)
    epsilon = np.linspace(0, 5, 21)[:, None]
    values = delta_of(epsilon, leverage, 6, adjacency)
    # Near 1 the values meet float64's resolution.
    assert (np.diff(values, axis=1) > 0)[values[:, 1:] < 1 - 1e-9].all()
    assert (np.diff(values, axis=0) < 0)[values[1:] < 1 - 1e-9].all()
    by_rows = delta_of(1.0, 0.1, np.arange(1, 60), adjacency)
    assert (np.diff(by_rows) > 0).all()
    assert delta_of(0.0, 0.999, 20000, adjacency) <= 1


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 10.0])
def test_solutions_are_private_and_tight(epsilon, adjacency):
    for delta, rows in itertools.product((1e-100, 1e-5, 0.3), (1, 12, 1050)):
        leverage = sketching.leverage(epsilon, delta, rows, adjacency)
        assert delta_of(epsilon, leverage, rows, adjacency) <= delta
        larger = leverage + 1e-9 * leverage * (1 - leverage)
        assert delta_of(epsilon, larger, rows, adjacency) > delta
        actual = sketching.epsilon(delta, leverage, rows, adjacency)
        assert delta_of(actual, leverage, rows, adjacency) <= delta
        assert epsilon * (1 - 1e-9) - 1e-9 < actual <= epsilon


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_epsilon_is_exactly_0_where_delta_covers_everything(adjacency):
    delta = float(delta_of(0.0, 0.01, 10, adjacency))
    assert sketching.epsilon(1.001 * delta, 0.01, 10, adjacency) == 0.0
    assert 0 < sketching.epsilon(0.999 * delta, 0.01, 10, adjacency) < 1e-3


def test_the_lift_never_vanishes():
    for adjacency in ADJACENCIES:
        leverage = sketching.leverage(1e8, 0.5, 10, adjacency)
        assert 1 - 1e-5 < leverage < 1 - 1e-6
        assert delta_of(1e8, leverage, 10, adjacency) < 0.5
