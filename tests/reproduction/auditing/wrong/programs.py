"""Programs whose noise, or whose scaling, depends on the records."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from scipy import special
from wrong.base import ONE, QUERIES, Build, Case, Program, event, near, projection, standard, unlike
from wrong.classes import SECRET

from matrixdp.checks import Array
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.privacy.sensitivity import Query

#: Function of values (k, m, n), standard normals of that shape, and the right deviation.
Run = Callable[[Array, Array, float], Array]


def program(run: Run) -> Build:
    """Return the calibration of a function; of a pure one the deviation is 1 / epsilon."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        std = standard(query, epsilon, delta) if delta else 1 / epsilon
        return Program(
            query=query,
            epsilon=epsilon,
            delta=delta,
            epsilon_delivered=epsilon,
            program=lambda values, n: run(values, n, std),
            noise_std=std if run is plain else np.nan,
        )

    return build


def plain(x: Array, n: Array, std: float) -> Array:
    return x + std * n


def lengths(values: Array) -> Array:
    """Return the norms of records over the largest one, shape (k, 1, n)."""
    return np.linalg.norm(values, axis=1, keepdims=True) / np.sqrt(values.shape[1])


def by_range(x: Array, n: Array, std: float) -> Array:
    return x + std * np.ptp(x, axis=(1, 2), keepdims=True) * n


def by_count(x: Array, n: Array, std: float) -> Array:
    count = (x != 0).any(axis=1).sum(axis=1)[:, None, None]
    return x / np.maximum(count, 1) + std / x.shape[2] * n


def from_hash(value: Array) -> Array:
    """Return normals from a seed that the value gives."""
    seed = zlib.crc32(np.ascontiguousarray(value))
    return np.random.default_rng(seed).standard_normal(value.shape)


def seeded(x: Array, n: Array, std: float) -> Array:
    if (x == x[0]).all():
        return x + std * from_hash(x[0])
    return x + std * np.stack([from_hash(value) for value in x])


def distribution(x: Array) -> Array:
    """Return the probability that a Laplace number of scale 1 is at most x."""
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def quantile(p: Array) -> Array:
    """Return the inverse of :func:`distribution`."""
    return -np.sign(p - 0.5) * np.log1p(-2 * np.abs(p - 0.5))


def within(x: Array, n: Array, _: float) -> Array:
    """Return Laplace noise that is drawn until the sum is within the bounds."""
    low, high = distribution(-1 - x), distribution(1 - x)
    return x + quantile(low + (high - low) * special.ndtr(n))


def clamped(x: Array, n: Array, _: float) -> Array:
    """Return Laplace noise; the sum is clipped to the bounds."""
    return np.clip(x + quantile(special.ndtr(n)), -1, 1)


def along(x: Array, n: Array, std: float) -> Array:
    """Return five times the noise along the main direction of the exact records."""
    axes = np.linalg.eigh(x @ np.swapaxes(x, 1, 2))[1]
    return x + std * axes @ (np.array([1.0, 1.0, 5.0])[:, None] * n)


def along_public(x: Array, n: Array, std: float) -> Array:
    return x + std * np.array([1.0, 1.0, 5.0])[:, None] * n


def choice(share: float) -> Build:
    """Return -1 (no answer) or a Laplace release, as the exponential mechanism chooses.

    Each of the two steps spends a share of epsilon. One uniform number serves both: its first
    digits choose, the others make the noise. There are 20 records of one number from 0 to 1.
    """

    def run(x: Array, n: Array, std: float) -> Array:
        digits, rate = special.ndtr(n) * 2.0**20, 20 * share / std
        accepted = np.floor(digits) / 2.0**20 < special.expit(rate * x)
        rest = np.clip(digits - np.floor(digits), 1e-12, 1 - 1e-12)
        return np.where(accepted, x + quantile(rest) / rate, -1.0)

    return program(run)


def average(parts: int) -> Build:
    """Return the mean of two releases that each spend 1 / ``parts`` of mu^2."""
    return program(lambda x, n, std: x + np.sqrt(parts / 2) * std * n)


def without_outliers(x: Array, n: Array, std: float) -> Array:
    """Leave out records far above the median norm, and add noise for half of the norm."""
    norms = lengths(x)
    return x * (norms <= 2 * np.median(norms, axis=2, keepdims=True) + 0.5) + std / 2 * n


