"""Intervals of least squares: no ridge is in them, and no release of ill condition breaks them."""

import json
import os

import numpy as np
import pytest
from scipy import stats

import matrixdp as mdp
from matrixdp import cli
from matrixdp.mechanisms.adassp import AdaSSP
from matrixdp.mechanisms.composed import ComposedEquations
from matrixdp.mechanisms.moments import CONSTANT, centred, with_constant
from matrixdp.privacy.sensitivity import NormalEquations
from matrixdp.release import answers, uncertainty
from matrixdp.release import regression_intervals as intervals

RELEASES = 1000
MIDDLE, HALF = np.array([1.0, -2.0, 50.0]), np.array([2.0, 0.5, 10.0])
ERRORS, KEY = "standard_errors_of_the_noise_alone", "interval_95"


def records(spread, count=500):
    """Return records in half ranges (count, 3), which fill so much of their bounds."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (count, 3)) * [*spread, 0.3] + [0.3, -0.2, 0.1]
    X[:, 2] += 0.4 * X[:, 0] - 0.5 * X[:, 1]
    return np.clip(X, -1, 1)


def least_squares(X, alpha=0.0, intercept=True):
    """Return exact coefficients and intercept (3,) in the records' own units."""
    X = X * HALF + MIDDLE
    design = np.column_stack([X[:, :-1], np.ones(len(X))])[:, : 2 + intercept]
    penalty = alpha * np.eye(design.shape[1])
    penalty[2:] = 0
    exact = np.linalg.solve(design.T @ design + penalty, design.T @ X[:, -1])
    return exact if intercept else np.append(exact, 0.0)


def refuted(covered):
    """Return whether the releases refute a coverage of 95 %, at 1 % in all cells of this file."""
    return stats.binom.cdf(int(np.sum(covered)), len(covered), 0.95) < 0.01 / 30


def calibrated(mechanism, adjacency="replace", count=500):
    query = mdp.SecondMomentQuery(mdp.Box.cube(4, -1.0, 1.0), count, adjacency)
    delta = 0 if isinstance(mechanism, mdp.Laplace) else 1e-6
    return mechanism.calibrate(query, epsilon=EPSILON, delta=delta)


EPSILON = 3.0
MECHANISMS = [mdp.Laplace(), mdp.AnalyzeGauss("analytic"), mdp.GOE(), mdp.Gaussian()]


def noisy(release, exact, count=RELEASES):
    """Return simulated releases of second moments."""
    noise = release.noise.sample([np.random.default_rng(1)] * count)
    return exact + (noise + np.swapaxes(noise, 1, 2)) / 2


@pytest.mark.parametrize("line", [{}, {"alpha": 30.0}, {"intercept": False}], ids=str)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
@pytest.mark.parametrize("spread", [(0.9, 0.9), (0.2, 0.02)], ids=str)
def test_intervals_cover_least_squares_at_any_condition(spread, mechanism, line):
    X, release = records(spread), calibrated(mechanism)
    rows = with_constant(X)
    penalty = line.get("alpha", 0.0) / len(X)
    intercept = line.get("intercept", True)
    output = answers.Output("regression", MIDDLE, HALF, penalty=penalty, intercept=intercept)
    exact = least_squares(X, **line)
    bounds = np.full(4, intervals.moments_bound(release))
    covered, bounded = [], []
    for moments in noisy(release, rows.T @ rows / len(X), 300):
        moments[CONSTANT, CONSTANT] = 1
        limits = intervals.limits(output, moments, bounds)
        bounded.append(not np.isnan(limits).any())
        # A release that states no interval misses nothing.
        inside = (limits[:, 0] <= exact + 1e-9) & (exact <= limits[:, 1] + 1e-9)
        covered.append(inside.all() or not bounded[-1])
    assert not refuted(covered)
    if spread == (0.9, 0.9):
        assert np.mean(bounded) > 0.95


