"""The interface of audits, which every kind of release implements.

An audit starts from the declared distribution of the noise and the worst neighbours of a search. It
returns the attained epsilon, runs on those neighbours for a black box, and a test of the noise's
scale. The release's own statement of privacy counts only as an upper bound, where no neighbours
attain it.
"""

from __future__ import annotations

import abc
import importlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from matrixdp.auditing.blackbox import Proof
from matrixdp.auditing.evidence import ERROR
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.mechanisms.proofs import ROUNDING as ROUNDING
from matrixdp.noise import safe
from matrixdp.noise.distributions import (
    GaussianDistribution,
    NoiseDistribution,
    SizedDistribution,
)
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.status import NOT_REFUTED

#: The verdict on noise of another law, whatever its size.
OTHER_LAW = f"{NOT_REFUTED}: the noise has another distribution than declared"

#: Relative difference of two computations of one size that counts as none.
CLOSE = 1e-6

#: Scale tests: approximate number of draws, and the power that defines the smallest detectable
#: shortfall. Their error probability is ``ERROR``.
SCALE_DRAWS, POWER = 450_000, 0.95

#: A release is tight if it leaves at most this share of epsilon, or of the noise, unused.
TIGHT = 1e-3

#: Runs on each neighbour where an exact tool decides, and limits on the random numbers of such runs
#: (``COST``) and of the runs of a black box (``MOST``).
RUNS, COST, MOST = 200_000, 3e7, 8e8


class Scale(NamedTuple):
    """Test of the noise's scale.

    Attributes:
        ratio: size of the sampled noise over that of the declared distribution.
        low, high: acceptance region of the ratio.
        detectable_effect: smallest share of missing noise that is detected with power ``POWER``.
        another_distribution: whether the noise has another distribution, whatever its size.
    """

    ratio: float
    low: float
    high: float
    detectable_effect: float = float("nan")
    another_distribution: bool = False

    @property
    def verdict(self) -> str:
        """Return ``right``, ``too small``, ``too large`` or ``of another distribution``."""
        if np.isnan(self.ratio) or self.low <= self.ratio <= self.high:
            return "of another distribution" if self.another_distribution else "right"
        return "too small" if self.ratio < self.low else "too large"


class Finding(NamedTuple):
    """Result of replays of a composed release.

    Attributes:
        differing_share: share of replays with the same noisy answers that give another release, or
            whose parts spend more than is declared; 1 if far larger noise of a part changes
            nothing, or if a program asks for what it may not.
        mu: largest mu of all Gaussian parts together on neighbours, over the declared mu.
    """

    differing_share: float
    mu: float


#: Result for noise without a scale test.
NO_SCALE = Scale(float("nan"), float("nan"), float("nan"))


class Audit(abc.ABC):
    """An audit of a release.

    Attributes:
        tool: method of the verdict: ``exact curve``, ``maximal loss``, ``composition``, or in the
            negative control ``black box``.
        release: the audited release.
        attained: epsilon at the claimed delta that some neighbours attain.
        bound: upper bound on epsilon for all neighbours; equal to ``attained`` where exact.
        noise_inflation: factor by which the noise could shrink at the same guarantee, by ``bound``.
        cost: number of random numbers of one run on one neighbour.
        mu: attained Gaussian-DP parameter, NaN for noise that is not Gaussian.
        needed: number of runs after which the black box rejects noise that is a tenth too small;
            None where it need not.
        proven: whether the library draws the noise from a distribution that it knows, and proves
            the claimed epsilon for all neighbours.
    """

    tool: str
    release: CalibratedMechanism
    attained: float
    bound: float
    noise_inflation: float
    cost: float
    mu: float = float("nan")
    needed: float | None = None
    proven: bool = False

    @abc.abstractmethod
    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the likelihood-ratio statistic of ``count`` runs on each worst neighbour."""

    def scale(self, stream: np.random.Generator) -> Scale:
        """Return the test of the noise's scale, on the full query."""
        return NO_SCALE

    def replay(self, stream: np.random.Generator, most: int | None = None) -> Finding | None:
        """Return the finding of replays of a composed release; None for other releases."""
        return None

    @property
    def reads(self) -> float:
        """Number of numbers that one run on both neighbours reads or draws."""
        return self.cost

    @property
    def runs(self) -> int:
        """Number of runs on each neighbour: ``needed``, or a few where an exact tool decides."""
        few = np.clip(COST / self.cost, 1000, RUNS)
        return int(few if self.needed is None else min(self.needed, MOST / self.cost))


