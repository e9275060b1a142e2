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


def coefficients(bands: int) -> Array:
    """Return c_0, ... c_(b-1), shape (b,), of norm 1: c_k ~ prod_(j <= k) (2 j - 1) / (2 j)."""
    j = np.arange(1, checks.count(bands=bands))
    raw = np.cumprod(np.r_[1.0, (2 * j - 1) / (2 * j)])
    return np.asarray(raw / np.linalg.norm(raw))


def block_weights(bands: int) -> Array:
    """Return W, shape (b, 2 b), which makes the noise of b steps of that of the b steps before.

    With x_s = 0 for s < 0, C X = Z says of a block x of b rows of X, the block y before it and the
    draws z: L x + U y = z, L_ij = c_(i - j) and U_ij = c_(b + i - j). So x = W (y, z) with
    W = L^-1 (-U, I).
    """
    coefficient = np.r_[coefficients(bands), np.zeros(bands)]
    i, j = np.indices((bands, bands))
    # An index below 0 counts from the end, where the zeros are.
    lower, before = coefficient[i - j], coefficient[bands + i - j]
    return np.linalg.solve(lower, np.hstack([-before, np.eye(bands)]))


def inverse(bands: int, steps: int) -> Array:
    """Return the first column of C^-1, shape (steps,): the weights of a draw in later noise."""
    # A slow import, needed by few jobs.
    from scipy.signal import lfilter

    impulse = np.zeros(checks.count(steps=steps))
    impulse[0] = 1
    return np.asarray(lfilter([1.0], coefficients(bands), impulse))


def step_deviation(bands: int, steps: int) -> float:
    """Return the standard deviation of a step's noise over that of Z, as root mean square."""
    return float(np.sqrt(np.cumsum(inverse(bands, steps) ** 2).mean()))
