"""Exact claims of the MVG paper (Chanyaswad et al., CCS 2018), each as numbers that decide it.

The keyword parameters of a check are the parts of the statement that its controls alter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import stats

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.quadratic import sign_vectors
from matrixdp.privacy.sensitivity import Box, Query, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.allocation import Binary, Shares, printed_formula, water_filling
from reproduction.mechanisms.mvg import (
    MVG,
    Coefficients,
    coefficients,
    harmonic_numbers,
    largest_phi,
)
from reproduction.mechanisms.noise import MatrixNormal
from reproduction.privacy import published
from reproduction.privacy.published import CTG, EXPERIMENTS, LIVER, MOVEMENT
from reproduction.theory import filling, leakage, samplers
from reproduction.theory.numbers import Number, Numbers, Stream, registry

CHECKS, check = registry()

EPSILON = 1.0

EPSILONS = (1e-3, 0.1, 1.0, 10.0, 100.0)
DELTAS = (0.1, 1e-3, 1e-5, 1e-12)
#: Small queries, where the theorems are tightest, and the queries of the paper.
QUERIES: tuple[Query, ...] = (
    RecordsQuery(Box.cube(1, 0, 1), 1),
    RecordsQuery(Box.cube(2, -1, 1), 3),
    SecondMomentQuery(Box.cube(2, -1, 1), 1),
    SecondMomentQuery(Box.cube(3, -1, 1), 10),
    *EXPERIMENTS,
)
#: Alteration of the condition alpha phi^2 + beta phi <= 2 epsilon.
_WITHOUT_BETA = {"without the term of beta": {"linear": 0}}
#: Numbers of rows and of columns, among them the smallest, where the theorems are tightest.
SIZES = (1, 2, 10, 1000)


@check(
    "M1",
    {
        "half of each constant but the first": {"cross": 1, "log": 1},
        "without the root": {"cross": 0},
        "without the size": {"size": 0},
    },
)
def tail_bound(_stream: Stream, *, size: float = 1, cross: float = 2, log: float = 2) -> Numbers:
    """Lemma 1: P(|N|_F^2 > zeta^2) <= delta, zeta = mn + 2 sqrt(mn x) + 2 x, x = ln(1 / delta).

    It follows from P(|N|_F^2 > zeta) <= delta (Laurent & Massart) and zeta >= 1. The parameters
    are the constants of zeta's terms.
    """
    shapes = [m * n for m, n in itertools.product(SIZES, SIZES)]
    count, delta = np.array([*itertools.product(shapes, (0.99, 0.9, 0.5, *DELTAS))]).T
    x = -np.log(delta)
    zeta = size * count + cross * np.sqrt(count * x) + log * x
    share = float((stats.chi2.sf(zeta, count) / delta).max())
    yield Number("largest P(|N|^2 > zeta) over delta", share, "<=", 1)
    yield Number("smallest zeta, so that zeta <= zeta^2", float(zeta.min()), ">=", 1)


def _quadratic_coefficient(constants: Coefficients, theorem: int) -> float:
    return float(constants.alpha if theorem == 2 else constants.omega)


def _phi(
    theorem: int, constants: Coefficients, epsilon: float, budget: float = 1, linear: float = 1
) -> float:
    """Return the largest phi of a theorem; the last two multiply its epsilon and beta."""
    return float(
        largest_phi(
            _quadratic_coefficient(constants, theorem), linear * constants.beta, budget * epsilon
        )
    )


def _mu_ratios(
    theorem: int, queries: Sequence[Query], altered: dict[str, float]
) -> Iterator[float]:
    """Yield mu / B of MVG releases over budgets and allocations; private: <= 1."""
    for query in queries:
        binary = [Binary((0,), tau) for tau in (0.5, 0.999) if query.features > 1]
        for allocation, epsilon, delta in itertools.product([Shares(), *binary], EPSILONS, DELTAS):
            mechanism = MVG(theorem=theorem, allocation=allocation)
            release = mechanism.calibrate(query, epsilon=epsilon, delta=delta)
            # mu is proportional to phi.
            constants = coefficients(
                query.shape,
                gamma=query.largest_norm,
                s2=published.l2_sensitivity(query),
                delta=delta,
            )
            phi = _phi(theorem, constants, epsilon, **altered)
            phi_release = mechanism.precision_budget(query, epsilon=epsilon, delta=delta)
            assert release.mu is not None
            yield release.mu / gaussian_dp.mu(release.epsilon, release.delta) * phi / phi_release


def largest_abstract_share(theorem: int, **altered: float) -> float:
    """Return the largest s2 phi / B over sizes and budgets, for s2 = 1.

    Every release that meets the theorem's condition has mu <= s2 phi, for any query: neither
    symmetry nor positivity is assumed. gamma can be as small as s2 / 2.
    """
    budgets = [*itertools.product(EPSILONS, DELTAS)]
    allowed = {budget: gaussian_dp.mu(*budget) for budget in budgets}
    shapes = itertools.product(SIZES, SIZES)
    return max(
        _phi(theorem, coefficients(shape, gamma=gamma, s2=1, delta=delta), epsilon, **altered)
        / allowed[epsilon, delta]
        for shape, gamma, (epsilon, delta) in itertools.product(shapes, (0.5, 1, 5), budgets)
    )


@check("M2", {"four times epsilon": {"budget": 4}} | _WITHOUT_BETA)
def theorem_2(_stream: Stream, **altered: float) -> Numbers:
    """Every release by Theorem 2 spends at most the mu that (epsilon, delta) allows."""
    return _largest_ratios(2, QUERIES, "releases", altered)


@check("M3", {"eight times epsilon": {"budget": 8}} | _WITHOUT_BETA)
def theorem_3(_stream: Stream, **altered: float) -> Numbers:
    """The same for Theorem 3, on second moments and on queries of any kind."""
    moments = [query for query in QUERIES if isinstance(query, SecondMomentQuery)]
    return _largest_ratios(3, moments, "second moments", altered)


def _largest_ratios(
    theorem: int, queries: Sequence[Query], what: str, altered: dict[str, float]
) -> Numbers:
    abstract = largest_abstract_share(theorem, **altered)
    share = max(_mu_ratios(theorem, queries, altered))
    yield Number(f"largest mu over the allowed mu, {what}", share, "<=", 1)
    yield Number("largest s2 phi over the allowed mu, any query", abstract, "<=", 1)


#: Ranks, and s2 / gamma: at most sqrt(2) for positive semi-definite queries and 2 for all queries.
RANKS = np.arange(1, 31)
RATIOS = np.sort([*np.geomspace(1e-4, 0.1, 31), *np.linspace(0.12, 2, 48), np.sqrt(2)])


def gain_of_theorem_3(rank: int, ratios: Array) -> Array:
    """Return phi of Theorem 3 over that of Theorem 2, r x r queries, by s2 / gamma."""
    constants = coefficients((rank, rank), gamma=1.0, s2=ratios, delta=1e-5)
    phis = (largest_phi(x, constants.beta, EPSILON) for x in (constants.omega, constants.alpha))
    return np.divide(*phis)


@check("M4", {"s2 of at most 1.1 gamma": {"ratio": 1.1}, "r of at least 12": {"rank": 11}})
def theorem_4(_stream: Stream, *, ratio: float = 1, rank: int = 12) -> Numbers:
    """Theorem 3 allows at least as much precision where s2 <= gamma, or r > 12."""
    for condition, ranks, most in (
        ("s2 <= gamma", RANKS, ratio),
        # A positive semi-definite query cannot have s2 above sqrt(2) gamma.
        ("r > 12", RANKS[rank:], np.sqrt(2)),
    ):
        ratios = RATIOS[np.less_equal(RATIOS, most)]
        gain = min(float(gain_of_theorem_3(int(r), ratios).min()) for r in ranks)
        what = f"smallest phi of Theorem 3 over that of Theorem 2, {condition}"
        yield Number(what, gain, ">=", 1, 1e-12)


@check("M5", {"s2 as large as for any query": {"ratio": 2}})
def threshold(_stream: Stream, *, ratio: float = 2**0.5) -> Numbers:
    """The smallest rank from which Theorem 4's second condition holds at s2 = sqrt(2) gamma."""
    ranks = np.arange(1, 100)
    harmonic, root_harmonic = np.transpose([harmonic_numbers(int(r)) for r in ranks])
    fails = root_harmonic < (2 * ratio - 1) * harmonic
    yield Number("smallest rank", float(ranks[fails].max() + 1), "=", 13)


