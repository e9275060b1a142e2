"""Noise of MVG and IMGM in high dimension and at small epsilon (IMGM, section 4.2)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from matrixdp.privacy import gaussian
from reproduction.mechanisms.mvg import ZETAS, coefficients, harmonic_numbers, largest_phi
from reproduction.theory.published_settings import SETTINGS

EPSILON, DELTA = 1.0, 1e-5
#: The sensitivity is fixed, as in the paper, and so is gamma, the largest norm of the value. Gamma
#: is at least s2 / 2, and equals s2 where neighbours add or remove a record's gradient.
S2 = GAMMA = 1.0
#: Square matrices of up to 10^7 entries.
SIDES = np.unique(np.rint(np.geomspace(1, 3162, 36)).astype(int))
EPSILONS = np.geomspace(1e-8, 10, 46)


def dimension(_seed: int) -> pd.DataFrame:
    """Return the standard deviation of i.i.d. MVG noise (Theorem 2) and of IMGM noise.

    The paper's Theta((m n)^(5/4)) for beta, up to the harmonic number, holds for the ``literal``
    zeta. With the root that MVG's proof needs beta grows as (m n)^(3/4). The standard deviation is
    (m n)^(1/4) / phi for MVG's i.i.d. noise, and s2 / B for IMGM at any shape. The cases are
    ``entries`` (square matrices at epsilon 1) and ``epsilon`` (IMDB's block); ``harmonic`` is H_r.
    """
    shape = SETTINGS["imdb"].features
    assert shape
    by_entries = [_rows("entries", zeta, (m, m), EPSILON) for zeta in ZETAS for m in SIDES.tolist()]
    by_epsilon = [_rows("epsilon", zeta, shape, EPSILONS) for zeta in ZETAS]
    return pd.concat([*by_entries, *by_epsilon], ignore_index=True)


def _rows(case: str, zeta: str, shape: tuple[int, int], epsilon: Array | float) -> pd.DataFrame:
    m, n = shape
    epsilons = np.atleast_1d(epsilon)
    alpha, _, beta = coefficients(shape, gamma=GAMMA, s2=S2, delta=DELTA, zeta=zeta)
    phi = np.array([largest_phi(alpha, beta, e) for e in epsilons.tolist()])
    return pd.DataFrame(
        {"case": case, "zeta": zeta, "m": m, "n": n, "entries": m * n, "epsilon": epsilons}
        | {"delta": DELTA, "gamma": GAMMA, "s2": S2, "harmonic": harmonic_numbers(min(shape))[0]}
        | {"beta": float(beta), "phi": phi, "mvg_std": (m * n) ** 0.25 / phi}
        | {"imgm_std": S2 / gaussian.mu(epsilons, DELTA)}
    )


THEORY = {"dimension": dimension}
