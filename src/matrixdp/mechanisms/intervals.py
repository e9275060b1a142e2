"""The widths of intervals that noise implies, entry by entry.

They follow from the calibration alone. They do not cover the effects of clipping, or of sampling
the records. Widths hold for all entries simultaneously by a union bound.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from matrixdp.checks import Array
from matrixdp.noise import safe
from matrixdp.noise.value import Noise


def widths(noise: Noise, level: float, *, rounding_factor: float = 1.0) -> Array:
    """Return bounds on the noise of each entry that hold together with probability ``level``.

    They include the rounding of safe noise.

    Args:
        noise: the noise.
        level: probability between 0 and 1.
        rounding_factor: factor of safe noise, see
            `matrixdp.mechanisms.additive.AdditiveMechanism.rounding_factor`.

    Returns:
        Bounds (m, n), a view where columns are alike.
    """
    deviations, chance = np.sqrt(noise.variances), (1 - level) / noise.count
    normal = noise.unit == safe.NORMAL
    quantile = -ndtri(chance / 2) if normal else -np.log(chance) / np.sqrt(2)
    # The value is rounded to a step, and so is the noise. Noise beyond 1e154 has no end.
    bounds = rounding_factor * (quantile * deviations + 2 * safe.STEP * deviations)
    return np.broadcast_to(bounds, noise.shape)
