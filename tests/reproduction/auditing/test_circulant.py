"""The circulant sketch of Upadhyay (IACR ePrint 2014/818) is not private: the audit must say so.

The Gaussian matrix of a JL sketch is replaced by P D. P has the first r rows of a circulant matrix
of n normals, and D is diagonal with n random signs. Given D, the r m published numbers are linear
in those n normals. If r m > n, they therefore lie in one of 2^n subspaces that the data determine.
A neighbour has other subspaces, so that neighbours are told apart with certainty, whatever w is.
"""

import numpy as np
import pytest
from numpy.random import default_rng

from matrixdp.auditing.blackbox import prove
from matrixdp.privacy.sensitivity import Box, SecondMomentQuery
from reproduction import mechanisms
from reproduction.mechanisms.jl import JohnsonLindenstrauss
from reproduction.seeds import streams


def maps(records, signs, rows, lift):
    """Return, per sign vector (n,), the matrix (r m, n) that takes the normals to the sketch."""
    left, singular, right = np.linalg.svd(records, full_matrices=False)
    lifted = ((left * np.hypot(singular, lift)) @ right).T
    count = len(lifted)
    # Row i of the circulant matrix has normal l in column l + i.
    column = (np.arange(rows)[:, None] + np.arange(count)) % count
    signed = signs[:, :, None] * lifted
    return signed[:, column].swapaxes(2, 3).reshape(len(signs), -1, count)


def circulant(records, stream, rows, lift):
    """Return the sketch, shape (r, m), of a data matrix X, shape (m, n)."""
    count = records.shape[1]
    signs = stream.choice([-1.0, 1.0], size=(1, count))
    combinations = maps(records, signs, rows, lift)[0] @ stream.standard_normal(count)
    return combinations.reshape(rows, -1)


def residuals(sketches, records, lift):
    """Return relative distances (k,) of sketches (k, r, m) from all 2^n subspaces of X (m, n)."""
    count, published = records.shape[1], sketches.reshape(len(sketches), -1)
    signs = np.where(np.arange(2**count)[:, None] >> np.arange(count) & 1, -1.0, 1.0)
    bases, _ = np.linalg.qr(maps(records, signs, sketches.shape[1], lift))
    projections = published @ bases @ np.swapaxes(bases, 1, 2)
    distances = np.linalg.norm(published - projections, axis=2).min(axis=0)
    return distances / np.linalg.norm(published, axis=1)


def test_a_sketch_is_p_d_times_the_lifted_records():
    records, lift = default_rng(6).uniform(-1, 1, (2, 4)), 3.0
    sketch = circulant(records, default_rng(8), 3, lift)
    stream = default_rng(8)
    signs, g = stream.choice([-1.0, 1.0], size=4), stream.standard_normal(4)
    rows = np.array([np.roll(g, i) for i in range(3)])
    u, s, vt = np.linalg.svd(records.T, full_matrices=False)
    lifted = u @ np.diag(np.sqrt(s**2 + lift**2)) @ vt
    np.testing.assert_allclose(sketch, rows @ np.diag(signs) @ lifted, rtol=1e-10)


@pytest.mark.parametrize("wrong", [True, False])
def test_the_black_box_refutes_it_and_not_the_gaussian_sketch(wrong):
    query = SecondMomentQuery(Box.cube(2, -1, 1), 4)
    release = JohnsonLindenstrauss(2.5).calibrate(query, epsilon=1.0, delta=0.01)
    lift = np.sqrt(release.ridge)
    pair = [np.array([[first, -0.7, 0.4, 0.9], [1.0, 0.3, -0.5, 0.1]]) for first in (0.2, -0.9)]

    def statistic(count, stream):
        sides = []
        for records in pair:
            sketches = np.swapaxes(release.simulate(query.value(records), [stream] * count), 1, 2)
            if wrong:
                drawn = [circulant(records, stream, release.sketch_size, lift) for _ in sketches]
                sketches = np.stack(drawn)
            sides.append(-residuals(sketches, pair[0], lift))
        return sides[0], sides[1]

    generators = streams(7, "circulant", trials=range(2))
    proof = prove(statistic, claimed_epsilon=1.0, delta=0.01, runs=2000, streams=generators)
    assert proof.refuted == wrong


def test_it_is_no_mechanism_of_the_study():
    assert not any("circulant" in name for name in mechanisms.registry())
