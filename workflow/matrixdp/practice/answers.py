"""Answers from noisy values: post-processing, which costs no privacy."""

from __future__ import annotations

from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.base import Additive
from matrixdp.mechanisms.moments import CONSTANT, Centred, centred, regression
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy.domain import Ball

#: Simulated records: shares of their bounds that the columns fill, and R^2 of the true regression.
FILLED, EXPLAINED = (1.0, 0.25), 0.5

#: Number of draws of noise in a simulation, and their seed; no private noise depends on them.
_DRAWS, _SEED = 200, 0

#: Queries that need the mean too: second moments of records with a constant 1 contain it.
WITH_CONSTANT = ("covariance", "components", "first_component", "regression")


def components(covariance: Array) -> Array:
    """Return the eigenvectors (m, m) in rows, the one of the largest eigenvalue first.

    The sign of an eigenvector is free; here the sum of its entries is not negative.
    """
    vectors: Array = np.linalg.eigh(covariance)[1][:, ::-1].T
    return vectors * np.where(vectors.sum(axis=1) < 0, -1, 1)[:, None]


def line(
    estimate: Centred,
    noise_std: float,
    middle: Array,
    half: Array,
    *,
    penalty: float = 0.0,
    intercept: bool = True,
) -> tuple[Array, float]:
    """Return coefficients (m - 1,) and intercept of a regression, in the records' own units.

    Args:
        estimate: mean and covariance of (x, y), in half ranges around the middle.
        noise_std: standard deviation of their noise, which sets a ridge on x.
        middle, half: middle and half range of the columns (x, y), (m,) each.
        penalty: factor of the squared coefficients beside the mean squared error, that is,
            scikit-learn's alpha over the number of records.
        intercept: whether the line has an intercept; otherwise it goes through the unscaled origin.
    """
    if not intercept:
        mean = estimate.mean + middle / half
        estimate = estimate._replace(covariance=estimate.covariance + np.outer(mean, mean))
    slopes, shift = regression(estimate, ridge(noise_std, half, penalty))
    coefficients: Array = slopes * half[-1] / half[:-1]
    offset = middle[-1] + half[-1] * float(shift) - middle[:-1] @ coefficients
    return coefficients, float(offset) if intercept else 0.0


def ridge(noise_std: float, half: Array, penalty: float = 0.0) -> Array:
    """Return the ridge on each column x in half ranges (m - 1,), for the noise and the penalty."""
    sizes: Array = moments_ridge(noise_std, len(half) - 1) + penalty / half[:-1] ** 2
    return sizes


def spectrum(covariance: Array) -> tuple[Array, Array]:
    """Return eigenvalues (m,) and their shares of the total (m,), the largest first.

    Shares of a covariance without variance are 0.
    """
    values = np.maximum(np.linalg.eigvalsh(covariance)[::-1], 0)
    return values, values / (values.sum() or 1)


def answer(
    query: str,
    private: Array,
    noise_std: float,
    middle: Array,
    half: Array,
    *,
    weighted: bool = False,
    number: int = 1,
    **line_options: Any,
) -> Array:
    """Return the answer that a noisy value gives, (rows, columns), in the columns' own units.

    A covariance (m, 1 + m) starts with the column of means. Components (``number``, 2 + m) are of
    columns in half ranges. Each row starts with the eigenvalue and its share of the total variance.

    Args:
        query: name of the query: records, mean, second_moments, covariance, components,
            first_component or regression.
        private: noisy value on records in half ranges around the middle, (n, m) for records,
            (1, m) for a mean, otherwise second moments.
        noise_std: standard deviation of its noise.
        middle, half: middle and half range of the columns, (m,) each; the middle is 0 for second
            moments.
        weighted: whether a ball, and no box, bounds the records.
        number: number of components, 1 to m.
        line_options: keyword arguments of :func:`line`.
    """
    if query in ("records", "mean"):
        return private * half + middle
    if query == "second_moments":
        return private * np.outer(half, half)
    estimate = centred(private, weighted=weighted)
    return about_mean(query, estimate, noise_std, middle, half, number=number, **line_options)


def about_mean(
    query: str,
    estimate: Centred,
    noise_std: float,
    middle: Array,
    half: Array,
    *,
    number: int = 1,
    **line_options: Any,
) -> Array:
    """Return the answer that a mean and covariance in half ranges give; see :func:`answer`."""
    if query == "covariance":
        mean = np.clip(estimate.mean, -1, 1) * half + middle
        return np.column_stack([mean, estimate.covariance * np.outer(half, half)])
    if query == "first_component":
        return components(estimate.covariance)[:1]
    if query == "components":
        vectors = components(estimate.covariance)
        return np.column_stack([*spectrum(estimate.covariance), vectors])[:number]
    coefficients, intercept = line(estimate, noise_std, middle, half, **line_options)
    return np.append(coefficients, intercept)[None]


def simulated_fit(release: Additive, share: float) -> float:
    """Return the median R^2 of a regression's predictions, simulated from public facts alone.

    The simulated columns are independent and uniform over a share of their bounds about the middle.
    They explain ``EXPLAINED`` of the target's variance, which is R^2 without noise.

    Args:
        release: calibrated mechanism for second moments of (x, 1, y) in half ranges, in a box.
        share: share of the bounds that columns fill, above 0 and at most 1.
    """
    features, variance = release.query.features - 2, share**2 / 3
    moments = np.diag(np.full(features + 2, variance))
    moments[:-2, -1] = moments[-1, :-2] = np.sqrt(EXPLAINED / features) * variance
    moments[CONSTANT, CONSTANT] = 1
    noise = release.noise.sample([np.random.default_rng(_SEED)] * _DRAWS)
    noise = (noise + np.swapaxes(noise, 1, 2)) / 2
    added = moments_ridge(release.noise_std, features)
    slopes, intercepts = regression(centred(moments + noise), added)
    wrong = variance * (1 + (slopes**2).sum(axis=1)) + intercepts**2
    wrong -= 2 * slopes @ moments[:-2, -1]
    return float(np.median(1 - wrong / variance))


def regression_outlook(release: Additive) -> str:
    """Return a sentence on how well a regression predicts in spite of the noise."""
    if isinstance(release.query.domain, Ball):
        return "what the noise means for predictions cannot be said from a radius alone"
    wide, narrow = (simulated_fit(release, share) for share in FILLED)
    return (
        f"R^2 of about {wide:.2f} where columns fill their bounds, {narrow:.2f} where they fill "
        f"{FILLED[1]:.0%} of them, {EXPLAINED} without privacy (simulated from the bounds alone; "
        "columns that depend on each other do worse)"
    )
