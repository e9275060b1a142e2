"""Exact privacy of spherical generalized gamma noise: density proportional to exp(-(|z| / a)^p).

The direction is uniform. The radius is a Q^(1/p), where Q follows Gamma(k) with k = T / p in
dimension T. p = 1 is the l2 noise of the K-norm mechanism (Joseph, Kulesza & Yu, ICML 2025, arXiv
2502.15929), p = 2 Gaussian noise; the family is that of Wei, Bienstock & Polychroniadou (arXiv
2606.08681, 2026). ``a`` is in units of the sensitivity throughout.

Let one record shift the value by a vector of length 1. The privacy loss exceeds epsilon where the
distance r' from the shifted centre has (r' / a)^p > (r / a)^p + epsilon. Let r = a t^(1/p) and
rho = a (t + epsilon)^(1/p). On the border of that event, r, rho and 1 are the sides of a triangle.
Both probabilities are therefore integrals over one variable,

    delta = int e^-t (t^(k-1) F(x1) - (t + epsilon)^(k-1) F(x2)) dt / Gamma(k),
    x1 = (1 - rho + r) (1 + rho + r) / (4 r),     x2 = (1 - rho + r) (rho + r - 1) / (4 rho),

where F is the distribution function of Beta((T - 1) / 2, (T - 1) / 2), the distribution of
(1 + cos) / 2 for a uniform direction. Where rho + r < 1 no triangle exists, F(x1) = 1 and
F(x2) = 0; where rho - r > 1 both are 0.

For p >= 1 a smaller shift has a smaller delta, so that delta falls with ``a``. On every line along
the shift the density is log-concave. The best event of the line is therefore a half-line, whose
G(c) - e^epsilon G(c - s) grows with the shift s for every c.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, elementwise
from scipy.special import betainc, gammainc, gammainccinv, gammaincinv, gammaln

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp

#: Probability that is cut off at either end of the radius, and is added to delta.
TAIL = 1e-40
#: Smallest delta for calibration: far above ``TAIL`` and rounding errors.
SMALLEST = 1e-15
#: Lower bound on the relative error of delta in calibration. It is a hundred times the largest
#: error against 50-digit arithmetic, where delta does not cancel.
SLACK = 1e-8
#: Rounding error of either term of the integrand, in units of 1 + k times the term. Their
#: difference cancels for a small epsilon, or for p = 1 and a scale near 1 / epsilon.
TERM = 2.0**-49
#: Relative error of a scale; the scale is rounded up.
CLOSE = 1e-10

#: Newton's method: number of steps, shortest side over 1 / a, and longest step in logarithms.
_NEWTON, _SHORT, _FAR = 10, 1e-12, 50.0

#: Steps of the search: stride over the nodes, and whether to update the slope.
_SECANTS = (*((4, True),) * 3, (2, False), (2, True), (1, False), *((1, True),) * 4)

#: Nodes and weights of the double exponential rule on [0, 1], whose ends may be singular. Nodes
#: are kept as distances from the lower end.
_STEPS = np.linspace(-3.2, 3.2, 161)
_SINH = np.pi * np.sinh(_STEPS)
_NODES = 1 / (1 + np.exp(-_SINH))
_WEIGHTS = np.pi * np.cosh(_STEPS) * _NODES / (1 + np.exp(_SINH)) * (_STEPS[1] - _STEPS[0])


def delta(epsilon: ArrayLike, scale: ArrayLike, power: ArrayLike, dimension: int) -> Any:
    """Return delta(epsilon) of a shift by 1, elementwise.

    For delta above ``SMALLEST`` the relative error is below ``SLACK`` / 100, or (1 + k) ``TERM``
    times the probability of the event over delta if that is larger. Epsilon is at least 0, the
    scale above 0, the power at least 1.
    """
    size = checks.count(dimension=dimension)
    return gaussian_dp.elementwise(
        lambda epsilon, scale, power: _delta(epsilon, np.log(scale), power, size)[0],
        epsilon=gaussian_dp.at_least_0(epsilon=epsilon),
        scale=_positive(scale=scale),
        power=_powers(power),
    )


def scale(epsilon: ArrayLike, delta: ArrayLike, power: ArrayLike, dimension: int) -> Any:
    """Return the smallest scale a for which noise is (epsilon, delta)-DP at sensitivity 1.

    It is rounded up, so that its delta is at most ``delta``. Epsilon is at least 1e-6, because
    rounding errors are too large below. Delta is from ``SMALLEST`` to below 1, the power at least
    1.
    """
    size, allowed = checks.count(dimension=dimension), f"a number from {SMALLEST:g} to below 1"
    return gaussian_dp.elementwise(
        lambda epsilon, delta, power: _scale(epsilon, delta, power, size),
        epsilon=gaussian_dp.numbers(
            lambda x: (x >= 1e-6) & np.isfinite(x),
            "a finite number above 0, at least 1e-6",
            epsilon=epsilon,
        ),
        delta=gaussian_dp.numbers(lambda x: (x >= SMALLEST) & (x < 1), allowed, delta=delta),
        power=_powers(power),
    )


def epsilon(delta: float, scale: float, power: float, dimension: int) -> float:
    """Return the smallest epsilon of a shift by 1, rounded up by the error of delta.

    Arguments and errors are those of :func:`delta`, one number each.
    """

    arguments = (np.log([checks.positive(scale=scale)]), _powers([power]), int(dimension))

    def excess(guess: float) -> float:
        deltas, error = _delta(np.array([guess]), *arguments)
        return float(np.log(deltas[0] / delta) + error[0])

    if excess(0.0) <= 0:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-12 * high)) + 2e-12 * high


def deviation(scale: ArrayLike, power: ArrayLike, dimension: int) -> Any:
    """Return the standard deviation of an entry: sqrt(E |Z|^2 / T)."""
    p = np.asarray(power, dtype=float)
    ratio = gammaln((dimension + 2) / p) - gammaln(dimension / p)
    return np.asarray(scale) * np.exp(ratio / 2) / np.sqrt(dimension)


def _delta(
    epsilon: Array, log_scale: Array, power: Array, dimension: int, every: int = 1
) -> tuple[Array, Array]:
    """Return delta and an upper bound on its relative error, (k,) each.

    ``every`` is the stride over the nodes of the integral.
    """
    k, a = dimension / power, np.exp(log_scale)
    low, high = gammaincinv(k, TAIL), gammainccinv(k, TAIL)
    start = np.clip(_start(epsilon, 1 / a, power), low, high)
    # Radii too short for a triangle are entirely inside the event, or entirely outside.
    inside = np.where(epsilon * a**power < 1, gammainc(k, start), TAIL)
    width = high - start
    t = start[:, None] + width[:, None] * _NODES[::every]
    k, a, power, epsilon = (x[:, None] for x in (k, a, power, epsilon))
    r = a * t ** (1 / power)
    gap = r * np.expm1(np.log1p(epsilon / t) / power)  # rho - r
    both = 2 * r + gap
    constant = gammaln(k) + t
    first = np.exp((k - 1) * np.log(t) - constant + _log_beta((1 + both) / (4 * r), gap, dimension))
    far = (both - 1) / (4 * (r + gap))
    second = np.exp((k - 1) * np.log(t + epsilon) - constant + _log_beta(far, gap, dimension))
    weights = _WEIGHTS[::every]
    total = inside + width * ((first - second) @ weights) * every + TAIL
    rounding = TERM * (1 + k[:, 0]) * width * ((first + second) @ weights) * every
    # Where rounding exceeds delta, the large error makes the scale grow.
    return np.maximum(total, TAIL), np.maximum(SLACK, rounding / np.maximum(total, TAIL))


def _log_beta(x: Array, gap: Array, dimension: int) -> Array:
    """Return log F(x (1 - gap))."""
    x = np.clip(x * (1 - gap), 0, 1)
    half = (dimension - 1) / 2
    # In one dimension the direction is a sign.
    distribution = (np.sign(x) + np.floor(x)) / 2 if half == 0 else betainc(half, half, x)
    with np.errstate(divide="ignore"):
        return np.log(distribution)


def _start(epsilon: Array, c: Array, power: Array) -> Array:
    """Return the t at which triangles start, for c = 1 / a.

    Let v = -t^(1/p) where rho + r < 1 for small t, and v = t^(1/p) where rho - r > 1. Newton's
    method solves (c + v)^p - sign(v) |v|^p = epsilon, for v > 0 in logarithms.
    """
    short = epsilon < c**power
    v = np.where(short, -c / 2 + c ** (1 - power) * epsilon / 2, c)
    for _ in range(_NEWTON):
        size = np.abs(v)
        left, right = (c + v) ** power, size**power
        # For p = 1 sides are too far apart either for every t or for no t; for p near 1 and a large
        # epsilon the t at which they start may be 0 in float64.
        with np.errstate(divide="ignore", invalid="ignore"):
            value, slope = left - right, power * (left / (c + v) - np.sign(v) * right / size)
            step = np.log(epsilon / value) * value / (slope * size)
            near = np.clip(v + (epsilon - value) / slope, -c / 2, -_SHORT * c)
            v = np.where(short, near, v * np.exp(np.fmin(step, _FAR)))
    return np.abs(v) ** power


def _scale(epsilon: Array, delta: Array, power: Array, dimension: int) -> Array:
    def excess(
        log_scale: Array, epsilon: Array, delta: Array, power: Array, every: int = 1
    ) -> Array:
        actual, error = _delta(epsilon, log_scale, power, dimension, every)
        return np.log(actual) - (np.log(delta) - error)

    # Start near the scale at the Gaussian's standard deviation.
    start = -np.log(gaussian_dp.mu(epsilon, delta) * deviation(1.0, power, dimension))
    arguments = epsilon, delta, power
    root = _root_by_secants(lambda x, every: excess(x, *arguments, every), start)
    if root is None:
        root = _root_by_brackets(excess, start, arguments)
    return np.exp(root) * (1 + 1e-14)


def _root_by_secants(excess: Callable[[Array, int], Array], root: Array) -> Array | None:
    """Return the least arguments at which decreasing functions are not above 0, or None.

    ``excess(x, every)`` uses each ``every``-th node of its integrals: more nodes near the roots.
    """
    value = excess(root, 4)
    step, slope = 0.1 * np.sign(value), np.full(root.shape, -1.0)
    for every, slopes in _SECANTS:
        root = root + step
        previous, value = value, excess(root, every)
        if every == 1 and ((value <= 0) & (value >= slope * CLOSE)).all():
            return root
        if slopes:
            slope = np.minimum((value - previous) / step, -0.1)
        step = CLOSE / 2 - value / slope
        if not (np.abs(step) < 1).all():
            return None
    return None


def _root_by_brackets(
    excess: Callable[..., Array], near: Array, arguments: tuple[Array, ...]
) -> Array:
    """Return the roots of :func:`_root_by_secants` within ``CLOSE``, rounded up, from any start."""
    reach = {"xatol": CLOSE, "xrtol": 0, "fatol": 0, "frtol": 0}
    ends = elementwise.bracket_root(excess, near - 0.15, near + 0.15, args=arguments).bracket
    solution = elementwise.find_root(excess, ends, args=arguments, tolerances=reach)
    return np.asarray(solution.bracket[1])


def _positive(**argument: ArrayLike) -> Array:
    return gaussian_dp.numbers(
        lambda x: (x > 0) & np.isfinite(x), "a finite number above 0", **argument
    )


def _powers(power: ArrayLike) -> Array:
    return gaussian_dp.numbers(
        lambda x: (x >= 1) & (x <= 100), "a number from 1 to 100", power=power
    )