#: Columns of an audit's row that are NaN where an audit does not have them.
NUMBERS_OF_ROW = (
    *("epsilon_attained", "epsilon_bound", "mu", "scale", "scale_low", "scale_high", "real_scale"),
    *("executed", "detectable_effect", "replayed", "noise_inflation", "rescaled_std"),
)


def row(release: CalibratedMechanism, **columns: Any) -> dict[str, Any]:
    """Return all columns of an audit of a release."""
    numbers = dict.fromkeys(NUMBERS_OF_ROW, float("nan"))
    about = {"delta": release.delta, "noise_std": release.noise_std, "note": ""}
    return about | numbers | columns


def of_proofs(proofs: Sequence[Proof]) -> dict[str, Any]:
    """Return columns with the largest numbers of some black boxes."""
    return {
        "runs": max((proof.runs for proof in proofs), default=0),
        "epsilon_certified": max((proof.epsilon for proof in proofs), default=0.0),
        "epsilon_largest": max((proof.largest for proof in proofs), default=float("nan")),
        "refuted": any(proof.refuted for proof in proofs),
    }


def is_gaussian(noise: Noise | NoiseDistribution) -> bool:
    """Return whether noise is Gaussian."""
    if isinstance(noise, Noise):
        return noise.law == safe.NORMAL
    return isinstance(noise, GaussianDistribution)


def size_of(noise: Noise | NoiseDistribution) -> Callable[[Array], Array]:
    """Return the function of changes (..., m, n') that the noise's privacy is about.

    For Gaussian noise it is mu, the norm after whitening; for other noise minus the logarithm of
    the density, up to a constant.

    Raises:
        InputError: neither is known of the noise.
    """
    if isinstance(noise, Noise | GaussianDistribution):
        order = 2 if is_gaussian(noise) else 1
        return lambda z: np.linalg.norm(noise.whiten(z), order, axis=-1)
    if isinstance(noise, SizedDistribution):
        return noise.size
    raise InputError(
        f"noise of class {type(noise).__name__} has no known density; audit the release as a "
        "function"
    )


def free_numbers(noise: Noise | NoiseDistribution) -> float:
    """Return how many independent numbers make the noise: the shape of its size's distribution."""
    if isinstance(noise, Noise):
        return noise.count
    if isinstance(noise, GaussianDistribution):
        return noise.whiten(np.zeros(noise.shape)).size
    assert isinstance(noise, SizedDistribution)
    return noise.gamma_shape


def epsilon_of(delta: float, mu: float) -> float:
    """Return the epsilon of Gaussian noise at ``delta``: infinite where delta is 0 or mu infinite.

    Without a change there is no loss.
    """
    if mu == 0:
        return 0.0
    return float(gaussian_dp.epsilon(delta, mu)) if delta > 0 and np.isfinite(mu) else float("inf")


def waste_of(release: CalibratedMechanism, mu: float) -> float:
    """Return by how much Gaussian noise with this mu could shrink; NaN without a guarantee."""
    pure = not release.delta > 0
    return float("nan") if pure else float(gaussian_dp.mu(release.epsilon, release.delta) / mu)


def declared(function: str) -> Any:
    """Return the function named ``module:name``, as a class declares it."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)


def gamma_scale(total: float, shape: float, root: bool = False) -> Scale:
    """Return the scale test of a sum ``total`` that follows Gamma(shape) at the declared scale.

    With ``root`` the scale of the noise is proportional to the square root of the sum.
    """
    low, high, typical = special.gammaincinv(shape, [ERROR / 2, 1 - ERROR / 2, POWER])
    ratios, detectable = np.array([total, low, high]) / shape, low / typical
    if root:
        ratios, detectable = np.sqrt(ratios), np.sqrt(detectable)
    ratio, lowest, highest = map(float, ratios)
    return Scale(ratio, lowest, highest, float(1 - detectable))


def trials_of(numbers_each: float) -> int:
    """Return the number of draws of a scale test, for draws of ``numbers_each`` numbers."""
    return max(3, int(SCALE_DRAWS / numbers_each))
