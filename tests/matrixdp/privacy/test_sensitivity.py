"""Sensitivities: against printed values, and attacked by a search for worse neighbours."""

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mechanismqueries import CTG, LIVER, MOVEMENT
from scipy.optimize import minimize
from scipy.stats import ortho_group

from matrixdp.privacy.quadratic import ENUMERABLE, largest_difference, largest_form
from matrixdp.privacy.sensitivity import ADJACENCIES, Ball, Box, RecordsQuery, SecondMomentQuery

MOVEMENT_ZEROED = replace(MOVEMENT, adjacency="zero_out")


@pytest.mark.parametrize(
    ("query", "attribute", "expected"),
    [
        (LIVER, "l1_sensitivity", 12),
        (LIVER, "l2_sensitivity", 4.898979),
        (LIVER, "largest_norm", 38.574603),
        (CTG, "l1_sensitivity", 21),
        (CTG, "l2_sensitivity", 4.582576),
        (CTG, "largest_norm", 211.296001),
        (MOVEMENT, "l1_sensitivity", 15.723270),
        (MOVEMENT, "triangle_l1_sensitivity", 9.82704),
        (MOVEMENT, "l2_sensitivity", 5.559016),
        (MOVEMENT, "triangle_l2_sensitivity", 3.930818),
        (MOVEMENT, "largest_norm", 4e4),
        (MOVEMENT_ZEROED, "l2_sensitivity", 3.930818),
        (MOVEMENT_ZEROED, "triangle_l2_sensitivity", 3.107584),
        (SecondMomentQuery(Ball(2.0, 5), 10), "l2_sensitivity", np.sqrt(2) * 0.4),
        (SecondMomentQuery(Ball(2.0, 5), 10), "triangle_l2_sensitivity", np.sqrt(2) * 0.4),
        (SecondMomentQuery(Ball(2.0, 5), 10, "zero_out"), "l1_sensitivity", 5 * 0.4),
        (RecordsQuery(Ball(2.0, 5), 10), "l2_sensitivity", 4),
        (RecordsQuery(Ball(2.0, 5), 10, "zero_out"), "l1_sensitivity", 2 * np.sqrt(5)),
    ],
)
def test_printed_values(query, attribute, expected):
    assert getattr(query, attribute) == pytest.approx(expected, rel=1e-6)


# --- A search for the neighbours that change the value most -----------------------------------


def shift(query, x, y):
    """What replacing records y by x changes, (..., m) for a record, (..., m, m) for moments."""
    if isinstance(query, RecordsQuery):
        return x - y
    return (x[..., :, None] * x[..., None, :] - y[..., :, None] * y[..., None, :]) / query.n_records


def triangle(size):
    return np.triu(np.ones((size, size)))


NORMS = {
    "l1_sensitivity": lambda query, d: np.abs(d).sum(_entries(query)),
    "l2_sensitivity": lambda query, d: np.sqrt((d**2).sum(_entries(query))),
    "triangle_l1_sensitivity": lambda query, d: (np.abs(d) * triangle(query.features)).sum(
        _entries(query)
    ),
    "triangle_l2_sensitivity": lambda query, d: np.sqrt(
        (d**2 * triangle(query.features)).sum(_entries(query))
    ),
}


def _entries(query):
    return -1 if isinstance(query, RecordsQuery) else (-2, -1)


def into_domain(domain, x):
    if isinstance(domain, Box):
        return np.clip(x, domain.lower, domain.upper)
    return x * (
        domain.radius / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), domain.radius)
    )


def candidates(domain, rng, count):
    """Records at random: a third corners and zeros, a third inside, a third on one axis."""
    m = domain.features
    low, high = (
        (np.array(domain.lower), np.array(domain.upper))
        if isinstance(domain, Box)
        else (-domain.magnitudes, domain.magnitudes)
    )
    corners = np.stack([low, np.zeros(m), high])[
        rng.choice(3, p=(0.47, 0.06, 0.47), size=(count, m)), np.arange(m)
    ]
    corners[0] = 0
    if isinstance(domain, Ball):
        corners *= domain.radius / np.maximum(np.linalg.norm(corners, axis=1, keepdims=True), 1e-9)
    inside = rng.uniform(low, high, (count, m))
    axis = high * (rng.integers(m, size=(count, 1)) == np.arange(m))
    return into_domain(domain, np.concatenate([corners, inside, axis]))


def largest_change(query, norm, starts=4, seed=0):
    """Return the largest norm of a change found over neighbours: random, then optimised."""
    domain, m = query.domain, query.features
    rng = np.random.default_rng(seed)
    zeroed = query.adjacency == "zero_out"
    x = candidates(domain, rng, 1500)
    y = 0 * x if zeroed else rng.permutation(candidates(domain, rng, 1500))
    found = norm(query, shift(query, x, y))

    def smaller(z):
        records = into_domain(domain, z.reshape(2, m))
        return -norm(query, shift(query, records[0], 0 * records[1] if zeroed else records[1]))

    best = found.max()
    bounds = (
        list(zip(domain.lower, domain.upper, strict=True)) * 2 if isinstance(domain, Box) else None
    )
    for k in np.argsort(found)[-starts:]:
        start = into_domain(domain, np.stack([x[k], y[k]]) * (1 - 1e-3))
        best = max(best, -minimize(smaller, start.ravel(), method="L-BFGS-B", bounds=bounds).fun)
    return best


