"""Entries of :mod:`matrixdp.mechanisms.gaussian`, and IMGM."""

from __future__ import annotations

from functools import partial

from matrixdp.mechanisms.gaussian import GOE, AnalyzeGauss, Gaussian
from reproduction.mechanisms.base import MechanismEntry


class IMGM(Gaussian):
    """Improved matrix Gaussian mechanism (Yang et al., arXiv 2104.14808), by its Algorithm 1.

    Theorem 2: f(X) + U1 N U2^T is (epsilon, delta)-DP if the smallest singular values satisfy
    sigma_min(U1) sigma_min(U2) >= l2 / B(epsilon, delta), with B = ``gaussian.mu``. The paper's
    optimum is i.i.d. noise that meets this with equality: the analytic Gaussian mechanism.
    """


MECHANISMS = {
    "gaussian_2006": MechanismEntry(partial(Gaussian, "2006")),
    "gaussian_2014": MechanismEntry(partial(Gaussian, "2014")),
    "analytic_gaussian": MechanismEntry(Gaussian),
    "imgm": MechanismEntry(IMGM),
    "analyze_gauss": MechanismEntry(partial(AnalyzeGauss, "2014")),
    "analyze_gauss_2006": MechanismEntry(partial(AnalyzeGauss, "2006")),
    "analyze_gauss_analytic": MechanismEntry(partial(AnalyzeGauss, "analytic")),
    "goe": MechanismEntry(GOE),
}