@check("M6", {"half of gamma": {"gamma": 0.5}, "half of s2": {"s2": 1}})
def example_1(_stream: Stream, *, gamma: float = 1, s2: float = 2) -> Numbers:
    """Second moments of records in [-c, c]^m: gamma = m c^2, s2 at most 2 m c^2 / n."""
    m, n = MOVEMENT.features, MOVEMENT.n_records
    ones = np.ones((m, n))
    attained = float(np.linalg.norm(ones @ ones.T / n))
    for what, gamma_value in (("attained", attained), ("calibrated to", MOVEMENT.largest_norm)):
        yield Number(f"gamma / (m c^2), {what}", gamma_value / (gamma * m), "=", 1, 1e-12)
    yield Number("exact s2 / (2 m c^2 / n)", MOVEMENT.l2_sensitivity / (s2 * m / n), "<=", 1)


@check("M7", {"half of gamma": {"gamma": 0.5}, "half of s2 squared": {"s2": 4}})
def example_2(_stream: Stream, *, gamma: float = 1, s2: float = 8) -> Numbers:
    """Kernel matrices of n records, |k| <= c: gamma = n c, s2 at most c sqrt(8 n - 4)."""
    n = 20
    signs = np.ones(n)
    signs[0] = -1
    # The linear kernel on unit vectors: one record is replaced by its opposite.
    kernel = np.ones((n, n))
    changes = kernel, kernel - np.outer(signs, signs)
    attained, changed = (float(np.linalg.norm(k)) for k in changes)
    counts = np.arange(1, 100)
    large = counts[np.sqrt(s2 * (counts - 0.5)) >= counts]
    bound = np.sqrt(s2 * (n - 0.5))
    yield Number("gamma / (n c), attained", attained / (gamma * n), "=", 1, 1e-12)
    yield Number("change by one record / (c sqrt(8 n - 4))", changed / bound, "<=", 1)
    yield Number("smallest n from which s2 < gamma", float(large.max() + 1), "=", 8)


