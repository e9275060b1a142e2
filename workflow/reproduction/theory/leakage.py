"""Mutual information of one number and its noisy release, in nats (MVG, Theorems 8 and 9).

Only the Gaussian has a closed form; other densities are integrated on a grid.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from scipy import signal, stats
from scipy.special import ndtr

from matrixdp.checks import Array

#: Points of the grid, and its half-width in standard deviations of the release.
POINTS, WIDTH = 2**14 + 1, 12.0
#: Share of the variance of lattice noise that is not on the lattice.
SPREAD = 0.02


class NoiseDistribution(Protocol):
    """A noise distribution with mean 0, such as a frozen distribution of scipy."""

    def cdf(self, x: Array) -> Array:
        """Return the distribution function."""

    def var(self) -> float:
        """Return the variance."""


class Lattice(NamedTuple):
    """Noise on the points -spacing, 0 and spacing, each smoothed by a narrow normal distribution.

    It confuses the values of an answer with the same spacing, but moves none of them far. The
    variance is at most spacing^2.
    """

    variance: float
    spacing: float

    def cdf(self, x: Array) -> Array:
        """Return the distribution function."""
        side = (1 - SPREAD) * self.variance / self.spacing**2 / 2
        width = np.sqrt(SPREAD * self.variance)
        parts = ((-self.spacing, side), (0.0, 1 - 2 * side), (self.spacing, side))
        return np.sum([chance * ndtr((x - place) / width) for place, chance in parts], axis=0)

    def var(self) -> float:
        """Return the variance."""
        return self.variance


def gaussian(variance: float) -> float:
    """Return I(S; S + Z) for S ~ N(0, 1) and Z ~ N(0, variance)."""
    return float(np.log1p(1 / variance) / 2)


def normal(variance: float) -> NoiseDistribution:
    """Return the normal distribution with mean 0 and this variance."""
    distribution: NoiseDistribution = stats.norm(scale=np.sqrt(variance))
    return distribution


def distributions(variance: float) -> dict[str, NoiseDistribution]:
    """Return other noise distributions with mean 0 and this variance, by name."""
    std = np.sqrt(variance)
    return {
        "Laplace": stats.laplace(scale=std / np.sqrt(2)),
        "uniform": stats.uniform(-np.sqrt(3) * std, 2 * np.sqrt(3) * std),
        "logistic": stats.logistic(scale=std * np.sqrt(3) / np.pi),
    }


def information(noise: NoiseDistribution, records: int | None = None) -> float:
    """Return I(S; S + Z) for noise Z and an answer S of mean 0 and variance 1.

    S is the scaled sum of ``records`` independent signs, a query of the form sum_i g_i(x_i). If
    ``records`` is None, it is the limit S ~ N(0, 1).
    """
    z = WIDTH * np.sqrt(1 + noise.var()) * np.linspace(-1, 1, POINTS)
    step = z[1] - z[0]
    edges = np.append(z - step / 2, z[-1] + step / 2)
    # Probabilities of cells, because some densities jump.
    noise_cells = np.diff(noise.cdf(edges))
    if records is None:
        output_cells = signal.fftconvolve(noise_cells, stats.norm.pdf(z) * step, mode="same")
    else:
        heads = np.arange(records + 1)
        probabilities = stats.binom.pmf(heads, records, 0.5)
        places = (2 * heads - records) / np.sqrt(records)
        cells = np.diff([noise.cdf(edges - place) for place in places])
        output_cells = probabilities @ cells
    return _entropy(output_cells / step, step) - _entropy(noise_cells / step, step)


def _entropy(density: Array, step: float) -> float:
    """Return the entropy of a density on a grid that covers its support."""
    positive = density[density > 1e-300]
    return float(-(positive * np.log(positive)).sum() * step)
