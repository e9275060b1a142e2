"""Composition, sampling and accountants against exact sums, libraries and published values."""

import itertools
from math import comb

import mpmath as mp
import numpy as np
import pytest

from matrixdp.checks import InputError
from matrixdp.privacy import composition, gaussian
from matrixdp.privacy.composition import Guarantee

DELTA = 1e-5
ADULT = {"rate": 512 / 32561, "steps": 3180}
CORA = {"rate": 200 / 1140, "steps": 285}
MNIST = {"rate": 1024 / 55000, "steps": 5371}
GRID = list(itertools.product([1e-3, 0.1, 1, 10, 100], [1, 2, 3, 30, 1000, 10**6]))


def best_multiplier(epsilon, *, rate, steps, theorem="3.4"):
    each = composition.splits(epsilon, DELTA, steps, theorem=theorem)
    return 1 / gaussian.mu(*composition.before_sampling(each, rate)).max()


# Gaussian composition


def test_gaussian_composition():
    assert composition.composed_mu([0.3, 0.4]) == pytest.approx(0.5, rel=1e-15)
    assert composition.composed_mu([]) == 0
    for steps in (1, 7, 10**5):
        each = composition.release_mu(0.5, DELTA, steps)
        together = composition.composed_mu(np.full(steps, each))
        assert gaussian.epsilon(DELTA, together) <= 0.5
        assert together == pytest.approx(gaussian.mu(0.5, DELTA), rel=1e-12)


# Kairouz, Oh & Viswanath


@pytest.mark.parametrize(
    ("epsilon", "releases", "slack", "total"),
    [(0.1, 100, 1e-5, 5.298110), (0.01, 10**4, 1e-6, 5.756518), (0.5, 20, 1e-5, 10.0)],
)
def test_theorem_3_4(epsilon, releases, slack, total):
    found = composition.kov_epsilon(epsilon, releases, slack)
    assert found == pytest.approx(total, abs=6e-7)


@pytest.mark.parametrize(("total", "delta"), [(1.0, 0.01056168), (1.4, 0.001374844)])
def test_theorem_3_3(total, delta):
    assert composition.kov_delta(total, 0.1, 0, 30) == pytest.approx(delta, rel=5e-7)


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
@pytest.mark.parametrize("total", [1e-3, 0.3, 30])
@pytest.mark.parametrize("delta", [0, 1e-8])
def test_theorem_3_3_is_exact_and_safe(releases, total, delta):
    for spread in (0.2, 1, 4):
        epsilon = total / releases**0.5 * spread
        true = exact_delta(total, epsilon, delta, releases)
        found = mp.mpf(composition.kov_delta(total, epsilon, delta, releases))
        assert true * (1 - mp.mpf("1e-15")) - mp.mpf("1e-16") <= found
        assert found <= true * (1 + mp.mpf("1e-5")) + mp.mpf("1e-15")


@pytest.mark.parametrize("theorem", composition.THEOREMS)
@pytest.mark.parametrize(("epsilon", "releases"), GRID)
def test_splits_are_safe_and_use_the_budget_up(theorem, epsilon, releases):
    each = composition.splits(epsilon, DELTA, releases, theorem=theorem)
    slack = composition.SHARES * DELTA
    rest = -np.expm1(releases * np.log1p(-each.delta) + np.log1p(-slack))
    assert (rest <= DELTA).all()
    assert (rest >= DELTA * (1 - 1e-9)).all()
    for factor, private in ((1, True), (1.0001, False)):
        if theorem == "3.4":
            inside = composition.kov_epsilon(factor * each.epsilon, releases, slack) <= epsilon
        else:
            found = composition.kov_delta(epsilon, factor * each.epsilon, each.delta, releases)
            inside = found <= DELTA * (1 + 1e-12)
            # Without slack what is too much may still be tiny.
            inside[0] = inside[0] and private
        assert (inside == private).all()
    assert (np.diff(each.epsilon) >= 0).all()
    assert (np.diff(each.delta) < 0).all()


