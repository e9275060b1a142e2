"""What a release for real use promises: its statement, its rounding, and what it refuses."""

import numpy as np
import pytest
from mechanismqueries import BUDGET

from matrixdp.checks import InputError
from matrixdp.mechanisms.allocation import MaxPNR, Shares
from matrixdp.mechanisms.base import NoGuarantee
from matrixdp.mechanisms.directions import PrivateDirections
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.privacy.sensitivity import Ball, Box, IdentityQuery, MeanQuery
from reproduction.mechanisms.mvg import MVG


def test_directions_of_records_are_not_taken_for_a_mean():
    # c c^T would get noise that is meant for X X^T / n.
    mechanism = MVG(allocation=MaxPNR(), directions=PrivateDirections())
    with pytest.raises(InputError, match="MeanQuery; MVG serves only IdentityQuery"):
        mechanism.calibrate(MeanQuery(Ball(1.0, 4), 100), epsilon=1, delta=1e-6)


@pytest.mark.parametrize("mechanism", [MVG(gamma=0.01), MVG(gamma=0.01, directions=np.eye(2))])
def test_a_release_without_a_guarantee_is_refused(mechanism):
    query = IdentityQuery(Box.cube(2, -1, 1), 50)
    release = mechanism.calibrate(query, **BUDGET)
    assert release.epsilon_delivered == np.inf
    with pytest.raises(NoGuarantee, match="delivers epsilon inf and not 1; .* release nothing"):
        release.release(np.zeros((50, 2)))


def test_shares_that_pass_the_limit_are_refused_too():
    class Twice(Shares):
        def precisions(self, budget, features, spectrum):
            return 2e4 * super().precisions(budget, features, spectrum)

    release = MVG(allocation=Twice()).calibrate(IdentityQuery(Box.cube(2, -1, 1), 50), **BUDGET)
    with pytest.raises(NoGuarantee):
        release.release(np.zeros((50, 2)))


@pytest.mark.parametrize(
    "mechanism",
    [Gaussian(), MVG(), MVG(allocation=MaxPNR(), directions=PrivateDirections())],
    ids=["Gaussian", "MVG", "private directions"],
)
def test_several_values_get_the_noise_that_each_of_them_gets_alone(mechanism):
    query = IdentityQuery(Box.cube(3, -1, 1), 9)
    release = mechanism.calibrate(query, **BUDGET)

    def streams():
        return np.random.default_rng(0).spawn(4)

    values = np.full(query.shape, 0.5), np.zeros(query.shape)
    for value, released in zip(values, release.simulate_all(values, streams), strict=True):
        np.testing.assert_array_equal(released, release.simulate(value, streams()))
    with pytest.raises(InputError, match="outside its public bounds"):
        list(release.simulate_all([values[0], 2 + values[1]], streams))
