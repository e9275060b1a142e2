"""Exact privacy of Gaussian noise: each of epsilon, delta and mu from the other two.

Gaussian noise gives mu-Gaussian DP with mu = sup ||K^(-1/2) (f(X) - f(X'))||_2 over neighbours,
for noise of covariance K (sensitivity / standard deviation if it is i.i.d.). It is then
(epsilon, delta)-DP exactly if delta is at least

    delta(epsilon; mu) = Phi(-x1) - e^epsilon Phi(-x2),     x1, x2 = epsilon / mu -+ mu / 2

(Balle & Wang, ICML 2018, Theorem 8; Dong, Roth & Su, JRSS-B 2022, Corollary 2.13). All functions
work elementwise on broadcast arrays and return a float for scalars. Every result is within 1e-12
of the exact one (relative; for ``epsilon`` relative or absolute) for epsilon up to 1000 and delta
from 1e-300 to 0.5, and always rounded to the side that promises less privacy.

Method: with the Mills ratio R(x) = Phi(-x) / phi(x), phi(x2) e^epsilon = phi(x1), so that
delta = phi(x1) (R(x1) - R(x2)) and 1 - delta = phi(x1) (R(-x1) + R(x2)) neither underflow nor
overflow in logs, and

    d delta / d log mu = mu phi(x1),     d delta / d epsilon = -phi(x1) R(x2).

As functions of log mu and of epsilon these slopes are log-concave, and so are their integrals delta
and 1 - delta (Prekopa 1973). On the logarithm of such a function Newton's method crosses the root
at most once and then approaches it from one side. It needs no bracket.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy  # its parts load at their first use, which many commands do without
from numpy.typing import ArrayLike, NDArray

from matrixdp.checks import Array, InputError, shown

Mask = NDArray[np.bool_]

#: Largest argument: up to here the rounding of arguments moves log delta by less than 1.
_LARGEST = 1e15
#: Below this mu, ratios of small numbers would underflow.
_TINY = 1e-300
#: Lower bound of a ratio that would underflow to 0.
_SMALLEST = 1e-320
_UNIT = 2.0**-53
_ITERATIONS = 50
_SQRT_2PI = np.sqrt(2 * np.pi)

#: Below this mu, R(x1) - R(x2) loses digits; five Gauss nodes integrate -R' to 2e-16 instead.
_SMALL_MU = 0.2
#: Beyond this x, 1 - x R(x) loses digits.
_FAR = 10.0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


def mu(epsilon: ArrayLike, delta: ArrayLike) -> Any:
    """Return the largest mu for which mu-Gaussian DP implies (epsilon, delta)-DP.

    The noise that is just private has standard deviation sensitivity / mu. The result is rounded
    down, so that ``delta(epsilon, mu(epsilon, delta)) <= delta``; it is 0 where it would be below
    1e-300. Epsilon is at least 0, delta strictly between 0 and 1.
    """
    return elementwise(_solve_mu, epsilon=at_least_0(epsilon=epsilon), delta=_target(delta))


def delta(epsilon: ArrayLike, mu: ArrayLike) -> Any:
    """Return the smallest delta for which mu-Gaussian DP implies (epsilon, delta)-DP, rounded up.

    It is 0 only for mu = 0. Epsilon and mu are at least 0.
    """

    def compute(epsilon: Array, mu: Array) -> Array:
        rounded = np.nextafter(np.exp(_log_delta(epsilon, mu)), np.inf)
        return np.where(mu > 0, np.minimum(rounded, 1), 0)

    return elementwise(compute, epsilon=at_least_0(epsilon=epsilon), mu=at_least_0(mu=mu))


def log_delta(epsilon: ArrayLike, mu: ArrayLike) -> Any:
    """Return the natural logarithm of :func:`delta`, which does not underflow; -inf for mu = 0."""
    return elementwise(_log_delta, epsilon=at_least_0(epsilon=epsilon), mu=at_least_0(mu=mu))


def epsilon(delta: ArrayLike, mu: ArrayLike) -> Any:
    """Return the smallest epsilon for which mu-Gaussian DP implies (epsilon, delta)-DP, rounded up.

    It is exactly 0 where delta(0; mu) <= delta. Delta is between 0 and 1, mu at least 0.
    """
    return elementwise(_solve_epsilon, delta=_target(delta), mu=at_least_0(mu=mu))


class _Tail(NamedTuple):
    """Logarithm of delta, or of the rest 1 - delta where x1 < 0.

    ``slack`` bounds the rounding of ``log``. The slopes in mu and epsilon follow from ``ratio``,
    which is delta (or the rest) over phi(x1), and from ``mills``, which is R(x2).
    """

    log: Array
    is_rest: Mask
    ratio: Array
    mills: Array
    slack: Array


def _tail(centre: Array, mu: Array) -> _Tail:
    """Evaluate the curve at centre = epsilon / mu = (x1 + x2) / 2."""
    x1, x2 = centre - mu / 2, centre + mu / 2
    near, far = _mills(np.abs(x1)), _mills(x2)
    small = mu < _SMALL_MU
    is_rest = (x1 < 0) & ~small
    ratio = np.where(is_rest, near + far, near - far)
    if small.any():
        width = mu[small] / 2
        nodes = centre[small] + width * _NODES[:, None]
        ratio[small] = width * (_WEIGHTS @ _mills_descent(nodes))
    # As -R'(x) > 1 / (x^2 + 3), only rounding can put the ratio below this bound, or at 0.
    np.maximum(ratio, mu / (x2 * x2 + 3) + _SMALLEST, out=ratio)
    log = np.log(ratio / _SQRT_2PI) - x1 * x1 / 2
    # Sources of rounding: cancellation in the ratio; the logarithm; epsilon / mu; x1 and x1^2.
    cancelled = np.where(small, np.minimum(x2, _FAR) ** 2, far / np.where(small, 1, ratio))
    roundings = 32 + 8 * cancelled + 2 * np.abs(log) + (1 + np.abs(x1)) * x2 / 2 + 2 * x1 * x1
    return _Tail(log, is_rest, ratio, far, _UNIT * roundings)


def _mills(x: Array) -> Array:
    """Return R(x) = Phi(-x) / phi(x)."""
    return _SQRT_2PI / 2 * scipy.special.erfcx(x * np.sqrt(0.5))


def _mills_descent(x: Array) -> Array:
    """Return -R'(x) = 1 - x R(x); for large x, where this cancels, by its continued fraction.

    It is 1 / (q + 3 - 6 / (q + 7 - 20 / (q + 11 - ...))) with q = x^2, the even part of Laplace's
    fraction for R; seven levels are exact to 1e-16 beyond ``_FAR``.
    """
    descent = 1 - x * _mills(x)
    far = x > _FAR
    if far.any():
        square = x[far] ** 2
        fraction = square + 27
        for k in range(6, 0, -1):
            fraction = square + (4 * k - 1) - 2 * k * (2 * k + 1) / fraction
        descent[far] = 1 / fraction
    return descent


def _log_gap(tail: _Tail, log_target: Array, log_rest: Array) -> Array:
    """Return the distance of the tail's log from its target, positive if delta is too small.

    The aim is three times the rounding slack below the target: for the error here, for the error of
    :func:`delta` at the result, and for its rounding up. The result is then at most the target.
    """
    distance = np.where(tail.is_rest, tail.log - log_rest, log_target - tail.log)
    return distance - 3 * tail.slack


def _is_converged(log_gap: Array, tail: _Tail) -> bool:
    """Return whether one more Newton step, which squares the error, leaves only rounding."""
    return bool(np.all(np.abs(log_gap) <= 1e-8 + 4 * tail.slack))


def _solve_mu(epsilon: Array, log_target: Array) -> Array:
    log_rest = np.log(-np.expm1(log_target))
    # The start is the larger of two lower bounds of mu: delta < Phi(-x1), delta <= mu phi(0).
    quantile = scipy.special.ndtri_exp(log_target)
    root = np.sqrt(quantile**2 + 2 * epsilon) + np.abs(quantile)
    start = 2 * np.maximum(quantile, 0) + 2 * epsilon / np.maximum(root, _TINY)
    start = np.maximum(start, _SQRT_2PI * np.exp(log_target))
    mu = np.maximum(start, _TINY)
    for _ in range(_ITERATIONS):
        tail = _tail(epsilon / mu, mu)
        log_gap = np.where(start > _TINY, _log_gap(tail, log_target, log_rest), 0)
        mu *= np.exp(log_gap * tail.ratio / mu)
        if _is_converged(log_gap, tail):
            return np.where(start > _TINY, mu * (1 - 4 * _UNIT), 0)
    raise ArithmeticError(f"mu is not found in {_ITERATIONS} iterations")


def _solve_epsilon(log_target: Array, mu: Array) -> Array:
    log_rest = np.log(-np.expm1(log_target))
    safe_mu = np.maximum(mu, _TINY)
    tail_at_zero = _tail(np.zeros_like(mu), safe_mu)
    zero = _log_gap(tail_at_zero, log_target, log_rest) + 2 * tail_at_zero.slack >= 0
    # The start is an upper bound of epsilon / mu, from delta < Phi(-x1).
    centre = np.where(zero, 0, np.maximum(safe_mu / 2 - scipy.special.ndtri_exp(log_target), 0))
    for _ in range(_ITERATIONS):
        tail = _tail(centre, safe_mu)
        log_gap = np.where(zero, 0, _log_gap(tail, log_target, log_rest))
        centre = np.maximum(centre - log_gap * tail.ratio / tail.mills / safe_mu, 0)
        if _is_converged(log_gap, tail):
            return centre * safe_mu * (1 + 4 * _UNIT)
    raise ArithmeticError(f"epsilon is not found in {_ITERATIONS} iterations")


def _log_delta(epsilon: Array, mu: Array) -> Array:
    safe_mu = np.maximum(mu, _TINY)
    tail = _tail(np.minimum(epsilon, 1e150 * safe_mu) / safe_mu, safe_mu)
    rest = np.exp(np.where(tail.is_rest, tail.log - tail.slack, -np.inf))
    rounded = np.where(tail.is_rest, np.log1p(-rest), tail.log + tail.slack)
    return np.where(mu > 0, np.minimum(rounded, 0), -np.inf)


def _target(delta: ArrayLike) -> Array:
    """Return log delta, lowered by a few roundings."""
    return np.log(inside_unit(delta=delta)) - 8 * _UNIT


def at_least_0(**argument: ArrayLike) -> Array:
    """Return the value as float64 if all its entries are at least 0."""
    range_words = f"a number from 0 to {_LARGEST:g}"
    return numbers(lambda x: (x >= 0) & (x <= _LARGEST), range_words, **argument)


def inside_unit(**argument: ArrayLike) -> Array:
    """Return the value as float64 if all its entries are strictly between 0 and 1."""
    range_words = "a number strictly between 0 and 1"
    return numbers(lambda x: (x > 0) & (x < 1), range_words, **argument)


def numbers(valid: Callable[[Array], Mask], allowed: str, **argument: ArrayLike) -> Array:
    """Return the value as float64 if all its entries are valid; the error names the first one."""
    ((name, value),) = argument.items()
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} is {shown(value)}; it must be {allowed}, or an array of such")
    result = array.astype(np.float64)
    invalid = np.argwhere(~valid(result))
    if len(invalid):
        index = tuple(int(i) for i in invalid[0])
        location = f" at index {', '.join(map(str, index))}" if index else ""
        raise InputError(f"{name} is {result[index]:g}{location}; it must be {allowed}")
    return result


def elementwise(compute: Callable[..., Array], **arguments: Array) -> Any:
    """Return ``compute`` of the flat broadcast arguments; a float for scalars."""
    try:
        arrays = np.broadcast_arrays(*arguments.values())
    except ValueError:
        shapes = " and ".join(f"{name} has shape {a.shape}" for name, a in arguments.items())
        raise InputError(f"{shapes}; the shapes must broadcast") from None
    result = compute(*(array.ravel() for array in arrays)).reshape(arrays[0].shape)
    return result if result.ndim else float(result)