@pytest.mark.parametrize(("epsilon", "releases"), GRID)
def test_the_exact_theorem_allows_more(epsilon, releases):
    loose = composition.splits(epsilon, DELTA, releases)
    exact = composition.splits(epsilon, DELTA, releases, theorem="3.3")
    assert (exact.epsilon >= loose.epsilon * (1 - 1e-12)).all()
    assert loose.epsilon[0] == pytest.approx(epsilon / releases, rel=1e-12), "basic composition"


def test_one_release_has_the_whole_budget():
    each = composition.splits(1, DELTA, 1)
    assert each.item(0) == pytest.approx((1, DELTA), rel=1e-12)
    assert gaussian.mu(*each).argmax() == 0


@pytest.mark.parametrize(("epsilon", "releases"), [(0.01, 285), (0.1, 3180), (1, 3180), (1, 10**5)])
def test_the_simple_split_is_private_and_worse(epsilon, releases):
    simple = composition.simple_split(epsilon, DELTA, releases)
    slack = -np.expm1(np.log1p(-DELTA) - releases * np.log1p(-simple.delta))
    assert composition.kov_epsilon(simple.epsilon, releases, slack) <= 0.71 * epsilon
    best = gaussian.mu(*composition.splits(epsilon, DELTA, releases)).max()
    assert 0.6 < gaussian.mu(*simple) / best < 0.8


def test_the_simple_split_is_not_private_for_large_epsilons():
    simple = composition.simple_split(100, DELTA, 10_000)
    assert composition.kov_delta(100, *simple, 10_000) > 1000 * DELTA


# Sampling


@pytest.mark.parametrize("rate", [1e-17, 1e-12, 1e-4, 0.01, 0.5, 1])
def test_amplification_and_its_inverse(rate):
    epsilon, delta = np.array([1e-9, 1e-3, 0.5, 1, 3, 50, 501, 2000]), np.full(8, 1e-6)
    sampled = composition.amplified(Guarantee(epsilon, delta), rate)
    with mp.workdps(400):
        exact = [float(mp.log1p(rate * mp.expm1(mp.mpf(e)))) for e in epsilon]
    np.testing.assert_allclose(sampled.epsilon, exact, rtol=1e-12)
    assert (sampled.epsilon >= exact).all()
    back = composition.before_sampling(sampled, rate)
    np.testing.assert_allclose(back.epsilon, epsilon, rtol=1e-9)
    np.testing.assert_allclose(back.delta, delta, rtol=1e-12)
    again = composition.amplified(
        composition.before_sampling(Guarantee(epsilon, delta), rate), rate
    )
    np.testing.assert_allclose(again.epsilon, epsilon, rtol=1e-12)


def test_the_right_inverse_is_private_and_the_linear_one_is_not():
    rate, nominal = 0.01, Guarantee(0.1, DELTA)
    right = composition.before_sampling(nominal, rate)
    linear = composition.linear_before_sampling_wrong(nominal, rate)
    assert tuple(linear) == pytest.approx((10, 1e-3))
    one_step = {"rate": rate, "steps": 1, "delta": DELTA}
    assert composition.pld_epsilon(1 / gaussian.mu(*right), **one_step) <= 0.1 * (1 + 1e-12)
    assert composition.pld_epsilon(1 / gaussian.mu(*linear), **one_step) > 1


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
    assert composition.pld_epsilon(multiplier, **case) == pytest.approx(pld, rel=1.5e-4)
    assert composition.rdp_epsilon(multiplier, **case) == pytest.approx(rdp, rel=3e-6)
    orders = composition.ORDERS
    divergence = steps * composition._divergences(multiplier, rate)
    assert (divergence + np.log(1 / DELTA) / (orders - 1)).min() == pytest.approx(old, rel=2e-5)


