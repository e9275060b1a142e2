"""Trials of several values under the same noise."""

import numpy as np
import pytest
from mechanismqueries import records, streams

from matrixdp.checks import InputError
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.sensitivity import Box, RecordsQuery, SecondMomentQuery
from reproduction.experiments import draws
from reproduction.mechanisms.directional import AllocatedGaussian
from reproduction.mechanisms.exponential import PPCA
from reproduction.mechanisms.jl import JohnsonLindenstrauss

RECORDS = RecordsQuery(Box.cube(3, -1, 1), 20)
MOMENTS = SecondMomentQuery(RECORDS.domain, 20)


@pytest.mark.parametrize(
    ("mechanism", "query"),
    [
        (Gaussian(), RECORDS),
        (AllocatedGaussian(), MOMENTS),
        (JohnsonLindenstrauss(), MOMENTS),
        (PPCA(), MOMENTS),
        (Centred(), MOMENTS),
    ],
)
def test_each_of_several_values_is_released_as_it_is_alone(mechanism, query):
    release, calls = mechanism.calibrate(query, epsilon=1.0, delta=0.01), []

    def same():
        calls.append(None)
        return streams(4)

    stack = np.stack([records(RECORDS, seed) for seed in range(4)])
    values = [release.query.value(columns) for columns in (stack, np.zeros((3, 20)))]
    for value, released in zip(values, draws.simulate_all(release, values, same), strict=True):
        expected = release.simulate(value, streams(4))
        np.testing.assert_allclose(released, expected, rtol=1e-12, atol=1e-12)
        assert not np.allclose(released, release.simulate(value, streams(4, seed=9)))
    assert len(calls) == (1 if hasattr(release, "draw_noise") else 2)


def test_a_value_outside_the_public_bounds_is_refused_before_any_noise():
    def none():
        raise AssertionError

    release = Gaussian().calibrate(RECORDS, epsilon=1.0, delta=0.01)
    with pytest.raises(InputError, match="outside its public bounds"):
        draws.simulate_all(release, [np.full((3, 20), 2.0)], none)
