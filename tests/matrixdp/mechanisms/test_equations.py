"""Real normal equations with a private ridge: sensitivities, rounding, budget and answers."""

from dataclasses import replace
from fractions import Fraction
from operator import mul

import numpy as np
import pytest
from mechanismqueries import RELATIONS
from scipy import linalg

from matrixdp.mechanisms.adassp import AdaSSP, eigenvalue_query, product_query
from matrixdp.mechanisms.base import NoGuarantee
from matrixdp.mechanisms.composed import ComposedEquations
from matrixdp.noise import safe
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, ADJACENCIES, NormalEquations

DOMAINS = {
    "cube": Box.cube(5, -1.0, 1.0),
    "nonnegative": Box((0.0, 0.0, 0.0), (1.0, 2.0, 3.0)),
    "anywhere": Box((-1.0, 2.0, -3.0), (2.0, 5.0, 0.5)),
    "ball": Ball(2.0, 4),
}
BUDGET = {"epsilon": 1.0, "delta": 1e-3}


def posed(domain="cube", adjacency="replace", records=60):
    features = DOMAINS[domain].features
    return NormalEquations(DOMAINS[domain], records, adjacency, features - 1)


@pytest.mark.parametrize("per_person", [None, 3])
@pytest.mark.parametrize("adjacency", RELATIONS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_parts_have_the_sensitivities_of_the_whole_query(domain, adjacency, per_person):
    query = replace(posed(domain, adjacency), per_person=per_person)
    assert eigenvalue_query(query).l2_sensitivity == pytest.approx(query.l2_eigenvalue, rel=1e-12)
    assert product_query(query).l2_sensitivity == pytest.approx(query.l2_target, rel=1e-12)
    release = ComposedEquations.calibrated(AdaSSP(), query, **BUDGET)
    assert [part.name for part in release.parts] == ["smallest eigenvalue", "moments", "products"]
    shares = [part.mu**2 / release.mu**2 for part in release.parts]
    np.testing.assert_allclose(shares, 1 / 3, rtol=1e-9)
    assert gaussian.delta(1.0, release.mu) + release.extra_delta <= BUDGET["delta"]


def test_the_noise_of_each_part_by_hand():
    """|x|^2 <= 4 and |y| <= 1: one of 60 records moves the parts by 4, 4 and 4 / 60."""
    release = ComposedEquations.calibrated(AdaSSP(), posed(), **BUDGET)
    unit = np.sqrt(3) / 60 / release.mu
    for part in release.parts:
        (single,) = part.releases
        assert single.noise_std == pytest.approx(4 * unit, rel=1e-12)
        assert 1 < single.rounding_factor < 1 + 1e-4


@pytest.mark.parametrize("part", ["eigenvalue_std", "target_std"])
def test_a_hundredth_less_noise_than_the_budget_pays_for_is_refused(part):
    release = ComposedEquations.calibrated(AdaSSP(), posed(), **BUDGET)
    less = replace(release.program, **{part: 0.99 * getattr(release.program, part)})
    with pytest.raises(NoGuarantee, match="the parts spend"):
        replace(release, program=less)


def smallest(records):
    """Return the smallest eigenvalue of X X^T / n, of records in rows (..., n, d)."""
    moments = np.swapaxes(records, -1, -2) @ records / records.shape[-2]
    return np.linalg.eigvalsh(moments)[..., 0]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_record_with_a_constant_moves_the_smallest_eigenvalue_by_its_bound(adjacency):
    """Rows of a Hadamard matrix, whose first column is the constant, are orthogonal."""
    rows = linalg.hadamard(8).astype(float)
    other = rows.copy()
    other[3] = rows[5] if adjacency == "replace" else 0
    query = NormalEquations(Box.cube(9, -1.0, 1.0), 8, adjacency, 8)
    moved = smallest(rows) - smallest(other)
    assert moved == pytest.approx(query.l2_eigenvalue)
    assert moved > 0.99 * eigenvalue_query(query).l2_sensitivity


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_search_moves_the_smallest_eigenvalue_by_no_more_than_its_bound(domain, adjacency):
    """Whole data sets climb; they come close where records can be orthogonal."""
    query = posed(domain, adjacency, records=6)
    inside, rng = query.design.domain, np.random.default_rng(0)
    shape = (100, query.n_records + 1, inside.features)

    def drawn(scale):
        if isinstance(inside, Ball):
            rows = scale * rng.standard_normal(shape)
            return rows * (inside.radius / np.linalg.norm(rows, axis=-1, keepdims=True))
        lower, upper = np.array(inside.lower), np.array(inside.upper)
        corners = np.where(rng.random(shape) < 0.5, lower, upper)
        return np.where(rng.random(shape) < 0.3, rng.uniform(lower, upper, shape), corners)

    def moved(rows):
        last = rows[:, -1:] if adjacency == "replace" else 0 * rows[:, -1:]
        pair = rows[:, :-1], np.concatenate([rows[:, :-2], last], axis=1)
        return np.abs(smallest(pair[0]) - smallest(pair[1]))

    best = drawn(1.0)
    for _ in range(200):
        rival = np.where(rng.random((100, shape[1], 1)) < 0.3, drawn(1.0), best)
        better = moved(rival) > moved(best)
        best[better] = rival[better]
    reached = moved(best).max() / query.l2_eigenvalue
    assert reached <= 1 + 1e-9
    # A box that is far from zero, or nonnegative, has no orthogonal records of full length.
    assert reached > {"cube": 0.9, "ball": 0.8}.get(domain, 0.05)


def is_positive(matrix):
    """Return whether a symmetric matrix of fractions is positive definite, by its pivots."""
    rows = [list(row) for row in matrix]
    for k in range(len(rows)):
        if rows[k][k] <= 0:
            return False
        for i in range(k + 1, len(rows)):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
    return True


@pytest.mark.parametrize("spread", [1.0, 1e-3, 0.0])
def test_rounding_of_the_eigenvalue_is_below_its_bound(spread):
    """Exact inertia in fractions shows where the smallest eigenvalue lies."""
    query = posed(records=9)
    rng, bound = np.random.default_rng(0), eigenvalue_query(query).rounding
    for _ in range(5):
        X = rng.integers(-512, 513, (9, 4)) / 512
        X[:, 3] = X[:, 0] + np.round(512 * spread * X[:, 3]) / 512
        X = np.clip(X, -1, 1)
        columns = [[Fraction(x) for x in column] for column in X.T]
        exact = [[sum(map(mul, one, other)) / 9 for other in columns] for one in columns]
        found = smallest(X)

        def below(value, exact=exact):
            shift = Fraction(float(value))
            return is_positive(
                [[x - shift * (i == j) for j, x in enumerate(row)] for i, row in enumerate(exact)]
            )

        assert below(found - bound / 10)
        assert not below(found + bound / 10)
    assert bound < 1e-9 * query.l2_eigenvalue * 9


def test_rounding_of_the_eigenvalue_is_paid_for(monkeypatch):
    """Neighbours may be so much further apart, which larger noise makes up for."""
    release = ComposedEquations.calibrated(AdaSSP(), posed(records=10**7), **BUDGET)
    part = release.parts[0].releases[0]
    paid = 2 * part.query.rounding / part.noise_std
    moved = part.statement.mu - part.mu / part.rounding_factor
    monkeypatch.setattr(type(part.query), "rounding", 0.0)
    assert moved == pytest.approx(
        part.statement.mu - part.mu / part.rounding_factor + paid, rel=1e-6
    )
    assert moved > paid > 0


def test_a_private_number_of_records_of_any_size_bounds_the_rounding():
    """Beyond the reach the value is 0 without rounding; up to it a record moves it by its bound."""
    query = replace(posed(records=10), adjacency=ADD_OR_REMOVE)
    part = eigenvalue_query(query)
    assert part.rounding > 100 * eigenvalue_query(posed(records=10)).rounding
    rows = linalg.hadamard(4).astype(float)
    step = rows.T @ rows / 10
    assert part.of(0 * step) == 0
    assert part.of(10 * step)[0, 0] == pytest.approx(10 * np.linalg.eigvalsh(step)[0])
    counts = np.arange(0, 6000)
    values = np.array([part.of(count * step)[0, 0] for count in counts])
    # Four records come at a time.
    assert np.abs(np.diff(values)).max() <= 4 * part.l2_sensitivity * (1 + 1e-9)
    beyond = counts * np.trace(step) >= part.reach
    assert 0 < beyond.sum() < len(counts)
    assert (values[beyond] == 0).all()


@pytest.mark.parametrize("domain", ["cube", "anywhere", "ball"])
def test_without_noise_it_is_the_simulation_of_the_experiments(monkeypatch, domain):
    monkeypatch.setattr(safe, "noise", lambda distribution, count, bits: np.zeros(count, np.int64))
    query = posed(domain)
    release = ComposedEquations.calibrated(AdaSSP(), query, **BUDGET)
    rng = np.random.default_rng(1)
    rows = rng.uniform(-1, 1, (60, query.features))
    if isinstance(query.domain, Box):
        rows = np.clip(5 * rows, query.domain.lower, query.domain.upper)
    found = release.release(rows)
    value = query.value(rows.T)
    block, products = value[:-1, :-1], value[:-1, -1]
    np.testing.assert_allclose(found.moments, block, atol=1e-4 * np.abs(value).max())
    np.testing.assert_allclose(found.products, products, atol=1e-4 * np.abs(value).max())
    assert found.smallest == pytest.approx(np.linalg.eigvalsh(block)[0], abs=1e-4)
    inner = AdaSSP().calibrate(query, **BUDGET)
    ridge = inner.ridge_for(np.linalg.eigvalsh(block)[0])
    assert found.ridge == pytest.approx(float(ridge), rel=1e-3)
    assert found.ridge > 0


def test_the_ridge_follows_from_the_noisy_eigenvalue_alone():
    release = ComposedEquations.calibrated(AdaSSP(), posed(records=400), **BUDGET)
    rng = np.random.default_rng(2)
    rows = rng.uniform(-1, 1, (400, 5))
    for _ in range(20):
        found = release.release(rows)
        assert found.ridge == float(release.program.ridge_for(np.array(found.smallest)))