def over_ball(factor: Array) -> float:
    """Return the largest norm of the whitened change of a column, over changes of norm 1."""
    return float(np.linalg.norm(np.linalg.inv(factor), 2))


def over_box(factor: Array) -> float:
    """Return the largest norm as :func:`over_ball`, over the corners of a box of equal sides."""
    corners = sign_vectors(len(factor)).T / np.sqrt(len(factor))
    return float(np.linalg.norm(np.linalg.inv(factor) @ corners, axis=0).max())


OBLIQUE = {"directions that are not orthogonal": {"orthogonal": False}}


@check("M8", OBLIQUE | {"records in a box": {"worst": over_box}})
def singular_values(
    stream: Stream, *, orthogonal: bool = True, worst: Callable[[Array], float] = over_ball
) -> Numbers:
    """Rotating the noise preserves the left side of (1) and the largest mu over all changes."""
    deviations = np.arange(1.0, 7.0)

    def measure(basis: Array) -> tuple[float, float]:
        factor = basis * deviations
        return float(np.linalg.norm(np.linalg.inv(factor @ factor.T))), worst(factor)

    bases = stream.standard_normal((20, 6, 6))
    bases /= np.linalg.norm(bases, axis=1, keepdims=True)
    if orthogonal:
        bases = np.linalg.qr(bases)[0]
    baseline = measure(np.eye(6))
    changes = np.abs(np.array([measure(basis) for basis in bases]) / baseline - 1).max(axis=0)
    names = "left side of (1)", "largest mu over any change of the value"
    for name, change in zip(names, changes.tolist(), strict=True):
        yield Number(f"largest relative change, 20 bases: {name}", change, "=", 0, 1e-9)


def noise_of(release: CalibratedMechanism) -> Noise | MatrixNormal:
    """Return the Gaussian noise of an additive release."""
    assert isinstance(release, AdditiveMechanism)
    assert isinstance(release.noise, Noise | MatrixNormal)
    return release.noise


def descending_deviations(release: CalibratedMechanism) -> Array:
    """Return the singular values of the row factor of Gaussian noise, descending."""
    noise = noise_of(release)
    if isinstance(noise, Noise):
        assert noise.identical_columns
        return np.sort(noise.size[:, 0])[::-1]
    factor = np.asarray(noise.row_factor, dtype=float)
    return np.linalg.svd(np.diag(factor) if factor.ndim == 1 else factor, compute_uv=False)


@check("M9", {"Sigma and Psi exchanged": {"exchanged": True}})
def same_distribution(stream: Stream, *, exchanged: bool = False) -> Numbers:
    """The samplers of Lemmas 6 and 7 draw from the defined distribution; tests reject others."""
    p_values = samplers.p_values(int(stream.integers(2**31)), exchanged=exchanged)
    smallest = {name: min(of_tests.values()) for name, of_tests in p_values.items()}
    wrong = max(p_values["wrong_order"].values())
    yield Number("smallest p-value, affine (Lemma 7)", smallest["affine"], ">=", 1e-3)
    yield Number("smallest p-value, Kronecker (Lemma 6)", smallest["kronecker"], ">=", 1e-3)
    yield Number("largest p-value, factors in the wrong order", wrong, "<=", 1e-6)


