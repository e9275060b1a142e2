"""Composition of (epsilon, delta)-DP releases (Kairouz, Oh & Viswanath, IEEE Trans. IT 63, 2017).

Theorem 3.4 bounds the guarantee of k releases together, and Theorem 3.3 states it exactly for the
worst such releases. Here both are inverted, to the guarantee of each release. Results are rounded
to the side that promises less privacy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from matrixdp import checks
from matrixdp.checks import Array

Mask = NDArray[np.bool_]

#: Shares of delta that the slack of the theorems may take; 0 is basic composition.
SHARES = np.linspace(0, 0.99, 100)
THEOREMS = ("3.3", "3.4")

#: Relative rounding error of a number where nothing cancels, and of binomial tails.
_ROUNDING = 1e-14
_TAIL_ROUNDING = 1e-10
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


def _kov_slack(total: Array, epsilon: Array, releases: int) -> Array:
    """Return delta of the composition of pure releases (KOV, Theorem 3.3).

    It is exact for the worst such releases: randomised response, which is false with probability
    1 / (1 + e^epsilon). If l of k responses are false, the privacy loss is (k - 2 l) epsilon. Let m
    be the largest l whose loss exceeds the total. Then delta is P(l <= m) - e^total Q(l <= m),
    where Q has the opposite odds. The theorem states this at total = (k - 2 i) epsilon; in between,
    the same sum is the exact curve.
    """
    most = np.ceil((releases - total / epsilon) / 2) - 1
    m = np.clip(most, 0, releases - 1)
    lie = 1 / (1 + np.exp(epsilon))
    p, q = betainc(releases - m, m + 1, 1 - lie), betainc(releases - m, m + 1, lie)
    with np.errstate(divide="ignore"):
        lost = np.exp(total + np.log(q))
    slack = p * (1 + _TAIL_ROUNDING) - lost * (1 - _TAIL_ROUNDING)
    return np.where(most < 0, 0, np.clip(slack, 0, 1 - 1e-16))


def splits(epsilon: float, delta: float, releases: int, *, theorem: str = "3.4") -> Guarantee:
    """Return guarantees for each of k releases that are together (epsilon, delta)-DP.

    The slack of the theorem takes one of ``SHARES`` of delta, and the releases share the rest.
    ``theorem`` is ``3.4``, or ``3.3`` for the exact composition. More slack gives each release a
    larger epsilon and a smaller delta. The best split depends on the mechanism, so that all splits
    are returned, as arrays of the shape of ``SHARES``.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    k = checks.count(releases=releases)
    slack = SHARES * delta
    lower = _invert_theorem_3_4(epsilon, k, slack)
    if checks.choice(THEOREMS, theorem=theorem) == "3.3":

        def too_large(e: Array) -> Mask:
            return _kov_slack(np.asarray(epsilon), e, k) > slack

        upper = 2 * lower
        while not too_large(upper).all():
            upper = np.where(too_large(upper), upper, 2 * upper)
        lower = _bisect(too_large, lower, upper)
    delta_each = -np.expm1((np.log1p(-delta) - np.log1p(-slack)) / k)
    return Guarantee(lower * (1 - _ROUNDING), delta_each * (1 - _ROUNDING))


def _invert_theorem_3_4(epsilon: float, releases: int, slack: Array) -> Array:
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
