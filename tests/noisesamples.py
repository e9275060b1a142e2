"""Streams, factors and distributions for tests of noise, and statistics of what is drawn."""

from __future__ import annotations

import numpy as np

from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
    MatrixNormal,
)

# Chance of a false alarm, for samplers that are right: seeds are fixed, so it is met once or never.
ALPHA = 1e-6


def independent(trials: int, first: int = 0) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in range(first, first + trials)]


def repeated(trials: int, seed: int = 0) -> list[np.random.Generator]:
    """One Generator for all trials: fast, and its trials are as independent."""
    return [np.random.default_rng(seed)] * trials


def factor(size: int, seed: int = 0, trials: tuple[int, ...] = ()) -> np.ndarray:
    """Well conditioned and not symmetric, so that A A^T and A^T A differ."""
    return np.eye(size) + 0.4 * np.random.default_rng(seed).normal(size=(*trials, size, size))


ROWS, BASIS = np.array([[1.0], [2.0], [3.0]]), np.linalg.qr(factor(3, 1))[0]
DISTRIBUTIONS = {
    "rows": MatrixNormal((3, 5), [1.0, 2.0, 3.0]),
    "dense rows": MatrixNormal((3, 5), factor(3)),
    "noise": Noise(safe.NORMAL, ROWS, (3, 5)),
    "noise along directions": Noise(safe.NORMAL, ROWS, (3, 5), basis=BASIS),
    "symmetric": Noise(safe.NORMAL, 2.0 - np.eye(3), (3, 3), symmetric=True),
    "symmetric along directions": Noise(safe.NORMAL, ROWS * ROWS.T, (3, 3), True, BASIS),
    "laplace": Noise.of(safe.LAPLACE, 2.0, (3, 5)),
    "symmetric laplace": Noise(safe.LAPLACE, ROWS * ROWS.T, (3, 3), symmetric=True),
    "frobenius": FrobeniusExponential((3, 5), 2.0),
    "record_l2": ColumnL2Exponential((3, 5), 2.0),
    "record_linf": ColumnLinfExponential((3, 5), 2.0, [1.0, 2.0, 3.0]),
}
