"""What one record can change in the value of a query, from public bounds alone.

A :class:`Query` is built from a public domain of one record (a :class:`Box` or a :class:`Ball`), the
public number of records and an adjacency. It never sees data; mechanisms calibrate to it alone.

Records are columns: a data matrix X is m features by n records. ``replace`` changes one record,
``add_remove`` adds, removes or zeroes one.

For Gaussian noise the guarantee depends on ``mu``, the supremum over neighbours of the whitened
shift (Dong, Roth & Su 2022), taken here over the *structured* set of shifts that neighbours can
really cause. Neither query's set is a Frobenius ball, which is why directional noise can help.
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError

ADJACENCIES = ("replace", "add_remove")

#: The largest number of features for which all sign vectors are enumerated (2^21 at most).
ENUMERABLE = 22


class Mu(NamedTuple):
    """The Gaussian-DP parameter of a release: its value, and whether it is the exact supremum.

    Where ``exact`` is false the value is an upper bound: the release is at least this private.
    """

    value: float
    exact: bool


@dataclass(frozen=True)
class Box:
    """Public bounds of each feature of a record: lower <= x <= upper.

    Args:
        lower, upper: m finite numbers each, lower < upper.

    Raises:
        InputError: the bounds are not finite, differ in length, or do not satisfy lower < upper.
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        lower = checks.array(shape=(None,), lower=self.lower)
        upper = checks.array(shape=lower.shape, upper=self.upper)
        for i in np.flatnonzero(~(lower < upper)):
            raise InputError(
                f"lower[{i}] is {lower[i]} and upper[{i}] is {upper[i]}; "
                "each lower bound must be below its upper bound"
            )
        object.__setattr__(self, "lower", tuple(lower.tolist()))
        object.__setattr__(self, "upper", tuple(upper.tolist()))

    @classmethod
    def cube(cls, features: int, lower: float, upper: float) -> Box:
        """Return the box with the same bounds for each of ``features`` features."""
        return cls((lower,) * features, (upper,) * features)

    @property
    def features(self) -> int:
        """Number of features, m."""
        return len(self.lower)

    @property
    def widths(self) -> Array:
        """Range of each feature, shape (m,)."""
        return np.subtract(self.upper, self.lower)

    @property
    def magnitudes(self) -> Array:
        """Largest absolute value of each feature, shape (m,)."""
        return np.maximum(np.abs(self.lower), np.abs(self.upper))

    @property
    def radius(self) -> float:
        """Largest l2 norm of a record."""
        return float(np.linalg.norm(self.magnitudes))

    @property
    def symmetric(self) -> bool:
        """Whether every feature's bounds are -c and c."""
        return bool(np.array_equal(np.negative(self.lower), self.upper))

    @property
    def nonnegative(self) -> bool:
        """Whether no feature can be below 0."""
        return min(self.lower) >= 0


@dataclass(frozen=True)
class Ball:
    """Public bound on the l2 norm of a record of ``features`` features.

    Raises:
        InputError: the radius is not a finite number above 0.
    """

    radius: float
    features: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", checks.positive(radius=self.radius))
        object.__setattr__(self, "features", checks.count(features=self.features))

    @property
    def magnitudes(self) -> Array:
        """Largest absolute value of each feature, shape (m,)."""
        return np.full(self.features, self.radius)


