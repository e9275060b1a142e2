"""Principal components from a release (MVG paper, sections 8.2 and 8.3)."""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import Box, second_moments
from reproduction.experiments.tasks.base import (
    Instance,
    NoBaseline,
    Released,
    Shared,
    Streams,
    Task,
    TaskEntry,
)
from reproduction.trials import AXES, CONSTANT, OF_COMPONENTS


def constant_basis(domain: Box) -> Array:
    """Return an orthonormal basis that follows from public bounds alone, in columns, (m, m).

    The first direction is that of the box's middle, the others are Helmert's contrasts about it:
    the k-th one lies in the first k features. NoBaseline: the middle is zero.
    """
    middle = domain.middle
    if np.allclose(middle, 0, atol=1e-12 * domain.radius):
        raise NoBaseline("the bounds are symmetric about 0, and have no middle record")
    m = domain.features
    columns = np.column_stack([middle, np.eye(m)[:, ::-1]])
    basis = np.linalg.qr(columns)[0]
    return np.column_stack([basis[:, 0], basis[:, :0:-1]])


def feature_axes(domain: Box) -> Array:
    """Return the axes of the features in columns, those with the largest bounds first, (m, m)."""
    return np.eye(domain.features)[:, np.argsort(-domain.magnitudes, kind="stable")]


BASES = {CONSTANT: constant_basis, AXES: feature_axes}


class _Moments(Instance):
    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self.moments = second_moments(matrix)
        self.eigenvalues = np.linalg.eigvalsh(self.moments)[::-1]

    def estimate(self, released: Released) -> Array:
        values, output_type, ridge, _ = released
        if output_type == "second_moments":
            return (values + np.swapaxes(values, 1, 2)) / 2
        gram = values @ np.swapaxes(values, 1, 2)
        return (gram - ridge * np.eye(gram.shape[-1])) / self.matrix.shape[1]

    def without_privacy(self, records: Array, streams: Streams) -> Array:
        moments = second_moments(records)
        stack = np.broadcast_to(moments, (len(streams), *moments.shape))
        return self.score(stack, output_type="second_moments")

    def without_records(self, name: str, streams: Streams, domain: Box) -> Array:
        if name not in BASES:
            return np.full(len(streams), self.of_random)
        basis = BASES[name](domain)
        return self.of_basis(np.broadcast_to(basis, (len(streams), *basis.shape)))

    @abc.abstractmethod
    def of_basis(self, basis: Array) -> Array:
        """Return the metric of orthonormal directions in columns, (trials, m, m)."""

    @property
    @abc.abstractmethod
    def of_random(self) -> float:
        """The mean metric of uniform directions, exactly: draws of it would be one more chance."""

    def captured(self, directions: Array) -> Array:
        # v^T S v for each column v.
        return (directions * (self.moments @ directions)).sum(axis=1)


class _First(_Moments):
    def __init__(self, matrix: Array, vector: str) -> None:
        super().__init__(matrix)
        self._vector = vector

    def _score(self, released: Released, shared: Shared) -> Array:
        if released.output_type == "direction":
            top = released.values[..., None]
        elif released.output_type == "second_moments" and self._vector == "singular":
            top = np.linalg.svd(released.values)[0][:, :, :1]
        else:
            top = np.linalg.eigh(self.estimate(released))[1][:, :, -1:]
        return self.eigenvalues[0] - self.captured(top)[:, 0]

    def of_basis(self, basis: Array) -> Array:
        return self.score(basis[:, :, 0], output_type="direction")

    @property
    def of_random(self) -> float:
        return float(self.eigenvalues[0] - self.eigenvalues.mean())


class _All(_Moments):
    def _residual(self, directions: Array) -> Array:
        return ((self.eigenvalues - self.captured(directions)) ** 2).sum(axis=1)

    def _score(self, released: Released, shared: Shared) -> Array:
        return self._residual(np.linalg.eigh(self.estimate(released))[1][:, :, ::-1])

    def of_basis(self, basis: Array) -> Array:
        return self._residual(basis)

    @property
    def of_random(self) -> float:
        # Of uniform v: E v^T S v = tr(S) / m,
        # E (v^T S v)^2 = (tr(S)^2 + 2 tr(S^2)) / k, k = m (m + 2).
        values, m = self.eigenvalues, len(self.eigenvalues)
        square = (values.sum() ** 2 + 2 * (values**2).sum()) / (m * (m + 2))
        return float((values**2 - 2 * values * values.mean()).sum() + m * square)


@dataclass(frozen=True)
class FirstComponent(Task):
    """Top eigenvector of the released second moments, scored by delta rho (Eq. 28).

    Delta rho is lambda_1 - v^T S v for the unit vector v. ``vector`` is ``symmetric`` for the
    eigenvector of the symmetric part of the released matrix, ``singular`` for the first left
    singular vector of the matrix itself. (A sketch gives a symmetric matrix in any case.)
    """

    vector: str = "symmetric"
    metric = "delta_rho"
    baselines = OF_COMPONENTS
    queries = ("covariance",)
    accepts = frozenset({"second_moments", "sketch", "direction"})

    def __post_init__(self) -> None:
        checks.choice(("symmetric", "singular"), vector=self.vector)

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Return the instance that all trials share: the data are not split."""
        return _First(matrix, self.vector)


@dataclass(frozen=True)
class AllComponents(Task):
    """All eigenvectors of the estimated second moments, scored by the RSS of captured variances.

    The RSS is the sum over components of squared differences of captured variance (Eq. 29).
    """

    metric = "rss"
    baselines = OF_COMPONENTS
    queries = ("identity", "covariance")
    accepts = frozenset({"matrix", "second_moments", "sketch"})
    reads_gram = True

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Return the instance that all trials share: the data are not split."""
        return _All(matrix)


TASKS = {"first_pc": TaskEntry(FirstComponent), "covariance": TaskEntry(AllComponents)}
