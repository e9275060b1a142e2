"""Noise of whole steps: its distribution, its bits, and that nothing else decides the sum."""

import contextlib
import decimal
import functools
import os

import mpmath
import numpy as np
import pytest
from exactness import same_copies
from scipy import stats

from matrixdp import isolation
from matrixdp.checks import InputError
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.noise import safe
from matrixdp.privacy import exact_sums
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import MeanQuery, RecordsQuery, SecondMomentQuery

BOX = Box((-1.0, 0.0, -2.0), (1.0, 3.0, 2.0))


def bits(seed):
    return np.random.default_rng(seed).bytes


@pytest.mark.parametrize(
    ("distribution", "below"),
    [
        (safe.NORMAL, lambda x: mpmath.erf(x / mpmath.sqrt(2))),
        (safe.LAPLACE, lambda x: 1 - mpmath.exp(-x)),
    ],
)
def test_thresholds_are_the_distribution_to_the_last_bit(distribution, below):
    thresholds, _ = safe.table(distribution)
    with mpmath.workdps(40):
        for cell in range(0, len(thresholds) - 1, 13):
            exact_value = below(mpmath.mpf(cell + 1) / 256) * mpmath.mpf(2) ** 64
            assert abs(int(thresholds[cell]) - exact_value) < 2


@pytest.mark.parametrize("digits", [2, 6, 18])
def test_a_table_is_computed_in_decimals_of_its_own(digits, monkeypatch):
    with decimal.localcontext(prec=digits, Emax=3, rounding=decimal.ROUND_UP) as context:
        context.traps = dict.fromkeys(context.traps, False)
        assert same_copies(safe._compute_table(safe.NORMAL)[0], safe.table(safe.NORMAL)[0])
        # Without them it is another law, which is refused.
        monkeypatch.setattr(isolation, "Isolation", contextlib.nullcontext)
        monkeypatch.setattr(safe, "table", functools.cache(safe.table.__wrapped__))
        context.Emax = decimal.MAX_EMAX
        with pytest.raises(InputError, match="normal noise has the checksum"):
            safe.noise(safe.NORMAL, 1)


@pytest.mark.parametrize(
    ("distribution", "name"), [(safe.NORMAL, stats.norm), (safe.LAPLACE, stats.laplace)]
)
def test_law_and_that_one_per_cent_less_would_be_seen(distribution, name):
    drawn = (safe.noise(distribution, 400_000, bits(1)) + 0.5) * safe.STEP
    assert stats.kstest(drawn, name.cdf).pvalue > 1e-3

    def off(sizes):
        mean, std = name.expect(abs), np.sqrt(name.var() - name.expect(abs) ** 2)
        return abs(sizes.mean() - mean) / std * np.sqrt(len(sizes))

    assert off(np.abs(drawn)) < 4 < off(0.99 * np.abs(drawn))


def test_steps_within_a_cell_are_as_likely_as_their_density():
    drawn = safe.noise(safe.NORMAL, 400_000, bits(2)) * safe.STEP
    far = np.abs(drawn[np.abs(drawn) > 1])
    within = far * 256 % 1
    # In a cell at x the density falls by exp(-x / 256): the mean is x / 3072 below one half.
    below = (0.5 - within.mean()) / (within.std() / np.sqrt(len(within)))
    expected = far.mean() / 3072 / (within.std() / np.sqrt(len(within)))
    assert abs(below - expected) < 4


def test_a_tie_takes_more_bits():
    chance = np.array([0.5 + 2.0**-47, 0.5 - 2.0**-47])
    drawn = np.full(2, 2**44, dtype=np.uint64)
    assert safe._below(drawn, chance, lambda n: bytes(n))[0]
    assert not safe._below(drawn, chance, lambda n: b"\xff" * n).any()


def test_the_largest_word_stays_in_the_table():
    words = [b"\xff" * 8, b"\x00" * 8]
    assert safe.noise(safe.NORMAL, 1, lambda n: words.pop(0)).shape == (1,)


def calibrated(mechanism, query):
    return mechanism.calibrate(query, epsilon=1, delta=1e-6)


RELEASES = [
    calibrated(Gaussian(), RecordsQuery(BOX, 40)),
    calibrated(Laplace(), RecordsQuery(BOX, 40)),
    calibrated(DirectionalGaussian(weights=(1.0, 2.0, 3.0)), RecordsQuery(BOX, 40)),
    calibrated(Gaussian(), MeanQuery(BOX, 40)),
    calibrated(Laplace(), MeanQuery(BOX, 40)),
    calibrated(Gaussian(), SecondMomentQuery(BOX, 40)),
    calibrated(AnalyzeGauss(), SecondMomentQuery(BOX, 40)),
    calibrated(Laplace(), SecondMomentQuery(BOX, 40)),
    calibrated(Gaussian(), SecondMomentQuery(Ball(1.0, 3), 40)),
    calibrated(DirectionalGaussian(weights=(1.0, 2.0, 3.0)), SecondMomentQuery(BOX, 40)),
]


def records(rows=40):
    return np.random.default_rng(5).uniform(BOX.lower, BOX.upper, (rows, 3)) * 1.2


@pytest.mark.parametrize("release", RELEASES)
def test_release_has_the_noise_that_it_declares(release, monkeypatch):
    rows = records()
    value = exact_sums.value(release.query, [rows])
    value = value.T if release.query.output_type == "matrix" else value
    count = 1500
    monkeypatch.setattr(os, "urandom", np.random.default_rng(1).bytes)
    drawn = [release.release(rows) - value for _ in range(count)]
    square = np.mean(np.square(drawn), axis=0).mean()
    # Its relative standard error is at most sqrt(5 / (3 * count)) with three equal entries.
    assert np.sqrt(square) == pytest.approx(release.noise_std, rel=0.08)


