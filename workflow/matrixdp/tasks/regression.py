"""Regression on released records (MVG paper, section 8.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.tasks.base import Instance, Streams, Task


def ridge_coefficients(gram: Array, target: int, penalty: float) -> Array:
    """Return the coefficients of ridge regression of one feature on the others.

    Kernel ridge regression with a linear kernel and no intercept, in its primal form: it needs
    the Gram matrix X X^T alone.

    Args:
        gram: shape (trials, m, m).
        target: index of the feature to predict.
        penalty: added to the diagonal of the other features' block.

    Returns:
        Shape (trials, m - 1).
    """
    others = np.delete(np.arange(gram.shape[-1]), target)
    block = gram[:, others[:, None], others] + penalty * np.eye(len(others))
    return np.asarray(np.linalg.solve(block, gram[:, others, target][..., None])[..., 0])


@dataclass(frozen=True)
class Regression(Task):
    """Predict one feature from the others by ridge regression; RMSE on clean test records.

    Args:
        target: index of the feature to predict; it is released with the others.
        train: number of private records, drawn anew in each trial; the rest is for testing.
        penalty: ridge penalty.
    """

    target: int
    train: int
    penalty: float = 1.0
    metric = "rmse"
    queries = ("identity", "covariance")
    accepts = frozenset({"matrix", "sketch"})
    references = ("nonprivate", "random", "zero")

    def records(self, matrix: Array) -> int:
        """Return the number of training records.

        Raises:
            InputError: no records would be left for testing.
        """
        train = checks.count(train=self.train)
        if train >= matrix.shape[1]:
            raise InputError(
                f"train is {train} for {matrix.shape[1]} records; leave at least one for testing"
            )
        return train

    def instance(self, matrix: Array, streams: Streams) -> Instance:
        """Split the records anew for each trial."""
        train = self.records(matrix)
        order = np.stack([stream.permutation(matrix.shape[1]) for stream in streams])
        split = np.ascontiguousarray(np.moveaxis(matrix[:, order], 0, 1))
        return _Split(self, split[..., :train], split[..., train:])


class _Split(Instance):
    def __init__(self, task: Regression, train: Array, test: Array) -> None:
        self.matrix = train
        self._task = task
        self._features = np.delete(test, task.target, axis=1)
        self._target = test[:, task.target]

    def _rmse(self, predicted: Array | float) -> Array:
        return np.sqrt(((predicted - self._target) ** 2).mean(axis=1))

    def score(self, released: Array, *, yields: str, ridge: float = 0.0) -> Array:
        # A sketch's Gram matrix holds ridge * I already: only what is missing is added.
        penalty = max(self._task.penalty - ridge, 0.0)
        gram = released @ np.swapaxes(released, 1, 2)
        coefficients = ridge_coefficients(gram, self._task.target, penalty)
        return self._rmse((coefficients[:, None, :] @ self._features)[:, 0])

    def reference(self, name: str, streams: Streams) -> Array:
        if name == "nonprivate":
            return self.score(self.matrix, yields="matrix")
        if name == "zero":
            return self._rmse(0.0)
        guesses = np.stack([stream.uniform(-1, 1, self._target.shape[1]) for stream in streams])
        return self._rmse(guesses)


TASKS = {"regression": Regression, "section10_2": Regression}
