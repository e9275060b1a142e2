"""How our numbers lie to published ones."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: An exact 0 may come out of a sum as 1e-17; no smaller metric than this means anything.
ROUNDING = 1e-12


def verdict(published: float, margin: float, mean: float, ci95: float) -> str:
    """Return how our mean lies to the published one: ``within``, ``lower`` or ``higher``.

    ``within`` means that the 95 % interval of the difference covers 0. Both half-widths are 95 %
    intervals, so that of the difference is sqrt(margin^2 + ci95^2); a published value without an
    interval counts as exact. Without an interval of ours there is no verdict.
    """
    if np.isnan(ci95):
        return ""
    difference = mean - published
    if abs(difference) <= np.hypot(margin, ci95) + ROUNDING:
        return "within"
    return "higher" if difference > 0 else "lower"


def implied(curve: pd.DataFrame, target: float) -> tuple[float, float]:
    """Return the epsilon, and the noise standard deviation, at which a curve meets ``target``.

    Args:
        curve: ``epsilon`` (numbers), ``mean`` and ``noise_std`` of one mechanism.
        target: an error in the units of ``mean``.

    Returns:
        Interpolated in the logarithms of all three, after the isotonic fit of an error that falls
        with epsilon; NaN where the fit does not reach the target, or there is no noise to name.
    """
    from scipy.optimize import isotonic_regression

    nothing = float("nan"), float("nan")
    curve = curve[curve["mean"] > 0].sort_values("epsilon")
    if len(curve) < 2 or target <= 0:
        return nothing
    fit = isotonic_regression(curve["mean"].to_numpy(), increasing=False).x
    if not fit[-1] <= target <= fit[0]:
        return nothing
    grid = np.log(curve["epsilon"].to_numpy())
    where = np.interp(-np.log(target), -np.log(fit), grid)
    noise = np.interp(where, grid, np.log(curve["noise_std"].to_numpy()))
    return float(np.exp(where)), float(np.exp(noise))
