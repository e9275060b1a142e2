"""Linear regression from noisy normal equations with an adaptive ridge.

AdaSSP (Wang, UAI 2018, Algorithm 2) first releases the smallest eigenvalue of X X^T. The ridge is
the difference between the size of the noise and that eigenvalue, at least 0.

Here records z = (x, y) may first be clipped jointly, to |z| <= R. All three sensitivities then
follow from R, for one replaced record of n:

- smallest eigenvalue of X X^T / n: R^2 / n. By Weyl's inequality it changes by at most the extreme
  eigenvalues of (x x^T - x' x'^T) / n. These lie in [-R^2 / n, R^2 / n], as |x| <= |z| <= R;
- X X^T / n: sqrt(2) R^2 / n in the Frobenius norm, as |x x^T - x' x'^T|^2 = |x|^4 + |x'|^4
  - 2 (x . x')^2 <= 2 R^4;
- sum_j x_j y_j / n: R^2 / n, as |x| |y| <= (|x|^2 + y^2) / 2 <= R^2 / 2 for both records.

The noise determines the ridge, which thus follows from R too. Clipping shrinks y with x. That
biases least squares where large and small records have different regressions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.clipped import (
    PrivatelyClipped,
    PrivatelyClippedMoments,
    Selection,
    records_of,
)
from matrixdp.mechanisms.gaussian import independent_triangle
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.programs import Ask, Part, Program, Records
from matrixdp.mechanisms.ridge import lifted
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import MeanQuery, Query, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.clipped import PUBLIC

#: Probability that the ridge is too small for the noise, the paper's rho.
FAILURE = 0.05


#: How many times R^2 the trace of X X^T / n may be where n is a guess of the number of records.
_FARTHEST = 2.0**10


@dataclass(frozen=True)
class NormalEquations(SecondMomentQuery):
    """Second moments of records z = (x, y) for a regression of y on x, in three parts.

    The parts are the second moments of x, their smallest eigenvalue, and the products of x and y.
    ``target`` is the index of y among at least two features.
    """

    target: int = 0
    name = "normal_equations"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features < 2 or not 0 <= self.target < self.features:
            raise InputError(
                f"target is {self.target} among {self.features} features; "
                "give the index of one of at least two"
            )

    @property
    def others(self) -> list[int]:
        """Indices of x among the features."""
        return [i for i in range(self.features) if i != self.target]

    @cached_property
    def design(self) -> SecondMomentQuery:
        """The second moments of x alone."""
        if isinstance(self.domain, Ball):
            domain: Box | Ball = Ball(self.domain.radius, self.features - 1)
        else:
            sides = (self.domain.lower, self.domain.upper)
            domain = Box(*(tuple(side[i] for i in self.others) for side in sides))
        return SecondMomentQuery(domain, self.n_records, self.adjacency, per_person=self.per_person)

    @property
    def l2_target(self) -> float:
        """L2 sensitivity of sum_j x_j y_j / n.

        One record adds at most |x| |y|, in a ball R^2 / 2. Replacing it by a record of the opposite
        sign changes twice as much, unless all features are nonnegative.
        """
        if isinstance(self.domain, Ball):
            change = self.domain.radius**2 / 2
        else:
            change = self.design.domain.radius * float(self.domain.magnitudes[self.target])
        two_sided = self.adjacency == "replace" and not self.domain.nonnegative
        return (2 if two_sided else 1) * change / self.effective_records

    @property
    def l2_eigenvalue(self) -> float:
        """Largest change of the smallest eigenvalue of X X^T / n: R^2 / n for |x| <= R.

        It follows from Weyl's inequality: -R^2 <= x x^T - x' x'^T <= R^2 as a quadratic form.
        """
        return self.design.largest_norm / self.effective_records

    @property
    def measures(self) -> dict[str, tuple[float, Callable[[Array], Array]]]:
        """The declared sensitivities of the parts and their norms of changes, by name.

        A norm maps changes (..., m, m) to numbers (...).
        """
        x, y = np.array(self.others), self.target
        return {
            "smallest eigenvalue of x": (
                self.l2_eigenvalue,
                lambda d: np.linalg.norm(d[..., x[:, None], x], ord=2, axis=(-2, -1)),
            ),
            "l2, upper triangle of x": (
                self.design.triangle_l2_sensitivity,
                lambda d: np.linalg.norm(np.triu(d[..., x[:, None], x]), axis=(-2, -1)),
            ),
            "l2, x times y": (self.l2_target, lambda d: np.linalg.norm(d[..., x, y], axis=-1)),
        }


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
    """

    name = "smallest_eigenvalue"

    @property
    def reach(self) -> float:
        """Largest trace for which the value is not 0; more than all traces of a public number."""
        return (_FARTHEST if self.add_or_remove else 2.0) * self.domain.radius

    def of(self, moments: Array) -> Array:
        """Return the value for exact X X^T / n (..., d, d), shape (..., 1, 1)."""
        room = self.reach - np.trace(moments, axis1=-2, axis2=-1)
        least = np.minimum(np.linalg.eigvalsh(moments)[..., 0], room)
        return np.asarray(np.maximum(0.0, least))[..., None, None]