def test_the_extent_is_that_of_the_region():
    """Rays from a solution end at the region's edge: the farthest ends are the interval's."""
    rows, bound = with_constant(records((0.9, 0.9))), 0.1
    moments = rows.T @ rows / len(rows)
    output = answers.Output("regression", MIDDLE, HALF, penalty=0.05)
    A, a = moments[:-1, :-1] + np.diag([*output.penalties, 0]), moments[:-1, -1]
    solution = np.linalg.solve(A, a)
    rays = np.random.default_rng(0).standard_normal((20_000, 3))
    # |t A ray|^2 = bound^2 (|solution + t ray|^2 + 1), a quadratic equation for t > 0.
    square = ((rays @ A) ** 2 - bound**2 * rays**2).sum(axis=1)
    linear, rest = bound**2 * rays @ solution, bound**2 * (solution @ solution + 1)
    lengths = (linear + np.sqrt(linear**2 + square * rest)) / square
    edge = solution + lengths[:, None] * rays
    lines = np.column_stack(output.in_units(edge[:, :2], edge[:, 2]))
    limits = intervals.limits(output, moments, np.full(4, bound))
    reach = np.ptp(limits, axis=1)
    assert (np.abs(lines.min(axis=0) - limits[:, 0]) < 0.01 * reach).all()
    assert (np.abs(lines.max(axis=0) - limits[:, 1]) < 0.01 * reach).all()


def test_standard_errors_of_the_noise_alone_fail_the_same_test():
    X, release = records((0.9, 0.3)), calibrated(mdp.Laplace())
    rows, output = with_constant(X), answers.Output("regression", MIDDLE, HALF)
    simulated, covered = uncertainty.MomentNoise(release), []
    simulated._draws = 100
    for moments in noisy(release, rows.T @ rows / len(X), 200):
        estimate = centred(moments)
        line = np.append(*answers.line(output, estimate, release.noise_std))
        errors = uncertainty.standard_errors(simulated, output, estimate, release.noise_std)
        covered.append(abs(line - least_squares(X))[1] <= 1.96 * errors[1])
    assert refuted(covered)


@pytest.mark.parametrize("intercept", [True, False])
def test_those_of_adassp_cover_whatever_its_ridge(intercept):
    X = records((0.9, 0.4), 2000)
    rows = with_constant(X) if intercept else X
    domain = mdp.Box.cube(rows.shape[1], -1.0, 1.0)
    query = NormalEquations(domain, len(X), target=rows.shape[1] - 1)
    release = ComposedEquations.calibrated(AdaSSP(), query, epsilon=3, delta=1e-6)
    output = answers.Output("regression", 0 * MIDDLE, HALF, intercept=intercept)
    outcome = release.release(rows)
    _, design, products = (part.releases[0] for part in release.parts)
    exact, stream = rows.T @ rows / len(X), np.random.default_rng(2)
    slopes = np.linalg.solve(exact[:-1, :-1], exact[:-1, -1])
    expected = np.append(slopes[:2] * HALF[-1] / HALF[:-1], slopes[2:] * HALF[-1])
    covered, bounded = [], []
    for _ in range(300):
        outcome = outcome._replace(
            moments=exact[:-1, :-1] + design.noise.sample([stream])[0],
            products=exact[:-1, -1] + products.noise.sample([stream])[0, :, 0],
        )
        limits = intervals.from_equations(output, outcome)[: len(expected)]
        bounded.append(not np.isnan(limits).any())
        inside = (limits[:, 0] <= expected) & (expected <= limits[:, 1])
        covered.append(inside.all() or not bounded[-1])
    assert not refuted(covered)
    assert np.mean(bounded) > 0.9


@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_the_bound_holds_in_every_direction(mechanism, adjacency):
    release = calibrated(mechanism, adjacency)
    bound, exact = intervals.moments_bound(release), np.zeros((4, 4))
    noise = noisy(release, exact)
    if adjacency == "replace":
        noise[:, CONSTANT, CONSTANT] = 0
    directions = [*np.eye(4), np.ones(4), *np.random.default_rng(3).standard_normal((50, 4))]
    for direction in directions:
        lengths = np.linalg.norm(noise[:, :-1] @ direction, axis=1)
        assert not refuted(lengths <= bound * np.linalg.norm(direction))


def test_a_private_number_of_records_cancels():
    X, release = records((0.9, 0.9), 2000), calibrated(mdp.GOE(), "add_or_remove", 1500)
    rows, output = with_constant(X), answers.Output("regression", MIDDLE, HALF)
    exact, covered, bounds = least_squares(X), [], np.full(4, intervals.moments_bound(release))
    for moments in noisy(release, rows.T @ rows / 1500, 200):
        limits = intervals.limits(output, moments, bounds)
        assert not np.isnan(limits).any()
        covered.append(((limits[:, 0] <= exact) & (exact <= limits[:, 1])).all())
    assert not refuted(covered)


