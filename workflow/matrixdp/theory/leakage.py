"""Mutual information of one number and its noisy release, in nats (MVG, Theorems 8 and 9).

No law but the Gaussian has a closed form: densities are put on a grid and integrated there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import signal, stats

from matrixdp.checks import Array

#: Points of the grid, and its half-width in standard deviations of what is released.
POINTS, WIDTH = 2**15 + 1, 12.0


def gaussian(variance: float) -> float:
    """Return I(S; S + Z) for S ~ N(0, 1) and Z ~ N(0, variance)."""
    return float(np.log1p(1 / variance) / 2)


def laws(variance: float) -> dict[str, Any]:
    """Return other laws of noise with mean 0 and this variance."""
    std = np.sqrt(variance)
    return {
        "Laplace": stats.laplace(scale=std / np.sqrt(2)),
        "uniform": stats.uniform(-np.sqrt(3) * std, 2 * np.sqrt(3) * std),
        "logistic": stats.logistic(scale=std * np.sqrt(3) / np.pi),
    }


def information(law: Any) -> float:
    """Return I(S; S + Z) for S ~ N(0, 1) and noise Z of a frozen scipy law with mean 0."""
    z = WIDTH * np.sqrt(1 + law.var()) * np.linspace(-1, 1, POINTS)
    # The probabilities of cells, as some densities jump.
    step = z[1] - z[0]
    cells = np.diff(law.cdf(np.append(z - step / 2, z[-1] + step / 2)))
    density = signal.fftconvolve(cells, stats.norm.pdf(z), mode="same")
    return _entropy(density, step) - float(law.entropy())


def sum_information(terms: int) -> float:
    """Return I(S; S + Z), Z ~ N(0, 1), for S a sum of ``terms`` signs, scaled to variance 1.

    It is that of a query of the form sum_i g_i(x_i) with one term per record.
    """
    heads = np.arange(terms + 1)
    places = (2 * heads - terms) / np.sqrt(terms)
    y = WIDTH * np.sqrt(2) * np.linspace(-1, 1, 4001)
    density = stats.norm.pdf(y[:, None] - places) @ stats.binom.pmf(heads, terms, 0.5)
    return _entropy(density, y[1] - y[0]) - float(stats.norm.entropy())


def _entropy(density: Array, step: float) -> float:
    """Return the entropy of a density on a grid, whose ends it does not reach."""
    positive = density[density > 1e-300]
    return float(-(positive * np.log(positive)).sum() * step)
