import numpy as np
import pytest
from numpy.random import default_rng

from matrixdp.checks import InputError
from matrixdp.mechanisms.mechanism import NoGuarantee
from matrixdp.privacy.sensitivity import Ball, Box, SecondMomentQuery
from reproduction.mechanisms.jl import JohnsonLindenstrauss
from reproduction.seeds import streams

LIVER = SecondMomentQuery(Box.cube(6, -1.0, 1.0), 248)
MOVEMENT = SecondMomentQuery(Box.cube(4, -1.0, 1.0), 10176)
CTG = SecondMomentQuery(Box.cube(21, 0.0, 1.0), 2126)


def moments(query, rng, trials=()):
    """Second moments of records in [0, 1]^m or [-1, 1]^m with unequal, correlated features."""
    m, n = query.shape[0], query.n_records
    records = rng.uniform(0, 1, (*trials, m, n)) * np.linspace(0.3, 1, m)[:, None]
    return records @ np.swapaxes(records, -1, -2) / n


def noises(trials, key="jl"):
    return streams(0, key, trials=range(trials))


# --- calibration -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "rows", "exact", "unit_2012", "distance"),
    [
        (LIVER, 2, 2.741853, 1487.27, 2.0),
        (LIVER, 20, 4.836360, 5708.59, 2.0),
        (CTG, 4, 5.050411, 6301.06, 1.0),
        (CTG, 50, 9.478003, 26062.7, 1.0),
        (MOVEMENT, 20, 5.367989, 7384.46, 2.0),
    ],
)
def test_known_lifts(query, rows, exact, unit_2012, distance):
    """In units of R; the constants of 2012 count distances, which are 2 R in symmetric boxes."""
    delta = 1 / query.n_records
    radius = np.sqrt(query.largest_norm)
    found = JohnsonLindenstrauss(rows).calibrate(query, epsilon=1.0, delta=delta)
    assert found.sketch_size == rows * query.features
    assert np.sqrt(found.ridge) / radius == pytest.approx(exact, rel=1e-6)
    assert found.epsilon_delivered == pytest.approx(1.0, rel=1e-9)
    assert found.epsilon_delivered <= 1.0
    old = JohnsonLindenstrauss(rows, "2012").calibrate(query, epsilon=1.0, delta=delta)
    assert np.sqrt(old.ridge) / radius == pytest.approx(distance * unit_2012, rel=2e-6)
    # So large a lift that delta = 1/n alone covers what a record changes.
    assert old.epsilon_delivered == 0.0


def test_lifts_follow_adjacency_and_scale():
    def ridge(domain, adjacency, calibration):
        query = SecondMomentQuery(domain, 100, adjacency)
        mechanism = JohnsonLindenstrauss(3, calibration)
        return mechanism.calibrate(query, epsilon=0.5, delta=1e-3).ridge

    cube, wide = Box.cube(6, -1.0, 1.0), Box.cube(6, -7.0, 7.0)
    for adjacency in ("replace", "zero_out"):
        for calibration in ("exact", "2012"):
            scaled = ridge(wide, adjacency, calibration)
            assert scaled == pytest.approx(49 * ridge(cube, adjacency, calibration), rel=1e-12)
        same = ridge(Ball(np.sqrt(6), 6), adjacency, "exact")
        assert same == pytest.approx(ridge(cube, adjacency, "exact"), rel=1e-12)
    assert ridge(cube, "replace", "2012") == pytest.approx(4 * ridge(cube, "zero_out", "2012"))
    assert ridge(cube, "replace", "exact") > 1.1 * ridge(cube, "zero_out", "exact")


def test_the_constants_of_2012_are_refused_where_they_fail():
    mechanism = JohnsonLindenstrauss(1, "2012")
    query = SecondMomentQuery(Ball(1.0, 3), 50, "zero_out")
    # Real epsilon is far below nominal up to hundreds, then the lift vanishes.
    for epsilon in (0.1, 1.0, 10.0, 100.0):
        assert mechanism.calibrate(query, epsilon=epsilon, delta=1e-6).epsilon_delivered < epsilon
    with pytest.raises(NoGuarantee, match=r"instead of 1e\+06; use a smaller epsilon or the exact"):
        mechanism.calibrate(query, epsilon=1e6, delta=1e-6)


