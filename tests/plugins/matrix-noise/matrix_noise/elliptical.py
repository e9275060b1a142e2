"""Elliptical Laplace noise: density proportional to exp(-|A^-1 z|_2 / scale).

A change D of the value moves the exponent by |A^-1 D|_2 / scale at most, so that a scale of its
largest value over epsilon gives epsilon-DP.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrix_noise.staircase import gathered, spread
from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.base import Mechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.sensitivity import MeanQuery, RecordsQuery, SecondMomentQuery


@dataclass(frozen=True, eq=False)
class EllipticalNoise(NoiseDistribution):
    """Noise with A = diag(axes), (d,): of each column, or of the triangle of a symmetric matrix."""

    axes: tuple[float, ...]
    scale: float
    symmetric: bool = False

    @property
    def identical_columns(self) -> bool:
        """Whether columns are independent."""
        return not self.symmetric

    def _draw(self, streams, stack):
        axes = np.array(self.axes)[:, None]
        count = 1 if self.symmetric else self.shape[1]
        for stream, trial in zip(streams, stack, strict=True):
            directions = stream.standard_normal((len(axes), count))
            directions /= np.linalg.norm(directions, axis=0)
            radius = self.scale * stream.standard_gamma(len(axes), count)
            spread(trial, radius * axes * directions, self.symmetric)

    def log_density(self, noise):
        """Return the log density (k,) of noise (k, m, n), up to a constant."""
        white = gathered(noise, self.symmetric) / np.array(self.axes)[:, None]
        return -np.linalg.norm(white, axis=1).sum(axis=-1) / self.scale


def standard_deviation(noise: EllipticalNoise) -> float:
    """Return the root mean square of the entries' standard deviations: E r^2 = d (d + 1)."""
    squares = np.array(noise.axes) ** 2 * noise.scale**2 * (len(noise.axes) + 1)
    if noise.symmetric:
        # Entries off the diagonal stand twice.
        rows, columns = np.triu_indices(noise.shape[0])
        return float(np.sqrt(np.average(squares, weights=1 + (rows != columns))))
    return float(np.sqrt(squares.mean()))


@dataclass(frozen=True)
class EllipticalLaplace(Mechanism):
    """Elliptical Laplace noise: epsilon-DP.

    Columns of records and means have axes that follow the square roots of their ranges, which have
    the least sum of variances. Second moments have noise in the Frobenius norm.
    """

    queries = frozenset({RecordsQuery, MeanQuery, SecondMomentQuery})

    def calibrate(self, query, *, epsilon, delta=0.0):
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0."""
        self._require(query)
        epsilon = checks.positive(epsilon=epsilon)
        symmetric = isinstance(query, SecondMomentQuery)
        if symmetric:
            rows, columns = np.triu_indices(query.features)
            axes = np.where(rows == columns, 1.0, np.sqrt(0.5))
            largest = query.l2_sensitivity
        else:
            axes = np.sqrt(query.sides)
            # The supremum of |A^-1 D|_2 is what decides Gaussian noise of these variances, too.
            largest = query.directional_mu(axes**2).value
        noise = self.noise(query, axes, largest / epsilon, symmetric)
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=epsilon,
            noise_std=standard_deviation(noise),
            noise=noise,
        )

    def noise(self, query, axes, scale, symmetric):
        """Return the noise of a query with these axes."""
        return EllipticalNoise(query.shape, tuple(axes.tolist()), scale, symmetric)