@pytest.mark.parametrize("multiplier", [0.8, 1.1, 4, 30.18, 1000])
@pytest.mark.parametrize(("rate", "steps"), [(0.0157, 3180), (0.2, 10), (1, 7)])
def test_renyi_accountant_against_the_library(multiplier, rate, steps):
    from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent
    from dp_accounting.rdp import RdpAccountant

    orders = composition.ORDERS[composition.ORDERS < 600]
    library = RdpAccountant(orders.tolist())
    library.compose(PoissonSampledDpEvent(rate, GaussianDpEvent(multiplier)), steps)
    ours = composition.rdp_epsilon(multiplier, rate=rate, steps=steps, delta=1e-3)
    assert ours == pytest.approx(library.get_epsilon(1e-3), rel=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "multiplier", "classical", "case"),
    [
        (0.1, (27.3025, 30.18, 142.7, 1734, 27.266), 211.5, ADULT),
        (0.5, (6.3047, 6.870, 35.47, 396.5, 6.2353), 48.60, ADULT),
        (1, (3.4109, 3.690, 20.04, 210.4, 3.3080), 26.63, ADULT),
        (0.1, (91.149, None, 438.3, 519.1, None), None, CORA),
        (0.5, (20.919, None, 106.5, 118.7, None), None, CORA),
        (1, (11.152, None, 58.28, 62.98, None), None, CORA),
    ],
)
def test_noise_multipliers(epsilon, multiplier, classical, case):
    mu = composition.release_mu(epsilon, DELTA, case["steps"])
    found = (
        composition.smallest_multiplier(epsilon, DELTA, **case),
        composition.smallest_multiplier(epsilon, DELTA, accountant=composition.rdp_epsilon, **case),
        best_multiplier(epsilon, **case),
        1 / mu,
        case["rate"] / mu,
    )
    for ours, expected in zip(found, multiplier, strict=True):
        assert expected is None or ours == pytest.approx(expected, rel=4e-4)
    if classical:
        each = composition.splits(epsilon, DELTA, case["steps"])
        step = composition.before_sampling(each, case["rate"])
        formula = np.sqrt(2 * np.log(1.25 / step.delta)) / step.epsilon
        assert formula.min() == pytest.approx(classical, rel=4e-4)


@pytest.mark.parametrize(
    ("case", "true"),
    [
        (ADULT, (0.1001, 0.5062, 1.0361)),
        (CORA, (0.1001, 0.5024, 1.0103)),
        (MNIST, (0.1001, 0.5029, 1.0157)),
    ],
)
def test_linear_amplification_is_slightly_optimistic_over_many_steps(case, true):
    for epsilon, expected in zip((0.1, 0.5, 1), true, strict=True):
        z = case["rate"] / composition.release_mu(epsilon, DELTA, case["steps"])
        found = composition.pld_epsilon(z, delta=DELTA, **case)
        assert found == pytest.approx(expected, rel=6e-4)
        assert found > epsilon


@pytest.mark.parametrize(("epsilon", "true"), [(0.1, 12.65), (0.5, 57.4), (1, 110.9)])
def test_linear_amplification_without_sampling_is_no_privacy(epsilon, true):
    rate = 256 / 25000
    mu = gaussian.mu(*composition.linear_before_sampling_wrong(Guarantee(epsilon, DELTA), rate))
    assert gaussian.epsilon(DELTA, mu) == pytest.approx(true, rel=1e-3)


# The privacy loss distribution: an upper bound, and how accurate


def test_without_sampling_it_is_the_closed_form_and_close_to_it_just_below():
    for z, steps in ((0.5, 1), (5, 10), (1734, 3180)):
        exact = gaussian.epsilon(DELTA, np.sqrt(steps) / z)
        at_1 = composition.pld_epsilon(z, rate=1, steps=steps, delta=DELTA)
        assert exact <= at_1 <= exact * (1 + 1e-12) + 1e-15
        below = composition.pld_epsilon(z, rate=1 - 1e-9, steps=steps, delta=DELTA)
        assert exact * (1 - 1e-6) <= below <= at_1


