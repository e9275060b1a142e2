"""The two samplers of matrix normals: their agreement and their cost (MVG, 6.3 and 6.4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, stats

from matrixdp.checks import Array
from reproduction import seeds
from reproduction.mechanisms.noise import MatrixNormal
from reproduction.stacks import Streams, normals

DRAWS = 20_000
#: Row and column covariances of the comparison, 4 x 4 and 3 x 3.
SIGMA = linalg.toeplitz(0.8 ** np.arange(4)) * np.outer([1, 2, 3, 4], [1, 2, 3, 4])
PSI = linalg.toeplitz((-0.6) ** np.arange(3))


def p_values(seed: int, *, exchanged: bool = False) -> dict[str, dict[str, float]]:
    """Return the p-values of :func:`agreement` by sampler.

    The samplers are ``affine`` (Lemma 7), ``kronecker`` (Lemma 6), and ``wrong_order``. The last is
    the second with Sigma and Psi exchanged in the Kronecker product, which the tests must reject.
    """
    m, n = len(SIGMA), len(PSI)
    factors = np.linalg.cholesky(SIGMA), np.linalg.cholesky(PSI)
    draw: dict[str, Callable[[Streams], Array]] = {
        "affine": MatrixNormal((m, n), *factors).trials,
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


def kronecker_normal(streams: Streams, sigma: Array, psi: Array) -> Array:
    """Return draws (trials, m, n) through the mn x mn covariance, in (mn)^3 operations."""
    # Sigma comes first because matrices are flattened by rows.
    root = np.linalg.cholesky(np.kron(sigma, psi))
    flat = normals(streams, (len(root),)) @ root.T
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
