"""The exact privacy of publishing Gaussian combinations of records.

A sketch of a data matrix X (m features by n records) is r independent draws from N(0, G) with
G = X X^T + w^2 I. Privacy depends only on the regularised *leverage* x^T G^-1 x of the record that
differs. A record of norm at most R has leverage at most s = R^2 / (w^2 + R^2). This is attained by
a record of norm R that is orthogonal to all other records. Three exact curves follow from s alone.
All are expectations over C ~ chi-square(r); the loss L is the logarithm of the likelihood ratio:

* Add a record: G grows by the factor 1 / (1 - s) along one direction, so that
  L = (r ln(1 - s) + C s / (1 - s)) / 2 under the larger data set.
* Remove a record, the same pair in reverse: L = -(r ln(1 - s) + C s) / 2.
* Replace a record: two records of full norm that are orthogonal, after whitening by the common
  records. Condition on the combinations' coordinates along the bisector of the two. The coordinates
  along the other axis are then Gaussian, with a mean whose sign differs. The sketch is thus a
  Gaussian mechanism of random mu^2 = C s^2 / (1 - s).

That pair is the worst. Any replacement changes N(0, I) to N(0, diag(a, b)) with 1 <= a <=
1 / (1 - s) and 1 - s <= b <= 1 along some axes. The map y -> c y + sqrt(1 - c^2) N(0, 1) preserves
N(0, 1) and makes every such pair from the extreme one by post-processing. The same argument shows
that all three curves increase with s.

Wu et al. (arXiv 2309.01243) give the same curves as the normal distributions' indistinguishability
spectrum, in chi-square tails for add-or-remove and as an integral for replacement. The expectations
are computed here as integrals of positive functions on a logarithmic scale, so that nothing cancels
or underflows. Relative errors stay below 1e-9 for up to 1e5 rows and deltas down to 1e-100.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit, gammaln, log1p, logsumexp

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import ADJACENCIES

#: Points of the trapezoid rule, and number of times that its window is narrowed to the integrand.
NODES, ROUNDS = 256, 5

#: The window reaches down to exp(-45) of the integrand's peak, beyond float64's precision.
DEPTH = 45.0

#: Range of the search for the largest leverage, in logits: from practically 0 to 1 - 2.3e-6. Above
#: that w is less than R / 660, which no useful epsilon needs, and rounding matters.
LOWEST, HIGHEST = -80.0, 13.0

#: Share of delta that solvers give up, so that rounding ends on the private side.
SLACK = 2e-10


def leverage(epsilon: float, delta: float, rows: int, adjacency: str = "replace") -> float:
    """Return the largest leverage s for which the sketch is (epsilon, delta)-DP, rounded down.

    Records of norm at most R have a leverage of at most s if a lift w^2 >= R^2 (1 - s) / s is added
    to their Gram matrix. As ``rows`` grows, s tends to ``gaussian_dp.mu(epsilon, delta)`` /
    sqrt(rows) for ``replace``, and to sqrt(2) times that for ``zero_out``. It is at most
    1 - 2.3e-6.
    """
    from scipy.optimize import brentq

    epsilon, delta = checks.privacy(epsilon, delta)
    rows = checks.count(rows=rows)
    checks.choice(ADJACENCIES, adjacency=adjacency)

    def excess(logit: float) -> float:
        return _excess(epsilon, float(expit(logit)), rows, adjacency, delta) + 2 * SLACK

    if excess(HIGHEST) <= 0:
        return float(expit(HIGHEST))
    return float(expit(brentq(excess, LOWEST, HIGHEST, xtol=1e-13, maxiter=500)))


def epsilon(delta: float, leverage: float, rows: int, adjacency: str = "replace") -> float:
    """Return the smallest epsilon for which the sketch is (epsilon, delta)-DP, rounded up.

    It is exactly 0 where delta is at least the total variation distance.
    """
    delta, leverage = checks.open_unit(delta=delta), checks.open_unit(leverage=leverage)
    rows = checks.count(rows=rows)
    checks.choice(ADJACENCIES, adjacency=adjacency)

    from scipy.optimize import brentq

    def excess(budget: float) -> float:
        return _excess(budget, leverage, rows, adjacency, delta) + SLACK

    if excess(0.0) <= SLACK:
        return 0.0
    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-13, maxiter=2000))


def _excess(epsilon: float, share: float, rows: int, adjacency: str, delta: float) -> float:
    """Return ln(actual delta / allowed delta), clipped to be finite for the root finder."""
    actual = log_delta(np.array(epsilon), np.array(share), np.array(float(rows)), adjacency)
    return max(float(actual), -1e4) - float(np.log(delta))


def log_delta(epsilon: Array, share: Array, rows: Array, adjacency: str) -> Array:
    """Return ln delta of a Gaussian sketch at epsilon, for arrays of one shape.

    It is the exact worst case over all data sets for ``rows`` published combinations, where the
    regularised leverage of a record is at most ``share``. For ``replace`` the worst case needs two
    orthogonal records of full norm; delta is an upper bound where the domain has none.
    """
    if adjacency == "replace":
        worst = _log_delta_replace(epsilon, share, rows)
    else:
        directions = _log_delta_add, _log_delta_remove
        worst = np.maximum(*(curve(epsilon, share, rows) for curve in directions))
    return np.minimum(worst, 0.0)


def _log_delta_add(epsilon: Array, share: Array, rows: Array) -> Array:
    """Return ln delta of adding: L exceeds epsilon by v s / (2 (1 - s)) at x = edge + v, v > 0."""
    slope = share / (1 - share) / 2
    edge = (epsilon - rows / 2 * log1p(-share)) / slope

    def log_integrand(u: Array) -> Array:
        v = np.exp(u)
        return _log_chi_square(edge + v, rows) + _log_gain(slope * v) + u

    return _log_integral(log_integrand, np.log(rows) + 6)


def _log_delta_remove(epsilon: Array, share: Array, rows: Array) -> Array:
    """Return ln delta of removing: L exceeds epsilon by v s / 2 at x = edge - v, v > 0.

    It exceeds epsilon nowhere if edge <= 0.
    """
    edge = -(rows * log1p(-share) + 2 * epsilon) / share
    possible = edge > 0
    edge = np.where(possible, edge, 1.0)

    def log_integrand(u: Array) -> Array:
        x, v = edge * expit(u), edge * expit(-u)
        return _log_chi_square(x, rows) + _log_gain(share / 2 * v) + np.log(x) + np.log(v / edge)

    log_delta = _log_integral(log_integrand, np.full(edge.shape, 60.0))
    return np.where(possible, log_delta, -np.inf)


def _log_delta_replace(epsilon: Array, share: Array, rows: Array) -> Array:
    """Return ln delta of replacing: the Gaussian mechanism's mean delta over its random mu."""

    def log_integrand(u: Array) -> Array:
        mu = share * np.exp(u / 2) / np.sqrt(1 - share)
        return _log_chi_square(np.exp(u), rows) + gaussian_dp.log_delta(epsilon, mu) + u

    return _log_integral(log_integrand, np.log(rows) + 6)