BOXES = {
    **{f"cube{m}": Box.cube(m, -1.5, 1.5) for m in range(1, 7)},
    "unequal": Box((-1, -2, -3), (1, 2, 3)),
    "split": Box((-3, -4, -5), (3, 4, 5)),  # 9 + 16 = 25: two equal halves
    "one-sided": Box((0, 0, 0), (1, 2, 0.5)),
    "off zero": Box((0.5, 1, 0.2), (2, 1.5, 0.9)),
    "general": Box((-1, -2, 0.5), (2, 0.5, 1)),
    "interval": Box((-1,), (2,)),
    "interval off zero": Box((1,), (2,)),
}
DOMAINS = BOXES | {f"ball{m}": Ball(1.5, m) for m in (1, 2, 3, 5)}
each_domain = pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)


@each_domain
def test_no_neighbours_change_a_matrix_more_and_some_as_much(domain):
    for adjacency, name in itertools.product(ADJACENCIES, ("l1_sensitivity", "l2_sensitivity")):
        query = RecordsQuery(domain, 3, adjacency)
        found, declared = largest_change(query, NORMS[name]), getattr(query, name)
        assert (1 - 1e-6) * declared <= found <= (1 + 1e-12) * declared, (adjacency, name)


@each_domain
def test_no_neighbours_change_second_moments_more(domain):
    for adjacency, name in itertools.product(ADJACENCIES, NORMS):
        query = SecondMomentQuery(domain, 3, adjacency)
        found, declared = largest_change(query, NORMS[name]), getattr(query, name)
        assert found <= (1 + 1e-12) * declared, (adjacency, name)
        zero = not isinstance(domain, Box) or domain.contains_zero
        l1 = adjacency == "zero_out" or (zero and isinstance(domain, Box))
        tight = {
            "l1_sensitivity": l1,
            "triangle_l1_sensitivity": l1,
            "l2_sensitivity": query.l2_tight,
            "triangle_l2_sensitivity": query.triangle_l2_tight,
        }
        assert not tight[name] or found >= (1 - 1e-6) * declared, (adjacency, name)


@pytest.mark.parametrize(
    ("name", "adjacency", "exact", "upper"),
    [
        ("unequal", "replace", True, False),
        ("unequal", "zero_out", True, True),
        ("split", "replace", True, True),
        ("cube5", "replace", True, True),
        ("one-sided", "replace", True, True),
        ("off zero", "replace", False, False),
        ("off zero", "zero_out", True, True),
        ("general", "replace", False, False),
        ("interval off zero", "replace", False, False),
        ("ball3", "replace", True, True),
    ],
)
def test_bounds_are_flagged_as_bounds(name, adjacency, exact, upper):
    query = SecondMomentQuery(DOMAINS[name], 3, adjacency)
    assert (query.l2_tight, query.triangle_l2_tight) == (exact, upper)
    for measure, attained in (("l2_sensitivity", exact), ("triangle_l2_sensitivity", upper)):
        if not attained:
            found = largest_change(query, NORMS[measure])
            assert found < 0.99 * getattr(query, measure)


# --- Whitened shifts: mu of directional noise -----------------------------------------------


@dataclass
class Whitened:
    """Norm of a shift after dividing by the noise along W with variances t."""

    variances: np.ndarray
    directions: np.ndarray | None

    def __call__(self, query, d):
        rows = np.eye(query.features) if self.directions is None else self.directions.T
        rows = rows / np.sqrt(self.variances)[:, None]
        white = d @ rows.T if isinstance(query, RecordsQuery) else rows @ d @ rows.T
        return NORMS["l2_sensitivity"](query, white)


@each_domain
@pytest.mark.parametrize("kind", [RecordsQuery, SecondMomentQuery])
def test_no_neighbours_exceed_directional_mu(domain, kind):
    for adjacency, rotated in itertools.product(ADJACENCIES, (False, True)):
        rng = np.random.default_rng(7)
        m = domain.features
        query = kind(domain, 3, adjacency)
        variances = rng.uniform(0.3, 3, m)
        directions = ortho_group.rvs(m, random_state=rng) if rotated and m > 1 else None
        declared = query.directional_mu(variances, directions)
        found = largest_change(query, Whitened(variances, directions))
        assert found <= (1 + 1e-12) * declared.value, (adjacency, rotated)
        if declared.tight:
            assert found >= (1 - 1e-6) * declared.value, (adjacency, rotated)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_one_feature_has_one_direction(adjacency):
    query = SecondMomentQuery(Box((-1.0,), (1.0,)), 1, adjacency)
    assert query.directional_mu([4.0], [[-1.0]]) == query.directional_mu([4.0])