@dataclass(frozen=True)
class Query(abc.ABC):
    """A query, and what neighbouring data sets can change in its value.

    Args:
        domain: public bounds of one record.
        records: public number of records, n.
        adjacency: ``replace`` or ``add_remove``.

    Raises:
        InputError: ``records`` is not a whole number above 0, or the adjacency is unknown.
    """

    domain: Box | Ball
    records: int
    adjacency: str = "replace"
    name: ClassVar[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "records", checks.count(records=self.records))
        checks.choice(ADJACENCIES, adjacency=self.adjacency)

    @property
    def features(self) -> int:
        """Number of features, m."""
        return self.domain.features

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, int]:
        """Shape of the query's value."""

    @property
    @abc.abstractmethod
    def l1(self) -> float:
        """Largest change of the value in the entrywise l1 norm."""

    @property
    @abc.abstractmethod
    def l2(self) -> float:
        """Largest change of the value in the Frobenius norm."""

    @property
    @abc.abstractmethod
    def paper_l2(self) -> float:
        """The l2 sensitivity as the MVG paper states it (section 8)."""

    @property
    @abc.abstractmethod
    def gamma(self) -> float:
        """Largest Frobenius norm of the value over the public domain (MVG paper, Table 1)."""

    @abc.abstractmethod
    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of directional Gaussian noise on this query's value.

        Args:
            variances: variance along each direction, shape (m,), above 0.
            directions: orthonormal directions, one per column, shape (m, m); None is the standard
                basis.
        """

    @abc.abstractmethod
    def check(self, value: ArrayLike) -> Array:
        """Return the value as an array if it lies in the public bounds, else raise InputError."""


class Identity(Query):
    """The identity query f(X) = X, shape m x n (MVG paper, sections 8.1 and 8.3)."""

    name = "identity"

    @property
    def shape(self) -> tuple[int, int]:
        """m x n."""
        return self.features, self.records

    @property
    def changes(self) -> Array:
        """Largest change of each feature of the record that differs, shape (m,)."""
        if isinstance(self.domain, Ball):
            return np.full(self.features, self.l2)
        return self.domain.widths if self.adjacency == "replace" else self.domain.magnitudes

    @property
    def l1(self) -> float:
        """Sum of the largest changes; for a ball sqrt(m) times l2."""
        if isinstance(self.domain, Ball):
            return float(np.sqrt(self.features) * self.l2)
        return float(self.changes.sum())

    @property
    def l2(self) -> float:
        """Norm of the largest changes; for a ball its diameter (``replace``) or radius."""
        if isinstance(self.domain, Ball):
            return (2 if self.adjacency == "replace" else 1) * self.domain.radius
        return float(np.linalg.norm(self.changes))

    @property
    def paper_l2(self) -> float:
        """The paper's value is tight for the identity query."""
        return self.l2

    @property
    def gamma(self) -> float:
        """sqrt(n) times the largest norm of a record."""
        return float(np.sqrt(self.records) * self.domain.radius)

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Z = W diag(sqrt(t)) N: one column changes, by a vector of the box or ball.

        A convex function of the change is largest at a vertex: without directions the supremum
        is sqrt(sum_i w_i^2 / t_i); with directions all sign vectors are tried up to
        ``ENUMERABLE`` features, and beyond that the value is a safe upper bound.
        """
        precisions = _precisions(variances, self.features)
        if isinstance(self.domain, Ball):
            return Mu(float(self.l2 * np.sqrt(precisions.max())), True)
        square, exact = _largest_form(precisions, directions, self.changes)
        # Zeroing a record of a one-sided box cannot realise every sign vector.
        attained = directions is None or self.adjacency == "replace" or self.domain.symmetric
        return Mu(float(np.sqrt(square)), exact and attained)

    def check(self, value: ArrayLike) -> Array:
        """Return X, or a stack of such, if every record lies in the public domain."""
        matrix = checks.array(value=value, shape=self.shape)
        if isinstance(self.domain, Ball):
            norms = np.linalg.norm(matrix, axis=-2)
            _bounded("the l2 norm of a record", norms, 0.0, self.domain.radius)
        else:
            lower, upper = (np.array(side) for side in (self.domain.lower, self.domain.upper))
            axes = tuple(axis for axis in range(matrix.ndim) if axis != matrix.ndim - 2)
            _bounded("the smallest value of a feature", matrix.min(axis=axes), lower, upper)
            _bounded("the largest value of a feature", matrix.max(axis=axes), lower, upper)
        return matrix


class Covariance(Query):
    """The second-moment query f(X) = X X^T / n, shape m x m (MVG paper, section 8.2)."""

    name = "covariance"

    @property
    def shape(self) -> tuple[int, int]:
        """m x m."""
        return self.features, self.features

    @property
    def _squared_radius(self) -> float:
        return self.domain.radius**2

    @property
    def _one_sided(self) -> bool:
        # Entries of x x^T and x' x'^T are then both in [0, c_i c_j], so that x' = 0 is the worst.
        return isinstance(self.domain, Box) and self.domain.nonnegative

    @property
    def _equal_cube(self) -> bool:
        return (
            isinstance(self.domain, Box)
            and self.domain.symmetric
            and len(set(self.domain.upper)) == 1
        )

    @property
    def l1(self) -> float:
        """Over all entries: (sum_i c_i)^2 / n, with x' = 0 the worst neighbour.

        With u = x + x' and v = x - x', x x^T - x' x'^T is the symmetric part of u v^T and
        |u_i| + |v_i| <= 2 c_i, so that its l1 norm is at most |u|_1 |v|_1 <= (sum_i c_i)^2.
        """
        if isinstance(self.domain, Ball):
            worst = self.features * self._squared_radius
            return (2 if self.adjacency == "replace" else 1) * worst / self.records
        return float(self.domain.magnitudes.sum() ** 2) / self.records

    @property
    def l1_upper(self) -> float:
        """Over the upper triangle with the diagonal: ((sum c_i)^2 + sum c_i^2) / 2n."""
        if isinstance(self.domain, Ball):
            return (self.l1 + self._diagonal_l1) / 2
        c = self.domain.magnitudes
        return float((c.sum() ** 2 + (c**2).sum()) / 2) / self.records

    @property
    def _diagonal_l1(self) -> float:
        records_that_count = 2 if self.adjacency == "replace" else 1
        return records_that_count * self._squared_radius / self.records

    @property
    def l2(self) -> float:
        """Tight Frobenius sensitivity; sqrt(2) R^2 / n where the box has unequal sides.

        Zeroing a record gives R^2 / n. Replacing one gives sqrt(2) R^2 / n if two orthogonal
        records of full norm exist: in a ball, and in [-c, c]^m for even m; for odd m two sign
        vectors are at best one entry off orthogonal. In [0, c]^m x' = 0 stays the worst.
        """
        zeroed = self._squared_radius / self.records
        if self.adjacency == "add_remove" or self._one_sided:
            return zeroed
        if self._equal_cube and self.features % 2:
            m = self.features
            return max(1.0, float(np.sqrt(2 * (m**2 - 1))) / m) * zeroed
        return float(np.sqrt(2)) * zeroed

    @property
    def l2_upper(self) -> float:
        """Tight l2 sensitivity of the upper triangle with the diagonal; an upper bound as in l2."""
        if isinstance(self.domain, Ball):
            return self.l2
        m, squares = self.features, self.domain.magnitudes**2
        total = squares.sum() ** 2
        if self.adjacency == "add_remove" or self._one_sided:
            square = (total + (squares**2).sum()) / 2
        elif self._equal_cube:
            square = total * max(1 - (m % 2) / m**2, 1.0 if m == 1 else 0.0)
        else:
            square = (2 * total + (squares**2).sum()) / 2
        return float(np.sqrt(square)) / self.records

    @property
    def paper_l2(self) -> float:
        """2 m c^2 / n of section 8.2.3, sqrt(2) too large under ``replace`` (safe)."""
        return 2 * self._squared_radius / self.records

    @property
    def gamma(self) -> float:
        """Largest squared norm of a record."""
        return self._squared_radius

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Z = U N U^T with U = W diag(t)^(1/4) ... see Notes.

        Notes:
            ``variances`` are those of the factor: Z = U N U^T with U = W diag(sqrt(t)), so that
            in the basis W entry (i, j) has standard deviation sqrt(t_i t_j). With y = U^-1 x,
            mu^2 n^2 = sup |y|^4 + |y'|^4 - 2 (y . y')^2, which is R^4 for ``add_remove`` and at
            most 2 R^4 for ``replace``, R^2 = sup |y|^2; the bound is attained if the shares
            c_i^2 / t_i can be split into two equal halves.
        """
        precisions = _precisions(variances, self.features)
        if isinstance(self.domain, Ball):
            square, exact = self._squared_radius * float(precisions.max()), True
        else:
            square, exact = _largest_form(precisions, directions, self.domain.magnitudes)
        if self.adjacency == "add_remove" or (self._one_sided and directions is None):
            return Mu(square / self.records, exact)
        attained = self._replaced_is_attained(precisions, directions)
        return Mu(float(np.sqrt(2)) * square / self.records, exact and attained)

    def _replaced_is_attained(self, precisions: Array, directions: ArrayLike | None) -> bool:
        if isinstance(self.domain, Ball):
            # Two orthogonal records of full whitened norm need a repeated largest precision.
            return bool(np.sum(np.isclose(precisions, precisions.max(), rtol=1e-12)) >= 2)
        if directions is not None or not self.domain.symmetric or self.features > ENUMERABLE:
            return False
        shares = self.domain.magnitudes**2 * precisions
        halves = _signs(self.features) @ shares
        return bool(np.abs(halves).min() <= 1e-12 * shares.sum())

    def check(self, value: ArrayLike) -> Array:
        """Return X X^T / n, or a stack of such, if it is symmetric and in the public bounds."""
        moments = checks.array(value=value, shape=self.shape)
        bound = np.outer(self.domain.magnitudes, self.domain.magnitudes)
        if np.abs(moments - np.swapaxes(moments, -1, -2)).max() > 1e-9 * bound.max():
            raise InputError("value is not symmetric; second moments X X^T / n must be")
        _bounded("an absolute second moment", np.abs(moments) / bound, 0.0, 1 + 1e-9)
        return moments


