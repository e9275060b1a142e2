"""Exact claims of the IMGM paper (Yang et al., arXiv 2104.14808), each as numbers that decide it.

The keyword parameters of a check are the parts of the statement that its controls alter.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import integrate, optimize, signal, stats

from matrixdp.checks import Array
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.mechanism import Mechanism
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Ball, Box, Query, RecordsQuery
from reproduction.mechanisms.allocation import Binary
from reproduction.mechanisms.directional import AllocatedGaussian
from reproduction.mechanisms.gaussian import IMGM
from reproduction.mechanisms.generalized_gamma import SphericalGamma
from reproduction.mechanisms.mvg import MVG
from reproduction.privacy.published import CTG, LIVER
from reproduction.theory.exact_mvg import descending_deviations, noise_of
from reproduction.theory.numbers import Number, Numbers, Stream, registry

CHECKS, check = registry()

EPSILON, DELTA = 1.0, 1e-5
BUDGETS = ((0.1, 1e-5), (1.0, 1e-5), (1.0, 1 / 248), (5.0, 1e-6))

#: IMDB of the paper's Type II: records in a batch, and records.
BATCH, RECORDS = 256, 25_000


def integrated_delta(epsilon: float, mu: float) -> float:
    """Return delta(epsilon) of a shift by mu of N(0, 1), by quadrature."""
    start = epsilon / mu + mu / 2

    def gain(x: float) -> float:
        # Densities in the form phi(x) = phi(start) e^(...), so that no digits cancel.
        return float(-np.expm1(-mu * x) * np.exp(-x * x / 2 - (start - mu) * x))

    value, _ = integrate.quad(gain, 0, 40, points=[0.1, 1, 5], epsabs=0, epsrel=1e-11, limit=200)
    return float(np.exp(-((start - mu) ** 2) / 2) / np.sqrt(2 * np.pi) * value)


OFF = {"B a thousandth larger": {"factor": 1.001}, "B a hundredth smaller": {"factor": 0.99}}


@check("I1", OFF)
def lemma_3(_stream: Stream, *, factor: float = 1) -> Numbers:
    """The condition of Balle and Wang equals |Delta'|_F <= B; ``factor`` multiplies B."""
    for epsilon, delta in BUDGETS:
        limit = factor * gaussian_dp.mu(epsilon, delta)
        ratio_at, ratio_above = (
            integrated_delta(epsilon, limit * scale) / delta for scale in (1.0, 1.001)
        )
        case = f"epsilon {epsilon:g}, delta {delta:.3g}"
        yield Number(f"integrated delta at B over delta, {case}", ratio_at, "=", 1, 1e-6)
        yield Number(f"the same at 1.001 B, {case}", ratio_above, ">=", 1 + 1e-4)


@check("I2", {"singular values not ordered alike": {"order": -1}})
def lemma_4(stream: Stream, *, order: int = 1) -> Numbers:
    """|A B C|_F^2 is at most the sum of products of ordered squared singular values."""
    shares = []
    for m, n in ((1, 1), (2, 5), (5, 2), (4, 4), (6, 20)):
        r = min(m, n)
        a, b, c = (stream.standard_normal((200, *shape)) for shape in ((m, m), (m, n), (n, n)))
        values = [np.linalg.svd(x, compute_uv=False)[:, :r] ** 2 for x in (a, b, c)]
        bound = (values[0] * values[1][:, ::order] * values[2]).sum(axis=1)
        shares.append(((a @ b @ c) ** 2).sum(axis=(1, 2)) / bound)
    largest = float(np.concatenate(shares).max())
    yield Number("largest share of the bound, 1000 random triples", largest, "<=", 1, 1e-9)


def _deltas(
    stream: Stream, noise: float, value: Callable[[Any], float], box: bool = False
) -> list[float]:
    """Return delta over the allowed delta for noise with random factors, by integration.

    ``stream`` draws the factors, and changes besides those along the smallest singular vectors.
    ``noise`` multiplies the noise that meets (12) with equality; ``value`` selects the singular
    value of (12). In a ``box`` only one column changes, and only to a corner.
    """
    ratios = []
    for (m, n), (epsilon, delta) in itertools.product(((4, 5), (3, 3), (2, 9)), BUDGETS):
        rows, columns = (stream.standard_normal((k, k)) + 4 * np.eye(k) for k in (m, n))
        # s2 is 1.
        values = (value(np.linalg.svd(part, compute_uv=False)) for part in (rows, columns))
        rows *= noise / (gaussian_dp.mu(epsilon, delta) * np.prod([*values]))
        changes = stream.standard_normal((50, m, n))
        changes[0] = np.outer(np.linalg.svd(rows)[0][:, -1], np.linalg.svd(columns)[0][:, -1])
        if box:
            changes = np.sign(changes) * (np.arange(n) == 0)
        changes /= np.linalg.norm(changes, axis=(1, 2), keepdims=True)
        whitened = np.linalg.solve(rows, changes) @ np.linalg.inv(columns).T
        mu = float(np.linalg.norm(whitened, axis=(1, 2)).max())
        ratios.append(integrated_delta(epsilon, mu) / delta)
    return ratios


