"""Intervals of least squares that no ridge narrows, from noisy second moments.

Let S be the exact second moments of z = (x, 1, y) for records within their public bounds, and
G = S + N the released ones. The rows of the exact coefficients b, with u = (b, -1), say that the
rows of S u at (x, 1) are 0. There G u = N u. Whatever b is, |N u| is at most a bound c |u| with the
level's probability, which follows from the calibration alone. So b lies, with that probability, in

    {b : |A b - a|^2 <= c^2 (|b|^2 + 1)},    G = [A, a] in the rows of (x, 1).

This holds for any condition of S: nothing is linearised, and no ridge is needed (the idea is
that of Anderson & Rubin 1949). The region is an ellipsoid where A^T A - c^2 I is positive
definite; then its extent along each axis is a closed formula. Otherwise it has no end: the noise
alone could be what the columns seem to vary. All coefficients are covered simultaneously, and at
most 1 - level of all releases state an interval that misses.

The target is the regression with the user's own ``alpha``, which is added to A. Under a private
number of records all of G is a sum over a public number, which cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms import intervals
from matrixdp.mechanisms.adassp import Equations
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.mechanisms.moments import CONSTANT
from matrixdp.noise.distributions import GaussianDistribution, NoiseDistribution
from matrixdp.release import answers, uncertainty
from matrixdp.release.answers import Output
from matrixdp.release.uncertainty import LEVEL

#: Why files state no interval of a regression.
UNBOUNDED = (
    "no interval: the noise does not bound the coefficients, as it may be all that the columns "
    "seem to vary in some direction"
)
#: What files say of the standard errors at a private radius.
CLIPPED = (
    "no interval: clipping and a ridge may take the coefficients far from those of least squares, "
    "and are not in the standard errors"
)

#: Draws of the noise in a simulation, their minimum for large matrices, and the seed.
_DRAWS, _FEW, _SEED = 2000, 100, 0
#: Limits on draws x m^3 operations, and on the entries that are held in memory at once.
_WORK, _ENTRIES = 4e9, 1 << 19


def moments_bound(release: AdditiveMechanism, level: float = LEVEL) -> float:
    """Return c: |N u| <= c |u| in the rows of (x, 1) with probability ``level``, for any fixed u.

    It is a quantile of the spectral norm of these rows, or a smaller number for Gaussian noise
    with independent entries. More independent noise moves more probability out of a centred ball
    (Anderson 1955). So let all entries have the largest variance s^2, and twice that on the
    diagonal. The covariance of the rows of N u is then at most s^2 (|u|^2 I + v v^T), where v are
    the entries of u at (x, 1): c is s times :func:`_gaussian_quantile`.

    Args:
        release: calibrated mechanism for the second moments of (x, 1, y).
        level: probability.
    """
    size, stream, norms = release.noise.shape[0], np.random.default_rng(_SEED), []
    draws, step = int(np.clip(_WORK / size**3, _FEW, _DRAWS)), max(1, _ENTRIES // size**2)
    for start in range(0, draws, step):
        noise = release.noise.sample([stream] * min(step, draws - start))
        noise = (noise + np.swapaxes(noise, 1, 2)) / 2
        if not release.query.private_count:
            noise[:, CONSTANT, CONSTANT] = 0
        norms.extend(np.linalg.norm(noise[:, :-1], 2, axis=(1, 2)))
    bound = float(np.quantile(norms, level, method="higher"))
    if isinstance(release.noise, GaussianDistribution) and not _dense(release.noise):
        variances = intervals.variances(release.noise, symmetric=True) / (1 + np.eye(size))
        bound = min(bound, float(np.sqrt(variances.max())) * _gaussian_quantile(size - 1, level))
    return bound * release.rounding_factor


def _dense(noise: NoiseDistribution) -> bool:
    return any(np.ndim(factor) == 2 for factor in noise.factors if factor is not None)


@lru_cache(maxsize=64)
def _gaussian_quantile(rows: int, level: float) -> float:
    """Return a quantile of |e| for normal e (rows,) of covariance I + v v^T with |v| = 1."""
    stream, draws = np.random.default_rng(_SEED), 100 * _DRAWS
    squares = 2 * stream.standard_gamma((rows - 1) / 2, draws) + 2 * stream.chisquare(1, draws)
    return float(np.sqrt(np.quantile(squares, level, method="higher")))


def from_moments(
    output: Output,
    release: AdditiveMechanism,
    moments: Array,
    level: float = LEVEL,
    *,
    bound: float | None = None,
) -> Array:
    """Return intervals of coefficients and, last, of the intercept (m, 2), in records' units.

    All are nan where the noise does not bound them.

    Args:
        output: units and options of the regression.
        release: calibrated mechanism for the second moments of (x, 1, y) in half ranges, in a box.
        moments: released second moments, symmetric, (m + 1, m + 1).
        level: probability that no interval misses.
        bound: :func:`moments_bound`, where it is known.
    """
    moments = moments.copy()
    if not release.query.private_count:
        moments[CONSTANT, CONSTANT] = 1.0
    if bound is None:
        bound = moments_bound(release, level)
    return limits(output, moments, np.full(len(moments), bound))


def from_equations(
    output: Output, equations: Equations, level: float = LEVEL, *, private_count: bool = False
) -> Array:
    """Return :func:`from_moments` of noisy normal equations in a box, whatever their ridge.

    The noise of the moments and of the products is Gaussian, of standard deviations s and t: the
    covariance of the rows of N u is at most s^2 (|b|^2 I + b b^T) + t^2 I.

    Args:
        output, level: as in :func:`from_moments`.
        equations: normal equations of x, or of (x, 1) where there is an intercept.
        private_count: whether the entry of the constant is noisy, and not 1.
    """
    products = equations.products[:, None]
    moments = np.block([[equations.moments, products], [products.T, np.zeros((1, 1))]])
    if output.intercept and not private_count:
        moments[CONSTANT, CONSTANT] = 1.0
    deviations = np.append(np.full(len(products), equations.moments_std), equations.products_std)
    return limits(output, moments, deviations * _gaussian_quantile(len(products), level))


def limits(output: Output, moments: Array, bounds: Array) -> Array:
    """Return the extent (m, 2) of {b : |A b - a| <= |B u|} in records' units, u = (b, -1).

    It is nan if the region has no end, or if A is not positive definite: the exact one is, so that
    the noise is then beyond its bound. A line through the records' origin is a regression of the
    rows L z that are measured from there. Their noise is L N L^T, and W L N is no longer than N in
    the rows of (x, 1) if the rows of W L are orthonormal.

    Args:
        output: units and options of the regression.
        moments: noisy second moments of (x, 1, y), or of (x, y) for a line through zero.
        bounds: diagonal of B.
    """
    rows = np.eye(len(moments))
    if len(moments) > len(output.half) and not output.intercept:
        rows = np.delete(rows, CONSTANT, axis=0)
        rows[:, CONSTANT] = output.middle / output.half
    x, y = rows[:-1], rows[-1]
    matrix = x @ moments @ x.T + np.diag(np.append(output.penalties, 0.0)[: len(x)])
    whitened = np.linalg.solve(np.linalg.cholesky(x @ x.T), matrix)
    slopes = bounds[:, None] * x.T
    # Noise may be beyond all squares.
    with np.errstate(over="ignore", invalid="ignore"):
        curvature = whitened.T @ whitened - slopes.T @ slopes
    finite = np.isfinite(curvature).all()
    if not finite or min(np.linalg.eigvalsh(part)[0] for part in (matrix, curvature)) <= 0:
        return np.full((len(output.half), 2), np.nan)
    # The solution without a ridge is in the region, and off its centre by ``step``.
    solution = np.linalg.solve(matrix, x @ moments @ y)
    noise = slopes @ solution - bounds * y
    inverse = np.linalg.inv(curvature)
    step = inverse @ slopes.T @ noise
    units = uncertainty.in_units(output, *answers.split(output, np.eye(len(x))))
    squares = (units * (inverse @ units)).sum(axis=0) * (noise @ noise + step @ curvature @ step)
    centre = np.append(*output.in_units(*answers.split(output, solution + step)))
    return np.asarray(centre[:, None] + np.sqrt(np.maximum(squares, 0))[:, None] * [-1, 1])


def table(names: Sequence[str], extent: Array) -> dict[str, Any]:
    """Return the intervals (m, 2), or why there are none, as files state them."""
    if np.isnan(extent).any():
        return {"least_squares": UNBOUNDED}
    return uncertainty.limits_table(names, extent)
