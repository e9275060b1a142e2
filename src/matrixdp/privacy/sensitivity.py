"""Queries and their sensitivities: the largest change of a value by one record.

A :class:`Query` is built from a public domain of one record (:class:`Box` or :class:`Ball`), the
public number of records and an adjacency. It never sees data; mechanisms calibrate to it alone.

Records are columns: a data matrix X is m features by n records. Neighbours differ in one record:
under ``replace`` by any other record, under ``zero_out`` by a null record, and n is public. Under
``add_or_remove`` one data set has a record more, and n is private.

The null record is abstract. It need not lie in the domain, and every query maps it to zeros: it
adds nothing to a mean or to second moments, and its column of the identity query is 0. So
``zero_out`` is the same relation for all queries, even if their units have different zeros. Let M_1
and M_2 be private for data sets X, X' that differ in one record, null in X'. The pair (M_1, M_2) is
then a composition for the same X, X': M_1's guarantee holds for its inputs f_1(X), f_1(X'). M_2's
holds for f_2(X), f_2(X') given any output of M_1. Every composition theorem applies, adaptive ones
included. Nothing follows for data sets of n - 1 records: that relation is ``add_or_remove``.

Under ``add_or_remove`` the value is a sum over any number of records, divided by the public number
``n_records``. Adding a record changes the sum as much as zeroing it out does, so that sensitivities
are those of ``zero_out``. The identity query has no such relation: its shape shows n.

With ``per_person`` = k, neighbours differ in all records of one person, who has k at most. Under
``replace`` and ``zero_out`` these stay in their places, and it is public who has how many. A sum
changes by k changes of one record. By the triangle inequality its sensitivity is at most k times
that of one record, in every norm; k equal records attain it wherever one record does. The identity
query changes in k columns: its sensitivity is k times as large in the l1 norm, and sqrt(k) times in
the l2 norm.

For Gaussian noise the guarantee depends on ``mu``, the supremum over neighbours of the whitened
shift (Dong, Roth & Su 2022). The supremum is over the *structured* set of shifts that neighbours
can cause. No query's set is a Frobenius ball, which is why directional noise can help.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy.domain import Ball, Box, block_rows, squared_norms
from matrixdp.privacy.quadratic import UPWARDS, largest_difference, largest_form

#: Relations of a public number of records, and the one of a private number.
ADJACENCIES = ("replace", "zero_out")
ADD_OR_REMOVE = "add_or_remove"

#: Records of a block in sums over records, at most.
BLOCK = 1 << 14

#: Tolerance factor for rounding in computed norms and moments; bounds of entries have none.
ROUNDING = 1 + 1e-9


class Mu(NamedTuple):
    """The Gaussian-DP parameter of a release: attained by some neighbours, or an upper bound."""

    value: float
    tight: bool


@dataclass(frozen=True)
class _Query:
    """A query and the largest changes of its value between neighbouring data sets.

    Each query has a ``name``, its ``output_type`` (as ``CalibratedMechanism.output_type``), the
    ``shape`` of its value, and:

    - ``half_widths``: those (m,) of a box for directional noise: of the shift of the column that
      changes for records and means, of the record itself for second moments;
    - ``l1_sensitivity`` and ``l2_sensitivity``: largest change of the value in the entrywise l1 and
      the Frobenius norm;
    - ``largest_norm``: largest Frobenius norm of the value (gamma of the MVG paper's Table 1);
    - ``directional_mu(variances, directions=None)``: mu of directional Gaussian noise. Its
      variances (m,) are above 0. Its directions (m, m) are orthonormal, one per column; None is the
      standard basis;
    - ``value(records)``: the exact value on a data matrix (..., m, n), of records clipped to a
      ball. A box does not clip: ``check(value)`` refuses values outside.
    """

    domain: Box | Ball
    n_records: int
    adjacency: str = "replace"
    per_person: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_records", checks.count(n_records=self.n_records))
        checks.choice((*ADJACENCIES, ADD_OR_REMOVE), adjacency=self.adjacency)
        if self.per_person is not None:
            object.__setattr__(self, "per_person", checks.count(per_person=self.per_person))

    @property
    def features(self) -> int:
        """Number of features, m."""
        return self.domain.features

    @property
    def add_or_remove(self) -> bool:
        """Whether the number of records is private."""
        return self.adjacency == ADD_OR_REMOVE

    @property
    def group(self) -> int:
        """Largest number of records in which neighbours differ."""
        return self.per_person or 1

    @property
    def effective_records(self) -> float:
        """n over the size of a group, which divides the change of a sum by one record."""
        return self.n_records / self.group

    @property
    def l2_tight(self) -> bool:
        """Whether some neighbours attain ``l2_sensitivity``; otherwise it is an upper bound."""
        return True

    def _count(self, records: Array) -> int:
        """Return the divisor of a sum over records (..., m, n)."""
        return self.n_records if self.add_or_remove else records.shape[-1]

    def _clip(self, records: Array) -> Array:
        return self.domain.clip(records) if isinstance(self.domain, Ball) else records


class _ShiftQuery(_Query):
    """A query in which one record shifts one column: by its values, or 1 / n of them."""

    output_type = "matrix"

    #: Whether the value is the mean of the columns, and not all of them.
    is_mean = False

    @property
    def _shared(self) -> float:
        """Divisor of one record's largest change that gives the group's change in l2."""
        return self.effective_records if self.is_mean else float(1 / np.sqrt(self.group))

    @property
    def shape(self) -> tuple[int, int]:
        """m x 1 for a mean, m x n otherwise."""
        return self.features, 1 if self.is_mean else self.n_records

    @property
    def half_widths(self) -> Array:
        """Largest change of each feature in the column that one record shifts, shape (m,).

        Of k columns that a person shifts, the sum of squared norms is largest where all are alike:
        that of one column in a box sqrt(k) times as wide.
        """
        if isinstance(self.domain, Ball):
            return np.full(self.features, self.l2_sensitivity)
        sides = self.domain.widths if self.adjacency == "replace" else self.domain.magnitudes
        return sides / self._shared

    @property
    def l1_sensitivity(self) -> float:
        """L1 sensitivity: the sum of ``half_widths``, for a ball sqrt(m) times l2."""
        if isinstance(self.domain, Ball):
            return float(np.sqrt(self.features) * self.l2_sensitivity)
        return float(self.half_widths.sum())

    @property
    def l2_sensitivity(self) -> float:
        """The norm of ``half_widths``, a ball's diameter or radius; over n for a mean."""
        if isinstance(self.domain, Ball):
            return (2 if self.adjacency == "replace" else 1) * self.domain.radius / self._shared
        return float(np.linalg.norm(self.half_widths))

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of Z = W diag(sqrt(t)) N: one column changes by a vector of the box or ball.

        A convex function of the change is largest at a vertex. Without directions the supremum is
        sqrt(sum_i w_i^2 / t_i). With directions all sign vectors are tried up to ``ENUMERABLE``
        features; beyond that the value is a safe upper bound.
        """
        precisions = _precisions(variances, self.features)
        if isinstance(self.domain, Ball):
            return Mu(float(self.l2_sensitivity * np.sqrt(precisions.max())), True)
        square, exact = largest_form(precisions, directions, self.half_widths)
        # Zeroing a record of a one-sided box cannot realise every sign vector.
        attained = directions is None or self.adjacency == "replace" or self.domain.symmetric
        return Mu(float(np.sqrt(square)), exact and attained)

    def check(self, value: ArrayLike) -> Array:
        """Return the value, or a stack of values, if every column lies in the public domain."""
        matrix = checks.array(value=value, shape=self.shape)
        if self.add_or_remove:
            return matrix
        if isinstance(self.domain, Ball):
            norms = np.sqrt(squared_norms(matrix))
            _check_bounds("the l2 norm of a record", norms, 0.0, self.domain.radius * ROUNDING)
        else:
            # A mean has rounding errors, records do not.
            slack = (ROUNDING - 1) * self.domain.magnitudes * self.is_mean
            lower, upper = self.domain.lower - slack, self.domain.upper + slack
            axes = tuple(axis for axis in range(matrix.ndim) if axis != matrix.ndim - 2)
            _check_bounds("the smallest value of a feature", matrix.min(axis=axes), lower, upper)
            _check_bounds("the largest value of a feature", matrix.max(axis=axes), lower, upper)
        return matrix


class RecordsQuery(_ShiftQuery):
    """The identity query f(X) = X, shape m x n (MVG paper, sections 8.1 and 8.3).

    >>> mdp.RecordsQuery(mdp.Box((-1, -1), (1, 1)), n_records=400).shape
    (2, 400)

    Args:
        domain: public bounds of one record.
        n_records: public number of records, n.
        adjacency: ``replace`` by any record, or ``zero_out`` by a null record.
        per_person: largest number of records of one person, where neighbours differ in all of
            these; None where they differ in one record.
    """

    name = "identity"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.add_or_remove:
            raise InputError(
                f"adjacency is {self.adjacency!r}, and the records themselves show their number; "
                f"take {' or '.join(ADJACENCIES)}"
            )

    @property
    def l1_sensitivity(self) -> float:
        """Sum of the largest changes over all columns that change; for a ball sqrt(m) each."""
        return float(np.sqrt(self.group) * super().l1_sensitivity)

    @property
    def largest_norm(self) -> float:
        """Largest Frobenius norm of X: sqrt(n) times the largest norm of a record."""
        return float(np.sqrt(self.n_records) * self.domain.radius)

    def value(self, records: Array) -> Array:
        """Return X."""
        return self._clip(records)


class MeanQuery(_ShiftQuery):
    """The mean of the records, shape m x 1: a record shifts it by 1 / n of its values.

    >>> mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400).l2_sensitivity
    0.005

    Args:
        domain: public bounds of one record.
        n_records: public number of records, n; under ``add_or_remove`` a public guess of it, which
            divides sums.
        adjacency: ``replace`` by any record, ``zero_out`` by a null record, or ``add_or_remove``.
        per_person: largest number of records of one person, where neighbours differ in all of
            these; None where they differ in one record.
    """

    name = "mean"
    is_mean = True

    @property
    def largest_norm(self) -> float:
        """Largest norm of a record."""
        return self.domain.radius

    def value(self, records: Array) -> Array:
        """Return the mean record, as a column."""
        return self._clip(records).sum(axis=-1, keepdims=True) / self._count(records)


class SecondMomentQuery(_Query):
    """The second-moment query f(X) = X X^T / n, shape m x m (MVG paper, section 8.2).

    >>> query = mdp.SecondMomentQuery(mdp.Ball(1.0, features=2), 400, adjacency="zero_out")
    >>> query.l2_sensitivity
    0.0025

    Args:
        domain: public bounds of one record.
        n_records: public number of records, n; under ``add_or_remove`` a public guess of it, which
            divides sums.
        adjacency: ``replace`` by any record, ``zero_out`` by a null record, or ``add_or_remove``.
        per_person: largest number of records of one person, where neighbours differ in all of
            these; None where they differ in one record.
    """

    name = "covariance"
    output_type = "second_moments"

    @property
    def shape(self) -> tuple[int, int]:
        """m x m."""
        return self.features, self.features

    @property
    def half_widths(self) -> Array:
        """Largest absolute value of each feature of a record, shape (m,)."""
        return self.domain.magnitudes

    @property
    def _one_sided(self) -> bool:
        # Entries of x x^T and x' x'^T are then both in [0, c_i c_j], so that x' = 0 is the worst.
        return self.features == 1 or self.domain.nonnegative

    @property
    def l1_sensitivity(self) -> float:
        """L1 sensitivity over all entries: (sum_i c_i)^2 / n in a box, m times l2 in a ball.

        In a box x' = 0 is the worst neighbour. With u = x + x' and v = x - x', x x^T - x' x'^T is
        the symmetric part of u v^T and |u_i| + |v_i| <= 2 c_i. Its l1 norm is therefore at most
        |u|_1 |v|_1 <= (sum_i c_i)^2. In a ball the Cauchy-Schwarz inequality over m^2 entries
        gives the bound.
        """
        if isinstance(self.domain, Ball):
            return self.features * self.l2_sensitivity
        return float(self.domain.magnitudes.sum() ** 2) / self.effective_records

    @property
    def triangle_l1_sensitivity(self) -> float:
        """L1 sensitivity of the upper triangle with the diagonal: half of l1 plus the diagonal's.

        In a box the diagonal changes by at most sum_i c_i^2 / n. In a ball both records count.
        """
        diagonal = float((self.domain.magnitudes**2).sum())
        if isinstance(self.domain, Ball):
            two_sided = self.adjacency == "replace" and not self._one_sided
            diagonal = (2 if two_sided else 1) * self.largest_norm
        return (self.l1_sensitivity + diagonal / self.effective_records) / 2

    @property
    def l2_sensitivity(self) -> float:
        """Frobenius sensitivity: R^2 / n for zeroing out a record of largest norm R.

        Replacing a record gives at most sqrt(2) R^2 / n. Two orthogonal records of full norm attain
        it: in a ball, and in [-c, c]^m for even m. In [0, c]^m x' = 0 stays the worst.
        """
        # With unit variances mu is the Frobenius norm of the change.
        return self.directional_mu(np.ones(self.features)).value

    @property
    def l2_tight(self) -> bool:
        """Whether some neighbours attain ``l2_sensitivity``; otherwise it is an upper bound."""
        return self.directional_mu(np.ones(self.features)).tight

    @property
    def triangle_l2_sensitivity(self) -> float:
        """L2 sensitivity of the upper triangle with the diagonal.

        Its square is half of |D|_F^2 + |diag D|^2 for a change D. Without the cross term
        -2 (x . x')^2 this is convex in the squares of the entries, and at most 2 R^4 / n^2 at the
        vertices of their box. Replacing a record therefore changes at most R^2 / n. In [-c, c]^m
        the two sign vectors of ``l2_sensitivity`` are the worst again (for m = 3 by search alone).
        """
        if isinstance(self.domain, Ball):
            return self.l2_sensitivity
        squares = self.domain.magnitudes**2
        total = squares.sum() ** 2
        if self.adjacency != "replace" or self._one_sided:
            square = (total + (squares**2).sum()) / 2
        else:
            is_cube = self.domain.symmetric and not np.ptp(self.domain.magnitudes)
            square = (self.l2_sensitivity * self.effective_records) ** 2 / 2 if is_cube else total
        return float(np.sqrt(square)) / self.effective_records

    @property
    def triangle_l2_tight(self) -> bool:
        """Whether some neighbours attain ``triangle_l2_sensitivity``, an upper bound.

        The sign vectors of ``l2_sensitivity`` leave the diagonal unchanged, which gives the upper
        triangle 1 / sqrt(2) of it.
        """
        whole = isinstance(self.domain, Ball) or self.adjacency != "replace" or self._one_sided
        half = self.l2_sensitivity / np.sqrt(2) * UPWARDS
        return self.l2_tight and (whole or self.triangle_l2_sensitivity <= half)

    @property
    def largest_norm(self) -> float:
        """Largest squared norm of a record."""
        return self.domain.radius**2

    def directional_mu(self, variances: ArrayLike, directions: ArrayLike | None = None) -> Mu:
        """Return mu of the equi-modal noise Z = U N U^T, U = W diag(sqrt(t)), symmetrised or not.

        The variances t belong to the factor: in the basis W, entry (i, j) of Z has standard
        deviation sqrt(t_i t_j). With y = U^-1 x, mu^2 n^2 = sup |y|^4 + |y'|^4 - 2 (y . y')^2. This
        is S^2 for ``zero_out`` and at most 2 S^2 for ``replace``, where S = sup |y|^2. Without
        directions ``replace`` has the supremum over [-c, c] (see
        :func:`~matrixdp.privacy.quadratic.largest_difference`), which a smaller box may not attain.

        In a ball the changes under ``replace`` are the convex hull of R^2 (p p^T - q q^T) for
        orthonormal p and q. The supremum is R^4 (u_1^2 + u_2^2) for the two largest u = 1 / t.
        """
        precisions = _precisions(variances, self.features)
        if isinstance(self.domain, Ball):
            largest = np.sort(precisions)[-2 if self.adjacency == "replace" else -1 :]
            return Mu(
                float(np.linalg.norm(largest)) * self.largest_norm / self.effective_records, True
            )
        form, exact = largest_form(precisions, directions, self.half_widths)
        if self.adjacency != "replace":
            return Mu(
                form / self.effective_records,
                exact and (directions is None or self.domain.symmetric),
            )
        # One feature has one direction.
        if directions is not None and self.features > 1:
            return Mu(float(np.sqrt(2)) * form / self.effective_records, False)
        if self._one_sided:
            return Mu(form / self.effective_records, self.domain.contains_zero)
        square, exact = largest_difference(self.half_widths**2 * precisions)
        return Mu(float(np.sqrt(square)) / self.effective_records, exact and self.domain.symmetric)

    def value(self, records: Array) -> Array:
        """Return X X^T / n, from blocks of records that the processor's cache can hold."""
        *stack, features, count = records.shape
        total = np.zeros((*stack, features, features))
        step = block_rows(features, BLOCK)
        for start in range(0, count, step):
            block = self._clip(records[..., start : start + step])
            total += block @ np.swapaxes(block, -1, -2)
        return total / self._count(records)

    def check(self, value: ArrayLike) -> Array:
        """Return X X^T / n, or a stack of them, if it is symmetric and in the public bounds.

        Where the number of records is private, the stated one divides, so that no bounds hold.

        Raises:
            InputError: it is not.
        """
        moments = checks.array(value=value, shape=self.shape)
        bound = np.outer(self.domain.magnitudes, self.domain.magnitudes)
        if np.abs(moments - np.swapaxes(moments, -1, -2)).max() > (ROUNDING - 1) * bound.max():
            raise InputError("value is not symmetric; second moments X X^T / n must be")
        if self.add_or_remove:
            return moments
        _check_bounds("an absolute second moment", np.abs(moments), 0.0, bound * ROUNDING)
        trace = np.trace(moments, axis1=-2, axis2=-1)
        _check_bounds("the mean squared norm of records", trace, 0.0, self.largest_norm * ROUNDING)
        return moments


#: All queries; a mechanism states which of these types it supports.
Query = RecordsQuery | MeanQuery | SecondMomentQuery


def second_moments(matrix: Array) -> Array:
    """Return X X^T / n of a matrix, or of each matrix of a stack; zeros of no records."""
    return matrix @ np.swapaxes(matrix, -1, -2) / max(matrix.shape[-1], 1)


def _precisions(variances: ArrayLike, features: int) -> Array:
    t = checks.array(variances=variances, shape=(features,))
    if not (t > 0).all():
        raise InputError(f"variances hold {t.min()}; every variance must be above 0")
    return 1 / t


def _check_bounds(label: str, values: Array, lower: ArrayLike, upper: ArrayLike) -> None:
    lower, upper = np.broadcast_to(lower, values.shape), np.broadcast_to(upper, values.shape)
    for index in np.argwhere((values < lower) | (values > upper)).tolist():
        i = tuple(index)
        raise InputError(
            f"{label} is {values[i]} at index {i}, "
            f"outside its public bounds [{lower[i]}, {upper[i]}]; "
            "clip the data or widen the declared bounds first"
        )
