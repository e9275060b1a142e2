"""Means of the columns: of all values, missing ones filled, or of the values present alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.moments import CONSTANT, LEAST
from matrixdp.privacy.sensitivity import MeanQuery, Query
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.output import NEAREST, Output
from matrixdp.release.uncertainty import MomentNoise


@dataclass(frozen=True, kw_only=True)
class Mean(Output):
    """Means, (1, m), within their bounds."""

    name = "mean"
    title = "means"
    query_type: ClassVar[type[Query]] = MeanQuery
    counts = True
    beyond_bounds = NEAREST
    number, small = "mean", "difference"
    keys = ("by", "categories")

    def noisy(self, noise: MomentNoise, value: Array) -> Noisy:
        """Return noisy means over their noisy weight, where they have one."""
        if self.constant:
            weight = np.maximum(value[:, CONSTANT, None], LEAST)
            value = np.delete(value, CONSTANT, axis=1) / weight
        return Noisy(value, noise.release, noise)

    def answer(self, noisy: Noisy) -> Array:
        """Return means (1, m) in the columns' units, clipped to their bounds."""
        return self.means(noisy.value[:1])

    def details(self, noisy: Noisy) -> dict[str, Any]:
        """Return the means that were clipped, as the noise left them."""
        return self.unclipped(noisy.value[0])
