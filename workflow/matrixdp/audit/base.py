"""A release under audit: what every kind of release is asked, each in its own way.

From the law that a release declares for its noise, and the worst neighbours that a search finds, it
works out the epsilon that is attained, runs on those neighbours for a black box to judge, and
whether the sampler draws the noise at the scale that it was told. What the release says of its own
privacy counts only as an upper bound, where no neighbours are known that attain it.
"""

from __future__ import annotations

import abc
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import special

from matrixdp.checks import Array
from matrixdp.mechanisms.base import Release

#: Numbers that a test of the scale draws, about, the probability that it errs, and the power with
#: which the smallest shortfall is stated that it finds.
NUMBERS, ERROR, POWER = 450_000, 1e-6, 0.95

#: What counts as tight: at most this much of epsilon, or of the noise, is left unused.
TIGHT = 1e-3

#: Runs on each neighbour where an exact tool decides, and the numbers that they may cost; those of
#: the runs that are needed.
RUNS, COST, MOST = 200_000, 3e7, 8e8


class Scale(NamedTuple):
    """Size of the noise that was drawn over that of the declared law, and its acceptance region.

    Attributes:
        shortfall: the smallest share by which noise can be too small so that the test finds it with
            the probability ``POWER``.
        another_law: whether the noise is of another distribution, whatever its size.
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
        mu: the largest mu of all Gaussian parts together on neighbours, over the declared one.
        shortfall: as that of a ``Scale``, of the noise of every part.
    """

    other: float
    mu: float
    shortfall: float


#: Where no law of a sum is known.
NO_SCALE = Scale(float("nan"), float("nan"), float("nan"))


class Audit(abc.ABC):
    """A release under audit.

    Attributes:
        tool: what decides: ``exact curve``, ``maximal loss``, ``composition`` or ``black box``.
        release: what is audited.
        attained: the epsilon at the nominal delta that some neighbours really cause.
        bound: an upper bound on epsilon for all neighbours; equal to ``attained`` where exact.
        kappa: the factor by which the noise could shrink at the same guarantee, by ``bound``.
        cost: random numbers of one run on one neighbour.
        mu: attained Gaussian-DP parameter, NaN without a Gaussian form.
        needed: runs after which the black box rejects a tenth too little noise; None: not meant to.
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
        """Return what replays of a composed release show; None where it is not composed."""
        return None

    def curve_error(self) -> float:
        """Return the largest relative error of the closed form by a second way; NaN without one."""
        return float("nan")

    @property
    def runs(self) -> int:
        """Runs on each neighbour: those needed, or a few where only the exact tool decides."""
        few = np.clip(COST / self.cost, 1000, RUNS)
        return int(few if self.needed is None else min(self.needed, MOST / self.cost))


def gamma_scale(total: float, shape: float, root: bool = False) -> Scale:
    """Return the test of a sum that follows Gamma(shape) if the noise has its declared scale.

    With ``root`` the noise's scale goes with the square root of the sum.
    """
    low, high, often = special.gammaincinv(shape, [ERROR / 2, 1 - ERROR / 2, POWER])
    ratios = np.array([total, low, high]) / shape
    found, least = (np.sqrt(one) if root else one for one in (ratios, low / often))
    ratio, lowest, highest = map(float, found)
    return Scale(ratio, lowest, highest, float(1 - least))


def trials_of(numbers_each: float) -> int:
    """Return how many draws of ``numbers_each`` numbers a scale test takes."""
    return max(3, int(NUMBERS / numbers_each))
