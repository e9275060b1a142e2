"""The exact Gaussian curve against high-precision arithmetic, published values and its limits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from exactness import same_integers
from hypothesis import given, settings
from hypothesis import strategies as st

from matrixdp.privacy import gaussian_dp

pytestmark = pytest.mark.filterwarnings("error")

#: The accuracy that the module promises.
PROMISED = mp.mpf("1e-12")

EPSILONS = [0, 1e-6, 1e-3, 0.05, 0.1, 0.5, 1, 3, 10, 30, 100, 300, 1000]
DELTAS = [1e-300, 1e-200, 1e-100, 1e-30, 1e-16, 1e-12, 1e-10, 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 0.3, 0.5]
GRID = [(epsilon, delta) for epsilon in EPSILONS for delta in DELTAS]


def mu_at(epsilon, log_delta):
    """Return ``gaussian_dp.mu`` at the logarithm of a delta, which may be below every float."""
    return solved(gaussian_dp._solve_mu, epsilon, log_delta)


def epsilon_at(log_delta, mu):
    """Return ``gaussian_dp.epsilon`` at the logarithm of a delta."""
    return solved(lambda mu, log: gaussian_dp._solve_epsilon(log, mu), mu, log_delta)


def solved(solve, given, log_delta):
    target = np.asarray(log_delta, dtype=float) - 8 * gaussian_dp._UNIT
    return gaussian_dp.elementwise(solve, given=np.asarray(given, dtype=float), target=target)


def exact(epsilon: float, mu: mp.mpf) -> mp.mpf:
    """Return Balle & Wang's delta, with digits to spare for the cancellation at small mu."""
    with mp.workdps(50):
        epsilon, mu = mp.mpf(epsilon), mp.mpf(mu)
        if epsilon == 0:
            return mp.erf(mu / mp.sqrt(8))
        mp.mp.dps += max(0, int(-mp.log10(mu)))
        x1, x2 = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        tails = [mp.erfc(x / mp.sqrt(2)) / 2 for x in (x1, x2)]
        return tails[0] - mp.exp(epsilon) * tails[1]


@pytest.fixture(scope="module")
def pairs() -> list[tuple[float, float]]:
    """The grid, and random pairs between its points and where the method changes."""
    rng = np.random.default_rng(20180210)
    epsilons = 10 ** rng.uniform(-6, 3, 1500)
    deltas = 10 ** np.where(
        rng.random(1500) < 0.5, rng.uniform(-300, -0.302, 1500), rng.uniform(-14, -0.302, 1500)
    )
    return GRID + list(zip(epsilons.tolist(), deltas.tolist(), strict=True))


def test_mu_is_safe_and_exact_to_the_promise(pairs):
    epsilons, deltas = np.transpose(pairs)
    for epsilon, delta, mu in zip(epsilons, deltas, gaussian_dp.mu(epsilons, deltas), strict=True):
        assert exact(epsilon, mu) <= mp.mpf(delta) < exact(epsilon, mu * (1 + PROMISED))


def test_delta_is_safe_and_exact_to_the_promise(pairs):
    epsilons, targets = np.transpose(pairs)
    mus = gaussian_dp.mu(epsilons, targets)
    deltas, logs = gaussian_dp.delta(epsilons, mus), gaussian_dp.log_delta(epsilons, mus)
    for epsilon, mu, delta, log in zip(epsilons, mus, deltas, logs, strict=True):
        true = exact(epsilon, mu)
        assert true <= delta <= true * (1 + PROMISED)
        assert true <= mp.exp(mp.mpf(log)) <= true * (1 + PROMISED)


def test_delta_is_safe_where_the_mills_ratios_cancel_most():
    rng = np.random.default_rng(7)
    epsilons, mus = 10 ** rng.uniform(-1.3, 0, 3000), rng.uniform(0.2, 0.6, 3000)
    for epsilon, mu, delta in zip(epsilons, mus, gaussian_dp.delta(epsilons, mus), strict=True):
        assert exact(epsilon, mu) <= delta <= exact(epsilon, mu) * (1 + PROMISED)


@pytest.mark.parametrize("factor", [0.3, 1.0, 1.7, 40.0])
def test_epsilon_is_safe_and_exact_to_the_promise(pairs, factor):
    starts, deltas = np.transpose(pairs[:: 1 if factor == 1 else 3])
    mus = gaussian_dp.mu(starts, deltas) * factor
    epsilons = gaussian_dp.epsilon(deltas, mus)
    assert (epsilons > 0).mean() > 0.4
    for epsilon, delta, mu in zip(epsilons, deltas, mus, strict=True):
        assert exact(epsilon, mu) <= mp.mpf(delta)
        lower = epsilon - PROMISED * max(1, epsilon)
        assert lower <= 0 or exact(lower, mu) > mp.mpf(delta)


@pytest.mark.parametrize(("epsilon", "log_delta"), [(1, -1e4), (0.01, -800), (50, -2e3), (0, -690)])
def test_log_delta_reaches_below_every_float(epsilon, log_delta):
    mu = mu_at(epsilon, log_delta)
    target = mp.exp(log_delta)
    assert exact(epsilon, mu) <= target < exact(epsilon, mu * (1 + PROMISED))
    assert gaussian_dp.log_delta(epsilon, mu) == pytest.approx(log_delta, rel=1e-12)
    assert epsilon_at(log_delta, mu) == pytest.approx(epsilon, abs=1e-12)
    # What underflows is still not 0.
    assert gaussian_dp.delta(epsilon, mu) > 0


