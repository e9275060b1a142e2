"""Noise that is right for another guarantee than the one that is declared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from wrong.base import Build, Independent, case, normal_release, pure_release, standard
from wrong.evidence import projection, promise, size_of_noise

from matrixdp.mechanisms.base import AdditiveMechanism, CalibratedMechanism
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Mu, Query


def answer(
    epsilons: float = 1.0, deltas: float = 1.0, relation: str = "replace", **changed: Any
) -> Build:
    """Return an honest calibration to these multiples of the budget, with changed declarations.

    A change is a function of the honest value.
    """

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        query = replace(query, adjacency=relation)
        budget = epsilons * epsilon, deltas * delta
        noise = Independent(query.shape, standard(query, *budget))
        release = normal_release(query, *budget, noise)
        new = {name: change(getattr(release, name)) for name, change in changed.items()}
        return replace(release, **new)

    return build


HONEST = answer()


def times(factor: float):
    """Return a multiplication."""
    return lambda value: factor * value


def pure(right: bool) -> Build:
    """Return Gaussian noise; where wrong, it is said to have a delta of 0."""

    def build(query: Query, epsilon: float, delta: float) -> AdditiveMechanism:
        noise = Independent(query.shape, standard(query, epsilon, 1e-3))
        if right:
            return normal_release(query, epsilon, 1e-3, noise)
        return pure_release(query, epsilon, noise, noise_std=noise.std)

    return build


def unlisted(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
    """Return noise of half its size with a claim of twice the epsilon that hides it."""
    noise = Independent(query.shape, standard(query, epsilon, delta) / 2)
    mu = Mu(2 * gaussian.mu(epsilon, delta), query.l2_exact)
    release = normal_release(query, epsilon, delta, noise, mu=mu)
    return replace(release, epsilon_delivered=epsilon)


def actual(release: CalibratedMechanism, mu: float) -> float:
    """Return the attained epsilon over the declared one."""
    return float(gaussian.epsilon(release.delta, mu) / release.epsilon_delivered)


def declared_mu(release: CalibratedMechanism, mu: float) -> float:
    """Return the attained mu over the declared one."""
    return mu / float(release.mu or np.nan)


CASES = (
    case(
        "delta x 100",
        "The answer promises a hundred times the delta that was asked.",
        "records",
        (answer(deltas=100), HONEST),
        "1e-3 where 1e-5 was asked",
        promise,
        delta=1e-5,
    ),
    case(
        "epsilon x 3",
        "The answer promises three times the epsilon that was asked.",
        "mean",
        (answer(epsilons=3), HONEST),
        "3 where 1 was asked",
        promise,
    ),
    case(
        "epsilon x 1.01",
        "The answer promises a hundredth more epsilon than was asked.",
        "mean",
        (answer(epsilons=1.01), HONEST),
        "1.01 where 1 was asked",
        promise,
    ),
    case(
        "weaker relation",
        "Where records are replaced, the answer protects one that is zeroed out.",
        "records",
        (answer(relation="zero_out"), HONEST),
        "replacing a record changes twice as much",
        promise,
    ),
    case(
        "epsilon_delivered / 100",
        "The tight epsilon is declared a hundred times too small.",
        "mean",
        (answer(epsilon_delivered=times(0.01)), HONEST),
        "the worst neighbours attain epsilon 1, declared is .01",
        projection(against=actual),
    ),
    case(
        "epsilon_delivered x .9",
        "The tight epsilon is declared a tenth too small.",
        "records",
        (answer(epsilon_delivered=times(0.9)), HONEST),
        "the worst neighbours attain epsilon 1, declared is .9",
        projection(against=actual, runs=60_000),
    ),
    case(
        "noise_std / 10",
        "The size of the noise is declared ten times too small, which compares well.",
        "mean",
        (answer(noise_std=times(0.1)), HONEST),
        "the noise of an entry is ten times the declared one",
        size_of_noise,
    ),
    case(
        "noise_std x .9",
        "The size of the noise is declared a tenth too small.",
        "records",
        (answer(noise_std=times(0.9)), HONEST),
        "the noise of an entry is 1 / .9 of the declared one",
        size_of_noise,
    ),
    case(
        "exact mu / 2",
        "The exact mu is declared as half of what the worst neighbours attain.",
        "mean",
        (answer(mu=times(0.5)), HONEST),
        "mu is twice the declared one",
        projection(against=declared_mu),
    ),
    case(
        "bound on mu / 2",
        "A bound on mu is declared, half of what the worst neighbours attain.",
        "mean",
        (answer(mu=times(0.5), epsilon_exact=lambda _: False), HONEST),
        "mu is twice the declared bound",
        projection(against=declared_mu),
    ),
    case(
        "Gaussian noise with a delta of 0",
        "Gaussian noise is said to be purely private.",
        "mean",
        (pure(right=False), pure(right=True)),
        "the loss of Gaussian noise is unbounded: no epsilon holds with a delta of 0",
        projection(),
    ),
    case(
        "smaller delta on the same noise",
        "The answer promises a hundredth of delta, with noise for the whole.",
        "records",
        (answer(delta=times(0.01)), HONEST),
        "at 1e-5 the noise attains epsilon 1.5",
        projection(),
    ),
    case(
        "smaller epsilon on the same noise",
        "The answer promises half of epsilon, with noise for the whole.",
        "mean",
        (answer(epsilon=times(0.5), epsilon_delivered=times(0.5)), HONEST),
        "the noise attains epsilon 1, promised is .5",
        projection(),
    ),
    case(
        "mu that breaks the promise",
        "Mu is declared right, twice what epsilon allows, and epsilon as if it were not.",
        "mean",
        (unlisted, HONEST),
        "the declared mu alone gives epsilon 2.3",
        projection(),
    ),
)
