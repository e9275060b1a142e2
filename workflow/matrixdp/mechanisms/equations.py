"""Real releases of a regression's normal equations with a private ridge: AdaSSP in three parts.

The parts are those of :mod:`matrixdp.mechanisms.adassp`, each with a third of mu^2 and with safe
noise: the smallest eigenvalue of X X^T / n, then X X^T / n, then sum_j x_j y_j / n, for records
z = (x, y). A record moves them at most by the sensitivities of
:class:`~matrixdp.privacy.sensitivity.NormalEquations`. The ridge follows from the first answer.
"""

from __future__ import annotations

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

    A record moves it by R^2 / n at most. Let v be its unit eigenvector where it is smaller, and let
    x stand in place of x' where it is larger. The larger one is at most the form of v there, which
    exceeds the smaller one by ((v . x)^2 - (v . x')^2) / n <= R^2 / n. A null record has x' = 0. A
    mean of numbers from 0 to R^2 has the same sensitivity, for all relations, also of a person's k
    records.

    Rounding is relative to the trace. Where the number of records is private, nothing bounds this:
    the value is then the smaller one of the eigenvalue and of what the trace leaves of ``reach``.
    The trace, too, moves by R^2 / n at most. ``order`` is the number of rows of X.
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
    range_ = Box((0.0,), (explaining.gamma,))
    relation = query.records, query.adjacency
    return EigenvalueQuery(
        range_, *relation, order=explaining.features, per_person=query.per_person
    )


def product_query(query: NormalEquations) -> ProductQuery:
    """Return the query of the last part: |x y| <= R^2 / 2 in a ball of radius R."""
    if isinstance(query.domain, Ball):
        domain: Box | Ball = Ball(query.domain.radius**2 / 2, query.features - 1)
    else:
        sides = query.domain.magnitudes
        upper = sides[query.others] * sides[query.target]
        lower = np.zeros_like(upper) if query.domain.nonnegative else -upper
        domain = Box(tuple(lower), tuple(upper))
    return ProductQuery(domain, query.records, query.adjacency, per_person=query.per_person)


class Equations(NamedTuple):
    """Normal equations as they were released, in the unit of the records, and their ridge.

    Attributes:
        smallest: the noisy smallest eigenvalue of X X^T / n, and ``smallest_std`` its noise.
        moments: noisy X X^T / n, (d, d), and ``moments_std`` the noise of each entry.
        products: noisy sum_j x_j y_j / n, (d,), and ``products_std`` the noise of each entry.
        ridge: what is to be added to the diagonal of the moments.
    """

    smallest: float
    smallest_std: float
    moments: Array
    moments_std: float
    products: Array
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

    def run(self, rows: Rows, answer: Answer | None = None) -> Equations:
        """Return the outcome of one release, as :meth:`Composed.run`."""
        answer = answer or safe_answer
        smallest, moments, products = (part.releases[0] for part in self.parts)
        x, y = np.array(self.query.others), self.query.target
        value = exact.value(self.query, rows())
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