@pytest.mark.parametrize("delta", [0.9, 0.999, 1 - 1e-9, 1 - 1e-15, 1 - 2.0**-53])
@pytest.mark.parametrize("epsilon", [0, 1e-3, 1, 30])
def test_large_delta_stays_safe(epsilon, delta):
    mu = gaussian_dp.mu(epsilon, delta)
    assert exact(epsilon, mu) <= mp.mpf(delta) < exact(epsilon, mu * 1.1)
    assert exact(epsilon, mu) <= gaussian_dp.delta(epsilon, mu) <= delta
    assert exact(gaussian_dp.epsilon(delta, mu), mu) <= mp.mpf(delta)


@settings(deadline=None)  # other work on the machine must not fail it
@given(epsilon=st.floats(0, 1e3), log_delta=st.floats(-690, -1e-12))
def test_round_trips(epsilon, log_delta):
    mu = mu_at(epsilon, log_delta)
    assert gaussian_dp.log_delta(epsilon, mu) <= log_delta
    assert gaussian_dp.delta(epsilon, mu) <= np.nextafter(np.exp(log_delta), 1)
    again = epsilon_at(log_delta, mu)
    # Towards delta = 1 the curve is so flat that delta says little about epsilon.
    if log_delta < -0.5:
        assert again == pytest.approx(epsilon, rel=1e-12, abs=1e-12)
    assert gaussian_dp.log_delta(again, mu) <= log_delta


@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_exactly_0_where_the_curve_starts_below_delta(delta):
    limit = gaussian_dp.mu(0, delta)
    below = limit * np.array([0, 1e-3, 0.5, 1 - 1e-12, 1])
    assert gaussian_dp.delta(0, below).max() <= delta
    assert gaussian_dp.epsilon(delta, below).tolist() == [0] * 5
    assert gaussian_dp.epsilon(delta, limit * 1.001) > 0


def test_epsilon_is_not_0_where_rounding_could_decide():
    for mu in np.geomspace(1e-3, 3, 100):
        start = float(exact(0, mu))
        for delta in start * (1 + 2.0**-53 * np.arange(-60, 61, 5)):
            assert exact(gaussian_dp.epsilon(delta, mu), mu) <= mp.mpf(delta)


def test_monotone_in_every_argument():
    epsilons, deltas = np.geomspace(1e-6, 1e3, 300), np.geomspace(1e-300, 0.5, 60)
    mus = gaussian_dp.mu(epsilons[:, None], deltas)
    assert (np.diff(mus, axis=0) > 0).all()
    assert (np.diff(mus, axis=1) > 0).all()
    logs = gaussian_dp.log_delta(epsilons[:, None], np.geomspace(0.01, 30, 60))
    strict = logs < -1e-6  # beyond, delta is 1 to almost all digits
    assert ((np.diff(logs, axis=0) < 0) | ~strict[:-1]).all()
    assert ((np.diff(logs, axis=1) > 0) | ~strict[:, :-1]).all()
    found = gaussian_dp.epsilon(deltas[:, None], np.geomspace(0.01, 30, 300))
    assert (np.diff(found, axis=0) <= 0).all()
    assert (np.diff(found, axis=1) >= 0).all()


@pytest.mark.parametrize("solve", ["mu", "epsilon"])
def test_any_input_ends_on_the_safe_side(solve):
    powers = np.concatenate([[0], 10.0 ** np.arange(-300, 16, 3)])[:, None]
    logs = -(10.0 ** np.arange(-17, 15.5, 0.5))
    with np.errstate(all="raise", under="ignore"):
        if solve == "mu":
            epsilons, mus = powers, mu_at(powers, logs)
        else:
            epsilons, mus = epsilon_at(logs, powers), powers
        assert np.isfinite(epsilons).all()
        assert np.isfinite(mus).all()
        safe = gaussian_dp.log_delta(np.minimum(epsilons, 1e15), mus) <= logs
    assert (safe | (epsilons > 1e15)).all()


def test_delta_of_any_input_is_a_probability():
    powers = np.concatenate([[0], 10.0 ** np.arange(-300, 16, 3)])
    with np.errstate(all="raise", under="ignore"):
        deltas = gaussian_dp.delta(powers[:, None], powers)
    assert same_integers(deltas > 0, np.broadcast_to(powers > 0, deltas.shape))
    assert deltas.max() == 1


@pytest.mark.parametrize(
    "solve", [lambda: gaussian_dp.mu(1, 1e-5), lambda: gaussian_dp.epsilon(1e-5, 1)]
)
def test_the_search_is_bounded(monkeypatch, solve):
    monkeypatch.setattr(gaussian_dp, "_ITERATIONS", 1)
    with pytest.raises(ArithmeticError, match="not found in 1 iterations"):
        solve()


def test_scalars_give_floats_and_arrays_broadcast():
    assert type(gaussian_dp.mu(1, 1e-5)) is float
    assert type(gaussian_dp.delta(np.float64(1), 1)) is float
    assert type(gaussian_dp.log_delta(1, 1)) is float
    assert type(gaussian_dp.epsilon(np.array(1e-5), 1)) is float
    epsilons, deltas = np.array([[0.1], [1], [300]]), [1e-300, 1e-5, 1e-2, 0.5]
    table = gaussian_dp.mu(epsilons, deltas)
    assert table.shape == (3, 4)
    assert table[1, 2] == pytest.approx(gaussian_dp.mu(1, 1e-2), rel=1e-14)
    assert table[2, 0] == pytest.approx(gaussian_dp.mu(300, 1e-300), rel=1e-14)
    assert gaussian_dp.epsilon(deltas, table).shape == (3, 4)
    assert gaussian_dp.delta(1, np.zeros((2, 0))).shape == (2, 0)
    assert gaussian_dp.mu([], 1e-5).shape == (0,)
