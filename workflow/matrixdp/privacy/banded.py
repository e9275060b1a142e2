"""Noise that is correlated over training steps, which reduces the noise of sums over steps.

The gradient sums X, steps x entries, get the noise C^-1 Z, with i.i.d. Gaussian Z. Releasing
X + C^-1 Z is equivalent to releasing C X + Z, so that privacy depends on the change of C X by a
record (matrix factorisation; Choquette-Choo et al., "(Amplified) Banded Matrix Factorization",
NeurIPS 2023).

Here C is the lower triangular Toeplitz matrix with the b first coefficients of (1 - x)^(-1/2),
divided by their norm (Kalinin & Lampert, "Banded Square Root Matrix Factorization", NeurIPS 2024).
Columns at least b apart have no nonzero row in common. Let a record take part k times, at least b
steps apart, by vectors within the clipping norm. It then moves C X by at most sqrt(k) clipping
norms. The bound is attained unless one of its columns is truncated. Scaling the last b - 1 columns,
which are truncated, to norm 1 would save less than 0.1 % of the noise on prefix sums and is
omitted.
"""

from __future__ import annotations

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy import gaussian


def coefficients(bands: int) -> Array:
    """Return c_0, ... c_(b-1), shape (b,), of norm 1: c_k ~ prod_(j <= k) (2 j - 1) / (2 j)."""
    j = np.arange(1, checks.count(bands=bands))
    raw = np.cumprod(np.r_[1.0, (2 * j - 1) / (2 * j)])
    return np.asarray(raw / np.linalg.norm(raw))


def inverse(bands: int, steps: int) -> Array:
    """Return the first column of C^-1, shape (steps,): the weights of a draw in later noise."""
    # A slow import, needed by few jobs.
    from scipy.signal import lfilter

    impulse = np.zeros(checks.count(steps=steps))
    impulse[0] = 1
    return np.asarray(lfilter([1.0], coefficients(bands), impulse))


def step_deviation(bands: int, steps: int) -> float:
    """Return the standard deviation of a step's noise over that of Z, as root mean square."""
    return _root_mean_square(inverse(bands, steps))


def prefix_deviation(bands: int, steps: int) -> float:
    """Return the standard deviation of prefix sums of the noise over that of Z, likewise."""
    return _root_mean_square(np.cumsum(inverse(bands, steps)))


def fixed_order_bands(steps: int, lots: int) -> int:
    """Return the number of bands with the least noise on prefix sums, for lots in a fixed order.

    The noise multiplier does not depend on the number of bands, which is at most ``lots``.
    """
    return min(_grid(lots), key=lambda bands: prefix_deviation(bands, steps))


def sampled_bands(epsilon: float, delta: float, rate: float, steps: int) -> int:
    """Return the number of bands with the least noise on prefix sums, for lots sampled in groups.

    Group g of b is sampled at the steps t = g modulo b, at the rate b q. For this choice alone the
    multiplier z is approximate. The central limit theorem gives it by
    mu = b q sqrt(T / b) sqrt(e^(1 / z^2) - 1) (Bu, Dong, Long & Su, HDSR 2020), or the release
    without sampling if that needs less. The choice uses public numbers alone, and the accounting
    afterwards is exact.
    """
    mu = gaussian.mu(epsilon, delta)

    def error(bands: int) -> float:
        rounds = -(-steps // bands)
        limit = np.log1p((mu / (bands * rate)) ** 2 / rounds) ** -0.5
        return float(min(limit, np.sqrt(rounds) / mu)) * prefix_deviation(bands, steps)

    return min(_grid(int(1 / rate)), key=error)


def _grid(most: int) -> list[int]:
    """Return the powers of 2 up to ``most``, and ``most``."""
    return [*(2**k for k in range((most - 1).bit_length())), most]


def _root_mean_square(column: Array) -> float:
    """Return the root mean squared norm of a Toeplitz matrix' rows, from its first column."""
    return float(np.sqrt(np.cumsum(column**2).mean()))
