"""What derives from a mean and covariance: itself, components, or a regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.moments import unprojected
from matrixdp.privacy.domain import Ball
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.second_moments import Products
from matrixdp.release.uncertainty import MomentNoise


@dataclass(frozen=True, kw_only=True)
class AboutMean(Products):
    """An answer from second moments of records with a constant 1, or about a private mean."""

    about_mean = True
    counts = True

    def noisy(self, noise: MomentNoise, value: Array) -> Noisy:
        """Return the noisy mean, and the covariance about it as the noise left it."""
        raw = unprojected(value, weighted=self.query.add_or_remove)
        return Noisy(raw.covariance, noise.release, noise, mean=raw.mean, weight=raw.weight)

    @property
    def has_intervals(self) -> bool:
        """None where a private number of records divides, or a ball shrinks records."""
        return super().has_intervals and not isinstance(self.query.domain, Ball)

    def widths(self, part: AdditiveMechanism, *, shrinks: bool = False) -> dict[str, Any]:
        """Return nothing: bounds on the noise depend on the noisy mean."""
        return {}


def possible(covariance: Array) -> Array:
    """Return a covariance (m, m) in half ranges with variances of at most 1.

    Records within their bounds have no larger ones. Rows and columns are scaled, so that
    correlations stay, and no eigenvalue becomes negative.
    """
    factor = 1 / np.sqrt(np.maximum(np.diagonal(covariance), 1.0))
    return covariance * np.outer(factor, factor)


def exact_covariance(records: Array) -> Array:
    """Return the covariance (m, m) of records (k, m)."""
    return np.cov(records.T, bias=True).reshape(records.shape[1], records.shape[1])
