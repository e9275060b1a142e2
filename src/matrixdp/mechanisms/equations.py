"""Real releases of a regression's normal equations with a private ridge: AdaSSP in three parts.

The parts are those of :mod:`matrixdp.mechanisms.adassp`, each with a third of mu^2 and with safe
noise: the smallest eigenvalue of X X^T / n, then X X^T / n, then sum_j x_j y_j / n, for records
z = (x, y). A record moves them at most by the sensitivities of
:class:`~matrixdp.privacy.sensitivity.NormalEquations`. The ridge follows from the first answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.adassp import AdaSSP, RidgedEquations
from matrixdp.mechanisms.base import Budget
from matrixdp.mechanisms.composed import (
    Answer,
    Composed,
    ComposedMoments,
    Part,
    Rows,
    mean_release,
    safe_answer,
)
from matrixdp.privacy import exact
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import MeanQuery, NormalEquations

#: Largest error of a computed eigenvalue, in d^2 units in the last place of the largest norm. It
#: covers the sums of products and the reduction to a tridiagonal matrix (Higham, Accuracy and
#: Stability of Numerical Algorithms, 2002, chapter 19).
_EIGENVALUE_ROUNDINGS = 64
#: How many times R^2 the trace of X X^T / n may be where n is a guess of the number of records.
_FARTHEST = 2.0**10


@dataclass(frozen=True)
class EigenvalueQuery(MeanQuery):
    """The smallest eigenvalue of X X^T / n, a number from 0 to R^2 for |x| <= R.

    A record moves it by R^2 / n at most. Take two neighbours, and the unit eigenvector v of the
    smaller eigenvalue. The larger one is at most the quadratic form of v on its own data. This form
    exceeds the smaller one by ((v . x)^2 - (v . x')^2) / n <= R^2 / n, where x is the record of its
    own data, and x' that of the other data or 0. So a mean of numbers from 0 to R^2 has the same
    sensitivity, for all relations and for the k records of a person.

    Rounding errors are relative to the trace, which a private number of records leaves unbounded.
    The value is therefore the minimum of the eigenvalue and of ``reach`` minus the trace, at
    least 0. The trace, too, moves by R^2 / n at most.

    ``order`` is the number of rows of X.
    """

    order: int = 1
    name = "smallest_eigenvalue"

    @property
    def reach(self) -> float:
        """Largest trace for which the value is not 0; more than all traces of a public number."""
        return (_FARTHEST if self.private_count else 2.0) * self.domain.radius

    @property
    def rounding(self) -> float:
        """Largest error of the computed eigenvalue."""
        return _EIGENVALUE_ROUNDINGS * self.order**2 * 2.0**-53 * self.reach

    def of(self, moments: Array) -> Array:
        """Return the value for exact X X^T / n (d, d), shape (1, 1)."""
        least = min(np.linalg.eigvalsh(moments)[0], max(0.0, self.reach - np.trace(moments)))
        return np.array([[least]])


class ProductQuery(MeanQuery):
    """The mean of x y, shape (d, 1): that of vectors within a box, or a ball, of its own."""

    name = "products"


def eigenvalue_query(query: NormalEquations) -> EigenvalueQuery:
    """Return the query of the first part."""
    explaining = query.explaining
    values = Box((0.0,), (explaining.max_norm,))
    relation = query.n_records, query.adjacency, explaining.features
    return EigenvalueQuery(values, *relation, per_person=query.per_person)


def product_query(query: NormalEquations) -> ProductQuery:
    """Return the query of the last part: |x y| <= R^2 / 2 in a ball of radius R."""
    if isinstance(query.domain, Ball):
        domain: Box | Ball = Ball(query.domain.radius**2 / 2, query.features - 1)
    else:
        sides = query.domain.magnitudes
        upper = sides[query.others] * sides[query.target]
        lower = np.zeros_like(upper) if query.domain.nonnegative else -upper
        domain = Box(tuple(lower), tuple(upper))
    return ProductQuery(domain, query.n_records, query.adjacency, per_person=query.per_person)


class Equations(NamedTuple):
    """Noisy normal equations in the unit of the records, and their ridge.

    Attributes:
        smallest: noisy smallest eigenvalue of X X^T / n.
        moments: noisy X X^T / n, (d, d).
        products: noisy sum_j x_j y_j / n, (d,).
        smallest_std, moments_std, products_std: standard deviation of the noise of an entry.
        ridge: number to add to the diagonal of the moments.
    """

    smallest: float
    moments: Array
    products: Array
    smallest_std: float
    moments_std: float
    products_std: float
    ridge: float


@dataclass(frozen=True)
class ComposedEquations(Composed):
    """Normal equations, and a ridge that follows from their private smallest eigenvalue."""

    query: NormalEquations
    simulated: RidgedEquations

    @cached_property
    def parts(self) -> list[Part]:
        """The smallest eigenvalue, the moments of x, and the products of x and y."""
        inner = self.simulated
        budget = Budget(inner.epsilon, inner.delta)
        smallest = mean_release(eigenvalue_query(self.query), inner.eigenvalue_std, budget)
        products = mean_release(product_query(self.query), inner.target_std, budget)
        return [
            Part("smallest eigenvalue", (smallest,)),
            Part("moments", (inner.explaining,)),
            Part("products", (products,)),
        ]

    @property
    def noise_std(self) -> float:
        """Noise of an entry of the moments."""
        return self.simulated.explaining.noise_std

    def run(self, rows: Rows, answer: Answer | None = None) -> Equations:
        """Return the outcome of one release, as :meth:`Composed.run`."""
        return self._draw(exact.value(self.query, rows()), answer or safe_answer)

    def prepare(self, rows: Rows) -> Callable[[], Equations]:
        """Read the records once for all parts, as :meth:`Composed.prepare`."""
        value = exact.value(self.query, rows())
        return lambda: self._draw(value, safe_answer)

    def _draw(self, value: Array, answer: Answer) -> Equations:
        """Return noisy answers on exact second moments of z (m, m)."""
        smallest, moments, products = (part.releases[0] for part in self.parts)
        x, y = np.array(self.query.others), self.query.target
        block = value[x[:, None], x]
        assert isinstance(smallest.query, EigenvalueQuery)
        least = float(answer(smallest, smallest.query.of(block))[0, 0])
        return Equations(
            smallest=least,
            smallest_std=smallest.noise_std,
            moments=answer(moments, block),
            moments_std=moments.noise_std,
            products=answer(products, value[x, y, None])[:, 0],
            products_std=products.noise_std,
            ridge=float(self.simulated.ridge_for(np.array(least))),
        )


#: All releases in parts.
InParts = ComposedMoments | ComposedEquations


def adaptive_equations(
    query: NormalEquations, *, epsilon: float, delta: float
) -> ComposedEquations:
    """Return the release of normal equations with a private ridge.

    Args:
        query: with its public bounds.
        epsilon, delta: the guarantee, delta above 0.

    Raises:
        InputError: as :meth:`~matrixdp.mechanisms.composed.Composed.calibrated`.
    """
    return ComposedEquations.calibrated(AdaSSP(), query, epsilon=epsilon, delta=delta)