LESS = {"a hundredth less noise": {"noise": 0.99}}


@check("I3", LESS | {"mean singular values": {"value": np.mean}})
def sufficient(
    stream: Stream, *, noise: float = 1, value: Callable[[Any], float] = np.min
) -> Numbers:
    """Theorem 2: noise that meets (12) with equality is private for every change."""
    largest = max(_deltas(stream, noise, value))
    yield Number("largest delta over the allowed one, random factors", largest, "<=", 1, 1e-6)


#: Records in a box, and in a ball.
BOX, BALL = LIVER, RecordsQuery(Ball(1, 6), 248)


@check("I5_necessary", {"records in a ball": {"query": BALL}}, releases=4)
@check("I3_necessary", {"records in a ball": {"query": BALL}}, releases=1)
def necessary(_stream: Stream, *, releases: int, query: Query = BOX) -> Numbers:
    """Theorems 2 and 4: no private noise has smaller singular values; the box shows that some has.

    The mu of all releases together is sqrt(``releases``) times that of one (I5).
    """
    mechanism, delta = AllocatedGaussian(allocation=Binary((0, 1), 0.75)), 1 / query.n_records
    limit = gaussian_dp.mu(EPSILON, delta) / np.sqrt(releases)
    release = mechanism.calibrate(query, epsilon=gaussian_dp.epsilon(delta, limit), delta=delta)
    assert release.mu <= limit * (1 + 1e-9), "the counter-example must be private"
    share = descending_deviations(release)[-1] * limit / query.l2_sensitivity
    bound = "s2 / B" if releases == 1 else f"sqrt({releases}) s2 / B"
    what = f"smallest singular value of private noise over {bound}, directional noise"
    yield Number(what, share, ">=", 1, 1e-9)


@check("I3_ball", {"records in a box": {"box": True}, "enough noise": {"noise": 1.0}})
def necessary_in_ball(stream: Stream, *, noise: float = 0.99, box: bool = False) -> Numbers:
    """The same for all changes of one norm: a hundredth less noise is never private."""
    least = min(_deltas(stream, noise, np.min, box))
    what = "least delta over the allowed one, a hundredth less noise than (12)"
    yield Number(what, least, ">=", 1 + 1e-3)


UNEQUAL = {"[0, 1] x [0, 0.1]": RecordsQuery(Box((0.0, 0.0), (1.0, 0.1)), 10)}
EQUAL: Mapping[str, Query] = {"ball": RecordsQuery(Ball(1, 4), 10), "box of equal sides": LIVER}


OTHER = {"unequal sides": {"queries": dict.fromkeys(EQUAL, *UNEQUAL.values())}}


@check("I4_ball", OTHER, queries=EQUAL)
@check("I4", {"equal sides": {"queries": dict.fromkeys(UNEQUAL, LIVER)}}, queries=UNEQUAL)
def equal_noise(_stream: Stream, *, queries: Mapping[str, Query]) -> Numbers:
    """No private Gaussian noise has a smaller total variance than i.i.d. noise."""
    for domain, query in queries.items():
        directional = DirectionalGaussian(weights=(1.0,) * query.features)
        best = directional.calibrate(query, epsilon=EPSILON, delta=DELTA)
        plain = IMGM().calibrate(query, epsilon=EPSILON, delta=DELTA)
        ratio = (best.noise_std / plain.noise_std) ** 2
        what = f"least variance over that of i.i.d. noise, {domain}"
        yield Number(what, ratio, ">=", 1, 1e-9)


@check("I4_any", {"Gaussian noise": {"power": 2.0}})
def any_noise(_stream: Stream, *, power: float = 1.25) -> Numbers:
    """The same for all noise (Section 4.1), in experiment I; power 2 is Gaussian noise."""
    delta = 1 / LIVER.n_records
    other = SphericalGamma(power).calibrate(LIVER, epsilon=EPSILON, delta=delta)
    plain = IMGM().calibrate(LIVER, epsilon=EPSILON, delta=delta)
    ratio = (other.noise_std / plain.noise_std) ** 2
    what = "variance of generalized gamma noise over that of i.i.d. noise, experiment I"
    yield Number(what, ratio, ">=", 1, 1e-9)


