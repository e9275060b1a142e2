"""The radius of vector-valued noise of density proportional to exp(-lambda |z|_2).

The l2 vector mechanism on the mean of n vectors in [0, 1]^d has lambda = n epsilon / sqrt(d).
Replacing one vector moves the mean by at most sqrt(d) / n. The radius of the noise follows
Gamma(d), because a shell at radius r has volume r^(d - 1) dr. An exponential radius gives instead
the density r^(1 - d) exp(-lambda r), which is infinite at 0.

Both distributions have a Gamma(k) radius, of density r^(k - d) exp(-lambda r): k = d and k = 1.
"""

from __future__ import annotations

import numpy as np
from scipy import stats
from scipy.special import betainc, gammainccinv, gammaincinv, gammaln, lambertw, xlogy

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import Box, RecordsQuery
from reproduction.mechanisms.exponential import KNorm
from reproduction.privacy import generalized_gamma
from reproduction.theory.numbers import Number, Numbers, Stream, registry

CHECKS, check = registry()

DIMENSIONS = (2, 6, 24, 1488)
EPSILON = 1.0
#: Nodes of the quadrature over the radius.
NODES = 4_000
#: Draws whose radius is compared with its distribution.
DRAWS = 40_000


def vectors(d: int, draws: int, stream: np.random.Generator) -> Array:
    """Return draws of the mechanism's noise on a sum of vectors in [0, 1]^d, shape (d, draws).

    It is epsilon-DP at ``EPSILON``; on a mean of n vectors it is divided by n.
    """
    query = RecordsQuery(Box.cube(d, 0, 1), draws)
    release = KNorm("record_l2").calibrate(query, epsilon=EPSILON)
    return release.simulate(np.zeros(query.shape), stream, 1)[0]


def delta(epsilon: float, d: int, k: int) -> float:
    """Return the tight delta of noise of claimed epsilon 1 whose radius follows Gamma(k).

    With lambda = 1 the worst neighbour is a shift of length 1. Let r = |z| and r' = |z - shift|.
    For k below d, the privacy loss of z is (d - k) ln(r' / r) + r' - r. It exceeds epsilon where r'
    is above a threshold, that is, where the cosine of z with the shift is below a threshold. Then
    delta = P(loss > epsilon) - e^epsilon Q(loss > epsilon). Each probability is an average over
    radii of the cosine's distribution function. The error is 2e-4 for d = 2, where the cosine's
    density has poles, and 1e-5 for larger d. Epsilon is at least 0, d at least 2. k is d for the
    right radius, 1 for the exponential radius.
    """
    d, k = checks.count(d=d), checks.count(k=k)
    if k == d:
        # A distance changes by at most the shift.
        return generalized_gamma.delta(epsilon, 1.0, 1.0, d) if epsilon < 1 else 0.0
    # A grid of the root of the radius also resolves the kinks at small radii.
    ends = np.sqrt([gammaincinv(k, 1e-18), gammainccinv(k, 1e-18)])
    root = np.linspace(ends[0], ends[1], NODES)
    r = root**2
    share = np.exp(xlogy(k - 1, r) - r - gammaln(k)) * root
    share /= share.sum()

    def chance(low: Array, high: Array) -> float:
        """Return the probability that 1 + cosine of a uniform direction is below low high / r."""
        half = np.clip(low * high / (4 * r), 0, 1)
        return float(betainc((d - 1) / 2, (d - 1) / 2, half) @ share)

    upper, lower = _shifted_radius(r, epsilon, d - k), _shifted_radius(r, -epsilon, d - k)
    # Write 1 + cosine as a product, which is exactly 0 where the loss cannot exceed epsilon.
    p = chance(r + 1 - upper, r + 1 + upper)
    q = chance(lower - r + 1, lower + r - 1)
    return max(p - float(np.exp(epsilon)) * q, 0.0)


def _shifted_radius(r: Array, epsilon: float, power: int) -> Array:
    """Return the x at which power ln x + x is epsilon above its value at r."""
    # x e^(x / power) = r e^((r + epsilon) / power), solved by Lambert's function.
    return power * lambertw(r / power * np.exp((r + epsilon) / power)).real


@check("B1", {"an exponential radius": {"degrees": 1}, "lambda without the root": {"root": 1.0}})
def vector_noise_is_private(
    stream: Stream, *, degrees: int | None = None, root: float = 0.5
) -> Numbers:
    """The note: density exp(-lambda |z|) with lambda = n epsilon / sqrt(d) is epsilon-DP.

    ``degrees`` are those of the radius' gamma distribution, d if None; ``root`` is the power of d
    in lambda.
    """
    draws = 2000
    for d in DIMENSIONS:
        radius = np.linalg.norm(vectors(d, draws, stream), axis=0)
        # Lambda for a sum, from draws: the mean radius is d / lambda.
        rate = d / radius.mean() * d**root / EPSILON
        tight_delta = delta(1.0, d, degrees or d)
        yield Number(f"delta at epsilon 1, d = {d}", tight_delta, "<=", 0, 1e-12)
        what = f"lambda of draws over the stated one, d = {d}"
        yield Number(what, rate, "=", 1, 5 / (draws * d) ** 0.5)


@check("B2", {"the right radius": {"exponential": False}})
def exponential_radius(_stream: Stream, *, exponential: bool = True) -> Numbers:
    """The note: with an exponential radius it is not epsilon-DP: delta at epsilon 1 is above 0."""
    for d in DIMENSIONS:
        tight_delta = delta(1.0, d, 1 if exponential else d)
        yield Number(f"delta at epsilon 1, d = {d}", tight_delta, ">=", 0.1)


@check("B3", {"the distributions exchanged": {"exponential": True}})
def erlang(stream: Stream, *, exponential: bool = False) -> Numbers:
    """The note: the radius has an Erlang distribution with d degrees, not an exponential one."""
    for d in (2, 6, 24):
        radius = np.linalg.norm(vectors(d, DRAWS, stream), axis=0)
        radius *= EPSILON / np.sqrt(d)
        degrees = (1, d) if exponential else (d, 1)
        right, wrong = (stats.kstest(radius, stats.gamma(k).cdf).pvalue for k in degrees)
        yield Number(f"p-value of Erlang({d})", float(right), ">=", 1e-3)
        yield Number(f"p-value of an exponential distribution, d = {d}", float(wrong), "<=", 1e-6)
