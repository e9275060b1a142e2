"""Regression on released records (MVG paper, section 8.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.ridge import moments_ridge
from matrixdp.privacy.sensitivity import Box, Query
from reproduction.experiments.tasks.base import Instance, Released, Shared, Streams, Task, TaskEntry
from reproduction.mechanisms.adassp import NormalEquations
from reproduction.trials import OF_REGRESSION, ZERO

#: Ridge penalties to choose from.
PENALTIES = tuple(10.0**power for power in range(-4, 4))

#: Singular values below this share of the largest one are rounding errors.
EMPTY = 1e-14


def ridge_coefficients(gram: Array, target: int, penalty: float) -> Array:
    """Return the coefficients of ridge regression of one feature on the others, (trials, m - 1).

    This is kernel ridge regression with a linear kernel and no intercept, in its primal form: it
    needs only the Gram matrices X X^T, (trials, m, m). The penalty is added to the diagonal of the
    block of the other features. Where that block is numerically singular, the coefficients are
    those of least norm.
    """
    others = np.delete(np.arange(gram.shape[-1]), target)
    block = gram[:, others[:, None], others] + penalty * np.eye(len(others))
    right = gram[:, others, target][..., None]
    try:
        return np.asarray(np.linalg.solve(block, right)[..., 0])
    except np.linalg.LinAlgError:
        return np.asarray((np.linalg.pinv(block, hermitian=True) @ right)[..., 0])


def coefficients_of_records(records: Array, target: int, penalty: float) -> Array:
    """Return the coefficients of the same ridge regression from records (trials, m, n) themselves.

    Rows of very unequal size, as under directional noise, leave a Gram matrix with a condition
    number beyond what float64 resolves: the singular values s of the features have its root. A
    triangular factor stands for the records. Directions without records get 0.
    """
    triangle = np.asarray(np.linalg.qr(np.swapaxes(records, 1, 2), mode="r"))
    features = np.swapaxes(np.delete(triangle, target, axis=2), 1, 2)
    left, sizes, right = np.linalg.svd(features, full_matrices=False)
    seen = sizes > EMPTY * sizes.max(axis=1, keepdims=True)
    squares = np.where(seen, sizes**2 + penalty, np.inf)
    along = (right @ triangle[:, :, [target]])[..., 0] * sizes / squares
    return np.asarray((left @ along[..., None])[..., 0])


def radial_kernels(features: Array, test: Array, *, gamma: float) -> tuple[Array, Array]:
    """Return the kernel exp(-gamma |x - x'|^2) of records x' with themselves and with test records.

    Records have the shape (trials, k, n), test records (trials, k, t). The results have the shapes
    (trials, n, n) and (trials, t, n).
    """

    def kernel(left: Array) -> Array:
        exponent = np.swapaxes(2 * gamma * left, 1, 2) @ features
        exponent -= gamma * (left**2).sum(axis=1)[:, :, None]
        exponent -= gamma * (features**2).sum(axis=1)[:, None, :]
        # Below -100 the kernel is negligible and underflow is slow; rounding may exceed 0.
        return np.exp(np.clip(exponent, -100, 0, out=exponent), out=exponent)

    return kernel(features), kernel(test)


def radial_predictions(learnt: Array, tested: Array, target: Array, *, penalty: float) -> Array:
    """Return the predictions of kernel ridge regression, shape (trials, t).

    The kernels are those of :func:`radial_kernels`, the targets have the shape (trials, n). The
    penalty is added to the diagonal of the kernel matrix, which is 1 otherwise.
    """
    diagonal = np.arange(learnt.shape[-1])
    learnt[:, diagonal, diagonal] = 1 + penalty
    weights = np.linalg.solve(learnt, target[..., None])
    return np.asarray((tested @ weights)[..., 0])


@dataclass(frozen=True)
class Regression(Task):
    """Predict one feature from the others by kernel ridge regression; RMSE on clean test records.

    Args:
        target: index of the feature to predict, which is released with the others.
        train: number of private records, drawn anew in each trial; the rest is for testing.
        penalty: ridge penalty; None takes the one of ``PENALTIES`` that :meth:`tuned` chooses.
        kernel: ``linear``, or ``rbf`` with inverse width one over the number of other features.
        clip_released: clip released records to [-1, 1] before they are used.
        clip_predictions: clip predictions to [-1, 1].
    """

    target: int
    train: int
    penalty: float | None = 1.0
    kernel: str = "linear"
    clip_released: bool = False
    clip_predictions: bool = False
    metric = "rmse"
    splits = True
    queries: ClassVar[tuple[str, ...]] = ("identity", "covariance", "normal_equations")
    baselines: ClassVar[tuple[str, ...]] = OF_REGRESSION

    def __post_init__(self) -> None:
        checks.choice(("linear", "rbf"), kernel=self.kernel)

    @property
    def accepts(self) -> frozenset[str]:
        """Types of releases: records, and second moments or sketches if a Gram matrix suffices.

        It does not for the other options: the pseudo-records of a sketch lie in no box, and
        distances between them have no meaning.
        """
        return frozenset({"matrix", "second_moments", "sketch"} if self.reads_gram else {"matrix"})

    @property
    def reads_gram(self) -> bool:
        """Whether a rotation of the released records leaves the score as it is."""
        return self.kernel == "linear" and not self.clip_released

    def tuned(self, matrix: Array, streams: Streams) -> Self:
        """Return the task with the penalty that has the smallest mean error without noise."""
        if self.penalty is not None:
            return self
        rivals = [replace(self, penalty=penalty) for penalty in PENALTIES]
        # Every draw advances the generators: split once for all penalties.
        train, test = self._split(matrix, streams)
        errors = [Split(rival, train, test).without_privacy(train, ()).mean() for rival in rivals]
        return rivals[int(np.argmin(errors))]

    def records(self, matrix: Array) -> int:
        """Return the number of training records; InputError if none remain for testing."""
        train = checks.count(train=self.train)
        if train >= matrix.shape[1]:
            raise InputError(
                f"train is {train} for {matrix.shape[1]} records; leave at least one for testing"
            )
        return train

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Split the records anew for each trial."""
        return Split(self, *self._split(matrix, streams))

    def query(self, name: str, domain: Box, records: int, adjacency: str) -> Query:
        """Return a query that serves the task; the normal equations depend on the target."""
        if name == NormalEquations.name:
            return NormalEquations(domain, records, adjacency, self.target)
        return super().query(name, domain, records, adjacency)

    def _split(self, matrix: Array, streams: Streams) -> tuple[Array, Array]:
        train = self.records(matrix)
        order = np.stack([stream.permutation(matrix.shape[1]) for stream in streams])
        split = np.ascontiguousarray(np.moveaxis(matrix[:, order], 0, 1))
        return split[..., :train], split[..., train:]


class Split(Instance):
    """Training and test records of each trial, (trials, m, n)."""

    def __init__(self, task: Regression, train: Array, test: Array) -> None:
        self.matrix = train
        self._task = task
        self._features = np.delete(test, task.target, axis=1)
        self._target = test[:, task.target]

    def _rmse(self, predicted: Array | float) -> Array:
        if self._task.clip_predictions:
            predicted = np.clip(predicted, -1, 1)
        return np.sqrt(((predicted - self._target) ** 2).mean(axis=1))

    def _score(self, released: Released, shared: Shared) -> Array:
        task = self._task
        options = (task.kernel, task.penalty, task.clip_released)
        if options not in shared:
            shared[options] = self._predictions(*released, shared)
        return self._rmse(shared[options])

    def _linear(self, coefficients: Array) -> Array:
        return (coefficients[:, None, :] @ self._features)[:, 0]

    def _predictions(
        self, released: Array, output_type: str, ridge: float, noise_std: float, shared: Shared
    ) -> Array:
        task, penalty = self._task, self._task.penalty
        if output_type == "second_moments":
            symmetric = (released + np.swapaxes(released, 1, 2)) / 2
            # A release that adds a ridge itself has a NaN noise_std.
            added = moments_ridge(noise_std, len(symmetric[0])) if np.isfinite(noise_std) else 0.0
            return self._linear(ridge_coefficients(symmetric, task.target, added))
        assert penalty is not None, "tuned() chooses the penalty"
        if task.clip_released:
            released = np.clip(released, -1, 1)
        if task.kernel == "rbf":
            # Kernels do not depend on the penalty.
            if (kernels := (task.kernel, task.clip_released)) not in shared:
                others = np.delete(released, task.target, axis=1)
                gamma = 1 / others.shape[1]
                shared[kernels] = radial_kernels(others, self._features, gamma=gamma)
            learnt, tested = shared[kernels]
            return radial_predictions(learnt, tested, released[:, task.target], penalty=penalty)
        # A sketch's Gram matrix already includes ridge * I; add only the rest of the penalty.
        penalty = max(penalty - ridge, 0.0)
        return self._linear(coefficients_of_records(released, task.target, penalty))

    def without_privacy(self, records: Array, streams: Streams) -> Array:
        """Return the error of a regression on records (trials, m, n)."""
        return self.score(records, output_type="matrix")

    def without_records(self, name: str, streams: Streams, domain: Box) -> Array:
        """Return the error of a constant or a random prediction."""
        if name == ZERO:
            return self._rmse(0.0)
        guesses = np.stack([stream.uniform(-1, 1, self._target.shape[1]) for stream in streams])
        return self._rmse(guesses)


TASKS = {"regression": TaskEntry(Regression, needs=("target", "train"))}
