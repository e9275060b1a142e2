"""Gaussian noise judged from scratch: its size, and its privacy."""

import numpy as np
from scipy import optimize, stats

#: Chance of a false alarm of one test; seeds are fixed.
ALPHA = 1e-5
DELTA = 1e-5


def gaussian_delta(epsilon, mu):
    """Return delta of Gaussian noise (Balle & Wang 2018, Theorem 8)."""
    return stats.norm.cdf(mu / 2 - epsilon / mu) - np.exp(
        epsilon + stats.norm.logcdf(-mu / 2 - epsilon / mu)
    )


def gaussian_mu(epsilon, delta=DELTA):
    return optimize.brentq(lambda mu: gaussian_delta(epsilon, mu) - delta, 1e-6, 1e6, xtol=1e-12)


def is_deviation(noise, deviation):
    """Return whether a chi-square test accepts the deviation of centred normals."""
    squares = float(np.square(np.asarray(noise, np.float64) / deviation).sum())
    low, high = stats.chi2(noise.size).interval(1 - ALPHA)
    return low < squares < high
