"""Sampling and accountants against exact sums, libraries and published values."""

import mpmath as mp
import numpy as np
import pytest

from matrixdp.privacy import gaussian_dp
from reproduction.privacy import accountants, sampling
from reproduction.privacy.kov import Guarantee

DELTA = 1e-5
ADULT = {"rate": 512 / 32561, "steps": 3180}
CORA = {"rate": 200 / 1140, "steps": 285}


# Gaussian composition


def test_gaussian_composition():
    for steps in (1, 7, 10**5):
        each = accountants.release_mu(0.5, DELTA, steps)
        together = float(np.sqrt(steps) * each)
        assert gaussian_dp.epsilon(DELTA, together) <= 0.5
        assert together == pytest.approx(gaussian_dp.mu(0.5, DELTA), rel=1e-12)


# Sampling


@pytest.mark.parametrize("rate", [1e-17, 1e-12, 1e-4, 0.01, 0.5, 1])
def test_amplification_and_its_inverse(rate):
    epsilon, delta = np.array([1e-9, 1e-3, 0.5, 1, 3, 50, 501, 2000]), np.full(8, 1e-6)
    sampled = sampling.amplify(Guarantee(epsilon, delta), rate)
    with mp.workdps(400):
        exact = [float(mp.log1p(rate * mp.expm1(mp.mpf(e)))) for e in epsilon]
    np.testing.assert_allclose(sampled.epsilon, exact, rtol=1e-12)
    assert (sampled.epsilon >= exact).all()
    back = sampling.invert_amplification(sampled, rate)
    np.testing.assert_allclose(back.epsilon, epsilon, rtol=1e-9)
    np.testing.assert_allclose(back.delta, delta, rtol=1e-12)
    again = sampling.amplify(sampling.invert_amplification(Guarantee(epsilon, delta), rate), rate)
    np.testing.assert_allclose(again.epsilon, epsilon, rtol=1e-12)


def test_the_right_inverse_is_private_and_the_linear_one_is_not():
    rate, nominal = 0.01, Guarantee(0.1, DELTA)
    right = sampling.invert_amplification(nominal, rate)
    linear = sampling.linear_before_sampling_wrong(nominal, rate)
    assert tuple(linear) == pytest.approx((10, 1e-3))
    one_step = {"rate": rate, "steps": 1, "delta": DELTA}
    assert accountants.pld_epsilon(1 / gaussian_dp.mu(*right), **one_step) <= 0.1 * (1 + 1e-12)
    assert accountants.pld_epsilon(1 / gaussian_dp.mu(*linear), **one_step) > 1


# Accountants


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps", "pld", "rdp", "old"),
    [
        (1.1, 256 / 60000, 14062, 2.3817, 2.59698, 3.0091),
        (4, 0.01, 10**4, 0.94700, 1.03549, 1.25857),
    ],
)
def test_accountants_of_published_settings(multiplier, rate, steps, pld, rdp, old):
    case = {"rate": rate, "steps": steps, "delta": DELTA}
    assert accountants.pld_epsilon(multiplier, **case) == pytest.approx(pld, rel=1.5e-4)
    assert accountants.rdp_epsilon(multiplier, **case) == pytest.approx(rdp, rel=3e-6)
    orders = accountants.ORDERS
    divergence = steps * accountants._divergences(multiplier, rate)
    assert (divergence + np.log(1 / DELTA) / (orders - 1)).min() == pytest.approx(old, rel=2e-5)


@pytest.mark.parametrize(
    ("multiplier", "rate", "steps"),
    [(0.8, 0.2, 10), (1.1, 1, 7), (4, 0.0157, 3180), (30.18, 0.2, 10), (1000, 0.0157, 3180)],
)
def test_renyi_accountant_against_the_library(multiplier, rate, steps):
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    orders = accountants.ORDERS[accountants.ORDERS < 600]
    library = RdpAccountant(orders.tolist())
    library.compose(PoissonSampledDpEvent(rate, GaussianDpEvent(multiplier)), steps)
    ours = accountants.rdp_epsilon(multiplier, rate=rate, steps=steps, delta=1e-3)
    assert ours == pytest.approx(library.get_epsilon(1e-3), rel=1e-6)


# The privacy loss distribution: an upper bound, and how accurate


def test_without_sampling_it_is_the_closed_form_and_close_to_it_just_below():
    for z, steps in ((0.5, 1), (5, 10), (1734, 3180)):
        exact = gaussian_dp.epsilon(DELTA, np.sqrt(steps) / z)
        at_1 = accountants.pld_epsilon(z, rate=1, steps=steps, delta=DELTA)
        assert exact <= at_1 <= exact * (1 + 1e-12) + 1e-15
        below = accountants.pld_epsilon(z, rate=1 - 1e-9, steps=steps, delta=DELTA)
        assert exact * (1 - 1e-6) <= below <= at_1


