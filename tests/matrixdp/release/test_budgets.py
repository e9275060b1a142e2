"""What releases spend together."""

import json
from fractions import Fraction

import harness
import numpy as np
import pytest

import matrixdp as mdp
from matrixdp import cli
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
    mixed = ledger.excess(account(pure, other, **total))
    assert "would be spent of 1.1, as a pure release counts far more beside one with a" in mixed
    assert "begun with pure=" in mixed
    for alone in (account(*[other] * 20, **total), account(*[pure] * 3, **total)):
        assert ledger.excess(alone).endswith("would be spent of 1.1")
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


# --- Decimals that people state -----------------------------------------------------------------


def pure(epsilon):
    """Return the charge of a pure release of one number, as 0.1.0 writes it too."""
    return {"mu": ledger.pure_mu(epsilon), "pure_epsilon": epsilon, "numbers": 1}


def spent(total, *epsilons):
    """Return an account of a pure total after pure releases."""
    return {**account(epsilon=total, delta=0), "releases": [*map(pure, epsilons)]}


HUNDREDTHS = [(number / 100, count) for number in range(1, 100) for count in range(1, 13)]
#: Parts of a total, which no decimal states.
PARTS = [(total / count, count) for total in (0.3, 1.0, 1.2, 7.0) for count in range(1, 100)]


def test_releases_of_e_fit_a_total_of_so_many_times_e_and_no_more_do():
    wrong = []
    for epsilon, count in HUNDREDTHS + PARTS:
        total = float(Fraction(repr(epsilon)) * count)
        books = spent(total, *[epsilon] * count)
        fits = not ledger.excess(books) and ledger.total_epsilon(books) == total
        fits &= ledger.room(spent(total), pure(epsilon)) == count
        # As binary fractions, whose sum is rounded once.
        for more in (1e-6, 1e-12):
            beyond = ledger.excess(spent(total, *[epsilon] * (count - 1), epsilon + total * more))
            one, other = beyond.removeprefix("epsilon ").split(" would be spent of ")
            fits &= float(one) > float(other)
        if not fits:
            wrong.append((epsilon, count))
    assert not wrong


def test_parts_of_a_total_fit_it_which_sums_of_their_decimals_alone_would_exceed():
    for epsilon, count in PARTS:
        total = next(one for one in (0.3, 1.0, 1.2, 7.0) if one / count == epsilon)
        assert not ledger.excess(spent(total, *[epsilon] * count))
    eleven = Fraction(repr(1 / 11)) * 11
    assert eleven > 1
    assert not ledger.excess(spent(1.0, *[1 / 11] * 11))


@pytest.mark.parametrize(
    ("total", "before", "rest"),
    [(0.3, [0.2], 0.1), (0.3, [0.1, 0.1], 0.1), (1.2, [0.2] * 5, 0.2), (0.7, [0.6], 0.1)],
)
def test_what_is_left_is_a_decimal_that_fits_and_the_last_one_that_does(total, before, rest):
    books = spent(total, *before)
    assert ledger.left(books, pure=True) == rest
    assert f"pure release of epsilon {rest}" in ledger.summary(books)[-1]
    assert not ledger.excess(spent(total, *before, rest))
    assert ledger.excess(spent(total, *before, rest * (1 + 1e-12)))
    # Beside releases with a delta the same holds of the part that is reserved for pure ones.
    terms = {"epsilon": 2.0, "delta": 1e-5, "pure": total}
    beside = {**account(calibrated(epsilon=0.1), **terms)}
    beside["releases"] = [*beside["releases"], *map(pure, before)]
    assert ledger.left(beside, pure=True) == rest
    assert not ledger.excess(ledger.add(beside, pure(rest)))
    assert "reserved" in ledger.excess(ledger.add(beside, pure(rest * (1 + 1e-12))))


def test_what_is_said_to_be_left_is_never_more_than_fits():
    books = spent(1.0, 1 / 3)
    said = float(ledger.summary(books)[-1].rpartition(" ")[2])
    assert said == 0.6666
    assert not ledger.excess(ledger.add(books, pure(said)))


def of_account(folder, epsilon, total, place):
    books = mdp.Account(folder / "plan.json", epsilon=total, delta=0)
    books.spend(calibrated(ONE, mdp.Laplace(), epsilon))


def of_python(folder, epsilon, total, place):
    books = mdp.Account(folder / "plan.json", epsilon=total, delta=0)
    request = {"query": "mean", "bounds": (0, 130), "missing": "refuse", "account": books}
    mdp.make_release(harness.ROWS[:, :1], epsilon=epsilon, even_if_useless=True, **request)


def of_bounds(folder, epsilon, total, place):
    books = mdp.Account(folder / "plan.json", epsilon=total, delta=0)
    request = {"missing": "refuse", "account": books, "even_if_useless": True}
    mdp.private_bounds(harness.ROWS, epsilon=epsilon, **request)


def of_estimator(folder, epsilon, total, place):
    pytest.importorskip("sklearn")
    books = mdp.Account(folder / "plan.json", epsilon=total, delta=0)
    settings = {"epsilon": epsilon, "delta": 0, "bounds": (0, 3e5), "account": books}
    mdp.Covariance(**settings, even_if_useless=True).fit(harness.ROWS)


def of_file(folder, epsilon, total, place):
    keys = {"epsilon": epsilon, "delta": 0, "total": {"epsilon": total, "delta": 0}}
    status = harness.run(folder, f"out{place}", insist=True, label=f"{place}", **keys)
    if status:
        raise mdp.InputError("refused")


def of_several(folder, epsilon, total, place):
    if place:
        return
    count = round(total / epsilon)
    releases = [{"query": "mean", "label": f"{one}"} for one in range(count)]
    path = harness.write(folder, releases=releases, total={"epsilon": total, "delta": 0})
    words = ["release", str(path), "--out", str(folder / "out"), "--even-if-useless"]
    assert cli.main(words) == 0
    assert len(harness.charges(folder)) == count


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 3), (0.2, 6), (1 / 11, 11)])
@pytest.mark.parametrize(
    "door", [of_account, of_python, of_bounds, of_estimator, of_file, of_several]
)
def test_so_many_pure_releases_fit_at_every_door_and_a_further_one_does_not(
    folder, door, epsilon, count
):
    total = 1.0 if count == 11 else float(Fraction(repr(epsilon)) * count)
    for place in range(count):
        door(folder, epsilon, total, place)
    if door is of_several:
        return
    with pytest.raises(mdp.InputError, match="refused|would be spent of|allows"):
        door(folder, 1e-6 * epsilon if door is of_account else epsilon, total, count)


def test_an_account_that_0_1_0_wrote_has_room_for_its_last_release_too(tmp_path):
    path = tmp_path / "plan.json"
    books = mdp.Account(path, epsilon=0.3, delta=0)
    one = calibrated(ONE, mdp.Laplace(), 0.1)
    books.spend(one)
    books.spend(one)
    stored = json.loads(path.read_text())
    for charge in stored["releases"]:
        # Its mu was rounded otherwise.
        charge["mu"] *= 1 - 1e-12
    path.write_text(json.dumps(stored))
    books = mdp.Account(path)
    assert books.room(one) == 1
    books.spend(one)
    assert (books.spent, books.left, books.room(one)) == (0.3, 0.0, 0)
