"""PPCA, a direction of density exp(kappa v^T S v), under audit."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from scipy import optimize, special

from matrixdp import library
from matrixdp.auditing.audit import ERROR, POWER, ROUNDING, Audit, Scale
from matrixdp.auditing.neighbours import farthest
from matrixdp.checks import Array
from matrixdp.mechanisms import proofs
from reproduction.mechanisms.exponential import PrincipalDirection

#: Copies of the other record with which the black box has most power (epsilon 0.3 to 3).
COPIES = 4

#: Draws for the test of the distribution; nodes of the normaliser's integral.
DRAWS, NODES = 50_000, 600

#: Smallest concentration of a tilt.
FARTHEST = -300.0


class DirectionAudit(Audit):
    """The largest pointwise loss, on neighbours that attain it.

    The neighbours differ in a record x. All other records are copies of a record y orthogonal to x.
    In place of x comes y, or nothing under zero-out neighbours. At v along x the exponent falls by
    its full range. With many copies, directions near y dominate the normaliser, which grows by the
    contribution of y.

    The loss depends on v through its projections on x and y. The black box sees the difference of
    their squares, with fewer copies: with many, v along x is too rare.
    """

    tool = "maximal loss"
    cost = 80.0

    def __init__(self, release: PrincipalDirection, _stream: np.random.Generator) -> None:
        self.release: PrincipalDirection = release
        query = release.query
        # One record of a person is some of that person's records.
        pair = farthest(replace(query, adjacency="replace", per_person=None))
        self._removed, self._copied = pair.record, pair.other
        replaced = query.adjacency == "replace"
        self._added = self._copied if replaced else np.zeros(query.features)
        self.attained = self._loss(query.n_records - 1)
        self.bound = max(self.attained, release.epsilon_delivered)
        self.noise_inflation = release.epsilon / self.bound
        # The exponent of one record is at most its rate, and the normaliser moves by no more.
        sides = 2 if replaced else 1
        proven = sides * abs(release.kappa) * query.domain.radius**2 / query.n_records
        owned = library.plain(release) and proofs.owned(query) and query.group == 1
        self.proven = bool(owned and proven <= release.epsilon * (1 + ROUNDING))

    def _rate(self, record: Array) -> float:
        # The exponent that a record contributes at v along it.
        return float(self.release.kappa / self.release.query.n_records * (record @ record))

    def _loss(self, copies: int) -> float:
        """Return the loss at v along x; NaN without orthogonal records."""
        if abs(self._removed @ self._copied) > 1e-9 * (self._removed @ self._removed):
            return float("nan")
        m, removed = self.release.query.features, self._rate(self._removed)
        others = copies * self._rate(self._copied)
        before = log_normaliser(others, removed, m)
        # Either data set may be the first one.
        return abs(removed + log_normaliser(others + self._rate(self._added), 0.0, m) - before)

    def _value(self, copies: int, last: Array) -> Array:
        total = copies * np.outer(self._copied, self._copied) + np.outer(last, last)
        return total / self.release.query.n_records

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the difference of squared projections of each run."""
        copies = min(COPIES, self.release.query.n_records - 1)
        basis = np.stack([self._removed, self._copied], axis=1)
        values = (self._value(copies, last) for last in (self._removed, self._added))
        samples = (self.release.simulate(value, stream, count) for value in values)
        first, second = (np.subtract(*((directions @ basis) ** 2).T) for directions in samples)
        return first, second

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the mean of 1 - (v . x')^2 / |x'|^2 where all records are equal.

        It is the derivative of the log normaliser, about 1 / concentration.
        """
        other, m = self._copied, self.release.query.features
        value = np.outer(other, other)
        directions = self.release.simulate(value, stream, DRAWS)
        spread = 1 - (directions @ other) ** 2 / (other @ other)
        concentration = self.release.kappa * float(other @ other)
        expected = mean_spread(concentration, m)
        low, high = (side / expected for side in mean_limits(concentration, m, DRAWS, ERROR))
        error = float(spread.std() / np.sqrt(DRAWS)) / expected
        detectable_effect = max(1 - low, high - 1) + float(special.ndtri(POWER)) * error
        return Scale(float(spread.mean()) / expected, low, high, detectable_effect)


@functools.cache
def _nodes() -> tuple[Array, Array]:
    """Return the nodes and weights of Gauss's rule on [-1, 1]."""
    return np.polynomial.legendre.leggauss(NODES)


def _integral(concentration: float, inner: float, size: int, power: int) -> float:
    """Return ln E[(1 - b)^power exp(concentration (b - 1) + inner a)] over the sphere.

    b and a are the squares of two coordinates of a uniform unit vector: b is Beta(1/2, (m - 1)/2)
    and a / (1 - b) is Beta(1/2, (m - 2)/2). With b = 1 - u^2 the mass is at u near 0.
    """
    # u = sqrt(1 - b) in (0, 1): density proportional to u^(m - 2) (1 - u^2)^(-1/2).
    width = min(1.0, 12 / np.sqrt(max(concentration, 1e-9)))
    nodes, weights = _nodes()
    # The substitution u = sin(t) removes the root at u = 1.
    t = np.arcsin(width) * (nodes + 1) / 2
    u2 = np.sin(t) ** 2
    density = np.sin(t) ** (size - 2)
    inside = special.hyp1f1(0.5, (size - 1) / 2, inner * u2)
    value = weights @ (density * u2**power * inside * np.exp(-concentration * u2))
    total = special.beta(0.5, (size - 1) / 2) / 2
    return float(np.log(value * np.arcsin(width) / 2 / total))


def log_normaliser(along: float, across: float, size: int) -> float:
    """Return ln E exp(along v_1^2 + across v_2^2) over uniform unit vectors of ``size`` > 2."""
    return along + _integral(along, across, size, 0)


def mean_limits(concentration: float, size: int, draws: int, error: float) -> tuple[float, float]:
    """Return limits that the mean of draws of 1 - v_1^2 passes with a probability of ``error``.

    They are those of Chernoff: a tilt by exp(s (1 - v_1^2)) is the same distribution at the
    concentration c - s, and the mean there has the rate s mean - ln(Z(c - s) / Z(c)).
    """
    rate = np.log(2 / error) / draws
    at_start = _integral(concentration, 0.0, size, 0)

    def excess(tilted: float) -> float:
        moved = (concentration - tilted) * mean_spread(tilted, size)
        return moved - (_integral(tilted, 0.0, size, 0) - at_start) - rate

    limits = []
    for way, extreme in ((1, 0.0), (-1, 1.0)):
        # Without a tilt the rate is 0. Where no tilt in reach suffices, the mean itself is limited.
        ends = concentration + way * max(concentration, 1.0) * 2.0 ** np.arange(-6, 12)
        far = next((float(end) for end in ends if end > FARTHEST and excess(end) > 0), None)
        tilted = far and optimize.brentq(excess, concentration, far)
        limits.append(extreme if tilted is None else mean_spread(float(tilted), size))
    return limits[0], limits[1]


def mean_spread(concentration: float, size: int) -> float:
    """Return E[1 - v_1^2] of the density exp(concentration v_1^2) on the sphere."""
    above, below = (_integral(concentration, 0.0, size, power) for power in (1, 0))
    return float(np.exp(above - below))