@check("I5", {"a smaller power of T": {"power": 0.49}, "a larger power of T": {"power": 0.51}})
def composition(_stream: Stream, *, power: float = 0.5) -> Numbers:
    """Theorem 4: noise T^power s2 / B per release makes T releases exactly private."""
    for count in (4, 16):
        mu = gaussian_dp.mu(EPSILON, DELTA) / count**power
        # Losses of one release on a grid; the losses of T releases add up.
        step = mu / 400
        losses = mu**2 / 2 + step * np.arange(-4000, 4001)
        edges = np.append(losses, losses[-1] + step) - step / 2
        single = np.diff(stats.norm.cdf(edges, mu**2 / 2, mu))
        total, start = np.ones(1), 0.0
        for _ in range(count):
            total, start = signal.fftconvolve(total, single), start + losses[0]
        loss = start + step * np.arange(len(total))
        ratio = (np.maximum(-np.expm1(EPSILON - loss), 0) @ total) / DELTA
        yield Number(f"delta of {count} releases over the allowed delta", ratio, "=", 1, 1e-3)


def _fixed(n: float) -> Query:
    return RecordsQuery(Box.cube(6, -1, 1), int(n))


def _rising(m: float) -> Query:
    return RecordsQuery(Box.cube(int(m), -1, 1), 6)


def _falling(n: float) -> Query:
    return RecordsQuery(Box.cube(6, -1 / n, 1 / n), int(n))


MOVING = {"s2 that grows with m": {"query": _rising}, "s2 that falls with n": {"query": _falling}}


@check("I6", MOVING)
def growth(_stream: Stream, *, query: Callable[[float], Query] = _fixed) -> Numbers:
    """Section 4.2: at the same s2 MVG's noise grows without bound with m n, IMGM's does not.

    ``query`` maps a number of records to a query; it can drop the condition that s2 is fixed.
    """
    counts = np.array([1e2, 1e3, 1e4])

    def power(mechanism: Mechanism) -> float:
        releases = [mechanism.calibrate(query(n), epsilon=EPSILON, delta=DELTA) for n in counts]
        return np.polyfit(np.log(counts), np.log([release.noise_std for release in releases]), 1)[0]

    yield Number("power of m n by which MVG's standard deviation grows", power(MVG()), ">=", 0.5)
    yield Number("the same of IMGM", power(IMGM()), "=", 0, 1e-9)


@check("I7", {"noise of IMGM": {"mechanism": IMGM()}, "half of the limit": {"factor": 1}})
def no_budget(_stream: Stream, *, mechanism: Mechanism | None = None, factor: float = 2) -> Numbers:
    """Section 4.2: as epsilon falls to 0 MVG's noise diverges, and B tends to a limit above 0."""
    small, smaller = (
        (mechanism or MVG()).calibrate(LIVER, epsilon=epsilon, delta=DELTA).noise_std
        for epsilon in (1e-6, 1e-8)
    )
    limit = factor * stats.norm.ppf((1 + DELTA) / 2)
    yield Number("MVG's noise at epsilon 1e-8 over that at 1e-6", smaller / small, ">=", 10)
    yield Number(
        "B(0, delta) over the stated limit", gaussian_dp.mu(0.0, DELTA) / limit, "=", 1, 1e-9
    )
    yield Number("B(1e-9, delta) over it", gaussian_dp.mu(1e-9, DELTA) / limit, "=", 1, 1e-4)


def renyi(order: float, mu: float) -> float:
    """Return the Renyi divergence of unit normals at distance mu, by quadrature."""
    x = np.linspace(-40, 40, 200_001) + order * mu
    log_ratio = mu * x - mu**2 / 2
    moment = np.exp(order * log_ratio + stats.norm.logpdf(x)).sum() * (x[1] - x[0])
    return float(np.log(moment) / (order - 1))


def renyi_as_printed(order: float, eta: float) -> float:
    """Return the divergence as printed in (52), for eta = mu^2 / 2."""
    return float((2 * order + 1) * eta / (order - 1) * np.exp(eta * (order**2 + order)))


def renyi_right(order: float, eta: float) -> float:
    """Return the divergence for eta = mu^2 / 2."""
    return order * eta


@check("I10", {"the divergence itself": {"expression": renyi_right}})
def renyi_expression(
    _stream: Stream, *, expression: Callable[[float, float], float] = renyi_as_printed
) -> Numbers:
    """(52): the divergence is the printed expression."""
    for order, mu in ((2.0, 0.5), (4.0, 1.0)):
        ratio = renyi(order, mu) / expression(order, mu**2 / 2)
        what = f"divergence over the printed expression, order {order:g}, mu {mu:g}"
        yield Number(what, ratio, "=", 1, 1e-6)