class ProductQuery(MeanQuery):
    """The mean of x y, shape (d, 1): that of vectors within a box, or a ball, of its own."""

    name = "products"


def eigenvalue_query(query: NormalEquations) -> EigenvalueQuery:
    """Return the query of the first part."""
    values = Box((0.0,), (query.design.largest_norm,))
    return EigenvalueQuery(values, query.n_records, query.adjacency, per_person=query.per_person)


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

    Of many releases, arrays have these along their first axis.

    Attributes:
        smallest: noisy smallest eigenvalue of X X^T / n.
        moments: noisy X X^T / n, (d, d).
        products: noisy sum_j x_j y_j / n, (d,).
        smallest_std, moments_std, products_std: standard deviation of the noise of an entry.
        ridge: number to add to the diagonal of the moments.
    """

    smallest: float | Array
    moments: Array
    products: Array
    smallest_std: float
    moments_std: float
    products_std: float
    ridge: float | Array


@dataclass(frozen=True, kw_only=True)
class RidgedEquations(Program):
    """The normal equations of a regression with their ridge, as second moments of z = (x, y).

    The entry of y with itself is not released: its public bound stands there, which leaves a
    positive semi-definite matrix as it is.

    Attributes:
        eigenvalue_std: standard deviation of the noise on the smallest eigenvalue.
        design: the release of the second moments of x.
        target_std: standard deviation of the noise on sum_j x_j y_j / n.
        margin: how many deviations are subtracted from the noisy eigenvalue.
        needed: the required size of the smallest eigenvalue plus the ridge.
    """

    query: NormalEquations
    eigenvalue_std: float
    design: AdditiveGaussian
    target_std: float
    margin: float
    needed: float
    output_type = "second_moments"
    stream = "RidgedEquations"
    batches = True

    @cached_property
    def smallest(self) -> AdditiveGaussian:
        """The first part."""
        return self.noisy_mean(eigenvalue_query(self.query), self.eigenvalue_std)

    @cached_property
    def products(self) -> AdditiveGaussian:
        """The last part."""
        return self.noisy_mean(product_query(self.query), self.target_std)

    @property
    def parts(self) -> list[Part]:
        """The smallest eigenvalue, the moments of x, and the products of x and y."""
        return [
            Part("smallest eigenvalue", (self.smallest,)),
            Part("moments", (self.design,)),
            Part("products", (self.products,)),
        ]

    def run(self, records: Records, ask: Ask) -> Equations:
        """Return the noisy equations with their ridge."""
        value, query = records.value(self.query), self.smallest.query
        assert isinstance(query, EigenvalueQuery)
        x, y = np.array(self.query.others), self.query.target
        block = value[..., x[:, None], x]
        smallest = ask(self.smallest, query.of(block))[..., 0, 0]
        return Equations(
            smallest=smallest,
            smallest_std=self.eigenvalue_std,
            moments=ask(self.design, block),
            moments_std=self.design.noise_std,
            products=ask(self.products, value[..., x, y, None])[..., 0],
            products_std=self.target_std,
            ridge=self.ridge_for(smallest),
        )

    def ridge_for(self, noisy: float | Array) -> float | Array:
        """Return the ridge for noisy smallest eigenvalues (...)."""
        lower = np.maximum(0.0, noisy - self.eigenvalue_std * self.margin)
        return np.maximum(0.0, self.needed - lower)

    def released(self, outcome: Equations) -> Array:
        """Return the equations as second moments of z, (..., m, m)."""
        x, y = np.array(self.query.others), self.query.target
        released = np.zeros((*outcome.moments.shape[:-2], *self.query.shape))
        released[..., x[:, None], x] = lifted(outcome.moments, outcome.ridge)
        released[..., x, y] = released[..., y, x] = outcome.products
        released[..., y, y] = self.query.domain.magnitudes[y] ** 2
        return released


@dataclass(frozen=True)
class AdaSSP(Mechanism):
    """AdaSSP: three releases with equal shares of mu^2, composed exactly.

    Records are clipped to R^2 = ``squared_radius_fraction`` times the largest squared norm; at 1
    nothing is clipped.

    In the paper each release has a third of epsilon and of delta. Its standard deviation per unit
    of sensitivity is sqrt(ln(6 / delta)) / (epsilon / 3); here it is sqrt(3) / mu(epsilon, delta).
    The paper's neighbours add or remove a record; here the sensitivities are those of the query.
    """

    squared_radius_fraction: float = 1.0
    queries = frozenset({NormalEquations})
    sensitivity_only = True

    def __post_init__(self) -> None:
        checks.fraction(squared_radius_fraction=self.squared_radius_fraction)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> RidgedEquations:
        """Return the (epsilon, delta)-DP release of the normal equations."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, NormalEquations)
        return self.spending(query, gaussian_dp.mu(*budget), budget)

    def spending(self, query: NormalEquations, mu: float, budget: Budget) -> RidgedEquations:
        """Return the release that spends ``mu``."""
        if self.squared_radius_fraction < 1:
            radius = float(np.sqrt(self.squared_radius_fraction)) * query.domain.radius
            query = replace(query, domain=Ball(radius, query.features))
        each = float(mu / np.sqrt(3))
        design = independent_triangle(query.design, each, budget)
        d = query.features - 1
        return RidgedEquations.from_mu(
            mu,
            budget,
            query=query,
            eigenvalue_std=query.l2_eigenvalue / each,
            design=design,
            target_std=query.l2_target / each,
            margin=float(np.sqrt(np.log(6 / budget.delta))),
            needed=design.noise_std * float(np.sqrt(d * np.log(2 * d**2 / FAILURE))),
        )


