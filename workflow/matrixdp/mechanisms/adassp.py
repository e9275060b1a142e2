"""Linear regression from noisy normal equations with a ridge that fits the data.

AdaSSP (Wang, UAI 2018, Algorithm 2): the smallest eigenvalue of X X^T is released first, and the
ridge fills up to the size of the noise what that lacks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.laws import Streams, normals
from matrixdp.mechanisms.base import Entry, GaussianRelease, Mechanism, Release
from matrixdp.mechanisms.gaussian import independent_triangle
from matrixdp.mechanisms.ridge import lifted
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import NormalEquations, Query


@dataclass(frozen=True, kw_only=True)
class RidgedEquations(Release):
    """The normal equations of a regression with their ridge, as second moments of z = (x, y).

    The entry of y with itself is not released: it is 0.

    ``eigenvalue_std`` and ``target_std`` are deviations of the noise of the smallest eigenvalue and
    of sum_j x_j y_j / n, ``explaining`` the release of the second moments of x. ``margin`` of its
    deviations are taken off the noisy eigenvalue, of which ``needed`` is asked for.
    """

    query: NormalEquations
    eigenvalue_std: float
    explaining: GaussianRelease
    target_std: float
    margin: float
    needed: float
    yields = "second_moments"

    def ridge_of(self, exact: Array, normal: Array) -> Array:
        """Return the ridge of each trial for exact second moments of x and a standard normal."""
        smallest = np.linalg.eigvalsh(exact)[..., 0]
        noisy = smallest + self.eigenvalue_std * (normal - self.margin)
        return np.maximum(0, self.needed - np.maximum(0, noisy))

    def _draw(self, value: Array, streams: Streams, out: Array | None) -> Array:
        x, y = np.array(self.query.others), self.query.target
        exact = value[..., x[:, None], x]
        ridge = self.ridge_of(exact, normals(streams, (1,))[:, 0])
        moments = lifted(self.explaining.sample(exact, streams), ridge)
        released = np.zeros((len(streams), *self.query.shape))
        released[:, x[:, None], x] = moments
        cross = value[..., x, y] + self.target_std * normals(streams, (len(x),))
        released[:, x, y] = released[:, y, x] = cross
        return released


@dataclass(frozen=True)
class AdaSSP(Mechanism):
    """AdaSSP: three releases with equal shares of mu^2, which are composed exactly.

    The paper gives each a third of epsilon and of delta and takes sqrt(ln(6 / delta)) / (epsilon /
    3) for the standard deviation per unit of sensitivity; here it is sqrt(3) / mu(epsilon, delta).
    Its neighbours add or remove a record; here the sensitivities are those of the query's. The
    ridge may be too small for the noise with the probability ``failure`` (the paper's rho), between
    0 and 1.
    """

    failure: float = 0.05
    queries = frozenset({NormalEquations})

    def __post_init__(self) -> None:
        checks.open_unit(failure=self.failure)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> RidgedEquations:
        """Return the (epsilon, delta)-DP release of the normal equations."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, NormalEquations)
        mu = gaussian.mu(*budget)
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
            needed=explaining.noise_std * float(np.sqrt(d * np.log(2 * d**2 / self.failure))),
        )


MECHANISMS = {"adassp": Entry(AdaSSP)}
