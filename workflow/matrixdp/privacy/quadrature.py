"""Privacy curves by numerical integration, as independent checks of the closed forms."""

from __future__ import annotations

import numpy as np


def integrated_delta(epsilon: float, mu: float) -> float:
    """Return delta(epsilon) of a shift by mu of N(0, 1), by quadrature."""
    start = epsilon / mu + mu / 2

    def gain(x: float) -> float:
        # Densities in the form phi(x) = phi(start) e^(...), so that no digits cancel.
        return float(-np.expm1(-mu * x) * np.exp(-x * x / 2 - (start - mu) * x))

    from scipy import integrate

    value, _ = integrate.quad(gain, 0, 40, points=[0.1, 1, 5], epsabs=0, epsrel=1e-11, limit=200)
    return float(np.exp(-((start - mu) ** 2) / 2) / np.sqrt(2 * np.pi) * value)


def integrated_radial_delta(epsilon: float, scale: float, power: float, dimension: int) -> float:
    """Return delta(epsilon) of a shift by 1 of density exp(-(|z| / scale)^power), by quadrature.

    Delta is the mean of max(0, 1 - e^(epsilon - loss)) over the radius and the angle to the shift.
    """
    from scipy import special

    nodes, weights = np.polynomial.legendre.leggauss(200)
    k, half = dimension / power, (dimension - 1) / 2
    # Integrate over a root of the radius: the integrand is then smooth near 0.
    ends = special.gammaincinv(k, 1e-30), special.gammainccinv(k, 1e-30)
    pieces = np.linspace(ends[0] ** 0.5, ends[1] ** 0.5, 33)
    width = np.diff(pieces)[:, None] / 2
    roots = (pieces[:-1, None] + width + width * nodes).ravel()
    mass = (width * weights).ravel() * 2 * roots ** (2 * k - 1)
    mass *= np.exp(-(roots**2) - special.gammaln(k))
    radius = scale * roots ** (2 / power)
    if dimension == 1:
        cosines, angular = np.array([[-1.0, 1.0]]), np.array([[0.5, 0.5]])
    else:
        # Only angles above the one at which the loss is epsilon contribute.
        border = scale * (roots**2 + epsilon) ** (1 / power)
        cosine = np.clip((radius**2 + 1 - border**2) / (2 * radius), -1, 1)
        first = np.arccos(cosine)[:, None]
        turn = (np.pi - first) / 2
        angles = first + turn * (1 + nodes)
        cosines = np.cos(angles)
        angular = turn * weights * np.sin(angles) ** (dimension - 2)
        angular *= np.exp(special.gammaln(half + 0.5) - special.gammaln(half)) / np.sqrt(np.pi)
    away = np.sqrt(np.maximum(radius[:, None] ** 2 + 1 - 2 * radius[:, None] * cosines, 0))
    loss = (away / scale) ** power - roots[:, None] ** 2
    gain = np.maximum(-np.expm1(np.minimum(epsilon - loss, 0)), 0)
    return float(mass @ (gain * angular).sum(axis=1))
