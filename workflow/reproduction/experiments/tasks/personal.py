"""Tasks on what a release answers, with a metric for each kind of release.

Second moments are scored by their relative Frobenius error, a first component by its captured
variance, a regression by its error on test records. As in a real release, records get a constant
before their last column (see :mod:`matrixdp.mechanisms.moments`). So the first component is about
the mean, and the regression has an intercept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.moments import CONSTANT, centred, regression, with_constant
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy.sensitivity import Box, NormalEquations, Query, second_moments
from reproduction.experiments.tasks.base import Instance, Released, Shared, Streams, Task, TaskEntry
from reproduction.experiments.tasks.components import uniform
from reproduction.experiments.tasks.regression import Regression, Split
from reproduction.mechanisms.target_mean import InterceptEquations
from reproduction.trials import MEAN, NONPRIVATE, RANDOM, ZERO

#: Bounds of the constant; they include 0 for a zeroed record.
_CONSTANT = (0.0, 1.0)


def estimated(released: Released, records: int) -> Array:
    """Return the estimates of second moments from a release, shape (trials, m, m).

    For noisy records the expected contribution of the noise is subtracted.
    """
    values, output_type, ridge, noise_std = released
    if output_type == "second_moments":
        return (values + np.swapaxes(values, 1, 2)) / 2
    noise = noise_std**2 if output_type == "matrix" and np.isfinite(noise_std) else ridge / records
    gram = values @ np.swapaxes(values, 1, 2) / records
    return np.asarray(gram - noise * np.eye(gram.shape[-1]))


def constant_row(matrix: Array) -> Array:
    """Return records in columns (..., m, n) with the constant, (..., m + 1, n)."""
    return np.ascontiguousarray(np.swapaxes(with_constant(np.swapaxes(matrix, -1, -2)), -1, -2))


def constant_domain(domain: Box) -> Box:
    """Return the bounds of records with the constant."""
    sides = zip((domain.lower, domain.upper), _CONSTANT, strict=True)
    return Box(*((*side[:-1], constant, side[-1]) for side, constant in sides))


class _Frobenius(Instance):
    def __init__(self, matrix: Array) -> None:
        self.matrix = matrix
        self._moments = second_moments(matrix)

    def _score(self, released: Released, shared: Shared) -> Array:
        return self._error(estimated(released, self.matrix.shape[-1]))

    def _error(self, moments: Array) -> Array:
        norms = np.linalg.norm(moments - self._moments, axis=(-2, -1))
        return np.asarray(norms / np.linalg.norm(self._moments))

    def without_privacy(self, records: Array, streams: Streams) -> Array:
        return np.repeat(self._error(second_moments(records)[None]), len(streams))

    def without_records(self, name: str, streams: Streams, domain: Box) -> Array:
        return np.repeat(self._error(np.zeros_like(self._moments)[None]), len(streams))


class _Captured(Instance):
    def __init__(self, matrix: Array) -> None:
        self.matrix = constant_row(matrix)
        self._covariance = centred(second_moments(self.matrix)).covariance
        self._largest = np.linalg.eigvalsh(self._covariance)[-1]

    def _score(self, released: Released, shared: Shared) -> Array:
        moments = estimated(released, self.matrix.shape[-1])
        estimate = centred(moments, weighted=released.output_type != "matrix")
        return self._lost(np.linalg.eigh(estimate.covariance)[1][..., -1])

    def _lost(self, directions: Array) -> Array:
        captured = np.einsum("ti,ij,tj->t", directions, self._covariance, directions)
        return np.asarray(1 - captured / self._largest)

    def without_privacy(self, records: Array, streams: Streams) -> Array:
        covariance = centred(second_moments(records)).covariance
        top = np.linalg.eigh(covariance)[1][:, -1]
        return np.repeat(self._lost(top[None]), len(streams))

    def without_records(self, name: str, streams: Streams, domain: Box) -> Array:
        return self._lost(uniform(streams, len(self._covariance)))


@dataclass(frozen=True)
class MomentsError(Task):
    """Second moments, scored by their relative Frobenius error; a matrix of zeros scores 1."""

    metric = "frobenius"
    queries = ("covariance", "identity")
    accepts = frozenset({"matrix", "second_moments", "sketch"})
    baselines = (NONPRIVATE, ZERO)

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Return the instance that all trials share."""
        return _Frobenius(matrix)


class _WithConstant(Task):
    """A task on records with a constant before their last column."""

    def query(self, name: str, domain: Box, records: int, adjacency: str) -> Query:
        """Return a query on records with the constant."""
        wider = constant_domain(domain)
        for query_type in (NormalEquations, InterceptEquations):
            if name == query_type.name:
                return query_type(wider, records, adjacency, wider.features - 1)
        return super().query(name, wider, records, adjacency)

    def position(self, feature: int, features: int) -> int:
        """Return the index of a feature in the queries: the constant shifts the last one by 1."""
        return feature + (feature == features - 1)


@dataclass(frozen=True)
class CapturedVariance(_WithConstant):
    """First principal component about the mean, scored by the share of its variance it loses."""

    metric = "lost_variance"
    queries = ("covariance", "identity")
    baselines = (NONPRIVATE, RANDOM)
    accepts = frozenset({"matrix", "second_moments", "sketch"})

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Return the instance that all trials share."""
        return _Captured(matrix)


@dataclass(frozen=True)
class InterceptRegression(_WithConstant, Regression):
    """Predict the last column from the others with an intercept; RMSE on clean test records.

    The baseline is the mean of the training target.
    """

    metric = "rmse"
    queries = ("covariance", "identity", "normal_equations", "intercept_equations")
    baselines = (NONPRIVATE, MEAN)
    accepts = frozenset({"matrix", "second_moments", "sketch"})

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Split the records anew for each trial."""
        train, test = self._split(matrix, streams)
        return _Line(self, constant_row(train), test)


class _Line(Split):
    def _score(self, released: Released, shared: Shared) -> Array:
        records, output_type = self.matrix.shape[-1], released.output_type
        if output_type == "matrix":
            # The constant is public: replace its noisy copy.
            values = released.values.copy()
            values[..., CONSTANT, :] = 1
            released = released._replace(values=values)
        moments = estimated(released, records)
        ridge = 1 / records
        if output_type == "second_moments":
            # A release that adds a ridge itself has a NaN noise_std.
            noise, features = released.noise_std, moments.shape[-1] - 2
            ridge = moments_ridge(noise, features) if np.isfinite(noise) else 0.0
        elif output_type == "matrix":
            # The constant has no noise, and so none to subtract.
            moments[..., CONSTANT, CONSTANT] = 1
        estimate = centred(moments, weighted=output_type != "matrix")
        return self._predicted(*regression(estimate, ridge))

    def _predicted(self, coefficients: Array, intercept: Array) -> Array:
        # Every target lies in the public bounds.
        return self._rmse(np.clip(self._linear(coefficients) + intercept[:, None], -1, 1))

    def without_privacy(self, records: Array, streams: Streams) -> Array:
        return self._predicted(*regression(centred(second_moments(records)), 0.0))

    def without_records(self, name: str, streams: Streams, domain: Box) -> Array:
        # The exact mean of the target is a baseline that is not private.
        return self._rmse(self.matrix[:, -1].mean(axis=1, keepdims=True))


TASKS = {
    "moments_error": TaskEntry(MomentsError),
    "captured_variance": TaskEntry(CapturedVariance),
    "intercept_regression": TaskEntry(InterceptRegression, needs=("target", "train")),
}
