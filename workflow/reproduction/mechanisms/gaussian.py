"""Entries of :mod:`matrixdp.mechanisms.gaussian`, classical calibrations, and IMGM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from matrixdp import checks
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian, independent_triangle
from matrixdp.mechanisms.mechanism import NoGuarantee
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Mu, Query, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.noise import MatrixNormal

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
class GaussianByEntry(Gaussian):
    """I.i.d. Gaussian noise on every entry, also on those of second moments, as the papers add it.

    Noise on second moments is not symmetric, and takes more of their value than its symmetric part.
    ``calibration`` is that of :func:`standard_deviation`.
    """

    calibration: str = "analytic"

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release; raises as :func:`standard_deviation`."""
        budget = self._budget(query, epsilon, delta)
        sigma = standard_deviation(query.l2_sensitivity, *budget, self.calibration)
        if not isinstance(query, SecondMomentQuery):
            return AdditiveGaussian.independent(query, sigma, budget)
        mu, noise = (
            Mu(query.l2_sensitivity / sigma, query.l2_tight),
            MatrixNormal(query.shape, sigma),
        )
        return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=sigma)


@dataclass(frozen=True)
class AnalyzeGaussOfYear(AnalyzeGauss):
    """Analyze Gauss with a classical constant; the paper's is ``2014``."""

    calibration: str = "2014"

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release; raises as :func:`standard_deviation`."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, SecondMomentQuery)
        mu = 1 / standard_deviation(1.0, *budget, self.calibration)
        return independent_triangle(query, mu, budget)


class OrthogonalEnsemble(Gaussian):
    """The library's Gaussian noise on second moments, where alone it is this ensemble."""

    queries = frozenset({SecondMomentQuery})


class IMGM(GaussianByEntry):
    """Improved matrix Gaussian mechanism (Yang et al., arXiv 2104.14808), by its Algorithm 1.

    Theorem 2: f(X) + U1 N U2^T is (epsilon, delta)-DP if the smallest singular values satisfy
    sigma_min(U1) sigma_min(U2) >= l2 / B(epsilon, delta), with B = ``gaussian.mu``. The paper's
    optimum is i.i.d. noise that meets this with equality: the analytic Gaussian mechanism.
    """


MECHANISMS = {
    "gaussian_2006": MechanismEntry(partial(GaussianByEntry, "2006")),
    "gaussian_2014": MechanismEntry(partial(GaussianByEntry, "2014")),
    "analytic_gaussian": MechanismEntry(GaussianByEntry),
    "imgm": MechanismEntry(IMGM),
    "analyze_gauss": MechanismEntry(AnalyzeGaussOfYear),
    "analyze_gauss_2006": MechanismEntry(partial(AnalyzeGaussOfYear, "2006")),
    "analyze_gauss_analytic": MechanismEntry(AnalyzeGauss),
    "goe": MechanismEntry(OrthogonalEnsemble),
}
