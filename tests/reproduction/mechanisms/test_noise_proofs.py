"""Bounds of matrix-variate normal noise hold for all neighbours, and are met where they should."""

import itertools

import numpy as np
import pytest

from matrixdp.mechanisms import proofs
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.noise import MatrixNormal

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
