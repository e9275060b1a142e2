"""Exact claims of the MVG paper (Chanyaswad et al., CCS 2018), each as numbers that decide it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from matrixdp.checks import Array
from matrixdp.laws import MatrixNormal
from matrixdp.mechanisms.allocation import Binary, Shares
from matrixdp.mechanisms.base import Additive, Release
from matrixdp.mechanisms.mvg import (
    MVG,
    coefficients,
    harmonic_numbers,
    largest_phi,
)
from matrixdp.privacy import gaussian
from matrixdp.privacy.published import CTG, EXPERIMENTS, LIVER, MOVEMENT
from matrixdp.privacy.sensitivity import Box, Covariance, Identity, Query
from matrixdp.theory import bounds, filling, leakage, samplers
from matrixdp.theory.numbers import Check, Number

EPSILON = 1.0

EPSILONS = (1e-3, 0.1, 1.0, 10.0, 100.0)
DELTAS = (0.1, 1e-3, 1e-5, 1e-12)
#: Small queries, where the theorems are tightest, and the paper's.
QUERIES: tuple[Query, ...] = (
    Identity(Box.cube(1, 0, 1), 1),
    Identity(Box.cube(2, -1, 1), 3),
    Covariance(Box.cube(2, -1, 1), 1),
    Covariance(Box.cube(3, -1, 1), 10),
    *EXPERIMENTS,
)


def tail_bound(_stream: np.random.Generator) -> Iterator[Number]:
    """Lemma 1: |N|_F^2 exceeds zeta^2 with probability at most delta."""
    for query in EXPERIMENTS:
        m, n = query.shape
        delta = 1 / query.records
        literal, root = (
            coefficients((m, n), gamma=1.0, s2=1.0, delta=delta, zeta=zeta).beta
            for zeta in ("literal", "sqrt")
        )
        # beta is proportional to zeta, which is L as printed and sqrt(L) otherwise.
        bound = (literal / root) ** 2
        for square, meant in ((bound**2, "as printed"), (bound, "with zeta^2 replaced by zeta")):
            chance = stats.chi2.sf(square, m * n)
            yield Number(f"probability of the tail, {m} x {n}, {meant}", chance, "<=", delta)


def _shares(theorem: int, queries: Sequence[Query]) -> Iterator[float]:
    """Yield mu / B of MVG releases over budgets and allocations; private: <= 1."""
    for query in queries:
        binary = [Binary((0,), tau) for tau in (0.5, 0.999) if query.features > 1]
        for allocation, *budget in itertools.product([Shares(), *binary], EPSILONS, DELTAS):
            mechanism = MVG(theorem=theorem, allocation=allocation)
            yield _share(mechanism.calibrate(query, epsilon=budget[0], delta=budget[1]))


def _share(release: Release) -> float:
    assert release.mu is not None
    return release.mu / gaussian.mu(release.epsilon, release.delta)


def largest_abstract_share(theorem: int, stream: np.random.Generator) -> float:
    """Return the largest s2 phi / B over random sizes and budgets, s2 being 1.

    The loss of any release that meets the theorem's condition has mu <= s2 phi, whatever the
    query: nothing here is symmetric or positive. gamma can be as small as s2 / 2.
    """
    largest = 0.0
    for _ in range(400):
        shape = tuple(int(size) for size in np.ceil(10 ** stream.uniform(0, 3, size=2)))
        gamma, epsilon = 0.5 * 10 ** stream.uniform(0, 1), 10 ** stream.uniform(-3, 2)
        delta = 10 ** stream.uniform(-15, -1)
        found = coefficients((shape[0], shape[1]), gamma=gamma, s2=1.0, delta=delta)
        quadratic = found.alpha if theorem == 2 else found.omega
        phi = float(largest_phi(quadratic, found.beta, epsilon))
        largest = max(largest, phi / gaussian.mu(epsilon, delta))
    return largest


def theorem_2(stream: np.random.Generator) -> Iterator[Number]:
    """Every release by Theorem 2 spends at most the mu that (epsilon, delta) allows."""
    return _spent(2, QUERIES, "releases", stream)


def theorem_3(stream: np.random.Generator) -> Iterator[Number]:
    """The same by Theorem 3, on second moments, and for queries of any kind."""
    moments = [query for query in QUERIES if isinstance(query, Covariance)]
    return _spent(3, moments, "second moments", stream)


def _spent(
    theorem: int, queries: Sequence[Query], what: str, stream: np.random.Generator
) -> Iterator[Number]:
    share, abstract = max(_shares(theorem, queries)), largest_abstract_share(theorem, stream)
    yield Number(f"largest mu over the allowed mu, {what}", share, "<=", 1)
    yield Number("largest s2 phi over the allowed mu, random sizes", abstract, "<=", 1)


def theorem_4(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 3 allows at least as much precision where s2 <= gamma, or r > 12."""
    table = bounds.bounds(0)
    gain = table["phi_thm3"] / table["phi_thm2"]
    # A positive semi-definite query cannot have s2 above sqrt(2) gamma.
    many = (table["r"] > 12) & (table["ratio"] <= np.sqrt(2))
    for where, rows in (("s2 <= gamma", table["ratio"] <= 1), ("r > 12", many)):
        what = f"smallest phi of Theorem 3 over that of Theorem 2, {where}"
        yield Number(what, gain[rows].min(), ">=", 1, 1e-12)


