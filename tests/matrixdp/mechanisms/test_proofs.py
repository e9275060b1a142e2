"""Bounds on the change of neighbours hold for all of them, and are met where they should be."""

import itertools

import numpy as np
import pytest

from matrixdp.mechanisms import proofs
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery, SecondMomentQuery

CUBE = Box.cube(2, -1, 1)


def changes(query):
    """Changes of second moments or of one column by pairs of corners of the box, and of zero."""
    sides = zip(query.domain.lower, query.domain.upper, strict=True)
    corners = [*itertools.product(*({low, np.clip(0.0, low, high), high} for low, high in sides))]
    corners = np.array(corners)
    if isinstance(query, SecondMomentQuery):
        values = corners[:, :, None] * corners[:, None, :] / query.n_records
    else:
        values = corners[:, :, None] / (query.n_records if query.is_mean else 1)
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