#: A number of operations by m and n.
Cost = Callable[[float, float], float]
#: Orders of the cost of one draw: ``least`` is that of section 6.4.
ORDERS: dict[str, Cost] = {
    "fixed": lambda m, n: 1.0,
    "squared": lambda m, n: (m * n) ** 2,
    "cubed": lambda m, n: max(m, n) ** 3,
    "least": lambda m, n: min(max(m, n) ** 3, (m * n) ** 2),
    "cube": lambda m, n: (m * n) ** 3,
}
_FIXED = {"a fixed number": {"limit": ORDERS["fixed"]}}


@check("M10", {"(mn)^3 operations": {"limit": ORDERS["cube"]}} | _FIXED)
def cost_of_samplers(_stream: Stream, *, limit: Cost | None = None) -> Numbers:
    """Section 6.4: the costs of the cheaper sampler, of each sampler and of Algorithm 1."""

    def cheaper(m: float, n: float) -> float:
        return min(samplers.affine(m, n), samplers.kronecker(m, n))

    yield from _powers("cheaper sampler", cheaper, limit or ORDERS["least"])
    yield from _powers("Kronecker sampler", samplers.kronecker, limit or ORDERS["squared"])
    yield from _powers("affine sampler", samplers.affine, limit or ORDERS["cubed"])
    yield from _powers("Algorithm 1", samplers.algorithm_1, limit or ORDERS["least"])


@check("M10_directions", {"any Sigma and Psi": {"cost": samplers.affine}} | _FIXED)
def cost_along_directions(
    _stream: Stream, *, cost: Cost = samplers.unimodal, limit: Cost = ORDERS["least"]
) -> Numbers:
    """Section 6.4 for noise with Psi = I that is drawn along its directions, without Sigma."""
    return _powers("noise drawn along its directions", cost, limit)


def _powers(name: str, cost: Cost, limit: Cost) -> Numbers:
    """Yield the power of the growing side in a number of operations and in its limit."""
    ends = 1e6, 1e8
    shapes = {
        "m = 6": [(6.0, end) for end in ends],
        "n = 6": [(end, 6.0) for end in ends],
        "m = n": [(end, end) for end in ends],
    }
    for shape, sizes in shapes.items():
        logs = (np.log([operations(*size) for size in sizes]) for operations in (cost, limit))
        power, power_limit = (float(np.diff(log)[0] / np.log(ends[1] / ends[0])) for log in logs)
        yield Number(f"power in the operations, {name}, {shape}", power, "<=", power_limit, 1e-3)


def _equal_precisions(eigenvalues: Array, budget: float) -> Array:
    return np.full(len(eigenvalues), budget / len(eigenvalues))


@check("M11", {"a budget that fills all directions": {"budget": 10.0}})
def printed_optimum(_stream: Stream, *, budget: float | None = None) -> Numbers:
    """Eq. (25) with its closed form for c must give positive precisions: here experiment I."""
    precision_sum = _liver_budget() if budget is None else budget
    u = printed_formula(filling.SPECTRUM, np.array(precision_sum))
    yield Number("smallest precision of Eq. (25), experiment I", float(u.min()), ">=", 0)


@check("M11_water_filling", {"equal precisions": {"fill": _equal_precisions}})
def filled_optimum(
    _stream: Stream, *, fill: Callable[[Array, float], Array] | None = None
) -> Numbers:
    """Water filling over the active directions is optimal at any budget."""
    for budget in (_liver_budget(), 0.1, 1.0, 10.0):
        u = (fill or water_filling)(filling.SPECTRUM, budget)
        best = filling.gain(filling.SPECTRUM, filling.numerical_optimum(filling.SPECTRUM, budget))
        gain = filling.gain(filling.SPECTRUM, u) / best
        off = filling.optimality_residual(filling.SPECTRUM, u)
        yield Number(f"gain over the numerical optimum's, budget {budget:.3g}", gain, "=", 1, 1e-6)
        yield Number(f"violated optimality conditions, budget {budget:.3g}", off, "=", 0, 1e-9)


def _liver_budget() -> float:
    phi = MVG().precision_budget(LIVER, epsilon=EPSILON, delta=1 / LIVER.n_records)
    return phi**2 / np.sqrt(LIVER.n_records)