# --- samples ---------------------------------------------------------------------------------


def test_sketches_are_normal_with_the_lifted_second_moments():
    release = JohnsonLindenstrauss(10).calibrate(LIVER, epsilon=1.0, delta=1 / 248)
    value, trials = moments(LIVER, default_rng(1)), 2000
    sketches = release.simulate(value, default_rng(0), trials)
    assert sketches.shape == (trials, 6, 60)
    lifted = 248 * value + release.ridge * np.eye(6)
    # The lift and the data both matter to the result: 15 % to 85 % of its trace.
    assert 0.15 < 6 * release.ridge / np.trace(lifted) < 0.85
    white = np.linalg.solve(np.linalg.cholesky(lifted), sketches)
    gram = (white @ np.swapaxes(white, 1, 2)).mean(axis=0)
    draws = trials * 60
    # E[Y Y^T] = X X^T + w^2 I; four standard errors, and a scale 1 % off would be seen.
    assert np.abs(gram - np.eye(6))[~np.eye(6, dtype=bool)].max() < 4 / np.sqrt(draws)
    error = np.sqrt(2 / (6 * draws))
    assert abs(np.trace(gram) / 6 - 1) < 4 * error
    assert 4 * error < 0.01
    assert np.abs(np.diag(gram) - 1).max() < 4 * np.sqrt(2 / draws)
    # Columns are independent normals: zero means, kurtosis 3, no correlation of neighbours.
    unit = white * np.sqrt(60)
    count = unit.size
    assert abs(unit.mean()) < 4 / np.sqrt(count)
    assert abs((unit**4).mean() - 3) < 4 * np.sqrt(96 / count)
    assert abs((unit[:, :, 1:] * unit[:, :, :-1]).mean()) < 4 / np.sqrt(count)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_releases_of_worst_neighbours_have_the_nominal_delta(epsilon):
    query, delta, draws = SecondMomentQuery(Box.cube(2, -1.0, 1.0), 5), 0.05, 100_000
    release = JohnsonLindenstrauss(3).calibrate(query, epsilon=epsilon, delta=delta)
    first, second = (np.array([[1.0, c], [c, 1.0]]) / 5 for c in (1.0, -1.0))
    sketches = release.simulate(first, default_rng(3), draws) * np.sqrt(6)
    inverses = [np.linalg.inv(5 * value + release.ridge * np.eye(2)) for value in (second, first)]
    form = inverses[0] - inverses[1]
    loss = np.einsum("tir,ij,tjr->t", sketches, form, sketches) / 2
    gain = np.maximum(-np.expm1(epsilon - loss), 0)
    error = gain.std() / np.sqrt(draws)
    assert abs(gain.mean() - delta) < 4 * error
    assert 4 * error < 0.06 * delta


def test_moments_without_full_rank_are_sketched():
    release = JohnsonLindenstrauss(2).calibrate(LIVER, epsilon=1.0, delta=1 / 248)
    assert np.isfinite(release.simulate(np.zeros((6, 6)), default_rng(0), 2)).all()
    assert np.isfinite(release.simulate(np.ones((6, 6)), default_rng(0), 2)).all()


# --- bad input -------------------------------------------------------------------------------


def test_bad_values():
    release = JohnsonLindenstrauss(2).calibrate(LIVER, epsilon=1.0, delta=1 / 248)
    indefinite = np.diag([1.0, 1, 1, 1, 1, -0.5])
    with pytest.raises(InputError, match=r"eigenvalue -0\.5; .* must be positive semidefinite"):
        release.simulate(indefinite, default_rng(0), 1)
    with pytest.raises(InputError, match="outside its public bounds"):
        release.simulate(1.5 * np.eye(6), default_rng(0), 1)
    with pytest.raises(InputError, match="must end in 6 x 6"):
        release.simulate(np.eye(5), default_rng(0), 1)
