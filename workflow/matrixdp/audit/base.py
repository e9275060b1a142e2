"""A release under audit: the interface that every kind of release implements.

An audit starts from the declared law of the noise and the worst neighbours of a search. It returns
the attained epsilon, runs on those neighbours for a black box, and a test of the noise's scale. The
release's own statement of privacy counts only as an upper bound, where no neighbours attain it.
"""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import special

from matrixdp.checks import Array
from matrixdp.mechanisms.base import Release

#: A scale test: its approximate number of draws, its error probability, and the power that defines
#: its smallest detectable shortfall.
NUMBERS, ERROR, POWER = 450_000, 1e-6, 0.95

#: A release is tight if it leaves at most this share of epsilon, or of the noise, unused.
TIGHT = 1e-3

#: Runs on each neighbour where an exact tool decides, and the most random numbers that they cost.
#: ``MOST`` is the most random numbers of a black box's runs.
RUNS, COST, MOST = 200_000, 3e7, 8e8


class Scale(NamedTuple):
    """Ratio of the sampled noise's size to that of the declared law, and its acceptance region.

    Attributes:
        shortfall: the smallest share of missing noise that the test detects with power ``POWER``.
        another_law: whether the noise has another distribution, whatever its size.
    """

    ratio: float
    low: float
    high: float
    shortfall: float = float("nan")
    another_law: bool = False

    @property
    def verdict(self) -> str:
        """Return ``right``, ``too small``, ``too large`` or ``of another law``."""
        if np.isnan(self.ratio) or self.low <= self.ratio <= self.high:
            return "of another law" if self.another_law else "right"
        return "too small" if self.ratio < self.low else "too large"


class Finding(NamedTuple):
    """What replays show of a composed release.

    Attributes:
        other: the share of replays with the same noisy answers that give another release.
        mu: the largest mu of all Gaussian parts on neighbours, divided by the declared mu.
        shortfall: the ``shortfall`` of a ``Scale``, for the noise of every part.
    """

    other: float
    mu: float
    shortfall: float


#: For noise without a testable sum.
NO_SCALE = Scale(float("nan"), float("nan"), float("nan"))


class Audit(abc.ABC):
    """A release under audit.

    Attributes:
        tool: the method of the verdict: ``exact curve``, ``maximal loss``, ``composition`` or
            ``black box``.
        release: the audited release.
        attained: the epsilon at the nominal delta that some neighbours attain.
        bound: an upper bound on epsilon for all neighbours; equal to ``attained`` where exact.
        kappa: the factor by which the noise could shrink at the same guarantee, by ``bound``.
        cost: random numbers of one run on one neighbour.
        mu: attained Gaussian-DP parameter, NaN without a Gaussian form.
        needed: runs after which the black box rejects noise that is a tenth too small; None where
            it need not.
    """

    tool: ClassVar[str]
    release: Release
    attained: float
    bound: float
    kappa: float
    cost: float
    mu: float = float("nan")
    needed: float | None = None

    @abc.abstractmethod
    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the likelihood-ratio statistic of ``count`` runs on each worst neighbour."""

    def scale(self, stream: np.random.Generator) -> Scale:
        """Return the test of the noise's scale, on the full query."""
        return NO_SCALE

    def executed(self, stream: np.random.Generator) -> Finding | None:
        """Return what replays of a composed release show; None for other releases."""
        return None

    def curve_error(self) -> float:
        """Return the largest relative error of the closed form by a second way; NaN without one."""
        return float("nan")

    @property
    def runs(self) -> int:
        """Runs on each neighbour: ``needed``, or a few where only the exact tool decides."""
        few = np.clip(COST / self.cost, 1000, RUNS)
        return int(few if self.needed is None else min(self.needed, MOST / self.cost))


def gamma_scale(total: float, shape: float, root: bool = False) -> Scale:
    """Return the scale test of a sum that is Gamma(shape) under the declared scale.

    With ``root`` the scale of the noise is proportional to the square root of the sum.
    """
    low, high, typical = special.gammaincinv(shape, [ERROR / 2, 1 - ERROR / 2, POWER])
    ratios, detectable = np.array([total, low, high]) / shape, low / typical
    if root:
        ratios, detectable = np.sqrt(ratios), np.sqrt(detectable)
    ratio, lowest, highest = map(float, ratios)
    return Scale(ratio, lowest, highest, float(1 - detectable))


def trials_of(numbers_each: float) -> int:
    """Return how many draws of ``numbers_each`` numbers a scale test takes."""
    return max(3, int(NUMBERS / numbers_each))
