"""Released records for tasks that read only their Gram matrix, drawn from few random numbers.

A release is Y = X + A N: records X (m, n), a row factor A, and N (m, n) with independent standard
normal entries. A task that reads Y Y^T alone cannot tell Y from any Z with Z Z^T of the same law.

Let X^T = Q R with orthonormal columns Q (n, m), and complete Q to an orthogonal matrix [Q, P]. The
rotation leaves Y Y^T as it is, and Y [Q, P] = [R^T + A N Q, A N P]. Rotated normal entries are
again independent standard normal, so N Q (m, m) and N P (m, n - m) are such matrices, independent
of each other. The second one enters only by W = (N P) (N P)^T, a Wishart matrix with n - m degrees
of freedom, which is drawn as L L^T with a lower triangular L
(:func:`reproduction.stacks.wishart_factors`). Hence Z = [R^T + A N Q, A L], of shape (m, 2m), with
m^2 + m (m + 1) / 2 random numbers in place of m n. A test compares its law with the release's.

Only trials use this. What is audited, and what a person gets, is the release itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise import safe
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Query
from reproduction.mechanisms.noise import MatrixNormal, both_sides
from reproduction.stacks import Streams, normals, wishart_factors


def is_reducible(release: CalibratedMechanism) -> bool:
    """Return whether a release is Y = X + A N with at least 2m records and one A for all trials."""
    if type(release) is not AdditiveGaussian or release.output_type != "matrix":
        return False
    m, n = release.noise.shape
    return n >= 2 * m and _row_factor(release.noise) is not None


def _row_factor(noise: Noise | NoiseDistribution) -> Array | None:
    """Return A, (), (m,) or (m, m), of noise A N; None for other noise."""
    if isinstance(noise, Noise):
        if noise.law != safe.NORMAL or not noise.identical_columns:
            return None
        return noise.size[:, 0] if noise.basis is None else noise.basis * noise.size[:, 0]
    if type(noise) is not MatrixNormal or noise.column_factor is not None:
        return None
    rows = np.asarray(1.0 if noise.row_factor is None else noise.row_factor, dtype=float)
    return rows if rows.ndim < 3 else None


def shape(release: CalibratedMechanism) -> tuple[int, int]:
    """Return the shape of a trial of a task that reads Gram matrices alone."""
    m, n = release.query.shape
    return (m, 2 * m) if is_reducible(release) else (m, n)


def triangle(query: Query, value: Array) -> Array:
    """Return R^T of records (..., m, n), shape (..., m, m).

    Raises:
        InputError: the value is outside the public bounds of the query.
    """
    records = np.swapaxes(query.check(value), -1, -2)
    return np.swapaxes(np.linalg.qr(records, mode="r"), -1, -2)


def simulate_all(
    release: CalibratedMechanism, triangles: Iterable[Array], streams: Callable[[], Streams]
) -> Iterator[Array]:
    """Yield, for several values under the same noise, matrices with Gram matrices of the release.

    Args:
        release: a reducible release.
        triangles: results of :func:`triangle`, each for all trials or with one per trial.
        streams: returns one Generator per trial.

    Yields:
        Matrices of shape (trials, m, 2m).
    """
    assert isinstance(release, AdditiveGaussian)
    m, n = release.noise.shape
    noise = both_sides(white_noise(streams(), m, n), _row_factor(release.noise), None)
    for triangular in triangles:
        released = noise.copy()
        released[:, :, :m] += triangular
        yield released


def white_noise(streams: Streams, m: int, n: int) -> Array:
    """Return [N Q, L] of standard normal N (m, n) for each stream, shape (trials, m, 2m)."""
    white = np.empty((len(streams), m, 2 * m))
    white[:, :, :m] = normals(streams, (m, m))
    white[:, :, m:] = wishart_factors(streams, m, n - m)
    return white
