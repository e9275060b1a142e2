"""Composition of (epsilon, delta)-DP releases (Kairouz, Oh & Viswanath, IEEE Trans. IT 63, 2017).

Theorem 3.4 bounds the guarantee of k releases together. Here it is inverted, to the guarantee of
each release. Results are rounded to the side that promises less privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from matrixdp import checks
from matrixdp.checks import Array

Mask = NDArray[np.bool_]

#: Shares of delta that the slack of the theorems may take; 0 is basic composition.
SHARES = np.linspace(0, 0.99, 100)

#: Relative rounding error of a number where nothing cancels.
_ROUNDING = 1e-14
_BISECTIONS = 60


class Guarantee(NamedTuple):
    """(epsilon, delta)-DP: two numbers, or two arrays of one shape."""

    epsilon: Any
    delta: Any

    def item(self, index: int) -> Guarantee:
        """Return the guarantee at an index of the arrays, as floats."""
        return Guarantee(float(self.epsilon[index]), float(self.delta[index]))


def _kov_terms(epsilon: Array, releases: int, slack: Array) -> list[Array]:
    """Return the second and third term of Theorem 3.4; the first is basic composition."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.e + np.sqrt(releases) * epsilon / slack), np.log(1 / slack)
        drift = releases * epsilon * np.tanh(epsilon / 2)
        terms = (drift + epsilon * np.sqrt(2 * releases * log) for log in logs)
        return [np.where(epsilon > 0, term, 0) for term in terms]


def splits(epsilon: float, delta: float, releases: int) -> Guarantee:
    """Return guarantees for each of k releases that are together (epsilon, delta)-DP.

    The slack of the theorem takes one of ``SHARES`` of delta, and the releases share the rest. More
    slack gives each release a larger epsilon and a smaller delta. The best split depends on the
    mechanism, so that all splits are returned, as arrays of the shape of ``SHARES``.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    k = checks.count(releases=releases)
    slack = SHARES * delta
    each = _largest(epsilon, k, slack)
    delta_each = -np.expm1((np.log1p(-delta) - np.log1p(-slack)) / k)
    return Guarantee(each * (1 - _ROUNDING), delta_each * (1 - _ROUNDING))


def _largest(epsilon: float, releases: int, slack: Array) -> Array:
    """Return the largest epsilon of each release by Theorem 3.4: the largest root of its terms."""
    none = np.zeros_like(slack)
    roots = [np.full_like(slack, epsilon / releases)]
    for index in range(2):

        def too_large(e: Array, index: int = index) -> Mask:
            return _kov_terms(e, releases, slack)[index] > epsilon

        # The terms exceed epsilon_0 sqrt(2 k ln(1 / slack)), resp. epsilon_0 sqrt(2 k).
        upper = np.full_like(slack, epsilon / np.sqrt(2 * releases) * (1 + _ROUNDING))
        roots.append(_bisect(too_large, none, upper))
    return np.max(roots, axis=0)


def _bisect(too_large: Callable[[Array], Mask], lower: Array, upper: Array) -> Array:
    """Return the largest values that are not too large, rounded down, elementwise."""
    for _ in range(_BISECTIONS):
        middle = (lower + upper) / 2
        over = too_large(middle)
        lower, upper = np.where(over, lower, middle), np.where(over, middle, upper)
    return lower


def simple_split(epsilon: float, delta: float, releases: int) -> Guarantee:
    """Return a split in closed form: eps / (2 sqrt(k ln(e + eps / delta))), delta / (2 k) each.

    KOV's corollary of Theorem 3.4 is private for epsilon up to about 10, and NOT for larger ones.
    At epsilon = 100 the delta of 10,000 releases is thousands of times too large.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    k = checks.count(releases=releases)
    log = np.log(np.e + epsilon / delta)
    return Guarantee(float(epsilon / (2 * np.sqrt(k * log))), delta / (2 * k))
