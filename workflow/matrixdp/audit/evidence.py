"""What the outputs of a mechanism prove about its privacy, whatever its inner working.

Run a mechanism on two neighbours, count how often an event happens on each, and bound both
probabilities from the counts: an (epsilon, delta)-DP mechanism has p <= e^epsilon q + delta, so
that ln((p_low - delta) / q_high) is a lower bound on its epsilon (Ding et al., CCS 2018; Bichsel et
al., S&P 2021). The event must not be chosen on the runs that are counted.

Events of a probability much below 3 / runs are never seen: a large epsilon at a small delta needs
many runs, and :func:`largest` says which epsilon a number of runs could prove at most.
"""

from __future__ import annotations

import bisect
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy import gaussian

#: Of a bound, and the power with which a standard deviation of ``SHORTFALL`` times what is right is
#: to be refuted.
CONFIDENCE, POWER, SHORTFALL = 0.95, 0.999, 0.9

#: Thresholds, in standard deviations of the noise, and numbers of runs that ``runs_needed`` tries.
_THRESHOLDS = np.linspace(-4.0, 8.0, 121)
_RUNS = np.logspace(3, 9, 241)


class Interval(NamedTuple):
    """Bounds on a probability that hold jointly with the given confidence."""

    lower: Array
    upper: Array


def clopper_pearson(hits: ArrayLike, runs: ArrayLike) -> Interval:
    """Return bounds on the probability of an event that happened in ``hits`` of ``runs`` runs.

    Both hold with ``CONFIDENCE``; each fails with at most half the rest.

    Args:
        hits: from 0 to ``runs``; need not be whole, which is how expected counts are judged.
        runs: above 0.

    Raises:
        InputError: hits are not between 0 and runs.
    """
    tail = (1 - CONFIDENCE) / 2
    k, n = np.broadcast_arrays(checks.array(hits=hits), checks.array(runs=runs))
    if not ((k >= 0) & (k <= n) & (n > 0)).all():
        raise InputError(f"hits are {hits!r} of {runs!r} runs; they must be from 0 to the runs")
    # Where there is nothing to bound, the arguments of the inverse only need to be valid.
    lower = special.betaincinv(np.maximum(k, 1e-9), n - k + 1, tail)
    upper = special.betainccinv(k + 1, np.maximum(n - k, 1e-9), tail)
    return Interval(np.where(k > 0, lower, 0.0), np.where(k < n, upper, 1.0))


def epsilon(
    hits: ArrayLike, neighbour_hits: ArrayLike, runs: ArrayLike, delta: ArrayLike = 0.0
) -> Array:
    """Return a lower bound on epsilon at ``delta``, at least 0, that holds with ``CONFIDENCE``.

    Args:
        hits, neighbour_hits: how often the event happened on each of two neighbours, which need
            not be independent.
        runs: of each of the two.
        delta: at least 0.
    """
    p, q = clopper_pearson(hits, runs).lower, clopper_pearson(neighbour_hits, runs).upper
    return np.log(np.maximum((p - checks.array(delta=delta)) / q, 1.0))


def mu(hits: ArrayLike, neighbour_hits: ArrayLike, runs: ArrayLike) -> Array:
    """Return a lower bound on mu for a mechanism that claims mu-Gaussian DP (Nasr et al., 2023).

    It refutes the claim of a mu, not of an epsilon at one delta. Arguments as for :func:`epsilon`.
    """
    p, q = clopper_pearson(hits, runs).lower, clopper_pearson(neighbour_hits, runs).upper
    possible = (p > 0) & (q < 1)
    found = special.ndtri(np.where(possible, p, 0.5)) - special.ndtri(np.where(possible, q, 0.5))
    return np.maximum(found, 0.0)


def largest(runs: ArrayLike, delta: ArrayLike = 0.0, event: ArrayLike = 0.5) -> Array:
    """Return the largest epsilon that ``runs`` runs can prove.

    It is what :func:`epsilon` gives for an event of probability ``event`` on one neighbour that
    never happens on the other.
    """
    n = checks.array(runs=runs)
    return epsilon(checks.array(event=event) * n, 0.0, n, delta)


def runs_needed(nominal: float, delta: float) -> float:
    """Return the runs after which exactly calibrated Gaussian noise is told from too little noise.

    With a standard deviation that is ``SHORTFALL`` times the one that is just (``nominal``,
    ``delta``)-DP, :func:`epsilon` of the best threshold event exceeds ``nominal`` with about the
    probability ``POWER`` (normal approximation of the counts).

    Returns:
        A number of runs per neighbour, infinite if more than 1e9 would be needed.
    """
    shift = gaussian.mu(nominal, delta) / SHORTFALL
    p, q = special.ndtr(shift - _THRESHOLDS), special.ndtr(-_THRESHOLDS)
    p, q = (side[p > 1.01 * delta] for side in (p, q))
    spread = p * (1 - p) / (p - delta) ** 2 + (1 - q) / q
    quantile = special.ndtri(POWER)

    def enough(index: int) -> bool:
        runs = _RUNS[index]
        bound = epsilon(p * runs, q * runs, runs, delta)
        # With few hits expected, the normal approximation says nothing.
        return bool(((bound - quantile * np.sqrt(spread / runs) > nominal) & (q * runs >= 5)).any())

    first = bisect.bisect_left(range(len(_RUNS)), True, key=enough)
    return float(np.ceil(_RUNS[first])) if first < len(_RUNS) else float("inf")