@pytest.mark.parametrize("release", RELEASES)
def test_colour_inverts_whiten_and_whitened_neighbours_are_within_the_budget(release):
    distribution, unit, budget = release.whitened
    draw = release.noise.sample(np.random.default_rng(3), 1)[0]
    assert distribution.colour(distribution.whiten(draw)) == pytest.approx(draw, rel=1e-9)
    low, high = np.array(BOX.lower), np.array(BOX.upper)
    one = records()
    largest = 0.0
    for corner in (low, high, np.where([1, 0, 1], low, high), np.zeros(3)):
        for other in (low, high, np.where([0, 1, 1], low, high)):
            first, second = one.copy(), one.copy()
            first[7], second[7] = corner, other
            change = distribution.whiten(exact_sums.value(release.query, [first]))
            change = change - distribution.whiten(exact_sums.value(release.query, [second]))
            largest = max(largest, np.linalg.norm(change, 2 if unit == safe.NORMAL else 1))
    assert 0.3 * budget < largest <= budget * (1 + 1e-12)


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[1], RELEASES[5], RELEASES[7]])
def test_simulated_and_safe_noise_have_one_distribution(release, monkeypatch):
    distribution = release.noise
    count = 24_000 // distribution.whiten(np.zeros(distribution.shape)).size
    value = exact_sums.value(release.query, [records()])
    orient = np.transpose if release.query.output_type == "matrix" else np.asarray
    monkeypatch.setattr(os, "urandom", np.random.default_rng(1).bytes)
    drawn = [release.release_value(value) for _ in range(count)]
    safely = np.array([distribution.whiten(orient(one) - value) for one in drawn]).ravel()
    simulated = distribution.whiten(distribution.sample(np.random.default_rng(9), count)).ravel()
    assert stats.ks_2samp(safely, simulated).pvalue > 1e-3
    # A tenth less, and noise of another distribution of the same deviation, would be seen.
    assert stats.ks_2samp(0.9 * safely, simulated).pvalue < 0.05
    uniform = np.random.default_rng(8).uniform(-1.7, 1.7, safely.size) * safely.std()
    assert stats.ks_2samp(uniform, simulated).pvalue < 1e-6


def test_outputs_of_neighbours_lie_on_one_lattice(monkeypatch):
    release = calibrated(Gaussian(), RecordsQuery(BOX, 40))
    one, other = records(), records()
    other[3] = 0
    for given in (one, other):
        monkeypatch.setattr(os, "urandom", np.random.default_rng(1).bytes)
        steps = release.release(given) / release.noise_std / safe.STEP
        # The noise is stretched by a part in a million, the same for both.
        assert 1 < release.rounding_factor < 1 + 1e-5
        assert (
            np.abs(steps / release.rounding_factor - np.rint(steps / release.rounding_factor)).max()
            < 1e-4
        )


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[7]])
def test_all_chance_of_a_release_is_bits_of_the_operating_system(release, monkeypatch):
    taken = []

    def released(seed):
        source = bits(seed)
        monkeypatch.setattr(os, "urandom", lambda count: taken.append(count) or source(count))
        return release.release(records())

    assert same_copies(released(1), released(1))
    assert (released(1) != released(2)).all()
    # Two words of 64 bits a number, at least, in each of four releases.
    assert sum(taken) >= 4 * 16 * release.noise.whiten(np.zeros(release.noise.shape)).size


def test_extra_delta_counts_numbers_and_grows_with_epsilon():
    assert safe.extra_delta(1, 10) == pytest.approx(10 * safe.extra_delta(1, 1))
    assert safe.extra_delta(1, 1) == pytest.approx((1 + np.e) * 2.0**-49)


def test_exact_values_do_not_depend_on_order_or_blocks():
    rows = np.random.default_rng(4).uniform(-1, 1, (70_000, 3))
    for query in (MeanQuery(BOX, 70_000), SecondMomentQuery(BOX, 70_000)):
        whole = exact_sums.value(query, [rows])
        split = exact_sums.value(query, iter(np.array_split(rows[::-1], 7)))
        assert same_copies(whole, split)
        assert whole == pytest.approx(
            query.value(np.clip(rows.T, *np.array([BOX.lower, BOX.upper])[:, :, None])), abs=1e-7
        )


def test_noise_beyond_the_range_cannot_be_added_safely():
    tiny = Gaussian().calibrate(RecordsQuery(BOX, 40), epsilon=1e-12, delta=1e-12)
    with pytest.raises(InputError, match="cannot be added safely.*; choose a larger epsilon"):
        tiny.release(records())


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, 0.0])
def test_what_is_not_finite_publishes_no_sentinel(release, value, monkeypatch):
    def released(number):
        monkeypatch.setattr(os, "urandom", bits(1))
        exact = exact_sums.value(release.query, [records()])
        exact[0, -1] = number
        return release.release_value(exact)

    # One number of several: what it does not touch is released as ever.
    reach = 2.0**26 * release.rounding_factor * np.abs(release.noise.size).max()
    assert np.abs(released(value)).max() < 9 * reach
    if np.isnan(value) and release.noise.basis is None:
        assert same_copies(released(np.nan), released(0.0))


def test_a_masked_value_is_a_missing_one(monkeypatch):
    release = RELEASES[3]

    def released(value):
        monkeypatch.setattr(os, "urandom", bits(1))
        return release.release_value(value)

    masked = np.ma.array([[7.0], [0.5], [0.5]], mask=[[True], [False], [False]])
    assert same_copies(released(masked), released(masked.filled(np.nan)))
    assert same_copies(released(np.array([[1], [0], [0]])), released(np.array([[1.0], [0], [0]])))
