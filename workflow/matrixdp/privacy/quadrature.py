"""The curve of the Gaussian mechanism once more, by numerical integration, to check it."""

from __future__ import annotations

import numpy as np


def integrated_delta(epsilon: float, mu: float) -> float:
    """Return delta(epsilon) of a shift by mu of N(0, 1), by quadrature."""
    start = epsilon / mu + mu / 2

    def gain(x: float) -> float:
        # Densities in the form phi(x) = phi(start) e^(...), to leave no digits in their difference.
        return float(-np.expm1(-mu * x) * np.exp(-x * x / 2 - (start - mu) * x))

    from scipy import integrate

    value, _ = integrate.quad(gain, 0, 40, points=[0.1, 1, 5], epsabs=0, epsrel=1e-11, limit=200)
    return float(np.exp(-((start - mu) ** 2) / 2) / np.sqrt(2 * np.pi) * value)
