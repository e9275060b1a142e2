"""Lower bounds on epsilon from the outputs of a mechanism, by bets that may stop at any time.

Run a mechanism on two neighbours, in pairs Y, Y', and consider an event S that was chosen on other
runs. An (epsilon, delta)-DP mechanism has P(Y in S) <= c P(Y' in S) + delta with c = e^epsilon. So
a bet of a share l of the wealth, 0 <= l <= 1 / (c + delta), on 1[Y in S] - c 1[Y' in S] - delta is
not favourable. The wealth E = prod (1 + l (1[Y in S] - c 1[Y' in S] - delta)) is then a nonnegative
supermartingale. It ever reaches 1 / alpha with a probability of at most alpha (Ville's inequality).
That holds for any stopping rule. The runs of a pair may share their noise, which raises the power;
only pairs must be independent of each other.

The wealth here is the mean over bets of fixed sizes, so that it depends on counts alone. It is at
most a factor of the number of bets below the best bet (Cover's universal portfolio).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp

#: Error probability of all releases of a run together, and their number at most.
FAMILY, RELEASES = 1e-3, 250

#: Error probability of each statistical test of a release: its scale, its draws in all directions,
#: their size, and the black box.
ERROR = FAMILY / RELEASES / 4

#: Confidence of a bound, and of a suspicion (as of two independent bounds), at which the black box
#: runs longer. ``POWER`` refers to noise with a standard deviation of ``SHORTFALL`` times the
#: correct one.
CONFIDENCE, SUSPECTED, POWER, SHORTFALL = 0.95, 0.9975, 0.999, 0.9

#: Confidence of a refutation.
REFUTED = 1 - ERROR

#: Log wealth that proves a bound; the error probability of a suspicion is subtracted.
GOAL = -np.log((1 - CONFIDENCE) - (1 - SUSPECTED))

#: Sizes of bets, as shares of the largest allowed one; each is half of the one before.
BETS = 0.9 * 0.5 ** np.arange(10)

#: Events of simultaneous bets against a claimed epsilon, so that none need be the best.
EVENTS = 8

#: Candidate values of epsilon; a bound is one of them.
GRID = np.geomspace(1e-3, 20, 1500)

#: Thresholds of ``runs_needed``, in standard deviations of the noise.
_THRESHOLDS = np.linspace(-4.0, 8.0, 241)


class Counts(NamedTuple):
    """Counts of an event in pairs of runs: in both runs, in the first alone, in the second."""

    both: ArrayLike
    first: ArrayLike
    second: ArrayLike
    runs: ArrayLike

    @property
    def hits(self) -> tuple[Array, Array]:
        """Return the counts of the event on the first neighbour and on the second."""
        both, first, second, _ = map(np.asarray, self)
        return both + first, both + second

    @property
    def outcomes(self) -> tuple[Array, ...]:
        """Return counts of both, first alone, second alone and neither."""
        counts = np.broadcast_arrays(*(np.asarray(count, float) for count in self))
        return (*counts[:3], counts[3] - counts[0] - counts[1] - counts[2])


def bets(slope: ArrayLike, offset: ArrayLike) -> Array:
    """Return the increments of log wealth that a pair gives to bets against a line.

    The line is P(Y in S) <= slope P(Y' in S) + offset, with slope e^epsilon and offset delta. The
    axes of the result are the outcome (event in both, first, second, neither), the bet, and the
    shape of slope and offset.
    """
    slope, offset = np.broadcast_arrays(np.asarray(slope, float), np.asarray(offset, float))
    gains = np.stack([1 - slope - offset, 1 - offset, -slope - offset, -offset])
    return np.log1p(np.multiply.outer(BETS, gains / (slope + offset)).swapaxes(0, 1))


def log_wealth(counts: Counts, against: Array) -> Array:
    """Return the log of the mean wealth of all bets (see :func:`bets`); counts may be arrays."""
    both, first, second, neither = counts.outcomes
    logs = both * against[0] + first * against[1] + second * against[2] + neither * against[3]
    most = logs.max(axis=0)
    return np.asarray(most + np.log(np.exp(logs - most).mean(axis=0)))


def proved(ever: Array, grid: Array) -> float:
    """Return the last value of an ascending grid that is rejected with all before it, or 0.

    ``ever`` has the largest log wealth so far, by value. Values are rejected in order, so that a
    wrong bound requires a wrong rejection of the first true value. The bound thus holds with
    ``CONFIDENCE``, whatever the size of the grid.
    """
    rejected = ever >= GOAL
    first = int(np.argmin(rejected)) if not rejected.all() else len(grid)
    return float(grid[first - 1]) if first else 0.0


def epsilon(counts: Counts, delta: float = 0.0) -> float:
    """Return a lower bound on epsilon at ``delta``, at least 0, that holds with ``CONFIDENCE``."""
    return proved(log_wealth(counts, bets(np.exp(GRID), checks.array(delta=delta))), GRID)


def largest(runs: float, delta: float = 0.0, event: float = 0.5) -> float:
    """Return the epsilon that ``runs`` pairs prove if the other neighbour never has the event.

    ``event`` is the frequency of the event on the first neighbour.
    """
    return epsilon(Counts(0.0, event * runs, 0.0, runs), delta)


def runs_needed(claimed_epsilon: float, delta: float) -> float:
    """Return the number of pairs that distinguish calibrated Gaussian noise from too little noise.

    The deviation of the noise is ``SHORTFALL`` times the correct one, and both neighbours share it.
    After these pairs, bets on the best threshold event raise a suspicion with probability about
    ``POWER`` (normal approximation of the log wealth). The number is infinite above 1e9.
    """
    shift = gaussian_dp.mu(claimed_epsilon, delta) / SHORTFALL
    p, q = special.ndtr(shift - _THRESHOLDS), special.ndtr(-_THRESHOLDS)
    slope = np.exp(claimed_epsilon)
    logs = bets(slope, delta).T[:, None]
    chances = np.stack([q, p - q, 0 * p, 1 - p], axis=-1)
    growth = (chances * logs).sum(axis=-1)
    spread = np.sqrt((chances * logs**2).sum(axis=-1) - growth**2)
    goal = np.log(len(BETS) * EVENTS / (1 - SUSPECTED))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = special.ndtri(POWER) * spread
        runs = ((z + np.sqrt(z**2 + 4 * growth * goal)) / (2 * growth)) ** 2
    # With few expected hits the normal approximation is void.
    runs = np.where((growth > 0) & (runs * q >= 5), runs, np.inf)
    needed = float(np.ceil(runs.min()))
    return needed if needed <= 1e9 else float("inf")