@pytest.mark.parametrize(
    ("multiplier", "case"),
    [
        pytest.param(27.3025, ADULT, marks=pytest.mark.nightly),
        (3.4109, ADULT),
        pytest.param(1.2, ADULT, marks=pytest.mark.nightly),
        pytest.param(0.1462, ADULT, marks=pytest.mark.nightly),
        pytest.param(11.152, CORA, marks=pytest.mark.nightly),
        (0.781, CORA),
        (0.5, {"rate": 0.01, "steps": 100}),
    ],
)
def test_it_lies_between_a_lower_bound_and_a_little_above_a_tighter_one(multiplier, case):
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    found = accountants.pld_epsilon(multiplier, delta=DELTA, **case)
    interval = accountants._interval(multiplier, **case)

    def library(share, **kwargs):
        one = from_gaussian_mechanism(
            multiplier,
            sampling_prob=case["rate"],
            value_discretization_interval=interval * share,
            **kwargs,
        )
        return one.self_compose(case["steps"]).get_epsilon_for_delta(DELTA)

    optimistic = library(0.25, pessimistic_estimate=False, use_connect_dots=False)
    assert optimistic <= found
    tight = library(0.5)
    assert tight * (1 - 1e-6) <= found <= tight * (1 + 4e-4)


@pytest.mark.parametrize("multiplier", [0.3, 1, 5, 1e4, 2e5])
@pytest.mark.parametrize("rate", [1e-5, 1e-3, 0.1, 0.9])
def test_one_sampled_step_is_exact(multiplier, rate):
    found = accountants.pld_epsilon(multiplier, rate=rate, steps=1, delta=DELTA)
    for neighbour in ("remove", "add"):
        assert sampled_delta(found, multiplier, rate, neighbour) <= DELTA * (1 + 1e-9)
    if found > 1e-6:
        below = sampled_delta(found * (1 - 1e-6), multiplier, rate, "remove")
        assert below > DELTA


def sampled_delta(epsilon, multiplier, rate, neighbour):
    """Integrate the curve of one step with 30 digits: the larger density beyond a threshold."""
    with mp.workdps(30):
        z, q, odds = mp.mpf(multiplier), mp.mpf(rate), mp.exp(mp.mpf(epsilon))

        def tail(x):
            return mp.erfc(x / z / mp.sqrt(2)) / 2

        if neighbour == "remove":
            # (1 - q) phi(x) + q phi(x - 1) > e^epsilon phi(x) for large x.
            x = z**2 * mp.log((odds - 1) / q + 1) + mp.mpf(1) / 2
            return (1 - q) * tail(x) + q * tail(x - 1) - odds * tail(x)
        ratio = (1 / odds - 1) / q + 1
        if ratio <= 0:
            return mp.mpf(0)
        x = z**2 * mp.log(ratio) + mp.mpf(1) / 2
        return (1 - tail(x)) - odds * (1 - (1 - q) * tail(x) - q * tail(x - 1))


@pytest.mark.parametrize(("multiplier", "accuracy"), [(1734, 1e-3), (5000, 2e-3), (13747, 4e-3)])
def test_enormous_noise_is_near_its_limit(multiplier, accuracy):
    # With so much noise the sum of the losses is normal (Bu, Dong, Long & Su 2020).
    limit = ADULT["rate"] * np.sqrt(ADULT["steps"] * np.expm1(1 / multiplier**2))
    exact = gaussian_dp.epsilon(DELTA, limit)
    found = accountants.pld_epsilon(multiplier, delta=DELTA, **ADULT)
    assert exact * (1 - 1e-5) <= found <= exact * (1 + accuracy)


@pytest.mark.parametrize("steps", [10, 1000])
def test_it_promises_nothing_that_floating_point_could_hide(steps):
    """Rounding may hide 1e-15 of delta in every step and 1e-13 in the transform."""
    hidden, z = 1e-15 * steps + 1e-13, 2.0
    unsampled = accountants.pld_epsilon(z, rate=1, steps=steps, delta=0.99 * hidden)
    found = accountants.pld_epsilon(z, rate=0.01, steps=steps, delta=0.99 * hidden)
    assert found == unsampled
    # Above it the library is asked for what is left.
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    interval = accountants._interval(z, 0.01, steps)
    one = from_gaussian_mechanism(z, sampling_prob=0.01, value_discretization_interval=interval)
    exact = one.self_compose(steps).get_epsilon_for_delta(0.5 * hidden)
    found = accountants.pld_epsilon(z, rate=0.01, steps=steps, delta=1.5 * hidden)
    assert found == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("accountant", [accountants.pld_epsilon, accountants.rdp_epsilon])
@pytest.mark.parametrize(
    ("case", "epsilon"),
    [(ADULT, 20), (CORA, 0.01), ({"rate": 1, "steps": 40}, 1), ({"rate": 0.01, "steps": 1}, 1)],
)
def test_the_smallest_multiplier_is_enough_and_no_less_is(accountant, case, epsilon):
    z = accountants.smallest_multiplier(epsilon, DELTA, accountant=accountant, **case)
    assert accountant(z, delta=DELTA, **case) <= epsilon
    assert accountant(z * (1 - 1e-5), delta=DELTA, **case) > epsilon


def test_what_no_multiplier_reaches_is_infinite():
    reach = {"accountant": accountants.rdp_epsilon, **ADULT}
    assert accountants.smallest_multiplier(1e-4, DELTA, **reach) == np.inf
    assert accountants.smallest_multiplier(1e-4, DELTA, **ADULT) < 1e5
