"""Exact claims of the IMGM paper (Yang et al., arXiv 2104.14808) and of the note on vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from scipy import signal, stats

from matrixdp.mechanisms.allocation import Binary
from matrixdp.mechanisms.base import Mechanism
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import IMGM
from matrixdp.mechanisms.mvg import MVG
from matrixdp.privacy import gaussian
from matrixdp.privacy.published import CTG, LIVER
from matrixdp.privacy.quadrature import integrated_delta
from matrixdp.privacy.sensitivity import Ball, Box, Identity, Query
from matrixdp.theory import radii
from matrixdp.theory.exact_mvg import noise_of, smallest_last
from matrixdp.theory.numbers import Check, Number

EPSILON, DELTA = 1.0, 1e-5
BUDGETS = ((0.1, 1e-5), (1.0, 1e-5), (1.0, 1 / 248), (5.0, 1e-6))

#: IMDB of the paper's Type II: records in a batch, and records.
BATCH, RECORDS = 256, 25_000


def lemma_3(_stream: np.random.Generator) -> Iterator[Number]:
    """The condition of Balle and Wang is the same as |Delta'|_F <= B."""
    for epsilon, delta in BUDGETS:
        limit = gaussian.mu(epsilon, delta)
        at, above = (integrated_delta(epsilon, limit * factor) / delta for factor in (1.0, 1.001))
        where = f"epsilon {epsilon:g}, delta {delta:.3g}"
        yield Number(f"integrated delta at B over delta, {where}", at, "=", 1, 1e-6)
        yield Number(f"the same at 1.001 B, {where}", above, ">=", 1 + 1e-4)


def lemma_4(stream: np.random.Generator) -> Iterator[Number]:
    """|A B C|_F^2 is at most the sum of products of ordered squared singular values."""
    shares = []
    for m, n in ((1, 1), (2, 5), (5, 2), (4, 4), (6, 20)):
        r = min(m, n)
        a, b, c = (stream.standard_normal((200, *shape)) for shape in ((m, m), (m, n), (n, n)))
        values = [np.linalg.svd(x, compute_uv=False)[:, :r] ** 2 for x in (a, b, c)]
        bound = np.prod(values, axis=0).sum(axis=1)
        shares.append(((a @ b @ c) ** 2).sum(axis=(1, 2)) / bound)
    largest = float(np.concatenate(shares).max())
    yield Number("largest share of the bound, 1000 random triples", largest, "<=", 1, 1e-9)


