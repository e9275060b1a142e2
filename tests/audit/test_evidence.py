import numpy as np
import pytest
from scipy import stats

from matrixdp.audit import evidence
from matrixdp.checks import InputError
from matrixdp.privacy import gaussian


def test_clopper_pearson_matches_published_values_and_the_binomial_law(monkeypatch):
    assert evidence.clopper_pearson(0, 1e6).upper == pytest.approx(3.688873e-6, rel=1e-6)
    assert evidence.clopper_pearson(500, 1000) == pytest.approx((0.468549, 0.531451), abs=1e-6)
    assert evidence.clopper_pearson(0, 10).lower == 0
    assert evidence.clopper_pearson(10, 10).upper == 1
    monkeypatch.setattr(evidence, "CONFIDENCE", 0.9)
    lower, upper = evidence.clopper_pearson(7, 50)
    assert stats.binom.sf(6, 50, lower) == pytest.approx(0.05)
    assert stats.binom.cdf(7, 50, upper) == pytest.approx(0.05)


@pytest.mark.parametrize(("runs", "expected"), [(1e5, 0.98072), (1e6, 0.99391)])
def test_the_bound_on_epsilon_for_laplace_and_the_event_below_zero(runs, expected):
    assert evidence.epsilon(runs / 2, runs / 2 / np.e, runs) == pytest.approx(expected, abs=1e-5)


def test_the_bound_holds_as_often_as_it_promises(monkeypatch):
    """1-D Laplace noise at epsilon 1: P(y <= 0) is 1/2 on one side and 1/(2e) on the other."""
    rng = np.random.default_rng(0)
    runs, repeats = 2000, 20_000
    hits, other = rng.binomial(runs, 0.5, repeats), rng.binomial(runs, 0.5 / np.e, repeats)
    assert (evidence.epsilon(hits, other, runs) > 1).mean() < 0.05
    monkeypatch.setattr(evidence, "CONFIDENCE", 0.5)
    wrong = (evidence.epsilon(hits, other, runs) > 1).mean()
    assert 0.02 < wrong < 0.5


def test_the_bound_at_a_delta_is_that_of_the_exact_curve_in_the_limit():
    """(p - delta) / q is largest, e^epsilon, where the likelihood ratio is e^epsilon."""
    delta, runs = 1 / 248, 1e12
    mu = gaussian.mu(1.0, delta)
    threshold = 1 / mu + mu / 2
    hits = [runs * stats.norm.sf(threshold - shift) for shift in (mu, 0)]
    assert evidence.epsilon(hits[0], hits[1], runs, delta) == pytest.approx(1, abs=1e-3)
    assert evidence.mu(hits[0], hits[1], runs) == pytest.approx(mu, abs=1e-3)


def test_nothing_is_proved_by_chance_or_by_no_hits():
    assert evidence.epsilon(50, 50, 100) == 0
    assert evidence.epsilon(0, 0, 100) == 0
    assert evidence.mu(0, 0, 100) == 0
    assert evidence.mu(100, 100, 100) == 0


def test_the_largest_epsilon_of_a_sample_size():
    assert evidence.largest(1e6) == pytest.approx(11.8, abs=0.05)
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
    delta, rng = 4e-3, np.random.default_rng(1)
    monkeypatch.setattr(evidence, "POWER", 0.9)
    runs, mu = evidence.runs_needed(1.0, delta), gaussian.mu(1.0, delta) / 0.9
    grid = np.linspace(0.5, 3, 51)
    expected = evidence.epsilon(
        runs * stats.norm.sf(grid - mu), runs * stats.norm.sf(grid), runs, delta
    )
    threshold = grid[expected.argmax()]
    hits = [rng.binomial(int(runs), stats.norm.sf(threshold - shift), 500) for shift in (mu, 0)]
    assert 0.8 < (evidence.epsilon(hits[0], hits[1], int(runs), delta) > 1).mean() < 0.98


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evidence.clopper_pearson(11, 10), "hits are 11 of 10 runs"),
        (lambda: evidence.clopper_pearson(-1, 10), "hits are -1"),
    ],
)
def test_bad_input_is_one_sentence(call, message):
    with pytest.raises(InputError, match=message):
        call()
