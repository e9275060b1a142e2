"""Errors in the papers, each as numbers that show it.

A number here says what is right (or what the printed text would need); an erratum is shown where
the number of the printed text lies elsewhere. What only repeats a claim's check is not repeated.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from matrixdp.laws import Bingham
from matrixdp.mechanisms.gaussian import IMGM, Gaussian
from matrixdp.mechanisms.mvg import MVG, coefficients, largest_phi
from matrixdp.privacy import gaussian
from matrixdp.privacy.published import CTG, LIVER, MOVEMENT
from matrixdp.privacy.sensitivity import Ball, Box, Covariance, Identity
from matrixdp.theory.exact_imgm import DELTA, EPSILON
from matrixdp.theory.exact_mvg import largest_abstract_share
from matrixdp.theory.numbers import Check, Number


def zeta_without_root(_stream: np.random.Generator) -> Iterator[Number]:
    """Table 1 prints the bound on the squared norm where the bound on the norm is meant."""
    printed, root = (
        MVG(zeta=zeta).calibrate(LIVER, epsilon=EPSILON, delta=1 / 248).noise_std
        for zeta in ("literal", "sqrt")
    )
    yield Number("noise as printed over noise with the root, experiment I", printed / root, ">=", 1)


def needless_gamma(_stream: np.random.Generator) -> Iterator[Number]:
    """With f(X1) in place of f(X) the condition is beta phi + H_r s2^2 phi^2 <= 2 epsilon."""
    for name, query in (("I", LIVER), ("II", MOVEMENT), ("III", CTG)):
        delta, s2 = 1 / query.records, query.paper_l2
        # omega is 4 H_r gamma s2.
        found = coefficients(query.shape, gamma=s2 / 4, s2=s2, delta=delta)
        printed = MVG().precision_budget(query, epsilon=EPSILON, delta=delta)
        gain = largest_phi(found.omega, found.beta, EPSILON) / printed
        yield Number(f"phi without gamma over phi of Theorem 2, experiment {name}", gain, ">=", 1)


def any_query(stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 3's condition implies privacy whether or not a query is positive semi-definite."""
    largest = largest_abstract_share(3, stream)
    yield Number("largest s2 phi over the allowed mu, any m x n", largest, "<=", 1)


def negative_denominator(_stream: np.random.Generator) -> Iterator[Number]:
    """Eqs. (18) and (19) bound phi >= 0 by a number that must not be negative."""
    found = coefficients(LIVER.shape, gamma=LIVER.gamma, s2=LIVER.l2, delta=1 / 248)
    bottom = float(found.beta - np.sqrt(found.beta**2 + 8 * found.alpha * EPSILON))
    yield Number("denominator of (18), experiment I", bottom, ">=", 0)


def root_of_two(_stream: np.random.Generator) -> Iterator[Number]:
    """Route I of Theorem 4's proof: s2 <= sqrt(2) gamma, not sqrt(2 gamma)."""
    query = Covariance(Box.cube(4, -1, 1), 1)
    ratio = query.l2 / np.sqrt(2 * query.gamma)
    yield Number("s2 / sqrt(2 gamma), one record in [-1, 1]^4", ratio, "<=", 1)


