"""Functions that are not private are refuted, and their honest twins are not.

A row is a name, a wrong function and its honest twin, for epsilon 1. What is wrong stands in the
name; a twin does the same with the right noise, or shows nothing of the records.
"""

import zlib

import numpy as np
import pytest
from nights import nightly_but

import matrixdp as mdp

N, M = 40, 2
QUERY = mdp.MeanQuery(mdp.Box.cube(M, 0.0, 1.0), n_records=N)
#: Counted runs on each neighbour of a wrong function, and of its twin every day.
RUNS, FEW = 2000, 200


def noisy_mean(x, rng):
    return x.mean(axis=0) + rng.laplace(0, M / N, M)


def beside(exact):
    """Return a function that prints an exact number beside a noisy mean."""
    return lambda x, rng: np.append(noisy_mean(x, rng), exact(x))


def noisy(value, scale):
    """Return a function that adds Laplace noise to a value."""

    def release(x, rng):
        exact = np.asarray(value(x))
        return exact + rng.laplace(0, scale, exact.shape)

    return release


def windows(x):
    return np.convolve(x[:, 0], np.ones(10) / 10, "valid")


def differences(x):
    return np.diff(x[:, 0])


def winsorised(x):
    low, high = np.quantile(x[:, 0], [0.2, 0.8])
    return np.clip(x[:, 0], low, high).mean()


def median_of_means(x):
    return np.median(x[:, 0].reshape(8, 5).mean(axis=1))


def with_atoms(share):
    def release(x, rng):
        noise = rng.laplace(0, M / N, M)
        return x.mean(axis=0) + noise * (rng.random() >= share)

    return release


def with_close_atoms(x, rng):
    noise = rng.laplace(0, M / N, M)
    return x.mean(axis=0) + np.where(np.abs(noise) < 0.05 * M / N, 0, noise)


def with_holes(x, rng):
    # A tenth of the mass of Laplace noise lies within .105 of its scale.
    noise = rng.laplace(0, M / N, M)
    while np.abs(noise).min() < 0.105 * M / N:
        noise = rng.laplace(0, M / N, M)
    return x.mean(axis=0) + noise


def of_its_range(x, rng):
    return x.mean(axis=0) + rng.laplace(0, M * np.ptp(x) / N, M)


def of_its_hash(x, rng):
    return noisy_mean(x, np.random.default_rng(zlib.crc32(np.ascontiguousarray(x).tobytes())))


def cut(limit):
    def release(x, rng):
        return x.mean(axis=0) + np.clip(rng.laplace(0, M / N, M), -limit, limit)

    return release


def uniform(x, rng):
    return x.mean(axis=0) + rng.uniform(-2 * M / N, 2 * M / N, M)


def twice(scale):
    return noisy(lambda x: np.tile(x.mean(axis=0), 2), scale)


def one_number(x, rng):
    return x.mean(axis=0) + rng.laplace(0, M / N)


def random_record(x, rng):
    return x[rng.integers(len(x))]


def random_point(x, rng):
    return np.array([0.25, 0.75])[rng.integers(2, size=M)]


def of_varying_length(x, rng):
    return noisy_mean(x, rng)[: 1 + (x[:, 0].mean() > 0.5)]


def failing_of_last(error):
    def release(x, rng):
        if x[-1, 0] > 0.9:
            raise error("out of range")
        return noisy_mean(x, rng)

    return release


def failing_at_random(x, rng):
    if rng.random() < 0.1:
        raise ValueError("try again")
    return noisy_mean(x, rng)


def not_finite_of_one(x, rng):
    return noisy_mean(x, rng) / (x[17, 0] < 0.95)


def abstaining(x, rng):
    return noisy_mean(x, rng) if rng.random() < 0.7 else np.full(M, np.nan)


def within_data(x, rng):
    return np.clip(noisy_mean(x, rng), x.min(axis=0), x.max(axis=0))


def within_bounds(x, rng):
    return np.clip(noisy_mean(x, rng), 0, 1)


def geometric(epsilon):
    def release(x, rng):
        both = rng.geometric(1 - np.exp(-epsilon), 2)
        return np.count_nonzero(x[:, 0] > 0.5) + both[0] - both[1]

    return release


def with_a_first_test(noise):
    def release(x, rng):
        count = np.count_nonzero(x[:, 1] > 0.5) + noise * rng.laplace()
        return x[:, 0].mean() + rng.laplace(0, 2 / N) if count > N / 2 else -1.0

    return release


def exact_if_constant(x, rng):
    return x.mean(axis=0) if np.ptp(x, axis=0).max() < 1 / 100 else noisy_mean(x, rng)


def normal(x, rng):
    return x.mean(axis=0) + rng.normal(0, M / N, M)


def cumulative(scale):
    return noisy(lambda x: np.cumsum(x[:, 0]) / N, scale)