@pytest.mark.parametrize(
    ("shares", "supremum"),
    [  # a share of more than half: x' = -x but for the first entry, inside or at its other end
        ((0.25, 0.25, 0.25, 0.25), np.sqrt(2)),
        ((0.5, 0.3, 0.1, 0.1), np.sqrt(2)),
        ((0.55, 0.15, 0.15, 0.15), 1.4071247),
        ((0.75, 0.25 / 3, 0.25 / 3, 0.25 / 3), np.sqrt(1.5)),
        ((0.95, 0.05 / 3, 0.05 / 3, 0.05 / 3), 1.0013922),
        ((0.9, 0.06, 0.04), None),
        ((0.8, 0.2), None),
        ((0.6, 0.2, 0.1, 0.05, 0.05), None),
        ((1 / 3, 1 / 3, 1 / 3), np.sqrt(16) / 3),
    ],
)
def test_mu_of_replacement_is_what_a_search_finds(shares, supremum):
    """Neither above nor below: noise is neither wasted nor missing."""
    query = SecondMomentQuery(Box.cube(len(shares), -1, 1), 1)
    variances = 1 / np.array(shares)
    declared = query.directional_mu(variances)
    assert declared.tight
    found = largest_change(query, Whitened(variances, None), starts=60)
    assert (1 - 1e-7) * declared.value <= found <= declared.value
    if supremum:
        assert declared.value == pytest.approx(supremum, rel=1e-7)


def test_beyond_enumeration_the_largest_difference_is_a_bound():
    shares = np.full(ENUMERABLE + 1, 0.5)
    value, exact = largest_difference(shares)
    assert not exact
    assert 2 * shares.sum() ** 2 <= value <= 2 * shares.sum() ** 2 * (1 + 1e-9)


@pytest.mark.parametrize("m", range(1, 7))
def test_the_largest_form_is_that_of_brute_force(m):
    rng = np.random.default_rng(m)
    basis = np.linalg.qr(rng.standard_normal((m, m)))[0]
    precisions, sides = rng.uniform(0.1, 5, m), rng.uniform(0.1, 5, m)
    matrix = basis @ np.diag(precisions) @ basis.T
    signs = np.array(list(itertools.product([-1, 1], repeat=m)))
    expected = max((s * sides) @ matrix @ (s * sides) for s in signs)
    assert largest_form(precisions, basis, sides) == (pytest.approx(expected, rel=1e-12), True)


def test_beyond_enumeration_the_form_is_bounded_from_above():
    m, rng = ENUMERABLE + 8, np.random.default_rng(0)
    basis = ortho_group.rvs(m, random_state=rng)
    precisions, sides = rng.uniform(0.1, 5, m), rng.uniform(0.5, 2, m)
    bound, exact = largest_form(precisions, basis, sides)
    assert not exact
    factor = (basis.T * sides) * np.sqrt(precisions)[:, None]
    signs = rng.choice([-1.0, 1.0], (2000, m))
    for _ in range(50):  # ascent: every sign follows its gradient
        signs = np.where(signs @ factor.T @ factor >= 0, 1.0, -1.0)
    found = ((signs @ factor.T) ** 2).sum(axis=1).max()
    assert found <= bound <= 2 * found
    assert not RecordsQuery(Box.cube(m, -1, 1), 2).directional_mu(1 / precisions, basis).tight
    assert RecordsQuery(Box.cube(m, -1, 1), 2).directional_mu(1 / precisions).tight


@given(
    st.sampled_from(sorted(BOXES)),
    st.sampled_from(["replace", "zero_out"]),
    st.floats(1e-3, 1e3),
)
@settings(max_examples=40, deadline=None)
def test_sensitivities_scale_with_the_data(name, adjacency, k):
    box = BOXES[name]
    scaled = Box(tuple(np.multiply(k, box.lower)), tuple(np.multiply(k, box.upper)))
    for kind, power, names in (
        (RecordsQuery, 1, ["l1_sensitivity", "l2_sensitivity", "largest_norm"]),
        (SecondMomentQuery, 2, [*NORMS, "largest_norm"]),
    ):
        small, large = kind(box, 5, adjacency), kind(scaled, 5, adjacency)
        for attribute in names:
            expected = k**power * getattr(small, attribute)
            assert getattr(large, attribute) == pytest.approx(expected, rel=1e-9)
    moments, t = SecondMomentQuery(box, 50, adjacency), np.linspace(1, 2, box.features)
    assert moments.l2_sensitivity == pytest.approx(
        SecondMomentQuery(box, 5, adjacency).l2_sensitivity / 10
    )
    assert moments.directional_mu(2 * t).value == pytest.approx(moments.directional_mu(t).value / 2)
