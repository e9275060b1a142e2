"""The private mean of a target: its noise, its promise, and what a regression makes of it."""

import numpy as np
import pytest
from mechanismqueries import BUDGET

from matrixdp.checks import InputError
from matrixdp.mechanisms.moments import centred, regression, with_constant
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import ADJACENCIES, NormalEquations
from reproduction.mechanisms.target_mean import InterceptEquations, PrivateTargetMean

BOX = Box((-1.0, 0.0, -0.5), (1.0, 1.0, 1.0))


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_noise_covers_the_largest_change_of_the_mean(adjacency):
    query = InterceptEquations(BOX, 50, adjacency, 2)
    release = PrivateTargetMean().calibrate(query, **BUDGET)
    rows = np.full((2, 50), 0.2)
    rows[:, 0] = (1.0, -0.5 if adjacency == "replace" else 0.0)
    change = np.abs(np.diff(rows.mean(axis=1))[0])
    assert change / release.mean_std == pytest.approx(gaussian.mu(1.0, 1e-6))
    assert release.epsilon_delivered <= 1


def test_a_regression_on_it_is_the_noisy_mean_within_its_bounds():
    query = InterceptEquations(BOX, 50, target=2)
    release = PrivateTargetMean().calibrate(query, **BUDGET)
    rows = with_constant(np.random.default_rng(1).uniform((-1, -0.5), (1, 1), (50, 2)))
    streams = [np.random.default_rng(seed) for seed in range(4000)]
    released = release.simulate(rows.T @ rows / 50, streams)
    coefficients, intercept = regression(centred(released, weighted=True), 0.0)
    assert np.abs(coefficients).max() < 1e-9
    assert intercept.mean() == pytest.approx(rows[:, -1].mean(), abs=0.02)
    assert intercept.std() == pytest.approx(release.mean_std, rel=0.1)
    few = PrivateTargetMean().calibrate(query, epsilon=0.01, delta=1e-6)
    wild = few.simulate(rows.T @ rows / 50, streams)[:, 1, 2]
    assert (wild.min(), wild.max()) == (-0.5, 1.0)


def test_a_query_without_a_constant_is_refused():
    with pytest.raises(InputError, match="query is of type NormalEquations"):
        PrivateTargetMean().calibrate(NormalEquations(BOX, 50, target=2), **BUDGET)
