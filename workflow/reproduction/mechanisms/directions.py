"""Directions and spectrum of a noise covariance from a private SVD, for MVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import AnalyzeGauss
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery


@dataclass(frozen=True)
class PrivateDirections:
    """Directions and spectrum of X X^T from a private SVD, on a share of the budget.

    The second moments are released by Analyze Gauss with the analytic standard deviation, and
    decomposed. Eigenvalues below ``floor`` times the largest one are raised to that. (The paper
    takes the spectrum of Theorem 7 from the data themselves, which is not private.)

    The ``budget_fraction`` of epsilon and of delta is spent here. The rest is left for the noise.
    """

    budget_fraction: ClassVar[float] = 0.2
    floor: ClassVar[float] = 1e-9

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the release of the second moments on this share of (epsilon, delta)."""
        moments = SecondMomentQuery(query.domain, query.n_records, query.adjacency)
        return AnalyzeGauss().calibrate(
            moments, epsilon=self.budget_fraction * epsilon, delta=self.budget_fraction * delta
        )

    def of(self, noisy: Array, records: int) -> tuple[Array, Array]:
        """Return directions (..., m, m), one per column, and eigenvalues of X X^T (..., m).

        Args:
            noisy: answer of the release that ``calibrate`` returns, (..., m, m).
            records: number of records of X.
        """
        eigenvalues, directions = np.linalg.eigh(noisy)
        spectrum = records * eigenvalues[..., ::-1]
        largest = np.abs(spectrum).max(axis=-1, keepdims=True)
        return directions[..., ::-1], np.maximum(spectrum, self.floor * largest)