def sufficient(stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 2: the condition on the smallest singular values implies privacy."""
    largest = 0.0
    queries = Identity(Box.cube(4, -1, 1), 5), Identity(Ball(1, 4), 5)
    for query, (epsilon, delta) in itertools.product(queries, BUDGETS):
        rows, columns = (stream.standard_normal((size, size)) for size in query.shape)
        noise = noise_of(IMGM(rows, columns).calibrate(query, epsilon=epsilon, delta=delta))
        factors = noise.row_factor, noise.column_factor
        # Any shift of norm l2 is whitened to at most this.
        mu = query.l2 / np.prod([smallest_last(factor)[-1] for factor in factors])
        largest = max(largest, mu / gaussian.mu(epsilon, delta))
    yield Number("largest mu over the allowed mu, random factors", largest, "<=", 1, 1e-9)


def necessary(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 2: no private noise has smaller singular values; the box is a counter-example."""
    mechanism, delta = DirectionalGaussian(Binary((0, 1), 0.75)), 1 / LIVER.records
    release = mechanism.calibrate(LIVER, epsilon=EPSILON, delta=delta)
    limit = gaussian.mu(EPSILON, delta)
    assert release.mu <= limit, "the counter-example must be private"
    share = smallest_last(noise_of(release).row_factor)[-1] * limit / LIVER.l2
    what = "smallest singular value of private noise over s2 / B, records in a box"
    yield Number(what, share, ">=", 1, 1e-9)


def necessary_in_ball(stream: np.random.Generator) -> Iterator[Number]:
    """The same where the changes of one record fill a ball: then the condition is necessary."""
    query = Identity(Ball(1, 4), 10)
    limit = gaussian.mu(EPSILON, DELTA)
    ratios = []
    for variances in stream.uniform(0.1, 10, size=(50, 4)):
        # The scale at which the noise is just private.
        scale = query.directional_mu(variances).value / limit
        ratios.append(scale * np.sqrt(variances.min()) * limit / query.l2)
    what = "smallest singular value of just private noise over s2 / B, records in a ball"
    yield Number(what, min(ratios), "=", 1, 1e-9)


def _saving(query: Query, domain: str) -> Number:
    """Return the least total variance of private directional noise over that of i.i.d. noise."""
    directional = DirectionalGaussian(weights=(1.0,) * query.features)
    best = directional.calibrate(query, epsilon=EPSILON, delta=DELTA)
    plain = IMGM().calibrate(query, epsilon=EPSILON, delta=DELTA)
    ratio = (best.noise_std / plain.noise_std) ** 2
    return Number(f"least variance over that of i.i.d. noise, {domain}", ratio, ">=", 1, 1e-9)


def equal_noise(_stream: np.random.Generator) -> Iterator[Number]:
    """No private Gaussian noise has a smaller total variance than i.i.d. noise."""
    yield _saving(Identity(Box((0.0, 0.0), (1.0, 0.1)), 10), "[0, 1] x [0, 0.1]")


def equal_noise_in_ball(_stream: np.random.Generator) -> Iterator[Number]:
    """The same in a ball, and in a box of equal sides."""
    yield _saving(Identity(Ball(1, 4), 10), "ball")
    yield _saving(LIVER, "box of equal sides")


def composition(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 4: noise sqrt(T) s2 / B per release makes T releases exactly private."""
    for count in (4, 16):
        mu = gaussian.mu(EPSILON, DELTA) / np.sqrt(count)
        # Losses of one release on a grid, T of which add up.
        step = mu / 400
        losses = mu**2 / 2 + step * np.arange(-4000, 4001)
        edges = np.append(losses, losses[-1] + step) - step / 2
        once = np.diff(stats.norm.cdf(edges, mu**2 / 2, mu))
        total, start = np.ones(1), 0.0
        for _ in range(count):
            total, start = signal.fftconvolve(total, once), start + losses[0]
        loss = start + step * np.arange(len(total))
        found = (np.maximum(-np.expm1(EPSILON - loss), 0) @ total) / DELTA
        yield Number(f"delta of {count} releases over the allowed delta", found, "=", 1, 1e-3)


def growth(_stream: np.random.Generator) -> Iterator[Number]:
    """Section 4.2: with m n the noise of MVG grows without bound, that of IMGM does not."""
    counts = np.array([1e2, 1e3, 1e4, 1e5])
    queries = [Identity(Box.cube(6, -1, 1), int(n)) for n in counts]

    def power(mechanism: Mechanism) -> float:
        std = [mechanism.calibrate(q, epsilon=EPSILON, delta=DELTA).noise_std for q in queries]
        return np.polyfit(np.log(counts), np.log(std), 1)[0]

    yield Number("power of n by which MVG's standard deviation grows", power(MVG()), ">=", 0.5)
    yield Number("the same of IMGM", power(IMGM()), "=", 0, 1e-9)


def no_budget(_stream: np.random.Generator) -> Iterator[Number]:
    """Section 4.2: as epsilon falls to 0 MVG's noise diverges, and B tends to a limit above 0."""
    small, smaller = (
        MVG().calibrate(LIVER, epsilon=epsilon, delta=DELTA).noise_std for epsilon in (1e-6, 1e-8)
    )
    limit = 2 * stats.norm.ppf((1 + DELTA) / 2)
    yield Number("MVG's noise at epsilon 1e-8 over that at 1e-6", smaller / small, ">=", 10)
    yield Number("B(0, delta) over the stated limit", gaussian.mu(0.0, DELTA) / limit, "=", 1, 1e-9)
    yield Number("B(1e-9, delta) over it", gaussian.mu(1e-9, DELTA) / limit, "=", 1, 1e-4)


def renyi(order: float, mu: float) -> float:
    """Return the Renyi divergence of unit normals that are mu apart, by quadrature."""
    x = np.linspace(-40, 40, 200_001) + order * mu
    log_ratio = mu * x - mu**2 / 2
    moment = np.exp(order * log_ratio + stats.norm.logpdf(x)).sum() * (x[1] - x[0])
    return float(np.log(moment) / (order - 1))


def renyi_as_printed(order: float, eta: float) -> float:
    """Return what (52) prints for the divergence, eta being half of mu^2."""
    return float((2 * order + 1) * eta / (order - 1) * np.exp(eta * (order**2 + order)))


def renyi_bound(_stream: np.random.Generator) -> Iterator[Number]:
    """(52): the divergence is the printed expression; and the bound in terms of B holds."""
    orders, limits = (1.5, 2.0, 4.0), (0.1, 0.5, 1.0, 2.0)
    for order, mu in ((2.0, 0.5), (4.0, 1.0)):
        ratio = renyi(order, mu) / renyi_as_printed(order, mu**2 / 2)
        what = f"divergence over the printed expression, order {order:g}, mu {mu:g}"
        yield Number(what, ratio, "=", 1, 1e-6)
    cases = itertools.product(orders, limits)
    bound = min(renyi_as_printed(order, b / 2) / renyi(order, b) for order, b in cases)
    yield Number("smallest final bound over the divergence", bound, ">=", 1)


def amplification(_stream: np.random.Generator) -> Iterator[Number]:
    """Type II: noise for (epsilon / q, delta / q) gives epsilon, all features being released."""
    q = BATCH / RECORDS
    for epsilon in (0.1, 1.0):
        mu = gaussian.mu(epsilon / q, DELTA / q)
        real = gaussian.epsilon(DELTA, mu)
        yield Number(f"real epsilon at nominal {epsilon:g}, IMDB", real, "<=", epsilon)


def direction_pays(_stream: np.random.Generator) -> Iterator[Number]:
    """Section 4.1: at the same guarantee no direction gets less noise than with i.i.d. noise."""
    for name, query, important in (("I", LIVER, (2, 5)), ("III", CTG, (0, 7, 9))):
        mechanisms = DirectionalGaussian(Binary(important, 0.75)), IMGM()
        directional, plain = (
            one.calibrate(query, epsilon=EPSILON, delta=1 / query.records) for one in mechanisms
        )
        ratio = smallest_last(noise_of(directional).row_factor)[-1] / plain.noise_std
        what = f"noise of important directions over i.i.d., experiment {name}"
        yield Number(what, ratio, ">=", 1, 1e-9)


def algorithm_1(_stream: np.random.Generator) -> Iterator[Number]:
    """Theorem 3: Algorithm 1 is private, and spends the whole budget."""
    shares = [
        IMGM().calibrate(query, epsilon=epsilon, delta=delta).mu / gaussian.mu(epsilon, delta)
        for query, (epsilon, delta) in itertools.product((LIVER, CTG), BUDGETS)
    ]
    yield Number("largest mu over the allowed mu", max(shares), "<=", 1, 1e-12)
    yield Number("smallest mu over the allowed mu", min(shares), "=", 1, 1e-9)


def trade(stream: np.random.Generator) -> Iterator[Number]:
    """Section 4.1: row factors c I and column factors I / c have the same guarantee for any c."""
    query = Identity(Box.cube(3, -1, 1), 4)
    plain = IMGM().calibrate(query, epsilon=EPSILON, delta=DELTA)
    start = int(stream.integers(2**31))
    mechanisms = [IMGM(c * np.eye(3), np.eye(4) / c) for c in (0.01, 1.0, 100.0)]
    releases = [one.calibrate(query, epsilon=EPSILON, delta=DELTA) for one in mechanisms]
    change = max(abs(one.noise_std / plain.noise_std - 1) for one in releases)
    drawn = [one.sample(np.zeros((3, 4)), [np.random.default_rng(start)]) for one in releases]
    spread = max(float(np.abs(one / drawn[1] - 1).max()) for one in drawn)
    yield Number("largest relative change of the standard deviation", change, "=", 0, 1e-12)
    yield Number("largest relative change of the noise drawn from one seed", spread, "=", 0, 1e-9)


def vector_noise_is_private(stream: np.random.Generator) -> Iterator[Number]:
    """The note: density exp(-lambda |z|) with lambda = n epsilon / sqrt(d) is epsilon-DP."""
    draws = 2000
    for d in radii.DIMENSIONS:
        radius = np.linalg.norm(radii.vectors(d, draws, stream), axis=0)
        # Lambda for a sum, from draws: the mean radius is d / lambda.
        rate = d / radius.mean() * np.sqrt(d) / radii.EPSILON
        yield Number(f"delta at epsilon 1, d = {d}", float(radii.delta(1.0, d, d)), "<=", 0, 1e-12)
        what = f"lambda of draws over the stated one, d = {d}"
        yield Number(what, rate, "=", 1, 5 / (draws * d) ** 0.5)


def exponential_radius(_stream: np.random.Generator) -> Iterator[Number]:
    """The note: with an exponential radius it is not: delta at epsilon 1 is not 0."""
    for d in radii.DIMENSIONS:
        yield Number(f"delta at epsilon 1, d = {d}", float(radii.delta(1.0, d, 1)), ">=", 0.1)


def erlang(stream: np.random.Generator) -> Iterator[Number]:
    """The note: the radius follows an Erlang law with d degrees, which a test tells from others."""
    for d in (2, 6, 24):
        radius = np.linalg.norm(radii.vectors(d, radii.DRAWS, stream), axis=0)
        radius *= radii.EPSILON / np.sqrt(d)
        right, wrong = (stats.kstest(radius, stats.gamma(k).cdf).pvalue for k in (d, 1))
        yield Number(f"p-value of Erlang({d})", float(right), ">=", 1e-3)
        yield Number(f"p-value of an exponential law, d = {d}", float(wrong), "<=", 1e-6)


CHECKS: dict[str, Check] = {
    "I1": lemma_3,
    "I2": lemma_4,
    "I3": sufficient,
    "I3_necessary": necessary,
    "I3_ball": necessary_in_ball,
    "I4": equal_noise,
    "I4_ball": equal_noise_in_ball,
    "I5": composition,
    "I6": growth,
    "I7": no_budget,
    "I10": renyi_bound,
    "I11": amplification,
    "I12": direction_pays,
    "I13": algorithm_1,
    "I16": trade,
    "B1": vector_noise_is_private,
    "B2": exponential_radius,
    "B3": erlang,
}
