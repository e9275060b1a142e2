"""The allocation with the highest power-to-noise ratio (MVG, Theorem 7 and Lemma 10).

The constraint limits the precisions of the m directions of unimodal noise: sum u <= d (Problem 2
with Psi = I). u_k is the precision of direction k, and the gain is sum_k ln(1 + lambda_k u_k).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from matrixdp.checks import Array

#: Eigenvalues of X X^T of a training set of 248 Liver records (they vary by a tenth). They are
#: facts of public data; a mechanism that used them would have to release them privately.
SPECTRUM = np.array([20.2, 14.6, 7.98, 5.42, 2.88, 1.61])


def gain(eigenvalues: Array, u: Array) -> float:
    """Return sum_k ln(1 + lambda_k u_k) for precisions u >= 0, shape (m,)."""
    return float(np.log1p(eigenvalues * u).sum())


def numerical_optimum(eigenvalues: Array, budget: float) -> Array:
    """Return u >= 0 that maximises the gain at sum u = budget, by sequential programming.

    Shares of the budget are exact to about 1e-6 and rounded to 1e-9.
    """
    # Scale the gain to order 1, so that small budgets also converge.
    scale = np.log1p(eigenvalues[0] * budget)
    optimum = minimize(
        lambda share: -np.log1p(eigenvalues * budget * share).sum() / scale,
        np.full(len(eigenvalues), 1 / len(eigenvalues)),
        jac=lambda share: -eigenvalues * budget / (1 + eigenvalues * budget * share) / scale,
        bounds=[(0, 1)] * len(eigenvalues),
        constraints={"type": "eq", "fun": lambda share: share.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return budget * np.maximum(optimum.x.round(9), 0)


def optimality_residual(eigenvalues: Array, u: Array) -> float:
    """Return the largest relative violation of the conditions of Karush, Kuhn and Tucker."""
    # Slopes of filled directions must be equal, and slopes of the others at most as large.
    slopes, filled = eigenvalues / (1 + eigenvalues * u), u > 0
    level = slopes[filled].max()
    off = np.where(filled, np.abs(slopes - level), np.maximum(slopes - level, 0))
    return float(off.max() / level)
