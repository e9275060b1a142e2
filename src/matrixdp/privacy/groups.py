"""Sums and counts of records by group, from which means, counts and shares of groups follow."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Box
from matrixdp.privacy.ratios import RatioQuery
from matrixdp.privacy.sensitivity import Mu


@dataclass(frozen=True)
class GroupMeanQuery(RatioQuery):
    """By group w times the count of its records and the sums of m columns, over n; G (1 + m) x 1.

    A record of group g adds (w, s_1, ..., s_m) to that group, with s in [-1, 1]^m, and nothing to
    the others; a record of no group adds nothing at all. Means of a group are ratios of two
    numbers. ``domain`` has 1 + m features per group; what is no such record is made one (see
    :meth:`states`), so that no records change the value by more.

    A record that is added, removed or zeroed out changes one group by (w, s). One that is replaced
    leaves one group by (w, s) and enters another by (w, s'), or stays in its group, which then
    changes by (0, s - s'). So, whatever the number of groups, if there are at least two:

    - ``replace``: l1 = 2 (w + m), l2^2 = max(2 (w^2 + m), 4 m);
    - ``zero_out`` and ``add_or_remove``: l1 = w + m, l2^2 = w^2 + m;

    over n, and k times as much for the k records of one person: they change the value by k such
    changes, and are furthest apart where all of them move alike. Some neighbours attain each.

    Noise of scale b on all entries moves the ratio of n records at r in [-1, 1] by
    b sqrt(1 + r^2 / w^2), to first order. The weights are best at r = 1. There (w + m)^2 (1 + 1 /
    w^2) is least where w^3 = m, and (w^2 + m) (1 + 1 / w^2) where w^4 = m. Under ``replace`` counts
    are free in l2 up to w^2 = m, and beyond it the second form grows.
    """

    groups: int = field(kw_only=True)
    name = "group_mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "groups", checks.count(groups=self.groups))
        domain, (size, rest) = self.domain, divmod(self.features, self.groups)
        fits = isinstance(domain, Box) and size and not rest
        if not fits or domain != _domain(self.groups, size - 1, domain.magnitudes[0]):
            raise InputError(
                f"domain is {domain} for {checks.plural(self.groups, 'group')}; it must have, for "
                "each of them, bounds 0 and the weight of a record, 1 or more, then -1 and 1 of "
                "each column, as GroupMeanQuery.of gives them"
            )

    @classmethod
    def of(
        cls,
        groups: int,
        columns: int,
        n_records: int,
        adjacency: str = "replace",
        *,
        gaussian: bool = False,
        per_person: int | None = None,
    ) -> GroupMeanQuery:
        """Return the query of m ``columns``, perhaps none, whose weight suits the noise."""
        root = 3.0 if not gaussian else 2.0 if adjacency == "replace" else 4.0
        weight = max(1.0, columns ** (1 / root))
        domain = _domain(checks.count(groups=groups), columns, weight)
        assert domain is not None
        return cls(domain, n_records, adjacency, per_person=per_person, groups=groups)

    @property
    def columns(self) -> int:
        """Number of columns, m; 0 of counts alone."""
        return self.features // self.groups - 1

    @property
    def weight(self) -> float:
        """What a record adds to the count of its group, w."""
        assert isinstance(self.domain, Box)
        return self.domain.upper[0]

    @property
    def l1_sensitivity(self) -> float:
        """L1 sensitivity, see the docstring of the class."""
        replaced = self.adjacency == "replace"
        moved = (min(2, self.groups) if replaced else 1) * (self.weight + self.columns)
        return max(moved, 2.0 * self.columns * replaced) / self.effective_records

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Gaussian noise; along directions that of all of the domain, a bound.

        With variances (u, t_1, ..., t_m) of a group's entries a record moves it by a square of
        a = w^2 / u + sum_j 1 / t_j. Under ``replace`` two groups add up, and within one it is
        sum_j 4 / t_j.
        """
        if directions is not None:
            return Mu(super().directional_mu(variances, directions).value, False)
        numbers = checks.array(variances=variances, shape=(self.features,))
        precisions = 1 / numbers.reshape(self.groups, -1)
        inner = precisions[:, 1:].sum(axis=1)
        squares = np.sort(self.weight**2 * precisions[:, 0] + inner)
        square = squares[-1]
        if self.adjacency == "replace":
            square = max(squares[-2:].sum(), 4 * inner.max())
        return Mu(float(np.sqrt(square)) / self.effective_records, True)

    def terms(self, rows: Array) -> Array:
        """Return what records (k, m + 1) add, (k, G (1 + m)).

        The last number of a row is the place of its group, from 0; any other is of no group.
        """
        values, places = rows[:, :-1], rows[:, -1]
        (inside,) = np.nonzero((places >= 0) & (places < self.groups))
        result = np.zeros((len(rows), self.groups, 1 + self.columns))
        of_group = inside, places[inside].astype(np.intp)
        result[*of_group, 0] = self.weight
        result[*of_group, 1:] = values[inside]
        return result.reshape(len(rows), -1)

    def states(self, rows: Array) -> Array:
        """Return rows (..., G (1 + m)) of the domain as what records can add: to one group at most.

        It is the first with the largest mark, if that is more than half of the weight.
        """
        parts = rows.reshape(*rows.shape[:-1], self.groups, -1)
        marks = parts[..., :1]
        first = marks.argmax(axis=-2, keepdims=True) == np.arange(self.groups)[:, None]
        member = first & (marks > self.weight / 2)
        counts = np.where(member, self.weight, 0.0)
        states = np.concatenate([counts, np.where(member, parts[..., 1:], 0.0)], axis=-1)
        return states.reshape(rows.shape)

    def ratio_variances(self, variances: Array) -> Array:
        """Return the variances (m, 1) of means at 1 or -1, of a group with its even share of n.

        Of counts alone it is that of a count, over the even share, (1, 1).
        """
        parts = variances.reshape(self.groups, -1).max(axis=0)
        count = parts[:1] / self.weight**2
        return self.groups**2 * (parts[1:] + count if self.columns else count)[:, None]


def _domain(groups: int, columns: int, weight: float) -> Box | None:
    """Return the box of what a record adds, None for a weight below 1."""
    if not weight >= 1:
        return None
    lower, upper = (0.0,) + (-1.0,) * columns, (float(weight),) + (1.0,) * columns
    return Box(lower * groups, upper * groups)
