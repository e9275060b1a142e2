"""Gaussian noise without directions: classical, analytic, IMGM, and on second moments.

The privacy of every release here follows from one number, ``mu`` = sensitivity / standard
deviation, and the exact curve of the Gaussian mechanism (Balle & Wang, ICML 2018, Theorem 8).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.mechanism import Budget, Mechanism, NoGuarantee
from matrixdp.noise import safe
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import MeanQuery, Mu, Query, RecordsQuery, SecondMomentQuery

#: The two constants in circulation: sigma = sensitivity sqrt(2 ln(constant / delta)) / epsilon.
CONSTANTS = {
    "2006": 2.0,  # Dwork, Kenthapadi, McSherry, Mironov & Naor, EUROCRYPT 2006
    "2014": 1.25,  # Dwork & Roth 2014, Theorem A.1, proved for epsilon < 1
}


def standard_deviation(
    sensitivity: float, epsilon: float, delta: float, calibration: str = "analytic"
) -> float:
    """Return the standard deviation of Gaussian noise for an l2 sensitivity.

    ``calibration`` is ``analytic`` for the smallest one that is private, or the year of a classical
    constant (see ``CONSTANTS``). NoGuarantee: the classical formula gives too little noise at this
    epsilon, which is decided by the exact curve.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    checks.choice((*CONSTANTS, "analytic"), calibration=calibration)
    if calibration == "analytic":
        return sensitivity / gaussian_dp.mu(epsilon, delta)
    constant = CONSTANTS[calibration]
    sigma = sensitivity * np.sqrt(2 * np.log(constant / delta)) / epsilon
    real = gaussian_dp.delta(epsilon, sensitivity / sigma)
    if real > delta:
        raise NoGuarantee(
            f"the classical Gaussian mechanism with constant {constant:g} has delta {real:.3g} "
            f"instead of {delta:.3g} at epsilon {epsilon:g}; use a smaller epsilon or the "
            "analytic calibration"
        )
    return float(sigma)


@dataclass(frozen=True)
class Gaussian(Mechanism):
    """I.i.d. Gaussian noise on every entry of the value.

    On second moments it is the symmetric part of such noise, the Gaussian orthogonal ensemble.
    Diagonal entries keep its standard deviation, the others have it divided by sqrt(2). It is
    calibrated to the Frobenius sensitivity, and invariant under rotations.

    Its calibration is ``analytic`` (Balle & Wang 2018), ``2006`` or ``2014`` (see ``CONSTANTS``).

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> f"{mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6).noise_std:.4f}"
    '0.0211'
    """

    calibration: str = "analytic"
    queries = frozenset({RecordsQuery, MeanQuery, PresentMeanQuery, SecondMomentQuery})
    sensitivity_only = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release; raises as :func:`standard_deviation`."""
        budget = self._budget(query, epsilon, delta)
        sigma = standard_deviation(query.l2_sensitivity, *budget, self.calibration)
        if isinstance(query, SecondMomentQuery):
            return orthogonal_ensemble(query, query.l2_sensitivity / sigma, budget)
        mu = Mu(query.l2_sensitivity / sigma, query.l2_exact)
        noise = Noise.of(safe.NORMAL, sigma, query.shape)
        return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=sigma)


@dataclass(frozen=True)
class AnalyzeGauss(Mechanism):
    """Symmetric Gaussian noise on second moments (Dwork, Talwar, Thakurta & Zhang, STOC 2014).

    The upper triangle with the diagonal gets i.i.d. noise, calibrated to its l2 sensitivity, and is
    mirrored. The calibrations and their default are those of :class:`Gaussian`; the paper's
    constant is ``2014``.

    >>> query = mdp.SecondMomentQuery(mdp.Box((-1, -1), (1, 1)), n_records=400)
    >>> f"{mdp.AnalyzeGauss().calibrate(query, epsilon=1, delta=1e-6).noise_std:.4f}"
    '0.0211'
    """

    calibration: str = "analytic"
    queries = frozenset({SecondMomentQuery})
    sensitivity_only = True

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release; raises as :func:`standard_deviation`."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, SecondMomentQuery)
        return _triangle(
            query,
            standard_deviation(query.triangle_l2_sensitivity, *budget, self.calibration),
            budget,
        )


def orthogonal_ensemble(query: Query, mu: float, budget: Budget) -> AdditiveGaussian:
    """Return the release of second moments with noise of :class:`Gaussian` that spends ``mu``."""
    sigma = query.l2_sensitivity / mu
    size = np.where(np.eye(query.features), sigma, sigma / np.sqrt(2))
    return _symmetric(query, size, Mu(query.l2_sensitivity, query.l2_exact), budget)


def independent_triangle(query: SecondMomentQuery, mu: float, budget: Budget) -> AdditiveGaussian:
    """Return the release with noise of :class:`AnalyzeGauss` that spends ``mu``."""
    return _triangle(query, query.triangle_l2_sensitivity / mu, budget)


def _triangle(query: SecondMomentQuery, sigma: float, budget: Budget) -> AdditiveGaussian:
    size = np.full(query.shape, sigma)
    change = Mu(query.triangle_l2_sensitivity, query.triangle_l2_exact)
    return _symmetric(query, size, change, budget)


def _symmetric(query: Query, size: Array, change: Mu, budget: Budget) -> AdditiveGaussian:
    noise = Noise(safe.NORMAL, size, query.shape, symmetric=True)
    mu = Mu(change.value / float(size[0, 0]), change.attained)
    return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=noise.deviation)