def threshold(_stream: np.random.Generator) -> Iterator[Number]:
    """The smallest rank from which Theorem 4's second condition holds at s2 = sqrt(2) gamma."""
    ranks = np.arange(1, 100)
    harmonic, root_harmonic = np.transpose([harmonic_numbers(int(r)) for r in ranks])
    fails = root_harmonic < (2 * np.sqrt(2) - 1) * harmonic
    yield Number("smallest rank", float(ranks[fails].max() + 1), "=", 13)


def example_1(_stream: np.random.Generator) -> Iterator[Number]:
    """Second moments of records in [-c, c]^m: gamma = m c^2, s2 at most 2 m c^2 / n."""
    ones = np.ones((MOVEMENT.features, MOVEMENT.records))
    attained = float(np.linalg.norm(ones @ ones.T / MOVEMENT.records))
    for what, gamma in (("attained", attained), ("calibrated to", MOVEMENT.gamma)):
        yield Number(f"gamma / (m c^2), {what}", gamma / MOVEMENT.features, "=", 1, 1e-12)
    yield Number("exact s2 / (2 m c^2 / n)", MOVEMENT.l2 / MOVEMENT.paper_l2, "<=", 1)


def example_2(_stream: np.random.Generator) -> Iterator[Number]:
    """Kernel matrices of n records, |k| <= c: gamma = n c, s2 at most c sqrt(8 n - 4)."""
    n = 20
    signs = np.ones(n)
    signs[0] = -1
    # The linear kernel on unit vectors: one record is replaced by its opposite.
    kernel = np.ones((n, n))
    attained, changed = (
        float(np.linalg.norm(k)) for k in (kernel, kernel - np.outer(signs, signs))
    )
    table = bounds.bounds(0)
    large = table["r"][(table["case"] == "kernel matrix") & (table["ratio"] >= 1)]
    yield Number("gamma / (n c), attained", attained / n, "=", 1, 1e-12)
    yield Number("change by one record / (c sqrt(8 n - 4))", changed / np.sqrt(8 * n - 4), "<=", 1)
    yield Number("smallest n from which s2 < gamma", large.max() + 1, "=", 8)


def singular_values(stream: np.random.Generator) -> Iterator[Number]:
    """Turning the noise keeps its singular values, and the guarantee."""
    bases = [None, *(np.linalg.qr(stream.standard_normal((6, 6)))[0] for _ in range(20))]
    mechanisms = [MVG(allocation=Binary((0, 1), 0.75), directions=basis) for basis in bases]
    plain, *turned = (one.calibrate(LIVER, epsilon=1, delta=1 / 248) for one in mechanisms)
    share = max(_share(release) for release in turned)
    change = max(np.abs(_variances(one) / _variances(plain) - 1).max() for one in turned)
    yield Number("largest mu over the allowed mu, 20 random bases", share, "<=", 1)
    yield Number("largest relative change of a variance", change, "=", 0, 1e-9)


def _variances(release: Release) -> Array:
    """Return the eigenvalues of Sigma of an MVG release, descending."""
    return smallest_last(noise_of(release).row_factor) ** 2


def noise_of(release: Release) -> MatrixNormal:
    """Return the law of additive noise of a release that is a matrix normal."""
    assert isinstance(release, Additive)
    assert isinstance(release.noise, MatrixNormal)
    return release.noise


def smallest_last(factor: ArrayLike | None) -> Array:
    """Return the singular values of a factor of noise, given as its diagonal or as a matrix."""
    given = np.asarray(factor, dtype=float)
    return np.linalg.svd(np.diag(given) if given.ndim == 1 else given, compute_uv=False)


def same_law(stream: np.random.Generator) -> Iterator[Number]:
    """The samplers of Lemmas 6 and 7 draw the law of the definition, and tests would tell."""
    table = samplers.samplers(int(stream.integers(2**31)))
    tests = table[table["kind"] == "test"].groupby("sampler")["p_value"]
    smallest, wrong = tests.min(), tests.max()["wrong_order"]
    yield Number("smallest p-value, affine (Lemma 7)", smallest["affine"], ">=", 1e-3)
    yield Number("smallest p-value, Kronecker (Lemma 6)", smallest["kronecker"], ">=", 1e-3)
    yield Number("largest p-value, factors in the wrong order", wrong, "<=", 1e-6)


