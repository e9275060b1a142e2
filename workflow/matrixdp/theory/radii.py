"""The radius of vector-valued noise of density proportional to exp(-lambda |z|_2).

The l2 vector mechanism on the mean of n vectors in [0, 1]^d has lambda = n epsilon / sqrt(d).
Replacing one vector moves the mean by at most sqrt(d) / n. The radius of the noise follows
Gamma(d), because a shell at radius r has volume r^(d - 1) dr. An exponential radius gives instead
the density r^(1 - d) exp(-lambda r), which is infinite at 0.

Both distributions have a Gamma(k) radius, of density r^(k - d) exp(-lambda r): k = d and k = 1.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import betainc, gammainc, gammainccinv, gammaincinv, gammaln, lambertw, xlogy

from matrixdp import checks, seeds
from matrixdp.checks import Array
from matrixdp.mechanisms.exponential import KNorm
from matrixdp.privacy import generalized_gamma
from matrixdp.privacy.sensitivity import Box, IdentityQuery

DIMENSIONS = (2, 6, 24, 1488)
EPSILON = 1.0
#: Largest number of draws, and of entries in all draws.
DRAWS, NUMBERS = 40_000, 6_000_000
#: Edges of the histograms of lambda times the radius, 30 a decade.
EDGES = np.logspace(-3, 4, 211)
#: Claimed privacy budgets at which the tight delta is computed.
EPSILONS = np.geomspace(0.01, 300, 61)
RECORDS = 1_000
#: Nodes of the quadrature over the radius.
NODES = 4_000


def radii(seed: int) -> pd.DataFrame:
    """Return radii, tight delta and error of the right and the wrong radius in several dimensions.

    Returns:
        Numbers at x, by ``law`` (``gamma``, the right one, or ``exponential``), of these kinds:

        - ``density`` of ln(lambda r) at x = lambda r, of draws and of the distribution;
        - ``quantile`` of lambda r at probability x, the same;
        - ``delta``: at budget x, for noise of claimed epsilon 1, exact (``value`` alone);
        - ``sampled_delta``: at x = 1, of draws, beside the exact value;
        - ``largest_loss``: of the draws;
        - ``error``: root mean square per coordinate of the noise on a mean of x vectors.
    """
    parts = []
    for d in DIMENSIONS:
        (stream,) = seeds.streams(seed, "theory", "radii", str(d), trials=[0])
        draws = min(DRAWS, NUMBERS // d)
        right = vectors(d, draws, stream)
        # The same directions with the wrong radius.
        radius = stream.standard_exponential(draws) * np.sqrt(d) / EPSILON
        wrong = right * (radius / np.linalg.norm(right, axis=0))
        for law, k, noise in (("gamma", d, right), ("exponential", 1, wrong)):
            parts.append(_noise_rows(d, k, noise).assign(law=law, d=d))
    columns = ["kind", "law", "d", "x", "value", "expected"]
    return pd.concat(parts, ignore_index=True)[columns]


def vectors(d: int, draws: int, stream: np.random.Generator) -> Array:
    """Return draws of the mechanism's noise on a sum of vectors in [0, 1]^d, shape (d, draws).

    It is epsilon-DP at ``EPSILON``; on a mean of n vectors it is divided by n.
    """
    query = IdentityQuery(Box.cube(d, 0, 1), draws)
    release = KNorm("record_l2").calibrate(query, epsilon=EPSILON)
    return release.sample(np.zeros(query.shape), [stream])[0]


def delta(epsilon: ArrayLike, d: int, k: int) -> Array:
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
    epsilon = np.asarray(epsilon, dtype=float)
    if k == d:
        # A distance changes by at most the shift.
        return np.where(epsilon < 1, generalized_gamma.delta(epsilon, 1.0, 1.0, d), 0.0)
    epsilon = epsilon[..., None]
    # A grid of the root of the radius also resolves the kinks at small radii.
    ends = np.sqrt([gammaincinv(k, 1e-18), gammainccinv(k, 1e-18)])
    root = np.linspace(ends[0], ends[1], NODES)
    r = root**2
    share = np.exp(xlogy(k - 1, r) - r - gammaln(k)) * root
    share /= share.sum()

    def chance(low: Array, high: Array) -> Array:
        """Return the probability that 1 + cosine of a uniform direction is below low high / r."""
        half = np.clip(low * high / (4 * r), 0, 1)
        return betainc((d - 1) / 2, (d - 1) / 2, half) @ share

    upper, lower = _shifted_radius(r, epsilon, d - k), _shifted_radius(r, -epsilon, d - k)
    # Write 1 + cosine as a product, which is exactly 0 where the loss cannot exceed epsilon.
    p = chance(r + 1 - upper, r + 1 + upper)
    q = chance(lower - r + 1, lower + r - 1)
    return np.maximum(p - np.exp(epsilon[..., 0]) * q, 0)


def _shifted_radius(r: Array, epsilon: Array, power: int) -> Array:
    """Return the x at which power ln x + x is epsilon above its value at r."""
    # x e^(x / power) = r e^((r + epsilon) / power), solved by Lambert's function.
    return power * lambertw(r / power * np.exp((r + epsilon) / power)).real


def _noise_rows(d: int, k: int, noise: Array) -> pd.DataFrame:
    """Return the rows about noise on a sum, shape (d, draws), where lambda is epsilon / sqrt(d)."""
    scale = np.sqrt(d) / EPSILON
    radius = np.linalg.norm(noise, axis=0) / scale
    histogram_counts, _ = np.histogram(np.log(radius), np.log(EDGES))
    widths = np.diff(np.log(EDGES))
    histogram = _rows(
        "density",
        np.sqrt(EDGES[1:] * EDGES[:-1]),
        histogram_counts / len(radius) / widths,
        np.diff(gammainc(k, EDGES)) / widths,
    )
    shares = (np.arange(20) + 0.5) / 20
    # The neighbour's vector is 1 instead of 0 in every coordinate.
    neighbour_radius = np.linalg.norm(noise - 1, axis=0) / scale
    loss = (d - k) * np.log(neighbour_radius / radius) + neighbour_radius - radius
    sampled = np.maximum(-np.expm1(EPSILON - loss), 0).mean()
    error = np.sqrt((noise**2).mean()) / RECORDS
    return pd.concat(
        [
            histogram[histogram["expected"] > 1e-9],
            _rows("quantile", shares, np.quantile(radius, shares), gammaincinv(k, shares)),
            _rows("delta", EPSILONS, delta(EPSILONS, d, k)),
            _rows("sampled_delta", [EPSILON], sampled, delta(EPSILON, d, k)),
            _rows("largest_loss", [EPSILON], loss.max()),
            _rows("error", [RECORDS], error, scale * np.sqrt(k * (k + 1) / d) / RECORDS),
        ]
    )


def _rows(kind: str, x: ArrayLike, value: ArrayLike, expected: ArrayLike = np.nan) -> pd.DataFrame:
    return pd.DataFrame({"kind": kind, "x": x, "value": value, "expected": expected})


THEORY = {"radii": radii}