@dataclass(frozen=True, kw_only=True)
class RidgedByHistogram(PrivatelyClippedMoments):
    """The normal equations at a private radius, chosen by the ridge of the equations.

    ``equations`` are releases by radius, the largest first; ``candidates`` are their second moments
    of x.
    """

    equations: tuple[RidgedEquations, ...]
    stream = "RidgedByHistogram"

    @property
    def parts(self) -> list[Part]:
        """The numbers of records by length, and the parts of the equations."""
        rest = zip(*(equations.parts for equations in self.equations), strict=True)
        same = [Part(radii[0].name, sum((part.releases for part in radii), ())) for radii in rest]
        return [super().parts[0], *same]

    def release_at(self, number: int) -> CalibratedMechanism:
        """Return the release at a radius."""
        return self.equations[number]

    def ridge_at(self, number: int) -> float:
        """Return the ridge of a radius where the smallest eigenvalue is 0."""
        return self.equations[number].needed

    def released(self, outcome: Selection) -> Array:
        """Return the equations, which already have a ridge."""
        return outcome.moments


@dataclass(frozen=True)
class PrivatelyClippedAdaSSP(PrivatelyClipped):
    """AdaSSP on records that are clipped to a private radius, from the same budget.

    The radius is chosen as by :class:`~matrixdp.mechanisms.clipped.PrivatelyClipped`, by the ridge
    of AdaSSP. Of the k records of a person each moves one count of the histogram to another, or
    comes to one: by the triangle inequality counts change by k times as much as for one record. So
    do the three values of AdaSSP: of sums by the same inequality, of the eigenvalue as the extreme
    eigenvalues of k changes lie in [-k R^2 / n, k R^2 / n].
    """

    queries = frozenset({NormalEquations})

    def spending(self, query: Query, mu: float, budget: Budget) -> RidgedByHistogram:
        """Return the release that spends ``mu``."""
        assert isinstance(query, NormalEquations)
        rest = float(np.sqrt(1 - self.budget_fraction) * mu)
        equations = tuple(AdaSSP(2.0**-j).spending(query, rest, budget) for j in range(self.radii))
        return RidgedByHistogram.from_mu(
            mu,
            budget,
            query=records_of(query),
            candidates=tuple(release.design for release in equations),
            equations=equations,
            count_std=self.count_deviation(query, mu),
        )


MECHANISMS = {
    "adassp": MechanismEntry(AdaSSP),
    "adassp_public": MechanismEntry(partial(AdaSSP, PUBLIC)),
    "adassp_private": MechanismEntry(PrivatelyClippedAdaSSP),
    "adassp_clipped": MechanismEntry(
        AdaSSP,
        parameter="squared_radius_fraction",
        values="squared_radius_fractions",
        stream="radius",
    ),
}
