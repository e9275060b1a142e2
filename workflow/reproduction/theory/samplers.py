"""The two samplers of matrix normals: their agreement and their cost (MVG, 6.3 and 6.4)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import linalg, stats

from matrixdp.checks import Array
from matrixdp.noise import distributions
from reproduction import seeds

DRAWS = 20_000
#: Row and column covariances of the comparison, 4 x 4 and 3 x 3.
SIGMA = linalg.toeplitz(0.8 ** np.arange(4)) * np.outer([1, 2, 3, 4], [1, 2, 3, 4])
PSI = linalg.toeplitz((-0.6) ** np.arange(3))

#: Sizes n for timing: of square noise, and of noise on 6 features.
SQUARE, WIDE = "m = n", "m = 6"
SIZES = {
    SQUARE: (8, 16, 24, 32, 48, 64, 128, 256, 512, 1024),
    WIDE: (16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384),
}
#: Largest mn of a Kronecker product, and largest n of a dense covariance, for timing.
LARGEST_PRODUCT, LARGEST_DENSE = 3072, 2048
#: Slopes are fitted to this many of the largest sizes, where fixed costs count least.
FITTED = 3
#: A call is repeated up to this often, or for this many seconds.
REPEATS, PATIENCE = 9, 0.15


def p_values(seed: int, *, exchanged: bool = False) -> dict[str, dict[str, float]]:
    """Return the p-values of :func:`agreement` by sampler.

    The samplers are ``affine`` (Lemma 7), ``kronecker`` (Lemma 6), and ``wrong_order``. The last is
    the second with Sigma and Psi exchanged in the Kronecker product, which the tests must reject.
    """
    m, n = len(SIGMA), len(PSI)
    factors = np.linalg.cholesky(SIGMA), np.linalg.cholesky(PSI)
    draw: dict[str, Callable[[distributions.Streams], Array]] = {
        "affine": distributions.MatrixNormal((m, n), *factors).sample,
        "kronecker": lambda streams: kronecker_normal(streams, SIGMA, PSI),
        "wrong_order": lambda streams: kronecker_normal(streams, PSI, SIGMA).reshape(-1, m, n),
    }
    return {
        name: agreement(
            sampler(seeds.streams(seed, "theory", "samplers", name, trials=[0]) * DRAWS),
            exchanged=exchanged,
        )
        for name, sampler in draw.items()
    }


def kronecker_normal(streams: distributions.Streams, sigma: Array, psi: Array) -> Array:
    """Return draws (trials, m, n) through the mn x mn covariance, in (mn)^3 operations."""
    # Sigma comes first because matrices are flattened by rows.
    root = np.linalg.cholesky(np.kron(sigma, psi))
    flat = distributions.normals(streams, (len(root),)) @ root.T
    return flat.reshape(-1, len(sigma), len(psi))


def agreement(stack: Array, *, exchanged: bool = False) -> dict[str, float]:
    """Return p-values of draws (draws, m, n) of the matrix normal of SIGMA (rows) and PSI.

    ``scale`` tests the sum of squared Mahalanobis distances (chi-square, two-sided), ``shape`` the
    distance of the whitened covariance from the identity (Nagao 1973), and ``distances`` each
    squared Mahalanobis distance (Kolmogorov-Smirnov). ``exchanged`` swaps SIGMA and PSI.
    """
    draws, m, n = stack.shape
    size = m * n
    # From the definition E z_ij z_kl = Sigma_ik Psi_jl, without a Kronecker product.
    first, second = (PSI, SIGMA) if exchanged else (SIGMA, PSI)
    distribution = np.einsum("ik,jl->ijkl", first, second).reshape(size, size)
    white = linalg.solve_triangular(
        np.linalg.cholesky(distribution), stack.reshape(draws, size).T, lower=True
    )
    squares = (white**2).sum(axis=0)
    deviation = white @ white.T / draws - np.eye(size)
    below = stats.chi2.cdf(squares.sum(), draws * size)
    return {
        "scale": 2 * min(below, 1 - below),
        "shape": stats.chi2.sf(draws / 2 * (deviation**2).sum(), size * (size + 1) // 2),
        "distances": stats.kstest(squares, stats.chi2(size).cdf).pvalue,
    }


def unimodal(m: float, n: float) -> float:
    """Return the multiplications of W diag(sqrt(t)) N, shape m x n: Algorithm 1 for a fixed W."""
    return m**2 + m**2 * n


def algorithm_1(m: float, n: float) -> float:
    """Return the multiplications of Algorithm 1, which forms Sigma in step 5 and refactors it."""
    return m**3 + m**2 + _cholesky(m) + m**2 * n


def affine(m: float, n: float) -> float:
    """Return the multiplications of B N C^T for any Sigma and Psi, with their Cholesky factors."""
    return _cholesky(m) + _cholesky(n) + m**2 * n + m * n**2


def kronecker(m: float, n: float) -> float:
    """Return the multiplications of a draw from N(0, Psi kron Sigma): product, factor and map."""
    return (m * n) ** 2 + _cholesky(m * n) + (m * n) ** 2


def _cholesky(size: float) -> float:
    """Return the multiplications of a Cholesky factorisation; divisions and roots count as one."""
    return (size**3 + 3 * size**2 + 2 * size) / 6


def sampler_times(seed: int) -> pd.DataFrame:
    """Return the time of one draw with its factorisations, on one thread of this machine.

    The ``seconds`` (median) differ from run to run; ``slope`` is the power of n that fits the
    largest sizes. The methods are:

    - ``affine``: Lemma 7, with Cholesky factors of Sigma and Psi;
    - ``unimodal``: the same with Psi = I, as in Algorithm 1;
    - ``kronecker``: Lemma 6, with the factor of the mn x mn covariance;
    - ``scipy``: ``scipy.stats.matrix_normal``.
    """
    (stream,) = seeds.streams(seed, "theory", "sampler_times", trials=[0])
    rows = []
    for case, sizes in SIZES.items():
        for n in sizes:
            m = n if case == SQUARE else 6
            for method, call in _calls(m, n, stream).items():
                rows.append((method, case, m, n, *median_seconds(call)))
    table = pd.DataFrame(rows, columns=["method", "case", "m", "n", "seconds", "repeats"])
    groups = table.groupby(["method", "case"])[["n", "seconds"]]
    slopes = groups.apply(slope).rename("slope")
    return table.join(slopes, on=["method", "case"])


def slope(times: pd.DataFrame) -> float:
    """Return the slope of log ``seconds`` over log ``n``, at the ``FITTED`` largest sizes."""
    largest = times.nlargest(FITTED, "n")
    return float(np.polyfit(np.log(largest["n"]), np.log(largest["seconds"]), 1)[0])


def _calls(m: int, n: int, stream: np.random.Generator) -> dict[str, Callable[[], object]]:
    cholesky, normal = np.linalg.cholesky, distributions.MatrixNormal
    sigma = linalg.toeplitz(0.5 ** np.arange(m))
    calls: dict[str, Callable[[], object]] = {
        "unimodal": lambda: normal((m, n), cholesky(sigma)).sample([stream])
    }
    if n <= LARGEST_DENSE:
        psi = linalg.toeplitz(0.5 ** np.arange(n))
        calls |= {
            "affine": lambda: normal((m, n), cholesky(sigma), cholesky(psi)).sample([stream]),
            "scipy": lambda: stats.matrix_normal.rvs(rowcov=sigma, colcov=psi, random_state=stream),
        }
    if m * n <= LARGEST_PRODUCT:
        calls["kronecker"] = lambda: kronecker_normal([stream], sigma, psi)
    return calls


def median_seconds(call: Callable[[], object]) -> tuple[float, int]:
    """Return the median time of a call after a first call, and the number of repetitions."""
    call()
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < REPEATS and sum(seconds) < PATIENCE):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), len(seconds)


THEORY = {"sampler_times": sampler_times}