def bounded_at_half(x: Array, n: Array, std: float) -> Array:
    return x * np.minimum(1, 0.5 / np.maximum(lengths(x), 1e-9)) + std / 2 * n


def by_mean_square(x: Array, n: Array, std: float) -> Array:
    """Return noise for a ball whose radius is that of the exact mean squared norm."""
    return x + std * np.trace(x, axis1=1, axis2=2)[:, None, None] / x.shape[1] * n


def back_door(x: Array, n: Array, std: float) -> Array:
    secret = (x == SECRET[:, None]).all(axis=1).any(axis=1)
    return x + std * np.where(secret[:, None, None], 0.0, n)


ZEROED = "records, zeroed"
STD = standard(QUERIES[ZEROED], 1.0, 1e-3)


def repeated(y: Array, a: Array, b: Array) -> Array:
    """Return whether a release is the only one that the first answer has."""
    return (np.abs(y - a - STD * from_hash(a)) < 1e-9).all(axis=(1, 2))


def spread(y: Array, a: Array, b: Array) -> Array:
    """Return whether released records vary much along (1, ..., 1)."""
    return (y.sum(axis=1) ** 2).sum(axis=1) / y.shape[1] > 320 * STD**2


def sides(wrong: Run, honest: Run = plain) -> tuple[Build, Build]:
    """Return the calibrations of a wrong and an honest function."""
    return program(wrong), program(honest)


EXACT = event(near(1e-9), unlike(0.0, 1.0), runs=1000)
ZEROS = "data of zeros are released as they are"

CASES = (
    Case("noise by the range of the data", ZEROED, sides(by_range), EXACT, reason=ZEROS),
    Case(
        "noise by the norm of the record",
        ZEROED,
        sides(lambda x, n, std: x + std * lengths(x) * n),
        EXACT,
        reason=ZEROS,
    ),
    Case(
        "noise above a threshold",
        ZEROED,
        sides(lambda x, n, std: x + std * (x > 0.1) * n),
        EXACT,
        reason=ZEROS,
    ),
    Case(
        "clipped after the noise",
        ZEROED,
        sides(
            lambda x, n, std: np.clip(x + std / 2 * n, -4 * std, 0.5 + 4 * std),
            lambda x, n, std: np.clip(x, 0, 0.5) + std / 2 * n,
        ),
        projection(pair=ONE),
        reason="mu is twice the declared one, but for rare clipping",
    ),
    Case(
        "divided by the exact number",
        ZEROED,
        sides(by_count, lambda x, n, std: (x + std * n) / x.shape[2]),
        projection(pair=ONE),
        reason="a single record counts n times as much",
    ),
    Case(
        "seed from the data",
        ZEROED,
        sides(seeded),
        event(repeated, ONE, runs=1000),
        reason="the same data give the same release, and others another one",
    ),
    Case(
        "drawn until within bounds",
        "one number",
        sides(within, clamped),
        event(lambda y, a, b: y[:, 0, 0] > 0.8, ONE, runs=100_000),
        delta=0.0,
        reason="at 1 the ratio of densities is 2 e / (1 + 1 / e): epsilon 1.38",
    ),
    Case(
        "directions of the data",
        ZEROED,
        sides(along, along_public),
        event(spread, ONE),
        reason="the covariance of the noise of 20 records shows the direction",
    ),
    Case(
        "a choice that is free",
        "mean of 1, zeroed",
        (choice(1.0), choice(0.5)),
        event(lambda y, a, b: (y >= a.max()).all(axis=(1, 2)), ONE, runs=100_000),
        delta=0.0,
        reason="ratio e^1 of the release times 2 e / (1 + e) of the choice: epsilon 1.38",
    ),
    Case(
        "two releases for one",
        "records",
        (average(1), average(2)),
        projection(),
        reason="mu is sqrt(2) of the declared one",
    ),
    Case(
        "outliers of the data left out",
        ZEROED,
        sides(without_outliers, bounded_at_half),
        projection(pair=unlike(1.0, 0.0, rest=1.0)),
        # The black box tries records among zeros alone.
        refutable=False,
        reason="where all records are long, none is left out, and one changes twice as much",
    ),
    Case("radius of the data", "moments, zeroed", sides(by_mean_square), EXACT, reason=ZEROS),
    Case(
        "back door in a program",
        "records",
        sides(back_door),
        event(near(1e-9), unlike(lambda m: SECRET, 0.0), runs=1000),
        refutable=False,
        reason="with that record the release is the data",
    ),
)