@check("I10_bound", {"the right expression, with B for B^2": {"expression": renyi_right}})
def final_renyi_bound(
    _stream: Stream, *, expression: Callable[[float, float], float] = renyi_as_printed
) -> Numbers:
    """(52): the printed expression with B for B^2 bounds the divergence.

    The divergence at mu = B is order B^2 / 2. The ratio of the printed bound to it is least at the
    order 1 + sqrt(3) and B = 2 / (order^2 + order).
    """

    def share(logs: Array) -> float:
        order, limit = 1 + np.exp(logs[0]), np.exp(logs[1])
        return float(np.log(expression(order, limit / 2) / renyi_right(order, limit**2 / 2)))

    # Orders up to 21 and B up to e cover nearly all uses.
    minimum = optimize.minimize(share, [0.0, 0.0], bounds=[(-5, 3), (-10, 1)], tol=1e-12)
    order, limit = 1 + np.exp(minimum.x[0]), np.exp(minimum.x[1])
    what = f"least final bound over the divergence, at order {order:.3g} and B {limit:.3g}"
    yield Number(what, float(np.exp(minimum.fun)), ">=", 1)


@check("I11", {"without the share q": {"rate": 1.0}})
def amplification(_stream: Stream, *, rate: float = BATCH / RECORDS) -> Numbers:
    """Type II: noise for (epsilon / q, delta / q) gives epsilon when all features are released."""
    for epsilon in (0.1, 1.0):
        mu = gaussian_dp.mu(epsilon / rate, DELTA / rate)
        tight_epsilon = gaussian_dp.epsilon(DELTA, mu)
        yield Number(
            f"tight epsilon at claimed {epsilon:g}, IMDB", tight_epsilon, "<=", epsilon, 1e-9
        )


@check("I13", {"a hundredth less noise": {"noise": 0.99}})
def algorithm_1(_stream: Stream, *, noise: float = 1) -> Numbers:
    """Theorem 3: Algorithm 1's noise hides any record; ``noise`` multiplies it.

    Delta is integrated for a record that moves from one corner of its domain to the opposite one.
    """
    for name, query in (("box [-1, 1]^6", LIVER), ("box [0, 1]^21", CTG), ("ball", BALL)):
        if isinstance(query.domain, Ball):
            corner = np.ones(query.features)
            change = 2 * (query.domain.radius * corner / np.linalg.norm(corner))
        else:
            change = np.subtract(query.domain.upper, query.domain.lower)
        largest = 0.0
        for epsilon, delta in BUDGETS:
            release = IMGM().calibrate(query, epsilon=epsilon, delta=delta)
            mu = float(np.linalg.norm(noise_of(release).whiten(change[:, None]))) / noise
            largest = max(largest, integrated_delta(epsilon, mu) / delta)
        yield Number(f"largest delta over the allowed one, {name}", largest, "<=", 1, 1e-6)


@check("I16", {"the root of c": {"power": 0.5}})
def trade(_stream: Stream, *, power: float = 1) -> Numbers:
    """Section 4.1: row factors c I and column factors I / c^power give the same noise for any c."""
    variances = [c**2 * (1 / c**power) ** 2 for c in (0.01, 1.0, 100.0)]
    change = float(np.abs(np.array(variances) - 1).max())
    yield Number("largest relative change of the variance of an entry", change, "=", 0, 1e-12)


BALLS = BALL, RecordsQuery(Ball(1, 21), 2126)


BOXES = LIVER, CTG


@check("noise_along_directions_ball", {"records in a box": {"queries": BOXES}}, queries=BALLS)
@check("noise_along_directions", {"records in a ball": {"queries": BALLS}}, queries=BOXES)
def noise_along_directions(_stream: Stream, *, queries: tuple[Query, Query]) -> Numbers:
    """Section 4.1: at the same guarantee no direction gets less noise than with i.i.d. noise."""
    for name, query, important in zip(("I", "III"), queries, ((2, 5), (0, 7, 9)), strict=True):
        mechanisms = AllocatedGaussian(allocation=Binary(important, 0.75)), IMGM()
        directional, plain = (
            mechanism.calibrate(query, epsilon=EPSILON, delta=1 / query.n_records)
            for mechanism in mechanisms
        )
        ratio = descending_deviations(directional)[-1] / plain.noise_std
        what = f"noise of important directions over i.i.d., experiment {name}"
        yield Number(what, ratio, ">=", 1, 1e-9)