def data_dependent_noise(stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 7 with the spectrum of the data: at most one direction is released, another one next.

    At experiment I's budget water filling releases only the leading direction. If it comes from
    the data it differs between neighbours, whose releases then never agree.
    """
    data = stream.uniform(-1, 1, size=(6, 248))
    other = data.copy()
    other[:, 0] = np.sign(stream.standard_normal(6))
    leading = [np.linalg.eigh(x @ x.T)[1][:, -1] for x in (data, other)]
    sine = np.sqrt(max(0.0, 1 - float(leading[0] @ leading[1]) ** 2))
    yield Number("sine between the released directions of neighbours", sine, "=", 0, 1e-9)


def loose_sensitivity(_stream: np.random.Generator) -> Iterator[Number]:
    """Section 8.2.3: the sensitivity of experiment II."""
    ratio = MOVEMENT.paper_l2 / MOVEMENT.l2
    yield Number("stated over exact sensitivity, experiment II", ratio, "=", 1, 1e-9)


def swapped_exponents(stream: np.random.Generator) -> Iterator[Number]:
    """Definition 2's determinants: the right law has |Sigma_1|^(n / 2) |Sigma_2|^(m / 2)."""
    m, n = 2, 5
    sigma, psi = 4.0 * np.eye(m), 9.0 * np.eye(n)
    x = stream.standard_normal((m, n))
    exponent = -np.trace(np.linalg.inv(psi) @ x.T @ np.linalg.inv(sigma) @ x) / 2
    logs = [np.linalg.slogdet(part)[1] for part in (sigma, psi)]
    printed = exponent - m * n / 2 * np.log(2 * np.pi) - (n * logs[1] + m * logs[0]) / 2
    apart = printed - stats.matrix_normal.logpdf(x, rowcov=sigma, colcov=psi)
    yield Number("log of the printed density minus log of the law's, 2 x 5", apart, "=", 0, 1e-9)


def not_an_equality(stream: np.random.Generator) -> Iterator[Number]:
    """Eq. (35): |U S V E|_F^2 is at most |S E|_F^2, not equal to it."""
    u, v = (np.linalg.qr(stream.standard_normal((5, 5)))[0] for _ in range(2))
    values = np.diag([5.0, 4.0, 3.0, 2.0, 1.0])
    kept = np.diag([1.0, 1.0, 0.0, 0.0, 0.0])
    left, right = (np.linalg.norm(side) ** 2 for side in (u @ values @ v @ kept, values @ kept))
    yield Number("left side of (35) over the right side", float(left / right), "=", 1, 1e-9)


def stray_t(_stream: np.random.Generator) -> Iterator[Number]:
    """Algorithm 2 divides by T in one of two places; with T = 10 it misses the root B."""
    count = 10

    def excess(u: float) -> float:
        first = stats.norm.cdf(-np.sqrt(EPSILON * u / count))
        return float(first - np.exp(EPSILON) * stats.norm.cdf(-np.sqrt(EPSILON * (u + 2))) - DELTA)

    u = brentq(excess, 1e-6, 1e4)
    found = np.sqrt(2 * EPSILON) / (np.sqrt(1 + u / 2) + np.sqrt(u / 2))
    ratio = float(found / gaussian.mu(EPSILON, DELTA))
    yield Number("B of Algorithm 2 as printed over B, T = 10", ratio, "=", 1, 1e-6)


def growth_of_beta(_stream: np.random.Generator) -> Iterator[Number]:
    """Section 4.2: the power of m n by which beta grows, with the root that zeta needs."""
    sizes = np.array([10**4, 10**6])
    beta = [coefficients((1, int(n)), gamma=1.0, s2=1.0, delta=DELTA).beta for n in sizes]
    power = float(np.diff(np.log(beta))[0] / np.diff(np.log(sizes))[0])
    yield Number("power of m n in beta, r = 1", power, "=", 1.25, 0.02)


def one_mechanism(_stream: np.random.Generator) -> Iterator[Number]:
    """Figure 1 shows a gap between two mechanisms that are one."""
    imgm, analytic = (
        kind.calibrate(LIVER, epsilon=EPSILON, delta=DELTA).noise_std
        for kind in (IMGM(), Gaussian("analytic"))
    )
    yield Number("noise of IMGM over that of the analytic Gaussian", imgm / analytic, "=", 1)


def clipping(_stream: np.random.Generator) -> Iterator[Number]:
    """The clip value C is the sensitivity of a sum if a record is added, not if it is replaced."""
    for adjacency in ("add_remove", "replace"):
        query = Identity(Ball(1, 5), 10, adjacency)
        yield Number(f"sensitivity over C, {adjacency.replace('_', ' or ')}", query.l2, "=", 1)


def bingham_law(stream: np.random.Generator) -> Iterator[Number]:
    """The Bingham sampler of diffprivlib: the mean square of a coordinate against an exact draw's.

    Its density is exp(epsilon v^T C v / (4 sensitivity)).
    """
    module = importlib.import_module("diffprivlib.mechanisms")
    form, draws = np.diag([1.0, 0.2]), 2000
    seed = int(stream.integers(2**31))
    mechanism = module.Bingham(epsilon=20.0, sensitivity=1.0, random_state=seed)
    found = np.array([mechanism.randomise(form) for _ in range(draws)])[:, 1] ** 2
    right = Bingham(20.0 / 4 * form).draws(stream, draws)[:, 1] ** 2
    p_value = float(stats.ks_2samp(found, right).pvalue)
    yield Number("p-value against exact draws of the same law", p_value, ">=", 1e-3)


def small_delta(_stream: np.random.Generator) -> Iterator[Number]:
    """diffprivlib's analytic Gaussian at delta = 1e-17: its noise over the least private noise."""
    module = importlib.import_module("diffprivlib.mechanisms")
    mechanism = module.GaussianAnalytic(epsilon=EPSILON, delta=1e-17, sensitivity=1.0)
    ratio = float(mechanism._scale * gaussian.mu(EPSILON, 1e-17))
    yield Number("noise over the least private noise", ratio, ">=", 1, 1e-9)


CHECKS: dict[str, Check] = {
    "zeta_without_root": zeta_without_root,
    "needless_gamma": needless_gamma,
    "any_query": any_query,
    "negative_denominator": negative_denominator,
    "root_of_two": root_of_two,
    "data_dependent_noise": data_dependent_noise,
    "loose_sensitivity": loose_sensitivity,
    "swapped_exponents": swapped_exponents,
    "not_an_equality": not_an_equality,
    "stray_t": stray_t,
    "growth_of_beta": growth_of_beta,
    "one_mechanism": one_mechanism,
    "clipping": clipping,
}

#: Checks of other people's package diffprivlib, which may be missing.
PEERS: dict[str, Check] = {"bingham_law": bingham_law, "small_delta": small_delta}


def installed() -> bool:
    """Return whether diffprivlib can be imported here."""
    return importlib.util.find_spec("diffprivlib") is not None
