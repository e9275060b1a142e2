"""Directional Gaussian noise, calibrated exactly.

One record changes the identity query by a vector of a box, and second moments by a difference of
two rank-one matrices. Neither set of changes is a ball, so that anisotropic noise can have less
error at the same (epsilon, delta). The mechanism is general Gaussian noise (Nikolov & Tang, ITCS
2024). Its diagonal case is that of Muthukrishnan & Kalyani (arXiv 2302.03511).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.equality import ByValue
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery, SecondMomentQuery


@dataclass(frozen=True, eq=False)
class DirectionalGaussian(ByValue, Mechanism):
    """Gaussian noise with the smallest scale that is private for a given shape.

    Along the standard basis, direction i gets the share theta_i of the squared budget B^2, with
    B = mu(epsilon, delta):

    - identity query: variance w_i^2 / (B^2 theta_i), with w_i the largest change of feature i;
    - second moments: factor variance k c_i^2 / (n B theta_i), with c_i the largest absolute value
      of feature i. This equi-modal noise is then symmetrised. Under replacement k is between 1 and
      sqrt(2), which it is where the shares split into two equal halves.

    Along other directions the shares set the shape. Its scale follows from the supremum over
    neighbours, or from a bound on it for second moments under replacement.

    Args:
        shares: m numbers above 0 with sum 1, one per direction; None for equal shares.
        weights: m numbers a_k > 0, along the standard basis, in place of the shares. They minimise
            the weighted error sum a_k t_k: theta_k is proportional to w_k sqrt(a_k), for second
            moments under replacement with k = sqrt(2). Records in a ball get i.i.d. noise, as no
            shape helps there.
        directions: None for the standard basis, or an orthonormal basis, one direction per column.

    >>> query = mdp.MeanQuery(mdp.Box((0, 0), (1, 1)), n_records=400)
    >>> release = mdp.DirectionalGaussian(weights=(9, 1)).calibrate(query, epsilon=1, delta=1e-6)
    >>> release.noise.size.round(4).tolist()
    [[0.0122], [0.0211]]
    """

    shares: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None
    directions: ArrayLike | None = None
    queries = frozenset({RecordsQuery, MeanQuery, SecondMomentQuery})
    sensitivity_only = True

    def __post_init__(self) -> None:
        if self.shares is not None:
            checks.shares(shares=self.shares)

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        limit = gaussian_dp.mu(*budget)
        directions = checked_basis(self.directions, query.features)
        shape = self._shape(query, directions)
        symmetric = isinstance(query, SecondMomentQuery)
        # mu falls with the root of the variances, and with the factor's variances themselves.
        ratio = query.directional_mu(shape, directions).value / limit
        variances = shape * (ratio if symmetric else ratio**2)
        mu = query.directional_mu(variances, directions)
        size = np.sqrt(variances)[:, None]
        if symmetric:
            # The symmetric part of independent entries: off the diagonal half of the variance.
            size = size * size.T * np.where(np.eye(query.features), 1.0, np.sqrt(0.5))
        noise = Noise(safe.NORMAL, size, query.shape, symmetric, directions)
        return AdditiveGaussian.from_mu(
            mu, budget, query=query, noise=noise, noise_std=noise.deviation
        )

    def _shape(self, query: Query, directions: Array | None) -> Array:
        """Return variances up to scale, shape (m,)."""
        squares = query.half_widths**2
        along = squares if directions is None else (directions**2).T @ squares
        if self.weights is None:
            return along / self.resolved_shares(query.features)
        weights = checks.array(shape=(query.features,), weights=self.weights)
        if not (weights > 0).all():
            raise InputError(f"weights hold {weights.min()}; every weight must be above 0")
        if isinstance(query.domain, Ball):
            return np.ones(query.features)
        if directions is not None:
            raise InputError(
                "weights are given with directions; give shares instead, or use the standard basis"
            )
        return np.sqrt(along / weights)

    def resolved_shares(self, features: int) -> Array:
        """Return the shares, shape (m,); raises InputError if there is not one per direction."""
        if self.shares is None:
            return np.full(features, 1 / features)
        shares = checks.shares(shares=self.shares)
        if len(shares) != features:
            raise InputError(
                f"shares has {len(shares)} numbers; give one per direction, {features}"
            )
        return shares


def checked_basis(directions: ArrayLike | None, features: int) -> Array | None:
    """Return directions (m, m) if they are an orthonormal basis; None stays None."""
    if directions is None:
        return None
    basis = checks.orthonormal(directions=directions)
    return checks.array(shape=(features, features), directions=basis)
