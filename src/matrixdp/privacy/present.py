"""Sums and counts of the values present, from which their means follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Box
from matrixdp.privacy.ratios import RatioQuery
from matrixdp.privacy.sensitivity import Mu


@dataclass(frozen=True)
class PresentMeanQuery(RatioQuery):
    """The sums S_j of the values present and w times their counts C_j, over n; shape 2m x 1.

    A record adds (s_j, w) per column, with s_j in [-1, 1], or (0, 0) where its value is missing.
    Its mean in column j is the ratio S_j / C_j. ``domain`` has m columns of s, then m of w c; what
    is no such pair is made one (see :meth:`states`), so that no records change the value by more.

    One record changes column j by (s - s', 0) where both values are present, which is at most 2 in
    both norms, and by (s, w) up to a sign where one of them is. Columns are independent:

    - ``replace``: l1 = m max(2, 1 + w), l2^2 = m max(4, 1 + w^2);
    - ``zero_out`` and ``add_or_remove``: l1 = m (1 + w), l2^2 = m (1 + w^2);

    over n, and k times as much for the k records of one person. Some neighbours attain each.

    Noise of scale b on both entries moves the ratio of n values at r in [-1, 1] by
    b sqrt(1 + r^2 / w^2), to first order. Under ``replace`` the counts are free: up to w = 1 in l1
    and w = sqrt(3) in l2, b is that of the sums alone. Otherwise b grows with w as 1 + w in l1 and
    sqrt(1 + w^2) in l2, and at r = 1 both are best at w = 1: the derivatives of
    (1 + w)^2 (1 + 1 / w^2) and of (1 + w^2) (1 + 1 / w^2) vanish there.
    """

    name = "present_mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        domain = self.domain
        if not isinstance(domain, Box) or domain != _domain(self.columns, domain.upper[-1]):
            raise InputError(
                f"domain is {domain}; it must have bounds -1 and 1 of each column, then 0 and the "
                "weight of a value present, 1 or more, as PresentMeanQuery.of gives them"
            )

    @classmethod
    def of(
        cls,
        columns: int,
        n_records: int,
        adjacency: str = "replace",
        *,
        gaussian: bool = False,
        per_person: int | None = None,
    ) -> PresentMeanQuery:
        """Return the query of m ``columns`` with the weight of counts that suits the noise."""
        weight = np.sqrt(3.0) if gaussian and adjacency == "replace" else 1.0
        domain = _domain(checks.count(columns=columns), float(weight))
        assert domain is not None
        return cls(domain, n_records, adjacency, per_person=per_person)

    @property
    def columns(self) -> int:
        """Number of columns, m."""
        return self.features // 2

    @property
    def weight(self) -> float:
        """What a value present adds beside itself, w."""
        assert isinstance(self.domain, Box)
        return self.domain.upper[-1]

    @property
    def l1_sensitivity(self) -> float:
        """L1 sensitivity, see the docstring of the class."""
        least = 2.0 if self.adjacency == "replace" else 0.0
        return self.columns * max(least, 1 + self.weight) / self.effective_records

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Gaussian noise; along directions that of all of the domain, a bound.

        With variances (t, u) of a column's two entries the square of its change is at most
        1 / t + w^2 / u, and under ``replace`` also 4 / t; columns add up.
        """
        if directions is not None:
            return Mu(super().directional_mu(variances, directions).value, False)
        t, u = np.split(checks.array(variances=variances, shape=(self.features,)), 2)
        squares = 1 / t + self.weight**2 / u
        if self.adjacency == "replace":
            squares = np.maximum(squares, 4 / t)
        return Mu(float(np.sqrt(squares.sum())) / self.effective_records, True)

    def terms(self, rows: Array) -> Array:
        """Return what records (k, m) in half ranges add, (k, 2m); NaN is a missing value."""
        present = ~np.isnan(rows)
        return np.hstack([np.where(present, rows, 0.0), self.weight * present])

    def states(self, rows: Array) -> Array:
        """Return rows (..., 2m) of the domain as what records can add; a count is all or nothing.

        Each entry follows from its own record alone.
        """
        values, marks = np.split(rows, 2, axis=-1)
        present = marks > self.weight / 2
        counts = np.where(present, self.weight, 0.0)
        return np.concatenate([np.where(present, values, 0.0), counts], axis=-1)

    def ratio_variances(self, variances: Array) -> Array:
        """Return the variances (m, 1) of means at 1 or -1, where no value is missing."""
        return variances[: self.columns] + variances[self.columns :] / self.weight**2


def _domain(columns: int, weight: float) -> Box | None:
    """Return the box of what a record adds, None for a weight below 1 or no columns."""
    if not (weight >= 1 and columns):
        return None
    return Box((-1.0,) * columns + (0.0,) * columns, (1.0,) * columns + (weight,) * columns)
