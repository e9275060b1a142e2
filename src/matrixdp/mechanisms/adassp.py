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

from dataclasses import dataclass, replace

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveGaussian, Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.clipped import ChosenByHistogram, PrivatelyClipped, records_of
from matrixdp.mechanisms.gaussian import independent_triangle
from matrixdp.mechanisms.ridge import lifted
from matrixdp.noise.distributions import Streams, normals
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import NormalEquations, Query

#: Probability that the ridge is too small for the noise, the paper's rho.
FAILURE = 0.05


@dataclass(frozen=True, kw_only=True)
class RidgedEquations(CalibratedMechanism):
    """The normal equations of a regression with their ridge, as second moments of z = (x, y).

    The entry of y with itself is not released: its public bound stands there, which leaves a
    positive semi-definite matrix as it is.

    Attributes:
        eigenvalue_std: standard deviation of the noise on the smallest eigenvalue.
        explaining: the release of the second moments of x.
        target_std: standard deviation of the noise on sum_j x_j y_j / n.
        margin: how many deviations are subtracted from the noisy eigenvalue.
        needed: the required size of the smallest eigenvalue plus the ridge.
    """

    query: NormalEquations
    eigenvalue_std: float
    explaining: AdditiveGaussian
    target_std: float
    margin: float
    needed: float
    yields = "second_moments"
    stream = "RidgedEquations"

    def ridge_of(self, exact: Array, normal: Array) -> Array:
        """Return the ridge of each trial for exact second moments of x and a standard normal."""
        smallest = np.linalg.eigvalsh(exact)[..., 0]
        return self.ridge_for(smallest + self.eigenvalue_std * normal)

    def ridge_for(self, noisy: Array) -> Array:
        """Return the ridge for noisy smallest eigenvalues."""
        lower = np.maximum(0, noisy - self.eigenvalue_std * self.margin)
        return np.maximum(0, self.needed - lower)

    def _draw(self, value: Array, streams: Streams) -> Array:
        x, y = np.array(self.query.others), self.query.target
        exact = value[..., x[:, None], x]
        ridge = self.ridge_of(exact, normals(streams, (1,))[:, 0])
        moments = lifted(self.explaining.simulate(exact, streams), ridge)
        released = np.zeros((len(streams), *self.query.shape))
        released[:, x[:, None], x] = moments
        cross = value[..., x, y] + self.target_std * normals(streams, (len(x),))
        released[:, x, y] = released[:, y, x] = cross
        released[:, y, y] = self.query.domain.magnitudes[y] ** 2
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
    by_sensitivity = True

    def __post_init__(self) -> None:
        checks.fraction(squared_radius_fraction=self.squared_radius_fraction)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> RidgedEquations:
        """Return the (epsilon, delta)-DP release of the normal equations."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, NormalEquations)
        return self.spending(query, gaussian.mu(*budget), budget)

    def spending(self, query: NormalEquations, mu: float, budget: Budget) -> RidgedEquations:
        """Return the release that spends ``mu``."""
        if self.squared_radius_fraction < 1:
            radius = float(np.sqrt(self.squared_radius_fraction)) * query.domain.radius
            query = replace(query, domain=Ball(radius, query.features))
        each = float(mu / np.sqrt(3))
        explaining = independent_triangle(query.explaining, each, budget)
        d = query.features - 1
        return RidgedEquations.by_mu(
            mu,
            budget,
            query=query,
            eigenvalue_std=query.l2_eigenvalue / each,
            explaining=explaining,
            target_std=query.l2_target / each,
            margin=float(np.sqrt(np.log(6 / budget.delta))),
            needed=explaining.noise_std * float(np.sqrt(d * np.log(2 * d**2 / FAILURE))),
        )


@dataclass(frozen=True, kw_only=True)
class RidgedByHistogram(ChosenByHistogram):
    """The normal equations at a private radius, chosen by the ridge of the equations.

    ``equations`` are releases by radius, the largest first; ``candidates`` are their second moments
    of x.
    """

    equations: tuple[RidgedEquations, ...]
    stream = "RidgedByHistogram"

    def part(self, number: int) -> tuple[AdditiveGaussian, CalibratedMechanism]:
        """Return the release at a radius."""
        return self.candidates[number], self.equations[number]

    def added_ridge(self, scale: AdditiveGaussian) -> float:
        """Return 0: the equations already have a ridge."""
        return 0.0

    def needed_ridges(self) -> list[float]:
        """Return the ridge of each radius where the smallest eigenvalue is 0."""
        return [equations.needed for equations in self.equations]


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
        return RidgedByHistogram.by_mu(
            mu,
            budget,
            query=records_of(query),
            candidates=tuple(release.explaining for release in equations),
            equations=equations,
            count_std=self.count_deviation(query, mu),
        )
