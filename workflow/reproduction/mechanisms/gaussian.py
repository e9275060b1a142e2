"""Entries of :mod:`matrixdp.mechanisms.gaussian`, Gaussian noise by entry, and IMGM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian, standard_deviation
from matrixdp.privacy.sensitivity import Mu, Query, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.noise import MatrixNormal


@dataclass(frozen=True)
class GaussianByEntry(Gaussian):
    """I.i.d. Gaussian noise on every entry, also on those of second moments, as the papers add it.

    Noise on second moments is not symmetric, and takes more of their value than its symmetric part.
    """

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> AdditiveGaussian:
        """Return the (epsilon, delta)-DP release; raises as that of the base class."""
        if not isinstance(query, SecondMomentQuery):
            return super().calibrate(query, epsilon=epsilon, delta=delta)
        budget = self._budget(query, epsilon, delta)
        sigma = standard_deviation(query.l2_sensitivity, *budget, self.calibration)
        mu, noise = (
            Mu(query.l2_sensitivity / sigma, query.l2_exact),
            MatrixNormal(query.shape, sigma),
        )
        return AdditiveGaussian.from_mu(mu, budget, query=query, noise=noise, noise_std=sigma)


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
    "analyze_gauss": MechanismEntry(partial(AnalyzeGauss, "2014")),
    "analyze_gauss_2006": MechanismEntry(partial(AnalyzeGauss, "2006")),
    "analyze_gauss_analytic": MechanismEntry(partial(AnalyzeGauss, "analytic")),
    "goe": MechanismEntry(OrthogonalEnsemble),
}