def _log_chi_square(x: Array, rows: Array) -> Array:
    """Return the log density of chi-square(rows), written so that large terms stay small."""
    k = rows / 2
    ratio = x / rows
    return k * (np.log(ratio) - ratio + 1) - np.log(x) + (k * np.log(k) - k - gammaln(k))


def _log_gain(excess: Array) -> Array:
    """Return ln(1 - exp(-excess)), the log of delta's integrand at a loss of epsilon + excess."""
    return np.log(-np.expm1(-excess))


def _log_integral(log_integrand: Callable[[Array], Array], high: Array) -> Array:
    """Return the log of the integral of exp(log_integrand) over u < high.

    The integrand has one peak and fades on both sides, where the trapezoid rule converges faster
    than any power of its step once the window fits the peak.
    """
    low = np.full(high.shape, -100.0)
    steps = np.linspace(0.0, 1.0, NODES).reshape(-1, *[1] * high.ndim)
    for _ in range(ROUNDS):
        u = low + (high - low) * steps
        with np.errstate(divide="ignore"):
            values = log_integrand(u)
        significant = values > values.max(axis=0) - DEPTH
        first = np.maximum(significant.argmax(axis=0) - 1, 0)
        final = NODES - np.maximum(significant[::-1].argmax(axis=0), 1)
        low, high = (np.take_along_axis(u, i[None], axis=0)[0] for i in (first, final))
    return logsumexp(values, axis=0) + np.log((u[-1] - u[0]) / (NODES - 1))