SPECIFICATION = """
file = "people.csv"
query = "regression"
target = "c"
records = 2000
epsilon = 3.0
delta = 1e-6
total = {{epsilon = 3.0, delta = 1e-6}}
mechanism = "{}"
missing = "refuse"
{}
[bounds]
a = [-1, 3]
b = [-2.5, -1.5]
c = [40, 60]
"""


@pytest.mark.parametrize("mechanism", ["laplace", "clipped", "adassp"])
@pytest.mark.parametrize("adjacency", ["replace", "add_or_remove"])
@pytest.mark.parametrize("spread", [(0.9, 0.9), (0.2, 0.02)], ids=str)
def test_files_state_an_interval_or_why_there_is_none(
    tmp_path, monkeypatch, mechanism, adjacency, spread
):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    X = records(spread, 2000)
    rows = X * HALF + MIDDLE
    np.savetxt(tmp_path / "people.csv", rows, delimiter=",", header="a,b,c", comments="")
    more = f'adjacency = "{adjacency}"'
    (tmp_path / "s.toml").write_text(SPECIFICATION.format(mechanism, more))
    words = ["release", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]
    assert cli.main([*words, "--even-if-useless"]) == 0
    details = json.loads((tmp_path / "out/regression.details.json").read_text())
    receipt = json.loads((tmp_path / "out/regression.receipt.json").read_text())
    assert "not in the standard errors" in receipt["ridge"]
    assert receipt["ridge"] in (tmp_path / "out/regression.receipt.md").read_text()
    wide = spread == (0.9, 0.9)
    assert (KEY in details) == (wide and mechanism != "clipped")
    assert ("least_squares" in details) != (KEY in details)
    if adjacency == "replace":
        assert {*details[ERRORS]} == {"a", "b", "intercept"}
    if KEY in details:
        limits = np.array([*details[KEY].values()])
        assert {*details[KEY]} == {"a", "b", "intercept"}
        exact = least_squares(X)
        assert ((limits[:, 0] <= exact) & (exact <= limits[:, 1])).all()
    elif mechanism == "clipped":
        assert "clipping and a ridge may take" in details["least_squares"]


@pytest.mark.parametrize("mechanism", ["laplace", "adassp"])
def test_files_state_the_interval_of_a_line_through_the_origin(tmp_path, monkeypatch, mechanism):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    X = records((0.9, 0.9), 2000)
    rows = X * HALF + MIDDLE
    np.savetxt(tmp_path / "people.csv", rows, delimiter=",", header="a,b,c", comments="")
    (tmp_path / "s.toml").write_text(SPECIFICATION.format(mechanism, "intercept = false"))
    words = ["release", str(tmp_path / "s.toml"), "--out", str(tmp_path / "out")]
    assert cli.main([*words, "--even-if-useless"]) == 0
    details = json.loads((tmp_path / "out/regression.details.json").read_text())
    limits, exact = np.array([*details[KEY].values()]), least_squares(X, intercept=False)
    assert (limits[:2, 0] < exact[:2]).all()
    assert (exact[:2] < limits[:2, 1]).all()
    assert limits[2].tolist() == [0, 0]


@pytest.mark.parametrize("mechanism", ["laplace", "clipped", "adassp"])
def test_the_estimator_has_them(monkeypatch, mechanism):
    monkeypatch.setattr(os, "urandom", np.random.default_rng(0).bytes)
    X = records((0.9, 0.9), 5000) * HALF + MIDDLE
    exact = least_squares((X - MIDDLE) / HALF)
    low, high = MIDDLE - HALF, MIDDLE + HALF
    ridge = mdp.PrivateRidge(
        epsilon=3,
        bounds={0: (low[0], high[0]), 1: (low[1], high[1])},
        target_bounds=(low[2], high[2]),
        mechanism=mechanism,
    ).fit(X[:, :-1], X[:, -1])
    limits = np.vstack([ridge.coef_interval_, ridge.intercept_interval_])
    assert limits.shape == (3, 2)
    if mechanism == "clipped":
        assert np.isnan(limits).all()
    else:
        assert ((limits[:, 0] <= exact) & (exact <= limits[:, 1])).all()


def test_noise_beyond_all_squares_bounds_nothing():
    query = mdp.SecondMomentQuery(mdp.Box.cube(4, -1.0, 1.0), 50)
    release = mdp.Laplace().calibrate(query, epsilon=1e-200)
    moments = noisy(release, np.eye(4), 1)[0]
    output = answers.Output("regression", MIDDLE, HALF)
    limits = intervals.limits(output, moments, np.full(4, release.noise_std))
    assert np.isnan(limits).all()
