"""The allocation with the highest power-to-noise ratio (MVG, Theorem 7 and Lemma 10).

The constraint limits the precisions of the m directions of unimodal noise: sum u <= d (Problem 2
with Psi = I). u_k is the precision of direction k, and the gain is sum_k ln(1 + lambda_k u_k).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.optimize import minimize

from matrixdp import seeds
from matrixdp.checks import Array
from matrixdp.laws import MatrixNormal
from matrixdp.mechanisms.allocation import printed_formula, quadratic_filling, water_filling
from matrixdp.mechanisms.mvg import MVG
from matrixdp.privacy import gaussian
from matrixdp.privacy.published import LIVER

#: Eigenvalues of X X^T of a training set of 248 Liver records (they vary by a tenth). They are
#: facts of public data; a mechanism that used them would have to release them privately.
SPECTRUM = np.array([20.2, 14.6, 7.98, 5.42, 2.88, 1.61])
EPSILON = 1.0

BUDGETS = np.logspace(-9, 2, 133)
#: Budgets for which mutual information is also estimated from draws.
SAMPLED = (0.05, 0.5, 5.0, 50.0)
DRAWS = 20_000


def filling(seed: int) -> pd.DataFrame:
    """Return precisions and gains of the allocations over budgets d.

    Returns:
        Numbers of these kinds:

        - ``precision``: u_k of ``water`` filling, of the ``printed`` Eq. (25), and of a
          ``numerical`` optimum;
        - ``gain``: of these, of ``equal`` precisions, and of ``quadratic`` filling (|u|_2 = d);
          NaN where a precision is negative;
        - ``residual``: relative violation of the optimality conditions by water filling;
        - ``information``: twice the mutual information of a Gaussian answer and its release, from
          the ``determinants`` of their joint law, and ``sampled``;
        - ``mark``: budgets of MVG (``mvg``) and of exactly calibrated noise (``exact``) at epsilon
          = 1, and where Eq. (25) begins to be defined (``printed``).
    """
    water, quadratic, numerical = (
        np.stack([fill(SPECTRUM, budget) for budget in BUDGETS])
        for fill in (water_filling, quadratic_filling, numerical_optimum)
    )
    closed_form = printed_formula(SPECTRUM, BUDGETS[:, None])
    equal = np.repeat(BUDGETS[:, None] / len(SPECTRUM), len(SPECTRUM), axis=1)
    precisions = {"water": water, "printed": closed_form, "numerical": numerical}
    gains = precisions | {"equal": equal, "quadratic": quadratic}
    information = np.array([joint_information(SPECTRUM, u) for u in water])
    (stream,) = seeds.streams(seed, "theory", "filling", trials=[0])
    sampled = [sampled_information(SPECTRUM, budget, stream) for budget in SAMPLED]
    return pd.concat(
        [
            *(_precisions(name, u) for name, u in precisions.items()),
            *(_rows("gain", name, BUDGETS, gain(SPECTRUM, u)) for name, u in gains.items()),
            _rows("residual", "water", BUDGETS, optimality_residual(SPECTRUM, water)),
            _rows("information", "determinants", BUDGETS, information),
            _rows("information", "sampled", SAMPLED, *np.transpose(sampled)),
            *(_rows("mark", name, [budget], np.nan) for name, budget in _marks().items()),
        ],
        ignore_index=True,
    )


def gain(eigenvalues: Array, u: Array) -> Array:
    """Return sum_k ln(1 + lambda_k u_k), shape (...); NaN where a precision is negative."""
    ratios = np.log1p(eigenvalues * np.maximum(u, 0)).sum(axis=-1)
    return np.where((u >= 0).all(axis=-1), ratios, np.nan)


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


def optimality_residual(eigenvalues: Array, u: Array) -> Array:
    """Return the largest relative violation of the conditions of Karush, Kuhn and Tucker, (...)."""
    # Slopes of filled directions must be equal, and slopes of the others at most as large.
    slopes = eigenvalues / (1 + eigenvalues * u)
    filled = u > 0
    level = np.where(filled, slopes, 0).max(axis=-1, keepdims=True)
    off = np.where(filled, np.abs(slopes - level), np.maximum(slopes - level, 0))
    return (off / level).max(axis=-1)


def joint_information(eigenvalues: Array, u: Array) -> float:
    """Return 2 I(S; S + Z) in nats from the joint covariance of S and S + Z, both Gaussian.

    S has the variances ``eigenvalues`` (m,), Z the precisions u (m,); a direction without precision
    is not released.
    """
    signal, added = np.diag(eigenvalues[u > 0]), np.diag(1 / u[u > 0])
    joint = np.block([[signal, signal], [signal, signal + added]])
    logs = [np.linalg.slogdet(part)[1] for part in (signal, signal + added, joint)]
    return float(logs[0] + logs[1] - logs[2])


def sampled_information(
    eigenvalues: Array, budget: float, stream: np.random.Generator
) -> tuple[float, float]:
    """Return an estimate of 2 I(S; S + Z) for water-filled Z, and its standard error."""
    u = water_filling(eigenvalues, budget)
    active = u > 0
    signal, noise = eigenvalues[active], 1 / u[active]
    answers, noises = (
        MatrixNormal((len(variances), DRAWS), np.sqrt(variances)).sample([stream])[0].T
        for variances in (signal, noise)
    )
    loss = _log_density(noises, noise) - _log_density(answers + noises, signal + noise)
    return float(2 * loss.mean()), float(2 * loss.std() / np.sqrt(DRAWS))


def _log_density(z: Array, variances: Array) -> Array:
    """Return the log density of independent normals, (draws, m) -> (draws,)."""
    return -(z**2 / variances + np.log(2 * np.pi * variances)).sum(axis=1) / 2


def _marks() -> dict[str, float]:
    delta = 1 / LIVER.records
    phi = MVG().precision_budget(LIVER, epsilon=EPSILON, delta=delta)
    # Exact: sum_k w_k^2 u_k = mu^2, with equal widths w.
    return {
        "mvg": phi**2 / np.sqrt(LIVER.records),
        "exact": gaussian.mu(EPSILON, delta) ** 2 / LIVER.sides[0] ** 2,
        "printed": float((1 / SPECTRUM[-1] - 1 / SPECTRUM).sum()),
    }


def _precisions(allocation: str, u: Array) -> pd.DataFrame:
    table = _rows("precision", allocation, np.repeat(BUDGETS, u.shape[1]), u.ravel())
    return table.assign(direction=np.tile(np.arange(u.shape[1]) + 1, len(u)))


def _rows(
    kind: str, allocation: str, budget: ArrayLike, value: ArrayLike, error: ArrayLike = np.nan
) -> pd.DataFrame:
    labels = {"kind": kind, "allocation": allocation, "budget": budget, "direction": pd.NA}
    return pd.DataFrame({**labels, "value": value, "standard_error": error})


THEORY = {"filling": filling}
