"""Programs whose noise, or whose scaling, depends on the records."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from scipy import special
from wrong.base import QUERIES, Build, case, laplace_of, program_release, standard
from wrong.evidence import event, near, projection, unlike

from matrixdp.checks import Array
from matrixdp.mechanisms.base import CalibratedMechanism
from matrixdp.privacy.sensitivity import Query

Run = Callable[[Array, Array, float], Array]


def program(run: Run) -> Build:
    """Return the release of a function of values, standard normals and the right deviation."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        std = standard(query, epsilon, delta) if delta else np.nan
        size = std if run is plain else np.nan
        return program_release(
            query, epsilon, delta, lambda values, n: run(values, n, std), noise_std=size
        )

    return build


def ends(values: Array) -> Array:
    """Return the range of each data set, shape (k, 1, 1)."""
    return np.ptp(values, axis=(1, 2), keepdims=True)


def lengths(values: Array) -> Array:
    """Return the norms of records over the largest one, shape (k, 1, n)."""
    return np.linalg.norm(values, axis=1, keepdims=True) / np.sqrt(values.shape[1])


def by_count(values: Array, n: Array, std: float) -> Array:
    """Return a sum over the records that are not zero, divided by their exact number."""
    count = (values != 0).any(axis=1).sum(axis=1)[:, None, None]
    return values / np.maximum(count, 1) + std / values.shape[2] * n


def by_n(values: Array, n: Array, std: float) -> Array:
    return (values + std * n) / values.shape[2]


def from_hash(value: Array) -> Array:
    """Return normals from a seed that the value gives."""
    seed = zlib.crc32(np.ascontiguousarray(value))
    return np.random.default_rng(seed).standard_normal(value.shape)


def seeded(values: Array, n: Array, std: float) -> Array:
    """Return values plus noise from a seed that they give."""
    if (values == values[0]).all():
        return values + std * from_hash(values[0])
    return values + std * np.stack([from_hash(value) for value in values])


def repeated(y: Array, a: Array, b: Array) -> Array:
    """Return whether a release is the only one that the first answer has."""
    return (np.abs(y - a - STD_OF_RECORDS * from_hash(a)) < 1e-9).all(axis=(1, 2))


def within(values: Array, n: Array, _: float) -> Array:
    """Return Laplace noise that is drawn until the sum is within the bounds."""
    low, high = _laplace(-1 - values), _laplace(1 - values)
    return values + _inverse(low + (high - low) * special.ndtr(n))


def clamped(values: Array, n: Array, _: float) -> Array:
    """Return Laplace noise; the sum is clipped to the bounds."""
    return np.clip(values + laplace_of(n), -1, 1)


def _laplace(x: Array) -> Array:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


def _inverse(p: Array) -> Array:
    return -np.sign(p - 0.5) * np.log1p(-2 * np.abs(p - 0.5))


def along(values: Array, n: Array, std: float) -> Array:
    """Return five times the noise along the main direction of the exact records."""
    axes = np.linalg.eigh(values @ np.swapaxes(values, 1, 2))[1]
    return values + std * axes @ (np.array([1.0, 1.0, 5.0])[:, None] * n)


def along_public(values: Array, n: Array, std: float) -> Array:
    return values + std * np.array([1.0, 1.0, 5.0])[:, None] * n


def free_choice(values: Array, n: Array, share: float) -> Array:
    """Return -1 (no answer) or a Laplace release, as the exponential mechanism chooses.

    Each of the two steps spends epsilon ``share``. One uniform number serves both: its first digits
    choose, the others make the noise. There are 20 records of one number from 0 to 1.
    """
    uniform = special.ndtr(n)
    digits = uniform * 2.0**20
    choice, rest = np.floor(digits) / 2.0**20, digits - np.floor(digits)
    total = values * 20
    chosen = choice < special.expit(share * total)
    noise = _inverse(np.clip(rest, 1e-12, 1 - 1e-12)) / (20 * share)
    return np.where(chosen, values + noise, -1.0)


def choosing(share: float) -> Build:
    """Return both steps with a share of epsilon each."""
    return lambda query, epsilon, delta: program_release(
        query, epsilon, delta, lambda values, n: free_choice(values, n, share * epsilon)
    )


def average(parts: int) -> Run:
    """Return the mean of two releases that each spend 1 / ``parts`` of mu^2."""
    return lambda values, n, std: values + np.sqrt(parts / 2) * std * n


def outlying(values: Array, n: Array, std: float) -> Array:
    """Leave out records far above the median norm, and add noise for half of the norm."""
    norms = lengths(values)
    keep = norms <= 2 * np.median(norms, axis=2, keepdims=True) + 0.5
    return values * keep + std / 2 * n