def rounded(x, rng):
    return np.round(noisy_mean(x, rng), 3)


def chosen(scale):
    """Return the best of three options by noisy counts; each record counts for one."""

    def release(x, rng):
        counts = np.histogram(x[:, 0], 3, (0, 1))[0]
        return int(np.argmax(counts + rng.gumbel(0, scale, 3)))

    return release


ROWS = {
    # Kinds that were met in practice.
    "a record in the middle, verbatim": (beside(lambda x: x[N // 2]), noisy_mean),
    "an exact mean of one fold": (beside(lambda x: x[16:24].mean()), noisy_mean),
    "moving averages, noise for one": (noisy(windows, 0.1), noisy(windows, 1.0)),
    "differences, noise for one": (noisy(differences, 1), noisy(differences, 2)),
    "an exact mean of one digit": (
        lambda x, rng: np.round(x.mean(axis=0), 1),
        lambda x, rng: np.round(noisy_mean(x, rng), 1),
    ),
    "a quantile, noise for a mean": (
        noisy(lambda x: np.quantile(x[:, 0], 0.9), 1 / N),
        noisy(lambda x: np.quantile(x[:, 0], 0.9), 1),
    ),
    "a winsorised mean, noise for a mean": (noisy(winsorised, 1 / N), noisy(winsorised, 1)),
    "a median of means, noise for a mean": (
        noisy(median_of_means, 1 / N),
        noisy(median_of_means, 1 / 5),
    ),
    "noise with an atom of 5 %": (with_atoms(0.05), with_atoms(0.0)),
    "noise with atoms near 0": (with_close_atoms, rounded),
    "noise with holes": (with_holes, noisy_mean),
    # Kinds of our own.
    "the largest, noise for a mean": (
        noisy(lambda x: x.max(axis=0), M / N),
        noisy(lambda x: x.max(axis=0), M),
    ),
    "the place of the largest": (
        lambda x, rng: np.argmax(x[:, 0]),
        lambda x, rng: rng.integers(N),
    ),
    "a count in tens": (
        lambda x, rng: round(np.count_nonzero(x > 0.5), -1),
        lambda x, rng: round(np.count_nonzero(x > 0.5) + rng.laplace(0, M), -1),
    ),
    "the scale of the data's range": (of_its_range, noisy_mean),
    "noise seeded by the data": (of_its_hash, noisy_mean),
    "noise cut at three scales": (cut(3 * M / N), cut(200.0)),
    "uniform noise": (uniform, noisy_mean),
    "two answers, noise for one": (twice(M / N), twice(2 * M / N)),
    "one number for all entries": (one_number, noisy_mean),
    "a random record": (random_record, random_point),
    "a count of distinct records": (
        lambda x, rng: len(np.unique(x, axis=0)),
        noisy(lambda x: len(np.unique(x, axis=0)), 1),
    ),
    "a shape of the data": (of_varying_length, noisy_mean),
    "an error of the last record": (failing_of_last(ValueError), failing_at_random),
    "an exit of the last record": (failing_of_last(SystemExit), noisy_mean),
    "an infinity of one record": (not_finite_of_one, abstaining),
    "a checksum": (
        beside(lambda x: zlib.crc32(np.ascontiguousarray(x).tobytes()) % 2),
        beside(lambda x: 1),
    ),
    "clipped to the data": (within_data, within_bounds),
    "a geometric count, noise for half": (geometric(2.0), geometric(1.0)),
    "an exact test first": (with_a_first_test(0.0), with_a_first_test(2.0)),
    "exact where all are equal": (exact_if_constant, noisy_mean),
    "normal noise without a delta": (normal, noisy_mean),
    "running sums, noise for one": (cumulative(1 / N), cumulative(1.0)),
    "a variance, noise for n squared": (
        noisy(lambda x: x[:, 0].var(), 1 / N**2),
        noisy(lambda x: x[:, 0].var(), 1 / N),
    ),
    "a choice by exact counts": (chosen(0.0), chosen(2.0)),
}


#: Rows of every day; the others take long.
EVERY_DAY = (
    "a record in the middle, verbatim",
    "moving averages, noise for one",
    "an exact mean of one digit",
    "noise with holes",
    "a count in tens",
    "noise seeded by the data",
    "two answers, noise for one",
    "a random record",
    "a geometric count, noise for half",
)


@pytest.mark.parametrize(("wrong", "twin"), nightly_but(EVERY_DAY, ROWS))
def test_a_wrong_function_is_refuted_and_its_twin_is_not(wrong, twin, request):
    result = mdp.audit(wrong, QUERY, epsilon=1, runs=RUNS)
    assert result.status == "refuted", str(result)
    assert result.lower > 1
    runs = RUNS if request.config.getoption("--nightly") else FEW
    right = mdp.audit(twin, QUERY, epsilon=1, runs=runs)
    assert right.status == "not refuted", str(right)
    assert right.upper is None
