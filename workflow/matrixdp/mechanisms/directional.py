"""Directional Gaussian noise, calibrated exactly.

One record changes an identity query within a box and a second-moment query within a difference of
two rank-one matrices; neither set is a ball, so noise may differ between directions at the same
(epsilon, delta). The mechanism is general Gaussian noise (Nikolov & Tang, ITCS 2024); its diagonal
case is that of Muthukrishnan & Kalyani (arXiv 2302.03511).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.laws import GaussianLaw, MatrixNormal, SymmetrisedNormal
from matrixdp.mechanisms.allocation import Binary, FixedShares, Shares
from matrixdp.mechanisms.base import Entry, GaussianRelease, Mechanism
from matrixdp.mechanisms.directions import noise_factor
from matrixdp.mechanisms.gaussian import gaussian_release
from matrixdp.privacy import gaussian
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.quadratic import ENUMERABLE, largest_form
from matrixdp.privacy.sensitivity import Covariance, Query

#: Sign vectors after which the search for optimal variances stops.
CUTS = 200


@dataclass(frozen=True, eq=False)
class DirectionalGaussian(Mechanism):
    """Gaussian noise with the smallest scale that is private for a given shape.

    Along the standard basis, direction i gets the share theta_i of the squared privacy budget:
    variance w_i^2 / (B^2 theta_i) for the identity query (w_i the largest change of feature i,
    B = mu(epsilon, delta)), and factor variance sqrt(2) c_i^2 / (n B theta_i) for second
    moments under replacement, whose equi-modal noise is then symmetrised. Along other directions
    the shares set the shape, and the exact supremum over neighbours its scale.

    Args:
        allocation: the shares.
        weights: a_k > 0 of the weighted error sum a_k t_k to be minimised instead, m numbers;
            without directions the optimum is theta_k proportional to w_k sqrt(a_k). Records
            bounded by a ball get i.i.d. noise, as no shape helps there.
        directions: None for the standard basis, or an orthonormal basis, one direction per column.
    """

    allocation: FixedShares = field(default_factory=Shares)
    weights: tuple[float, ...] | None = None
    directions: ArrayLike | None = None
    queries = frozenset({"identity", "covariance"})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> GaussianRelease:
        """Return the (epsilon, delta)-DP release.

        Raises:
            InputError: epsilon, delta, shares, weights or directions are out of range or do not
                fit the query.
        """
        self._require(query)
        if not isinstance(self.allocation, FixedShares):
            raise InputError(
                f"allocation is {self.allocation}; directional noise takes Shares or Binary"
            )
        limit = gaussian.mu(*checks.privacy(epsilon, delta))
        directions = self.directions
        if directions is not None:
            directions = checks.orthonormal(directions=directions)
            checks.array(shape=(query.features, query.features), directions=directions)
        shape = self._shape(query, directions)
        symmetric = isinstance(query, Covariance)
        # mu falls with the root of the variances, and with the factor's variances themselves.
        ratio = query.directional_mu(shape, directions).value / limit
        variances = shape * (ratio if symmetric else ratio**2)
        mu = query.directional_mu(variances, directions)
        factor = noise_factor(directions, variances)
        if symmetric:
            noise: GaussianLaw = SymmetrisedNormal(query.shape, factor)
            square = (variances.sum() ** 2 + (variances**2).sum()) / 2 / query.features**2
        else:
            noise = MatrixNormal(query.shape, factor)
            square = variances.mean()
        return gaussian_release(query, noise, mu, np.sqrt(square), epsilon=epsilon, delta=delta)

    def _shape(self, query: Query, directions: Array | None) -> Array:
        """Return variances up to scale, shape (m,)."""
        sides = query.sides
        along = sides**2 if directions is None else (directions**2).T @ sides**2
        if self.weights is None:
            return along / self.allocation.resolve(query.features)
        weights = checks.array(shape=(query.features,), weights=self.weights)
        if not (weights > 0).all():
            raise InputError(f"weights hold {weights.min()}; every weight must be above 0")
        if isinstance(query.domain, Ball):
            return np.ones(query.features)
        if directions is None:
            return np.sqrt(along / weights)
        if isinstance(query, Covariance) or query.features > ENUMERABLE:
            raise InputError(
                f"weights are given with directions for a {query.name} query of {query.features} "
                f"features; they need an identity query of at most {ENUMERABLE}, so give shares "
                "instead, or use the standard basis"
            )
        return optimal_variances(directions, sides, weights)


def optimal_variances(
    directions: Array, sides: Array, weights: Array, tolerance: float = 1e-6
) -> Array:
    """Return the variances t, up to scale, that minimise sum a_k t_k at a given mu.

    With l = ln(1 / t) the program min sum a_k exp(-l_k) subject to sum_k b_k(s) exp(l_k) <= 1 for
    all sign vectors s, b_k(s) = (w_k . (sides s))^2, is convex. It is solved for a few sign
    vectors, to which the one that it violates most is added, until none is violated. Privacy does
    not depend on convergence, as the caller sets the scale exactly.

    Args:
        directions: orthonormal, one per column, shape (m, m), m at most ``ENUMERABLE``.
        sides: half-widths of the box of shifts, shape (m,).
        weights: a_k above 0, shape (m,).
        tolerance: largest relative violation, and so the largest relative loss, to stop at.
    """
    from scipy.optimize import minimize

    scaled = directions * sides[:, None]
    mean = (scaled**2).sum(axis=0)  # of b over all sign vectors: a relaxation, solved by hand
    log_u = np.log(np.sqrt(weights / mean) / np.sqrt(weights * mean).sum())
    cost = weights / (weights @ np.exp(-log_u))
    cuts = np.empty((0, len(sides)))
    for _ in range(CUTS):
        worst = largest_form(np.exp(log_u), directions, sides)
        if worst.signs is None or worst.value <= 1 + tolerance:
            break
        cuts = np.vstack([cuts, (worst.signs @ scaled) ** 2])
        log_u = minimize(
            lambda x: cost @ np.exp(-x),
            log_u - np.log(worst.value),
            jac=lambda x: -cost * np.exp(-x),
            constraints={
                "type": "ineq",
                "fun": lambda x, cuts=cuts: 1 - cuts @ np.exp(x),
                "jac": lambda x, cuts=cuts: -cuts * np.exp(x),
            },
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        ).x
    return np.exp(-log_u)


MECHANISMS = {
    "directional_gaussian": Entry(
        lambda important, tau: DirectionalGaussian(Binary(important=important, tau=tau)),
        axes=("direction", "tau"),
    ),
}