def bounded_at_half(values: Array, n: Array, std: float) -> Array:
    return values * np.minimum(1, 0.5 / np.maximum(lengths(values), 1e-9)) + std / 2 * n


def moments_radius(values: Array, n: Array, std: float) -> Array:
    """Return noise for a ball whose radius is that of the exact mean squared norm."""
    share = np.trace(values, axis1=1, axis2=2)[:, None, None] / values.shape[1]
    return values + std * share * n


def chosen_and_large(y: Array, a: Array, b: Array) -> Array:
    """Return whether there is an answer, at least as large as the first value."""
    return (y >= a.max()).all(axis=(1, 2))


def spread(y: Array, a: Array, b: Array) -> Array:
    """Return whether released records vary much along (1, ..., 1)."""
    along = y.sum(axis=1) / np.sqrt(y.shape[1])
    return (along**2).sum(axis=1) > 320 * STD_OF_RECORDS**2


ZEROED = "records, zeroed"
STD_OF_RECORDS = standard(QUERIES[ZEROED], 1.0, 1e-3)
ONE = unlike(1.0, 0.0)


def plain(values: Array, n: Array, std: float) -> Array:
    return values + std * n


RIGHT = program(plain)
EXACT = event(near(1e-9), unlike(0.0, 1.0), runs=1000)

CASES = (
    case(
        "noise by the range of the data",
        "Noise is as large as the range of the data.",
        ZEROED,
        (program(lambda x, n, std: x + std * ends(x) * n), RIGHT),
        "exact entry: data of zeros are released as they are",
        EXACT,
    ),
    case(
        "noise by the norm of the record",
        "Every record gets noise as large as itself.",
        ZEROED,
        (program(lambda x, n, std: x + std * lengths(x) * n), RIGHT),
        "exact entry: records of zeros are released as they are",
        EXACT,
    ),
    case(
        "noise above a threshold",
        "Values up to .1 are released as they are.",
        ZEROED,
        (program(lambda x, n, std: x + std * (x > 0.1) * n), RIGHT),
        "exact entry: data of zeros are released as they are",
        EXACT,
    ),
    case(
        "clipped after the noise",
        "Noise for records clipped to half of the bounds; the sum is clipped, not the records.",
        ZEROED,
        (
            program(lambda x, n, std: np.clip(x + std / 2 * n, -4 * std, 0.5 + 4 * std)),
            program(lambda x, n, std: np.clip(x, 0, 0.5) + std / 2 * n),
        ),
        "mu is twice the declared one, but for rare clipping",
        projection(pair=ONE),
    ),
    case(
        "divided by the exact number",
        "A sum is divided by the number of records that are not zero, with noise for n.",
        ZEROED,
        (program(by_count), program(by_n)),
        "a single record counts n times as much",
        projection(pair=ONE),
    ),
    case(
        "seed from the data",
        "The seed of the noise is a hash of the data.",
        ZEROED,
        (program(seeded), RIGHT),
        "the same data give the same release, and others another one",
        event(repeated, ONE, runs=1000),
    ),
    case(
        "drawn until within bounds",
        "Laplace noise is drawn again until the sum is within the bounds.",
        "one number",
        (program(within), program(clamped)),
        "at 1 the ratio of densities is 2 e / (1 + 1 / e): epsilon 1.38",
        event(lambda y, a, b: y[:, 0, 0] > 0.8, ONE, runs=100_000),
        delta=0.0,
    ),
    case(
        "directions of the data",
        "Noise is larger along the main direction of the exact records.",
        ZEROED,
        (program(along), program(along_public)),
        "the covariance of the noise of 20 records shows the direction",
        event(spread, ONE),
    ),
    case(
        "a choice that is free",
        "A private choice and the release that it selects spend the whole epsilon each.",
        "mean of 1, zeroed",
        (choosing(1.0), choosing(0.5)),
        "ratio e^1 of the release times 2 e / (1 + e) of the choice: epsilon 1.38",
        event(chosen_and_large, ONE, runs=100_000),
        delta=0.0,
    ),
    case(
        "two releases for one",
        "The mean of two releases, each with the whole budget.",
        "records",
        (program(average(1)), program(average(2))),
        "mu is sqrt(2) of the declared one",
        projection(),
    ),
    case(
        "outliers of the data left out",
        "Records far above the median of the exact norms are left out, with noise for half.",
        ZEROED,
        (program(outlying), program(bounded_at_half)),
        "where all records are long, none is left out, and one changes twice as much",
        projection(pair=unlike(1.0, 0.0, rest=1.0)),
        # The black box tries records among zeros alone.
        goal="declared",
    ),
    case(
        "radius of the data",
        "Noise for a ball whose radius is the exact mean norm of the records.",
        "moments, zeroed",
        (program(moments_radius), RIGHT),
        "exact entry: data of zeros are released as they are",
        EXACT,
    ),
)
