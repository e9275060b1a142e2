"""What releases spend together."""

import numpy as np
import pytest

import matrixdp as mdp
from matrixdp.noise import safe
from matrixdp.privacy import gaussian_dp
from matrixdp.release import ledger

ONE = mdp.MeanQuery(mdp.Box((0.0,), (1.0,)), 50)


def calibrated(query=ONE, mechanism=None, epsilon=1.0, delta=1e-6):
    return (mechanism or mdp.Gaussian()).calibrate(query, epsilon=epsilon, delta=delta)


def account(*releases, **total):
    """Return an account of a total, and of these releases."""
    books = ledger.begin(ledger.total(total), ledger.Relation("replace"))
    for one in releases:
        books = ledger.add(books, ledger.entry(one))
    return books


def test_gaussian_budgets_add_in_squares():
    books = account(epsilon=2.0, delta=1.1e-6)
    count = int((gaussian_dp.mu(2.0, 1e-6) / gaussian_dp.mu(0.5, 1e-6)) ** 2)
    assert count <= ledger.room(books, ledger.entry(calibrated(epsilon=0.5))) <= count + 2
    # Three of epsilon 1, at a tenth of the total's delta, as the page on releases says.
    three = ledger.add(account(epsilon=2.0, delta=1e-5), ledger.entry(calibrated(epsilon=1.0)), 3)
    assert f"{ledger.total_epsilon(three):.1f}" == "1.6"


def test_pure_epsilon_as_mu_is_where_the_trade_offs_meet():
    mu = ledger.cost(calibrated(mechanism=mdp.Laplace()))
    # mu-Gaussian DP implied by a pure epsilon: its delta curve is nowhere below.
    assert mu == pytest.approx(1.2320, abs=1e-3)
    grid = np.linspace(0, 1, 21)
    pure = np.maximum(0, (np.exp(1.0) - np.exp(grid)) / (1 + np.exp(1.0)))
    assert (gaussian_dp.delta(grid, mu) >= pure - 1e-12).all()
    assert (gaussian_dp.delta(grid, 0.99 * mu) < pure - 1e-12).any()


def test_what_the_law_of_noise_adds_counts_at_the_epsilon_of_the_total():
    total = {"epsilon": 20.0, "delta": 2e-6, "sampler": 1e-6}
    one = calibrated(epsilon=0.1, delta=1e-8)
    assert 2 * safe.extra_delta(20.0, 1) > 1e-6 > 1e5 * one.extra_delta
    assert not ledger.excess(account(one, **total))
    assert "safe noise on so many numbers" in ledger.excess(account(one, one, **total))


def test_of_pure_releases_together_the_sampler_has_a_delta_of_at_most_its_cap():
    query = mdp.RecordsQuery(mdp.Box.cube(10, 0.0, 1.0), 100_000)
    one = calibrated(query, mdp.Laplace(), 4.0)
    books = account(epsilon=100.0, delta=0, sampler=1e-6)
    assert "delta at most 1e-06" in ledger.phrase(books["total"])
    assert one.extra_delta < 1e-6
    books = account(epsilon=5.0, delta=0)
    entry = {**ledger.entry(one), "pure_epsilon": 0.01}
    many = ledger.room(books, entry)
    assert 0 < many < 10
    assert ledger.sampler_delta(ledger.add(books, entry, many)) <= 1e-6
    beyond = ledger.add(books, entry, many + 1)
    assert ledger.sampler_delta(beyond) > 1e-6
    assert ledger.excess(beyond)


@pytest.mark.parametrize(("delta", "part"), [(1e-5, 1e-7), (1e-4, 1e-6), (1e-2, 1e-6), (0, 1e-6)])
def test_what_is_reserved_for_the_sampler_is_a_hundredth_and_at_most_1e_6(delta, part):
    assert ledger.total({"epsilon": 1.0, "delta": delta})["sampler"] == pytest.approx(part)


def test_what_is_reserved_for_the_sampler_does_not_depend_on_what_is_released():
    """Nobody trades mu against numbers: both have limits of their own from the start."""
    entry = ledger.entry(calibrated(epsilon=0.5))
    books = account(epsilon=2.0, delta=1e-6, sampler=1e-7)
    few = ledger.add(books, entry)
    many = ledger.add(books, {**entry, "numbers": 10_000})
    assert not ledger.excess(many)
    assert ledger.total_epsilon(few) == ledger.total_epsilon(many)
    assert ledger.total_epsilon(few) >= gaussian_dp.epsilon(1e-6 - 1e-7, entry["mu"])


def test_pure_releases_add_up_beside_others_only_where_that_was_reserved():
    pure, other = calibrated(ONE, mdp.Laplace(), 0.5), calibrated(epsilon=0.5)
    total = {"epsilon": 1.1, "delta": 1.1e-6}
    assert not ledger.excess(account(pure, **total))
    assert "would be spent of 1.1" in ledger.excess(account(pure, other, **total))
    total["pure"] = 0.55
    assert not ledger.excess(account(other, pure, **total))
    less = calibrated(ONE, mdp.Laplace(), 0.1)
    assert "spend epsilon 0.6 of the 0.55 reserved" in ledger.excess(
        account(other, pure, less, **total)
    )


def test_to_mix_both_at_will_would_exceed_delta():
    """After each Gaussian release: spend what is left on a pure one where that is worse."""
    rng, delta = np.random.default_rng(0), 0.01
    end = gaussian_dp.mu(1.0, delta) ** 2
    times = np.geomspace(1e-3, 1, 30) * end
    left = 1 - gaussian_dp.epsilon(delta, np.sqrt(times))
    loss = np.cumsum(rng.standard_normal((100_000, 30)) * np.sqrt(np.diff(times, prepend=0)), 1)
    loss += times / 2
    chance = np.exp(left) / (1 + np.exp(left))
    pure = sum(
        share * np.maximum(0, 1 - np.exp(1 - loss - sign * left))
        for share, sign in ((chance, 1), (1 - chance, -1))
    )
    stop = (loss > 1 - left) & (pure > 0.2)
    first = np.where(stop.any(axis=1), stop.argmax(axis=1), 29)
    harm = np.take_along_axis(pure, first[:, None], 1)
    assert harm.mean() - 4 * harm.std() / np.sqrt(harm.size) > delta