@check("M23", {"an answer of two values": {"records": 1}, "half of the log": {"power": 0.5}})
def information(_stream: Stream, *, records: int | None = None, power: float = 1) -> Numbers:
    """Lemma 10: the log of the power-to-noise ratio is twice the mutual information.

    ``records`` is that of :func:`reproduction.theory.leakage.information`; ``power`` alters the
    ratio.
    """
    for budget in (0.1, 1.0, 10.0):
        u = water_filling(filling.SPECTRUM, budget)
        gain = power * filling.gain(filling.SPECTRUM, u)
        ratios = filling.SPECTRUM * u
        parts = (leakage.normal(1 / ratio) for ratio in ratios[ratios > 0])
        total_information = sum(leakage.information(part, records) for part in parts)
        what = f"ln PNR / (2 mutual information), budget {budget:g}"
        yield Number(what, gain / (2 * total_information), "=", 1, 1e-4)


@check("M24", {"a Gaussian answer": {"records": None}})
def least_leakage_of_any(_stream: Stream, *, records: int | None = 0) -> Numbers:
    """Theorem 9 as stated, for any data distribution: here records of two values.

    The identity query is a sum over records too. Its entries are answers of one record each, whose
    leakages add up, so that its ratio is that of one entry, however many records there are.
    """
    for count, name in ((1, "one record, or any number with the identity"), (2, "two records")):
        yield _lattice(count, count if records == 0 else records, f"{name}, of two values")


SMALL = {"one record of two values": {"records": 1}}


@check("M24_gaussian", SMALL | {"a larger covariance": {"larger": 100}})
def least_leakage(_stream: Stream, *, records: int | None = None, larger: float = 1) -> Numbers:
    """Theorem 9 for a Gaussian answer: no other noise leaks less."""
    for variance in (0.1, 1.0, 10.0):
        least = leakage.information(leakage.normal(variance), records)
        for name, distribution in leakage.distributions(larger * variance).items():
            more = leakage.information(distribution, records) / least
            yield Number(f"leakage over Gaussian's, {name} {variance:g}", more, ">=", 1, 1e-6)
    yield _lattice(1, records, "a Gaussian answer")


def _lattice(count: int, records: int | None, of: str) -> Number:
    """Return the leakage of noise on the lattice of ``count`` signs over that of Gaussian noise."""
    variance = 0.3
    noise = leakage.Lattice(variance, 2 / np.sqrt(count))
    least = leakage.information(leakage.normal(variance), records)
    more = leakage.information(noise, records) / least
    return Number(f"leakage over Gaussian's, lattice {variance:g}, {of}", more, ">=", 1, 1e-6)


HALF = {"half of the budget": {"share": 0.5}}


@check("M35", HALF, releases=((MOVEMENT, 2), (MOVEMENT, 3)))
@check("M25", HALF)
def budgets(
    _stream: Stream,
    *,
    releases: Sequence[tuple[Query, int]] = ((LIVER, 2), (CTG, 2)),
    share: float = 1,
) -> Numbers:
    """Theorems 5 and 6: the sum of the squared precisions of calibrated releases."""
    for query, theorem in releases:
        delta = 1 / query.n_records
        release = MVG(theorem=theorem).calibrate(query, epsilon=EPSILON, delta=delta)
        constants = coefficients(
            query.shape, gamma=query.largest_norm, s2=published.l2_sensitivity(query), delta=delta
        )
        quadratic = _quadratic_coefficient(constants, theorem)
        root = (-constants.beta + np.sqrt(constants.beta**2 + 8 * quadratic * EPSILON)) / (
            2 * quadratic
        )
        unimodal = isinstance(query, RecordsQuery)
        precision_sum = share * (root**4 / query.n_records if unimodal else root**2)
        ratio = float(((descending_deviations(release) ** 2) ** -2.0).sum() / precision_sum)
        what = f"{query.name} {query.shape[0]} x {query.shape[1]}, Theorem {theorem}"
        yield Number(f"sum of squared precisions / budget, {what}", ratio, "=", 1, 1e-8)


@check("M30_gaussian", {"one record of two values": {"records": 1}}, records=None)
@check("M30", {"a Gaussian answer": {"records": None}})
def sum_of_records(_stream: Stream, *, records: int | None = 1) -> Numbers:
    """Theorem 8 as stated, for a sum over records of two values, and for a Gaussian answer.

    As in Theorem 9 the identity has the ratio of one record, however many there are.
    """
    share = leakage.information(leakage.normal(1.0), records) / leakage.gaussian(1.0)
    of = "one record, or any number with the identity" if records else "a Gaussian answer"
    yield Number(f"information over the largest possible, {of}", share, "=", 1, 1e-3)