def _precisions(variances: ArrayLike, features: int) -> Array:
    t = checks.array(variances=variances, shape=(features,))
    if not (t > 0).all():
        raise InputError(f"variances hold {t.min()}; every variance must be above 0")
    return 1 / t


def _bounded(what: str, found: Array, lower: ArrayLike, upper: ArrayLike) -> None:
    lower, upper = np.broadcast_to(lower, found.shape), np.broadcast_to(upper, found.shape)
    for index in np.argwhere((found < lower) | (found > upper)):
        i = tuple(index)
        raise InputError(
            f"{what} is {found[i]} at index {tuple(int(k) for k in i)}, outside its public bounds "
            f"[{lower[i]}, {upper[i]}]; clip the data or widen the declared bounds first"
        )


def _signs(count: int) -> Array:
    """Return all sign vectors of length ``count`` up to a global sign, shape (2^(count-1), count).

    """
    bits = np.arange(2 ** (count - 1))[:, None] >> np.arange(count) & 1
    return 1.0 - 2.0 * bits


def _largest_form(precisions: Array, directions: ArrayLike | None, sides: Array) -> tuple[float, bool]:
    """Return sup of d^T Sigma^-1 d over |d_i| <= sides_i, and whether it is exact."""
    if directions is None:
        return float(precisions @ sides**2), True
    basis = checks.orthonormal(directions=directions)
    form = (basis * precisions) @ basis.T * np.outer(sides, sides)
    m = len(sides)
    if m > ENUMERABLE:
        eigenvalue = float(np.linalg.eigvalsh(form)[-1])
        return min(float(np.abs(form).sum()), m * eigenvalue), False
    # s^T F s over halves s = (a, b): a^T F_aa a + b^T F_bb b + 2 a^T F_ab b, one matrix product.
    k = m // 2
    b = _signs(m - k)
    a = np.concatenate([_signs(k), -_signs(k)]) if k else np.zeros((1, 0))
    within_a = np.einsum("si,ij,sj->s", a, form[:k, :k], a)
    within_b = np.einsum("si,ij,sj->s", b, form[k:, k:], b)
    values = within_a[:, None] + within_b + 2 * (a @ form[:k, k:]) @ b.T
    return float(values.max()), True
