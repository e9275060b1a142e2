"""A comparison of MVG's Theorems 2 and 3: which one allows less noise (MVG, Theorem 4)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from matrixdp.checks import Array
from matrixdp.mechanisms.mvg import coefficients, harmonic_numbers, largest_phi
from matrixdp.privacy.published import MOVEMENT

EPSILON, DELTA = 1.0, 1e-5
RANKS = range(1, 31)
#: s2 / gamma, which is at most sqrt(2) for positive semi-definite queries and 2 for all queries.
RATIOS = np.sort([*np.geomspace(1e-4, 0.1, 31), *np.linspace(0.12, 2, 48), np.sqrt(2)])


def bounds(_seed: int) -> pd.DataFrame:
    """Return the coefficients and the upper bounds phi of both theorems for r x r queries.

    There is one row per r and ``ratio``, s2 / gamma. The unit is gamma, which changes no
    comparison. ``harmonic`` is H_r, ``root_harmonic`` H_r,1/2. The cases are ``grid``,
    ``experiment II`` and ``kernel matrix`` (of r records, the paper's Example 2).
    """
    movement = MOVEMENT.paper_l2 / MOVEMENT.gamma
    # Entries within [-c, c]: gamma = r c, and replacing a record changes 2 r - 1 of them by 2 c.
    kernels = [_bounds("kernel matrix", r, np.sqrt(8 * r - 4) / r, DELTA) for r in RANKS]
    last = _bounds("experiment II", MOVEMENT.features, movement, 1 / MOVEMENT.records)
    grid = [_bounds("grid", r, RATIOS, DELTA) for r in RANKS]
    return pd.concat([*grid, *kernels, last], ignore_index=True)


def _bounds(case: str, r: int, ratio: Array | float, delta: float) -> pd.DataFrame:
    ratios = np.atleast_1d(ratio)
    harmonic, root_harmonic = harmonic_numbers(r)
    constants = coefficients((r, r), gamma=1.0, s2=ratios, delta=delta)
    return pd.DataFrame(
        {"case": case, "r": r, "ratio": ratios}
        | {"harmonic": harmonic, "root_harmonic": root_harmonic, "epsilon": EPSILON, "delta": delta}
        | constants._asdict()
        | {"phi_thm2": largest_phi(constants.alpha, constants.beta, EPSILON)}
        | {"phi_thm3": largest_phi(constants.omega, constants.beta, EPSILON)}
    )


THEORY = {"bounds": bounds}
