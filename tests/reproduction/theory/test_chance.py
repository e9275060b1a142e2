"""How far from chance a release can leave a classifier."""

import numpy as np
import pytest

from reproduction.experiments.schemes.features import SCHEMES, Features
from reproduction.theory import chance


def test_the_bound_is_that_of_the_most_favourable_features():
    # Two distributions of noise, apart by all features at a corner of the box: by simulation.
    plan = Features(records=40, lot=10, features=3)
    noise = SCHEMES["mvg_iid"].calibrate(plan, epsilon=1.0, delta=1e-5)
    deviation = np.broadcast_to(np.ravel(noise.deviations["features"]), 3)
    distance = np.sqrt(40 * (1 / deviation**2).sum())
    assert np.sqrt(40) * noise.mu / 2 == pytest.approx(distance, rel=1e-9)
    stream = np.random.default_rng(3)
    for mu in (0.05, 0.2):
        told = np.sqrt(40) * mu / 2
        draws = stream.standard_normal(400_000)
        apart = (draws + told > told / 2).mean() - (draws > told / 2).mean()
        assert chance.variation(mu, 40) == pytest.approx(apart, abs=0.004)


def test_imdb_is_at_chance_and_would_not_be_with_a_fiftieth_of_the_noise():
    stream = np.random.default_rng(0)
    plain, less = ([*chance.imdb_is_noise(stream, noise=noise)] for noise in (1.0, 0.02))
    assert [one.holds for one in plain] == [True, True]
    assert [one.holds for one in less] == [False, True]


def test_a_classifier_learns_the_opposite_of_opposite_noise():
    jnp = pytest.importorskip("jax.numpy")
    from jax import random

    from reproduction.experiments.training.features import READINGS, classify

    labels, lots = jnp.arange(40) % 2, jnp.arange(40).reshape(4, 10)
    learnt = [
        classify(
            sign * random.normal(random.key(1), (40, 3)), labels, lots, 0.0, jnp.zeros((40, 3))
        )
        for sign in (1, -1)
    ]
    one, other = (found[READINGS[0]] for found in learnt)
    np.testing.assert_allclose(one[0], -other[0], rtol=1e-5, atol=1e-7)
    assert not np.any(one[1])
