"""Library noise of a wrong size: wrong sensitivities, formulas and constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from wrong.base import Build, Case, case, normal_release, pure_release, standard
from wrong.evidence import alternating, losses, projection, runs_of, unlike

from matrixdp.mechanisms.base import AdditiveMechanism, CalibratedMechanism
from matrixdp.noise import distributions
from matrixdp.noise.distributions import MatrixNormal, SymmetricNormal
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Query


def equal(factor: Any = 1.0) -> Build:
    """Return equal Gaussian noise of the right size times a number, or a function of the budget."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        share = factor(query, epsilon, delta) if callable(factor) else factor
        std = standard(query, epsilon, delta) * share
        return normal_release(query, epsilon, delta, MatrixNormal(query.shape, std), noise_std=std)

    return build


def classic(log: Any) -> Build:
    """Return noise by the formula of 2014, which was proved for epsilon below 1."""

    def share(_: Query, epsilon: float, delta: float) -> float:
        unit = np.sqrt(2 * log(1.25 / delta)) / epsilon
        return float(unit * gaussian.mu(epsilon, delta))

    return equal(share)


def laplace(norm: Any) -> Build:
    """Return Laplace noise for a sensitivity in a norm."""

    def build(query: Query, epsilon: float, _: float) -> AdditiveMechanism:
        scale = float(norm(query)) / epsilon
        noise = distributions.LaplaceNoise(query.shape, scale)
        return pure_release(query, epsilon, noise, noise_std=float(np.sqrt(2) * scale))

    return build


def symmetric(diagonal: float, other: float) -> Build:
    """Return symmetric noise with deviations in shares of the Frobenius calibration."""

    def build(query: Any, epsilon: float, delta: float) -> CalibratedMechanism:
        std, m = standard(query, epsilon, delta), query.features
        size = std * np.sqrt((diagonal**2 + (m - 1) * other**2) / m)
        noise = SymmetricNormal(query.shape, std * diagonal, std * other)
        return normal_release(query, epsilon, delta, noise, noise_std=float(size))

    return build