def printed_optimum(_stream: np.random.Generator) -> Iterator[Number]:
    """Eq. (25) with its closed form for c must give positive precisions: here experiment I."""
    u = filling.printed_formula(filling.SPECTRUM, np.array(_liver_budget()))
    yield Number("smallest precision of Eq. (25), experiment I", float(u.min()), ">=", 0)


def filled_optimum(_stream: np.random.Generator) -> Iterator[Number]:
    """Water filling over the active directions is optimal at any budget."""
    for budget in (_liver_budget(), 0.1, 1.0, 10.0):
        u = filling.water_filling(filling.SPECTRUM, budget)
        best = filling.gain(filling.SPECTRUM, filling.numerical_optimum(filling.SPECTRUM, budget))
        gain = float(filling.gain(filling.SPECTRUM, u) / best)
        off = float(filling.optimality_residual(filling.SPECTRUM, u))
        yield Number(f"gain over the numerical optimum's, budget {budget:.3g}", gain, "=", 1, 1e-6)
        yield Number(f"violated optimality conditions, budget {budget:.3g}", off, "=", 0, 1e-9)


def _liver_budget() -> float:
    phi = MVG().precision_budget(LIVER, epsilon=EPSILON, delta=1 / LIVER.records)
    return phi**2 / np.sqrt(LIVER.records)


def information(_stream: np.random.Generator) -> Iterator[Number]:
    """Lemma 10: the log of the power-to-noise ratio is twice the mutual information."""
    for budget in (0.1, 1.0, 10.0):
        u = filling.water_filling(filling.SPECTRUM, budget)
        gain = float(filling.gain(filling.SPECTRUM, u))
        ratio = gain / filling.joint_information(filling.SPECTRUM, u)
        yield Number(f"ln PNR / (2 mutual information), budget {budget:g}", ratio, "=", 1, 1e-9)


def least_leakage(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 9 for one Gaussian answer: other noise of the same variance leaks no less."""
    for variance in (0.1, 1.0, 10.0):
        normal = leakage.gaussian(variance)
        ratio = leakage.information(stats.norm(scale=np.sqrt(variance))) / normal
        yield Number(f"quadrature / closed form, noise {variance:g}", ratio, "=", 1, 1e-6)
        for name, law in leakage.laws(variance).items():
            more = leakage.information(law) / normal
            yield Number(f"leakage over Gaussian's, {name} {variance:g}", more, ">=", 1, 1e-6)


def budgets(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorems 5 and 6: what the precisions of calibrated releases sum to."""
    for query, theorem in ((LIVER, 2), (CTG, 2), (MOVEMENT, 2), (MOVEMENT, 3)):
        delta = 1 / query.records
        release = MVG(theorem=theorem).calibrate(query, epsilon=EPSILON, delta=delta)
        found = coefficients(query.shape, gamma=query.gamma, s2=query.paper_l2, delta=delta)
        first = found.alpha if theorem == 2 else found.omega
        root = (-found.beta + np.sqrt(found.beta**2 + 8 * first * EPSILON)) / (2 * first)
        unimodal = isinstance(query, Identity)
        printed = root**4 / query.records if unimodal else root**2
        spent = float((_variances(release) ** -2.0).sum() / printed)
        what = f"{query.name} {query.shape[0]} x {query.shape[1]}, Theorem {theorem}"
        yield Number(f"sum of squared precisions / budget, {what}", spent, "=", 1, 1e-8)


def gaussian_answer(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 8 as stated: a sum over any number of records has the largest information."""
    yield _of_a_sum(1, "one record", 1e-3)


def gaussian_limit(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 8 in the limit of many records, where a sum is Gaussian."""
    for n, tolerance in ((16, 1e-2), (256, 1e-3)):
        yield _of_a_sum(n, f"{n} records", tolerance)


def _of_a_sum(n: int, records: str, tolerance: float) -> Number:
    share = leakage.sum_information(n) / leakage.gaussian(1.0)
    what = f"information of a sum of {records} over the largest possible"
    return Number(what, share, "=", 1, tolerance)


CHECKS: dict[str, Check] = {
    "M1": tail_bound,
    "M2": theorem_2,
    "M3": theorem_3,
    "M4": theorem_4,
    "M5": threshold,
    "M6": example_1,
    "M7": example_2,
    "M8": singular_values,
    "M9": same_law,
    "M11": printed_optimum,
    "M11_water_filling": filled_optimum,
    "M23": information,
    "M24": least_leakage,
    "M25": budgets,
    "M30": gaussian_answer,
    "M30_many_records": gaussian_limit,
}
