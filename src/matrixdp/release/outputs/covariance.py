"""Means, variances and covariances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.release.outputs.about_mean import AboutMean, exact_covariance, possible
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import NEAREST
from matrixdp.release.outputs.second_moments import relative_error
from matrixdp.release.uncertainty import ALONE, KEY
from matrixdp.release.words import by_name, table

#: Key of covariances as the noise left them, in details.
RAW = "raw_covariance"


@dataclass(frozen=True, kw_only=True)
class Covariance(AboutMean):
    """Means and the covariance about them, (m, 1 + m)."""

    name = "covariance"
    title = "means, variances and covariances"
    number, small = "variance", "variance"
    root = "standard deviation"
    headers = ("mean",)
    named_rows = True
    beyond_bounds = (
        f"{NEAREST}; a covariance is the nearest that has no negative eigenvalue, a variance that "
        "is beyond what the bounds allow is that, with its column's covariances in proportion, and "
        f"{RAW} in the details has all of them as the noise left them"
    )
    loss_unit = "relative error"
    lost = 0.3

    def answer(self, noisy: Noisy) -> Array:
        """Return the column of means, and the covariance (m, m), in the columns' units."""
        estimate = noisy.estimate
        units = np.outer(self.half, self.half)
        return np.column_stack([self.means(estimate.mean), possible(estimate.covariance) * units])

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return means that were clipped, and the covariance, as the noise left them."""
        assert noisy.mean is not None
        return {**self.unclipped(noisy.mean), RAW: table(self.columns, self.raw(noisy))}

    def raw(self, noisy: Noisy) -> Array:
        """Return the covariance (m, m) in the columns' units, as the noise left it."""
        return noisy.value * np.outer(self.half, self.half)

    def interval(self, noisy: Noisy) -> dict[str, Any]:
        """Return the intervals of means and covariances, as files state them."""
        assert noisy.mean is not None
        mean, names, sides = noisy.mean, self.columns, [-1, 1]
        shifts, widths = noisy.noise.covariance_widths(mean)
        limits = self.unscale(np.clip([mean - shifts, mean + shifts], -1, 1)).T
        units = np.outer(self.half, self.half)[:, :, None]
        entries = (noisy.value[:, :, None] + widths[:, :, None] * sides) * units
        # Only intervals of the mean cover where a private radius shrinks records.
        means, covariances = {"mean": by_name(names, limits)}, {"covariance": table(names, entries)}
        if noisy.shrinks:
            return {KEY: means, ALONE: covariances}
        return {KEY: means | covariances}

    def loss(self, rows: Array, answers: Array) -> float:
        """Return the Frobenius norm of the error, over that of the exact covariance."""
        exact = exact_covariance(rows / self.half)
        return relative_error(answers[..., 1:] / np.outer(self.half, self.half) - exact, exact)