def directional(shares: tuple[float, ...]) -> Build:
    """Return noise that spends these shares of mu^2 on the features."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        stds = query.sides / np.sqrt(shares) / gaussian.mu(epsilon, delta)
        noise = MatrixNormal(query.shape, stds)
        std = float(np.sqrt((stds**2).mean()))
        return normal_release(query, epsilon, delta, noise, noise_std=std)

    return build


def for_other(**changed: Any) -> Build:
    """Return equal noise for the sensitivity of another query."""

    def share(query: Query, *_: float) -> float:
        return replace(query, **changed).l2_sensitivity / query.l2_sensitivity

    return equal(share)


@dataclass(frozen=True)
class Size:
    """A share of the l1 sensitivity."""

    share: float

    def __call__(self, query: Query) -> float:
        return self.share * query.l1_sensitivity


def losses_of_laplace(release: CalibratedMechanism, wrong_case: Case) -> float:
    """Return the largest loss of independent Laplace entries, by their measured scales."""
    first, second = (release.query.value(data) for data in unlike()(release))
    noise = runs_of(release, second, 10_000) - second
    scales = np.abs(noise).mean(axis=0) * (1 + 5 / np.sqrt(len(noise)))
    return float((np.abs(first - second) / scales).sum() / release.epsilon)


RIGHT = equal()
PURE = {"delta": 0.0}
#: Moments of these records differ most, and leave the diagonal as it is.
TURNED = unlike(1.0, alternating)

CASES = (
    case(
        "half the noise",
        "The standard deviation is half of the right one.",
        "records",
        (equal(0.5), RIGHT),
        "mu is twice the declared one",
        projection(),
    ),
    case(
        "noise x .9",
        "The standard deviation is a tenth too small.",
        "mean",
        (equal(0.9), RIGHT),
        "mu is 1 / .9 of the declared one",
        projection(),
    ),
    case(
        "noise x .98",
        "The standard deviation is a fiftieth too small.",
        "mean of 2",
        (equal(0.98), RIGHT),
        "mu is 1 / .98 of the declared one",
        projection(runs=400_000),
    ),
    case(
        "sqrt(2) forgotten",
        "Second moments get noise for R^2 / n, where replacing changes sqrt(2) R^2 / n.",
        "moments",
        (equal(1 / np.sqrt(2)), RIGHT),
        "two orthogonal records of full norm attain sqrt(2) R^2 / n",
        projection(
            lambda release: np.ones((6, 6)) - np.outer(alternating(6), alternating(6)), TURNED
        ),
    ),
    case(
        "sensitivity of zeroing out",
        "Noise for a record that is zeroed out, where records are replaced.",
        "records",
        (for_other(adjacency="zero_out"), RIGHT),
        "replacing changes twice as much",
        projection(),
    ),
    case(
        "n divided twice",
        "The sensitivity of a mean is divided by n once more.",
        "mean",
        (equal(lambda query, *_: 1 / query.n_records), RIGHT),
        "mu is n times the declared one",
        projection(),
    ),
    case(
        "n + 1 records",
        "Noise for a mean of one more record than there is.",
        "mean of 2",
        (for_other(n_records=51), RIGHT),
        "mu is 51 / 50 of the declared one",
        projection(runs=400_000),
    ),
    case(
        "variance for deviation",
        "The variance stands where the standard deviation belongs.",
        "mean",
        (equal(standard), RIGHT),
        "the right deviation is .2, its square .04",
        projection(),
    ),
    case(
        "sensitivity of one entry",
        "Gaussian noise for the largest change of one entry instead of all.",
        "mean",
        (equal(lambda query, *_: query.sides.max() / query.l2_sensitivity), RIGHT),
        "four features with a whole budget each: mu is twice the declared one",
        projection(),
    ),
    case(
        "mu taken for epsilon",
        "The standard deviation is sensitivity / epsilon.",
        "records",
        (equal(lambda _, epsilon, delta: gaussian.mu(epsilon, delta) / epsilon), RIGHT),
        "mu is 1, which gives epsilon 3.1 at delta 1e-3",
        projection(),
    ),
    case(
        "classic formula at epsilon 10",
        "The formula of 2014, proved below epsilon 1, at epsilon 10.",
        "records",
        (classic(np.log), RIGHT),
        "at epsilon 10 its delta is 2.3e-5 instead of 1e-5",
        projection(),
        epsilon=10.0,
        delta=1e-5,
    ),
    case(
        "decimal logarithm",
        "The classic formula with the decimal logarithm.",
        "mean",
        (classic(np.log10), RIGHT),
        "the deviation is .66 of that of the natural logarithm",
        projection(),
        epsilon=0.9,
        delta=1e-5,
    ),
    case(
        "noise of a mirrored triangle, not mirrored",
        "Every entry of second moments gets its own noise, of the size for mirrored noise.",
        "moments, zeroed",
        (equal(lambda query, *_: query.triangle_l2_sensitivity / query.l2_sensitivity), RIGHT),
        "both entries of a pair can be averaged: mu is sqrt(36 / 21) of the declared one",
        projection(lambda release: np.ones((6, 6)), unlike(1.0, 0.0)),
    ),
    case(
        "ensemble divided once more",
        "Symmetric noise with sqrt(1/2) on the diagonal too, and 1/2 beside it.",
        "moments",
        (symmetric(np.sqrt(0.5), 0.5), symmetric(1.0, np.sqrt(0.5))),
        "mu is sqrt(2) of the declared one",
        projection(pair=TURNED),
    ),
    case(
        "shares above 1",
        "Directional noise spends .9, .5 and .1 of mu^2 on three features.",
        "records",
        (directional((0.9, 0.5, 0.1)), directional((0.6, 0.3, 0.1))),
        "mu^2 is 1.5 of the declared one",
        projection(),
    ),
    case(
        "Laplace noise for the l2 norm",
        "Laplace noise of scale l2 / epsilon.",
        "records",
        (laplace(lambda query: query.l2_sensitivity), laplace(Size(1.0))),
        "the l1 sensitivity of three features is sqrt(3) times the l2 sensitivity",
        losses_of_laplace,
        **PURE,
    ),
    case(
        "epsilon for every feature",
        "Every feature gets Laplace noise for its own change, with the whole epsilon.",
        "records",
        (laplace(lambda query: query.sides.max()), laplace(Size(1.0))),
        "three times epsilon by composition",
        losses_of_laplace,
        **PURE,
    ),
    case(
        "Laplace noise x .98",
        "The scale of Laplace noise is a fiftieth too small.",
        "records",
        (laplace(Size(0.98)), laplace(Size(1.0))),
        "the loss is epsilon / .98",
        losses(),
        **PURE,
    ),
)
