"""Mechanisms in units of the bounds: their noise, and what they refuse."""

import numpy as np
import pytest
from mechanismqueries import BUDGET

import matrixdp as mdp
from matrixdp.mechanisms.allocation import Shares
from matrixdp.mechanisms.scaled import Scaled, in_units
from matrixdp.privacy.present import PresentMeanQuery

BOX = mdp.Box((0.0, -2.0), (120.0, 2e5))


@pytest.mark.parametrize("kind", [mdp.IdentityQuery, mdp.MeanQuery, mdp.SecondMomentQuery])
@pytest.mark.parametrize("mechanism", [mdp.Gaussian(), mdp.Laplace()])
def test_noise_is_that_in_units_of_the_bounds_times_the_units(kind, mechanism):
    query = kind(BOX, 30)
    release = Scaled(mechanism).calibrate(query, **BUDGET)
    unit = mechanism.calibrate(in_units(query), **BUDGET)
    draws = [one.noise.sample([np.random.default_rng(1)])[0] for one in (release, unit)]
    sizes = np.array([120.0, 2e5]) if kind is mdp.SecondMomentQuery else BOX.widths / 2
    factor = np.outer(sizes, sizes) if kind is mdp.SecondMomentQuery else sizes[:, None]
    assert draws[0] == pytest.approx(draws[1] * factor)
    assert release.epsilon_delivered == unit.epsilon_delivered
    distribution = release.noise
    assert distribution.colour(distribution.whiten(draws[0])) == pytest.approx(draws[0])
    assert release.query == query


@pytest.mark.parametrize("records", [10**8, 10**9])
def test_range_is_checked_at_every_corner_of_the_box(records):
    basis = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    shares = Shares((1 - 1e-6, 1e-6))
    mechanism = Scaled(mdp.DirectionalGaussian(shares, directions=basis))
    query = mdp.MeanQuery(mdp.Box((-1.0, -1.0), (1.0, 1.0)), records)
    release = mechanism.calibrate(query, epsilon=1.0, delta=1e-9)
    corner = np.abs(release.noise.whiten(np.array([[1.0], [-1.0]]))).max()
    assert corner <= release.noise.largest(np.ones((2, 1))).max() * (1 + 1e-12)
    with pytest.raises(mdp.InputError, match="cannot be added safely"):
        release.release_value(np.zeros((2, 1)))


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (mdp.MeanQuery(mdp.Ball(1.0, 2), 30), "a ball bounds the records"),
        (PresentMeanQuery.of(2, 30), "are in units of their bounds already"),
    ],
)
def test_what_has_one_unit_already_is_refused(query, words):
    with pytest.raises(mdp.InputError, match=words):
        Scaled(mdp.Gaussian()).calibrate(query, **BUDGET)