@pytest.mark.parametrize(
    ("multiplier", "case"),
    [
        (27.3025, ADULT),
        (3.4109, ADULT),
        (1.2, ADULT),
        (0.1462, ADULT),
        (11.152, CORA),
        (0.781, CORA),
        (0.5, {"rate": 0.01, "steps": 100}),
    ],
)
def test_it_lies_between_a_lower_bound_and_a_little_above_a_tighter_one(multiplier, case):
    from dp_accounting.pld.privacy_loss_distribution import from_gaussian_mechanism

    found = composition.pld_epsilon(multiplier, delta=DELTA, **case)
    interval = composition._interval(multiplier, **case)

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
    found = composition.pld_epsilon(multiplier, rate=rate, steps=1, delta=DELTA)
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
    exact = gaussian.epsilon(DELTA, limit)
    found = composition.pld_epsilon(multiplier, delta=DELTA, **ADULT)
    assert exact * (1 - 1e-5) <= found <= exact * (1 + accuracy)


def test_it_falls_in_noise_and_grows_in_steps_and_rate():
    noise = [composition.pld_epsilon(z, delta=DELTA, **ADULT) for z in np.geomspace(0.02, 1e6, 30)]
    assert (np.diff(noise) <= 0).all()
    assert noise[0] > 1e5
    assert noise[-1] == 0
    steps = [composition.pld_epsilon(3, rate=0.01, steps=t, delta=DELTA) for t in (1, 30, 1000)]
    rates = [composition.pld_epsilon(3, rate=q, steps=30, delta=DELTA) for q in (0.01, 0.1, 1)]
    assert steps == sorted(steps)
    assert rates == sorted(rates)


@pytest.mark.parametrize("accountant", [composition.pld_epsilon, composition.rdp_epsilon])
@pytest.mark.parametrize(
    "case", [ADULT, CORA, {"rate": 1, "steps": 40}, {"rate": 0.01, "steps": 1}]
)
@pytest.mark.parametrize("epsilon", [0.01, 1, 20])
def test_the_smallest_multiplier_is_enough_and_no_less_is(accountant, case, epsilon):
    z = composition.smallest_multiplier(epsilon, DELTA, accountant=accountant, **case)
    assert accountant(z, delta=DELTA, **case) <= epsilon
    assert accountant(z * (1 - 1e-5), delta=DELTA, **case) > epsilon


def test_what_no_multiplier_reaches_is_infinite():
    reach = {"accountant": composition.rdp_epsilon, **ADULT}
    assert composition.smallest_multiplier(1e-4, DELTA, **reach) == np.inf
    assert composition.smallest_multiplier(1e-4, DELTA, **ADULT) < 1e5


# Order of the ways


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("case", [ADULT, CORA, {"rate": 1, "steps": 50}])
def test_the_tighter_the_accountant_the_less_noise(epsilon, case):
    pld = composition.smallest_multiplier(epsilon, DELTA, **case)
    rdp = composition.smallest_multiplier(
        epsilon, DELTA, accountant=composition.rdp_epsilon, **case
    )
    exact = best_multiplier(epsilon, theorem="3.3", **case)
    loose = best_multiplier(epsilon, **case)
    assert pld <= rdp <= exact <= loose


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: composition.composed_mu([1, -1]), "mu holds -1; every mu must be at least 0"),
        (lambda: composition.release_mu(1, DELTA, 0), "releases is 0; it must be a whole number"),
        (lambda: composition.splits(0, DELTA, 1), "epsilon is 0; it must be"),
        (lambda: composition.splits(1, 1, 1), "delta is 1; it must be"),
        (lambda: composition.splits(1, DELTA, 3, theorem="3.5"), "theorem is '3.5'; did you mean"),
        (lambda: composition.amplified(Guarantee(1, 0), 1.5), "rate is 1.5; a sampling rate is at"),
        (lambda: composition.before_sampling(Guarantee(1, 0), 0), "rate is 0; it must be"),
        (lambda: composition.pld_epsilon(0, rate=1, steps=1, delta=DELTA), "multiplier is 0; it"),
        (lambda: composition.rdp_epsilon(1, rate=2, steps=1, delta=DELTA), "rate is 2; a sampling"),
        (lambda: composition.pld_epsilon(1, rate=1, steps=1.5, delta=DELTA), "steps is 1.5; it"),
        (
            lambda: composition.smallest_multiplier(-1, DELTA, rate=1, steps=1),
            "epsilon is -1; it must be",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()
