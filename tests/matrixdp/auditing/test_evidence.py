import numpy as np
import pytest
from scipy import stats

from matrixdp.auditing import evidence
from matrixdp.auditing.evidence import Counts
from matrixdp.privacy import gaussian_dp

DELTA = 1 / 248


def chances(mu, threshold):
    """Of a threshold event: on both, on the first alone, on the second, on none; shared noise."""
    p, q = stats.norm.sf(threshold - mu), stats.norm.sf(threshold)
    return np.array([q, p - q, 0, 1 - p])


def best(mu):
    """The threshold at which the likelihood ratio is e."""
    return 1 / mu + mu / 2


def test_the_wealth_is_that_of_bets_that_are_made_one_after_the_other():
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 300)) < np.array([[0.4], [0.2]])
    slope, delta = np.e, 0.01
    wealth = [
        np.prod(1 + bet / (slope + delta) * (first - slope * second - delta))
        for bet in evidence.BETS
    ]
    both = first & second
    counts = Counts(both.sum(), (first & ~both).sum(), (second & ~both).sum(), 300)
    assert evidence.log_wealth(counts, evidence.bets(slope, delta)) == pytest.approx(
        np.log(np.mean(wealth))
    )
    assert min(wealth) > 0


def most_wealth(chance, delta, epsilon=1.0, repeats=2000, looks=100, runs=2000):
    """The largest log wealth at any look, of many bets against a claimed epsilon."""
    rng = np.random.default_rng(1)
    parts = rng.multinomial(runs, chance, (repeats, looks)).cumsum(axis=1)
    counts = Counts(parts[..., 0], parts[..., 1], parts[..., 2], parts.sum(axis=-1))
    return evidence.log_wealth(counts, evidence.bets([[np.exp(epsilon)]], delta)).max(axis=1)


@pytest.mark.parametrize("pure", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_bets_on_what_is_just_private_are_seldom_won_at_any_time(pure, shared):
    """2,000 sequences of 100 looks each; the bound on their share is Ville's."""
    if pure:
        delta, p, q = 0.0, 0.3, 0.3 / np.e
    else:
        mu = gaussian_dp.mu(1.0, DELTA)
        delta, (p, q) = DELTA, (stats.norm.sf(best(mu) - shift) for shift in (mu, 0))
    both = q if shared else p * q
    chance = np.array([both, p - both, q - both, 1 - p - q + both])
    wealth = most_wealth(chance, delta)
    for alpha in (0.05, 0.01, 0.0025):
        allowed = 2000 * alpha + 3 * np.sqrt(2000 * alpha)
        assert (wealth >= -np.log(alpha)).sum() <= allowed
    # A tenth more than is promised, or a delta that is forgotten, is won much more often.
    assert (most_wealth(chance, delta, epsilon=0.9) >= np.log(20)).mean() > 0.5
    if not pure:
        assert (most_wealth(chance, 0.0) >= np.log(20)).mean() > 0.9


def test_the_grid_s_bound_holds_as_often_as_it_promises():
    mu = gaussian_dp.mu(1.0, DELTA)
    rng = np.random.default_rng(2)
    found = [
        evidence.epsilon(Counts(*part[:3], 50_000), DELTA)
        for part in rng.multinomial(50_000, chances(mu, best(mu)), 300)
    ]
    assert np.mean(np.array(found) > 1) < 0.05
    assert 0.75 < np.median(found) < 1


def test_a_bound_is_the_last_value_before_the_first_that_is_not_rejected():
    ever, grid = np.array([9.0, 9, 2, 9]), np.array([0.1, 0.2, 0.3, 0.4])
    assert evidence.proved(ever, grid) == 0.2
    assert evidence.proved(ever + 9, grid) == 0.4
    assert evidence.proved(ever - 9, grid) == 0
    # One in twenty may be wrong, refutations included.
    assert np.exp(-evidence.GOAL) + 1 - evidence.SUSPECTED == pytest.approx(0.05)


def test_the_bound_at_a_delta_is_that_of_the_exact_curve_in_the_limit():
    """(p - delta) / q is largest, e^epsilon, where the likelihood ratio is e^epsilon."""
    mu, runs = gaussian_dp.mu(1.0, DELTA), 1e9
    parts = runs * chances(mu, best(mu))
    assert evidence.epsilon(Counts(*parts[:3], runs), DELTA) == pytest.approx(1, abs=0.01)


def test_nothing_is_proved_by_chance_or_by_no_hits():
    assert evidence.epsilon(Counts(25, 25, 25, 100)) == 0
    assert evidence.epsilon(Counts(0, 0, 0, 100)) == 0
    assert evidence.epsilon(Counts(50, 0, 0, 100)) == 0


def test_the_largest_epsilon_of_a_sample_size():
    # A bet of nearly all that is allowed, won h times, is a wealth of about e^(0.9 h / c).
    goal = evidence.GOAL + np.log(len(evidence.BETS))
    assert evidence.largest(1e6) == pytest.approx(np.log(0.9 * 5e5 / goal), abs=0.2)
    assert evidence.largest(1e6) > evidence.largest(1e6, delta=0.1) > evidence.largest(1e4)


@pytest.mark.parametrize(
    ("delta", "most"), [(4e-3, 5e5), (1 / 2126, 5e6), (9e-5, 1e7), (1e-5, 6e7)]
)
def test_runs_that_reject_a_tenth_too_little_noise(delta, most, monkeypatch):
    needed = evidence.runs_needed(1.0, delta)
    assert most / 20 < needed < most
    assert evidence.runs_needed(100.0, delta) == np.inf
    for name, value, fewer in (("SHORTFALL", 0.8, needed / 2), ("POWER", 0.5, needed)):
        with monkeypatch.context() as patch:
            patch.setattr(evidence, name, value)
            assert evidence.runs_needed(1.0, delta) < fewer


def test_runs_needed_have_the_power_that_they_promise(monkeypatch):
    monkeypatch.setattr(evidence, "POWER", 0.9)
    runs, mu = evidence.runs_needed(1.0, DELTA), gaussian_dp.mu(1.0, DELTA) / 0.9
    wealth = max(
        (most_wealth(chances(mu, t), DELTA, runs=int(runs), looks=1) for t in (2.2, 2.3, 2.4)),
        key=np.median,
    )
    goal = np.log(evidence.EVENTS / (1 - evidence.SUSPECTED))
    assert 0.87 < (wealth >= goal).mean() < 0.97
    fewer = most_wealth(chances(mu, 2.3), DELTA, runs=int(runs / 2), looks=1)
    assert (fewer >= goal).mean() < 0.6
