"""Noise distributions as values, of which ``sample`` gives independent draws.

For audits, a distribution also offers whitening of its noise (:class:`GaussianDistribution`), or
the norm on which its density depends (:class:`NormDistribution`). The noise is idealised: float64
samples are open to attacks on their rounding (Mironov, CCS 2012).
"""

from __future__ import annotations

import abc
from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.equality import ByValue


@dataclass(frozen=True, eq=False)
class NoiseDistribution(ByValue, abc.ABC):
    """Distribution of noise that does not depend on the value; a draw has the shape (m, n)."""

    shape: tuple[int, int]

    @abc.abstractmethod
    def sample(self, generator: np.random.Generator, count: int) -> Array:
        """Return independent draws, shape (count, m, n)."""

    @property
    def identical_columns(self) -> bool:
        """Whether columns are independent and identically distributed, for any number of them."""
        return False


class GaussianDistribution(NoiseDistribution):
    """Gaussian noise of mean 0: coloured white noise."""

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        """Return independent draws, shape (count, m, n)."""
        numbers = self.whiten(np.zeros(self.shape)).size
        return np.stack([self.colour(one) for one in generator.standard_normal((count, numbers))])

    @abc.abstractmethod
    def whiten(self, z: Array) -> Array:
        """Map noise (..., m, n') to independent standard normals (..., k).

        The number of columns n' may be below that of ``shape`` if ``identical_columns``.
        """

    @abc.abstractmethod
    def colour(self, white: Array) -> Array:
        """Map independent standard normals (k,) to noise (m, n): the inverse of :meth:`whiten`."""


@dataclass(frozen=True, eq=False)
class SizedDistribution(NoiseDistribution):
    """Noise of density proportional to exp(-size), where ``size`` is a function of the noise.

    ``scale`` is above 0.
    """

    scale: float

    def __post_init__(self) -> None:
        checks.positive(scale=self.scale)

    @abc.abstractmethod
    def size(self, z: Array) -> Array:
        """Return the size of noise, (..., m, n') -> (...)."""

    @property
    def gamma_shape(self) -> float:
        """Shape parameter of the size's gamma distribution: the number of independent entries."""
        return float(self.shape[0] * self.shape[1])

    @property
    def deviation(self) -> float:
        """Standard deviation of an entry, or NaN: :mod:`matrixdp.mechanisms.proofs` computes it."""
        return float("nan")


class NormDistribution(SizedDistribution):
    """Noise of density proportional to exp(-norm / scale)."""

    @abc.abstractmethod
    def norm(self, z: Array) -> Array:
        """Return the norm of noise, (..., m, n') -> (...)."""

    def size(self, z: Array) -> Array:
        """Return the norm over the scale, (..., m, n') -> (...)."""
        return self.norm(z) / self.scale
