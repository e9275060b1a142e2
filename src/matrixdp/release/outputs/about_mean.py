"""What derives from a mean and covariance: itself, components, or a regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.moments import CONSTANT, unprojected
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import MeanQuery, SecondMomentQuery
from matrixdp.release.comparison import Option, variances
from matrixdp.release.outputs.noisy import Noisy
from matrixdp.release.outputs.second_moments import Products
from matrixdp.release.uncertainty import MomentNoise


@dataclass(frozen=True, kw_only=True)
class AboutMean(Products):
    """An answer from second moments of records with a constant 1, or about a private mean."""

    about_mean = True
    counts = True
    #: Whether the mean is an answer itself, and not the centre of a covariance alone.
    answers_mean = False

    @property
    def constant_weight(self) -> float:
        """Weight w of the constant in the noise, see :class:`~...scaled.WeightedConstant`.

        Unless one is stated it is 1, and :func:`balanced_weight` where the mean is an answer.
        """
        if not self.constant:
            return 1.0
        if self.mean_weight is not None:
            return self.mean_weight
        assert isinstance(self.query, SecondMomentQuery)
        laplace = self.mechanism == "laplace" or not self.delta
        return balanced_weight(self.query, laplace=laplace) if self.answers_mean else 1.0

    def moments_std(self, part: AdditiveMechanism) -> float:
        """Return the root mean square of the noise of an entry of moments, for a ridge.

        Where the constant has a weight, it is that of moments with this weight: the ridge is of the
        moments of x, whose noise does not become smaller with that of the mean.
        """
        if self.constant_weight == 1:
            return part.noise_std
        sizes = np.ones(part.query.features)
        sizes[CONSTANT] /= self.constant_weight
        spread = variances(part) / np.outer(sizes, sizes) ** 2
        return float(np.sqrt(spread.mean()))

    def error(self, option: Option) -> float:
        """Return the noise of moments of x over half of their ranges, whatever that of the mean."""
        weighted = self.constant_weight != 1
        return self.moments_std(option.release.widest) if weighted else option.error

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


def balanced_weight(query: SecondMomentQuery, *, laplace: bool) -> float:
    """Return the weight w of the constant that costs a mean and moments the same factor of noise.

    Let s(w) be the noise of an entry of the moments of (x, w) at a budget, so that the mean has
    noise s(w) / w, and let r be that of a mean alone at this budget. The mean then has (s(w) / w) /
    r times the noise that it has alone, and the moments have s(w) / s(1). The first falls with w
    and the second grows, so that the larger of both is least where they are equal: at w = s(1) / r,
    a ratio of two public sensitivities. From some w on s(w) / w grows, and none beyond is taken.

    For m columns in [-1, 1], replaced records and Gaussian noise, s(w) is in proportion to about
    m + w^2, and r to 2 sqrt(m) in the same unit: w = (m + 1) / (2 sqrt(m)), and both factors are
    (m + w^2) / (m + 1), below 5/4. Of Laplace noise s(w) is in proportion to m (m + 1) / 2 + m w +
    w^2, and r to 2 m: w = (m + 1) (m + 2) / (4 m), and both factors are below 13/8. Where the
    number of records is private, they are below 1.6 and 5/2. In a ball a weight of 1 gives a mean
    the noise that it has alone.

    Args:
        query: moments of (x, 1), in half ranges.
        laplace: whether the noise is Laplace noise, which is calibrated in the l1 norm.
    """
    if not isinstance(query.domain, Box):
        return 1.0
    columns = query.features - 1
    # Where the number of records is private, a mean alone has a constant, too.
    cube = Box.cube(columns + query.add_or_remove, -1.0, 1.0)
    mean = MeanQuery(cube, query.n_records, query.adjacency, per_person=query.per_person)
    half = columns * (columns + 1) / 2
    if laplace:
        weight, most = query.triangle_l1_sensitivity / mean.l1_sensitivity, half**0.5
    else:
        weight = query.triangle_l2_sensitivity / mean.l2_sensitivity
        most = half**0.25 if query.add_or_remove else columns**0.5
    return float(min(weight, most))


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
