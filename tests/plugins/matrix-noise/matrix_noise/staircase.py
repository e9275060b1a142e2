"""Staircase noise in several dimensions (Geng, Kairouz, Oh & Viswanath, IEEE JSTSP 9(7), 2015).

The density is a function of the l1 norm r of the noise alone. It falls by e^-epsilon at r = (k +
gamma) D for k = 0, 1, ..., with D the l1 sensitivity: two points that are at most D apart lie at
most one step apart. A falling function in steps is a mixture of uniform distributions on balls,
from which it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import optimize, special

from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.sensitivity import MeanQuery, RecordsQuery, SecondMomentQuery


def log_weights(epsilon: float, dimension: int, gamma: float) -> np.ndarray:
    """Return the log probabilities (k,) of the balls of radius (k + gamma) D, the first first."""
    most = (2 * dimension + 800) / epsilon
    steps = np.arange(int(most) + 2.0)
    with np.errstate(divide="ignore"):
        logs = dimension * np.log(steps + gamma) - epsilon * steps
    return logs - special.logsumexp(logs)


def variance(epsilon: float, dimension: int, gamma: float) -> float:
    """Return the variance of an entry at D = 1: R^2 2 / ((d + 1) (d + 2)) in a ball of radius R."""
    logs = log_weights(epsilon, dimension, gamma)
    square = np.exp(logs) @ (np.arange(len(logs)) + gamma) ** 2
    return float(2 * square / ((dimension + 1) * (dimension + 2)))


def best_gamma(epsilon: float, dimension: int) -> float:
    """Return the gamma in (0, 1] with the least variance."""
    found = optimize.minimize_scalar(
        lambda gamma: variance(epsilon, dimension, gamma), bounds=(1e-9, 1), method="bounded"
    )
    return float(found.x)


@dataclass(frozen=True, eq=False)
class StaircaseNoise(NoiseDistribution):
    """Staircase noise of sensitivity ``size`` at ``epsilon``.

    Each column of ``shape`` has its own, or the upper triangle of a matrix that is ``symmetric``.
    """

    epsilon: float
    size: float
    gamma: float
    symmetric: bool = False
    _cumulated: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        logs = log_weights(self.epsilon, self.dimension, self.gamma)
        object.__setattr__(self, "_cumulated", np.cumsum(np.exp(logs)))

    @property
    def dimension(self) -> int:
        """Number of entries that share a norm."""
        rows = self.shape[0]
        return rows * (rows + 1) // 2 if self.symmetric else rows

    @property
    def identical_columns(self) -> bool:
        """Whether columns are independent."""
        return not self.symmetric

    def sample(self, generator, count):
        """Return independent draws, shape (count, m, n)."""
        columns = 1 if self.symmetric else self.shape[1]
        uniform = generator.random((count, 1, columns))
        steps = np.searchsorted(self._cumulated, uniform, side="right")
        steps = np.minimum(steps, len(self._cumulated) - 1)
        radius = self.size * (steps + self.gamma)
        # One more exponential than entries makes the point uniform inside the ball.
        parts = generator.standard_exponential((count, self.dimension + 1, columns))
        signs = generator.choice((-1.0, 1.0), (count, self.dimension, columns))
        entries = radius * signs * parts[:, 1:] / parts.sum(axis=1, keepdims=True)
        return spread(entries, self.shape, self.symmetric)

    def log_density(self, noise):
        """Return the log density (k,) of noise (k, m, n), up to a constant."""
        norms = np.abs(gathered(noise, self.symmetric)).sum(axis=1) / self.size
        return -self.epsilon * np.maximum(np.ceil(norms - self.gamma), 0).sum(axis=-1)


def spread(entries: np.ndarray, shape: tuple[int, int], symmetric: bool) -> np.ndarray:
    """Return matrices (k, m, n) of entries (k, d, n): as columns, or in a mirrored triangle."""
    if not symmetric:
        return entries
    matrices = np.empty((len(entries), *shape))
    rows, columns = np.triu_indices(shape[0])
    matrices[:, rows, columns] = matrices[:, columns, rows] = entries[..., 0]
    return matrices


def gathered(noise: np.ndarray, symmetric: bool) -> np.ndarray:
    """Return the entries (k, d, n) of matrices (k, m, n) that share a norm."""
    if not symmetric:
        return noise
    rows, columns = np.triu_indices(noise.shape[1])
    return noise[:, rows, columns, None]


@dataclass(frozen=True)
class Staircase(Mechanism):
    """Staircase noise of the gamma with the least variance: epsilon-DP.

    Records and means have noise of the l1 sensitivity of a column, independent between columns.
    Second moments have it on the upper triangle, which is mirrored.
    """

    queries = frozenset({RecordsQuery, MeanQuery, SecondMomentQuery})

    def calibrate(self, query, *, epsilon, delta=0.0):
        """Return the epsilon-DP release; ``delta`` is not needed and reported as 0."""
        self._require(query)
        epsilon = checks.positive(epsilon=epsilon)
        symmetric = isinstance(query, SecondMomentQuery)
        size = query.triangle_l1_sensitivity if symmetric else query.l1_sensitivity
        dimension = query.features * (query.features + 1) // 2 if symmetric else query.features
        gamma = best_gamma(epsilon, dimension)
        noise = StaircaseNoise(query.shape, epsilon, size, gamma, symmetric)
        return AdditiveMechanism(
            query=query,
            epsilon=epsilon,
            epsilon_delivered=epsilon,
            noise_std=size * np.sqrt(variance(epsilon, dimension, gamma)),
            noise=noise,
        )
