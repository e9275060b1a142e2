"""Bounds on the change of neighbours hold for all of them, and are met where they should be."""

import itertools

import numpy as np
import pytest

from matrixdp.mechanisms import proofs
from matrixdp.noise import safe
from matrixdp.noise.distributions import MatrixNormal
from matrixdp.noise.value import Noise
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery, RecordsQuery, SecondMomentQuery

CUBE = Box.cube(2, -1, 1)


def rotated(features, least):
    """Return a factor with singular values 1, ..., 1 and ``least``."""
    stream = np.random.default_rng(3)
    first, second = (np.linalg.qr(stream.standard_normal((features,) * 2))[0] for _ in range(2))
    return first @ np.diag([*[1.0] * (features - 1), least]) @ second.T


def test_columns_of_a_person_add_up_where_a_factor_mixes_columns():
    query = RecordsQuery(CUBE, 16, "zero_out", per_person=4)
    places = np.arange(16) % 4 == 0
    noise = MatrixNormal(query.shape, 1.0, np.linalg.inv(np.eye(16) + 3 * np.outer(places, places)))
    change = np.outer(np.ones(2), places)
    attained = float(np.linalg.norm(noise.whiten(change)))
    assert attained <= proofs.mu(query, noise) <= attained * (1 + 1e-9)


@pytest.mark.parametrize("group", [None, 3])
def test_a_diagonal_column_factor_mixes_nothing(group):
    query = RecordsQuery(CUBE, 4, "zero_out", per_person=group)
    for columns in (2.0, np.full(4, 2.0), 2 * np.eye(4)):
        noise = MatrixNormal(query.shape, 1.0, columns)
        assert proofs.mu(query, noise) == pytest.approx(np.sqrt(2 * (group or 1)) / 2)


def test_one_column_of_a_dense_factor_is_the_largest_of_its_inverse():
    query, columns = RecordsQuery(CUBE, 5, "zero_out"), rotated(5, 0.1)
    expected = np.sqrt(2) * np.linalg.norm(np.linalg.inv(columns), axis=0).max()
    assert proofs.mu(query, MatrixNormal(query.shape, 1.0, columns)) == pytest.approx(expected)


@pytest.mark.parametrize("least", [1.0, 1e-3, 1e-6, 2e-7])
def test_the_bound_holds_for_a_factor_with_little_noise_in_a_direction(least):
    query, factor = MeanQuery(Box.cube(3, -1, 1), 10), rotated(3, least)
    changes = (0.2 * np.array(signs) for signs in itertools.product((-1, 1), repeat=3))
    attained = max(np.linalg.norm(np.linalg.solve(factor, change)) for change in changes)
    bound = proofs.mu(query, MatrixNormal(query.shape, factor))
    assert attained <= bound <= attained * (1 + 1e-7)


@pytest.mark.parametrize("least", [1e-8, 1e-10, 0.0])
def test_nothing_is_proven_of_a_factor_near_a_singular_one(least):
    cube, factor = Box.cube(3, -1, 1), rotated(3, least)
    noise = MatrixNormal((3, 1), factor)
    assert np.isnan(proofs.mu(MeanQuery(cube, 10), noise))
    noise = MatrixNormal((3, 3), factor, 1.0)
    assert np.isnan(proofs.mu(SecondMomentQuery(cube, 10), noise))
    noise = MatrixNormal((3, 3), 1.0, factor)
    assert np.isnan(proofs.mu(RecordsQuery(cube, 3), noise))


def changes(query):
    """Changes of second moments or of one column by pairs of corners of the box, and of zero."""
    sides = zip(query.domain.lower, query.domain.upper, strict=True)
    corners = [*itertools.product(*({low, np.clip(0.0, low, high), high} for low, high in sides))]
    corners = np.array(corners)
    if isinstance(query, SecondMomentQuery):
        values = corners[:, :, None] * corners[:, None, :] / query.n_records
    else:
        values = corners[:, :, None] / query.divisor
    pairs = itertools.combinations(range(len(values)), 2)
    return np.array([values[i] - values[j] for i, j in pairs])


BASIS = np.linalg.qr(np.random.default_rng(4).standard_normal((3, 3)))[0]
UNEVEN = np.array([[1.0], [0.2], [3.0]])
MIXED = np.array([[1.0, 0.3, 2.0], [0.3, 0.5, 0.9], [2.0, 0.9, 4.0]])
NOISES = {
    "one size": (1.0, None, False),
    "a size a row": (UNEVEN, None, False),
    "along directions": (UNEVEN, BASIS, False),
    "one size, symmetric": (np.ones((3, 3)), None, True),
    "as the ensemble": (np.where(np.eye(3), 1, np.sqrt(0.5)), None, True),
    "less off the diagonal": (np.where(np.eye(3), 1, 0.3), None, True),
    "more off the diagonal": (np.where(np.eye(3), 1, 2.0), None, True),
    "in units of columns": (UNEVEN * UNEVEN.T * np.where(np.eye(3), 1, 0.9), None, True),
    "of any sizes": (MIXED, None, True),
    "of any sizes along directions": (MIXED, BASIS, True),
}


@pytest.mark.parametrize("unit", [safe.NORMAL, safe.LAPLACE])
@pytest.mark.parametrize("name", NOISES)
def test_no_corners_of_the_box_are_further_apart_than_is_proven(name, unit):
    size, basis, symmetric = NOISES[name]
    if unit == safe.LAPLACE and basis is not None:
        pytest.skip("Laplace noise has no directions")
    for domain in (Box.cube(3, -1, 1), Box((0.0, -1.0, 2.0), (3.0, 1.0, 5.0))):
        query = (SecondMomentQuery if symmetric else MeanQuery)(domain, 5)
        sizes = np.broadcast_to(size, (3, 3 if symmetric else 1))
        noise = Noise(unit, sizes, query.shape, symmetric, basis)
        norm, bound = (2, proofs.mu) if unit == safe.NORMAL else (1, proofs.size)
        attained = np.linalg.norm(noise.whiten(changes(query)), norm, axis=-1).max()
        assert attained <= bound(query, noise) * (1 + 1e-12)
        assert bound(query, noise) < 4 * attained
        assert np.isnan((proofs.size if unit == safe.NORMAL else proofs.mu)(query, noise))
