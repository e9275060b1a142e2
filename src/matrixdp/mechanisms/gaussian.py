"""Gaussian noise without directions, of independent entries and on second moments.

The privacy of every release here follows from one number, ``mu`` = sensitivity / standard
deviation, and the exact curve of the Gaussian mechanism (Balle & Wang, ICML 2018, Theorem 8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.mechanism import Budget, Mechanism
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.groups import GroupMeanQuery
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import MeanQuery, Mu, Query, RecordsQuery, SecondMomentQuery
from matrixdp.privacy.sizes import SizeQuery


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """I.i.d. Gaussian noise on every entry of the value.

    On second moments it is the symmetric part of such noise, the Gaussian orthogonal ensemble.
    Diagonal entries keep its standard deviation, the others have it divided by sqrt(2). It is
    calibrated to the Frobenius sensitivity, and invariant under rotations.

    It has the least noise that is private (Balle & Wang 2018).

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> f"{mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6).noise_std:.4f}"
    '0.0211'
    """

    queries = frozenset(
        {RecordsQuery, MeanQuery, PresentMeanQuery, GroupMeanQuery, SizeQuery, SecondMomentQuery}
    )
    sensitivity_only = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        mu = gaussian_dp.mu(*budget)
        if isinstance(query, SecondMomentQuery):
            return orthogonal_ensemble(query, mu, budget)
        return AdditiveGaussian.independent(query, query.l2_sensitivity / mu, budget)


@dataclass(frozen=True)
class AnalyzeGauss(Mechanism):
    """Symmetric Gaussian noise on second moments (Dwork, Talwar, Thakurta & Zhang, STOC 2014).

    The upper triangle with the diagonal gets i.i.d. noise, calibrated to its l2 sensitivity, and is
    mirrored. It is the least that is private, which is less than the paper's.

    >>> query = mdp.SecondMomentQuery(mdp.Box((-1, -1), (1, 1)), n_records=400)
    >>> f"{mdp.AnalyzeGauss().calibrate(query, epsilon=1, delta=1e-6).noise_std:.4f}"
    '0.0211'
    """

    queries = frozenset({SecondMomentQuery})
    sensitivity_only = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, SecondMomentQuery)
        return independent_triangle(query, gaussian_dp.mu(*budget), budget)


def orthogonal_ensemble(query: Query, mu: float, budget: Budget) -> AdditiveGaussian:
    """Return the release of second moments with noise of :class:`Gaussian` that spends ``mu``."""
    sigma = query.l2_sensitivity / mu
    size = np.where(np.eye(query.features), sigma, sigma / np.sqrt(2))
    return _symmetric(query, size, Mu(mu, query.l2_tight), budget)


def independent_triangle(query: SecondMomentQuery, mu: float, budget: Budget) -> AdditiveGaussian:
    """Return the release with noise of :class:`AnalyzeGauss` that spends ``mu``."""
    size = np.full(query.shape, query.triangle_l2_sensitivity / mu)
    return _symmetric(query, size, Mu(mu, query.triangle_l2_tight), budget)


def _symmetric(query: Query, size: Array, mu: Mu, budget: Budget) -> AdditiveGaussian:
    noise = Noise(safe.NORMAL, size, query.shape, symmetric=True)
    return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=noise.deviation)
