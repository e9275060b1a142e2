"""What a release gives to an output, before an answer is read from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.in_parts import Outcome
from matrixdp.mechanisms.moments import MeanCovariance, positive
from matrixdp.mechanisms.release import Release
from matrixdp.release.uncertainty import MomentNoise


@dataclass(frozen=True)
class Noisy:
    """A noisy value in half ranges, before an answer is read from it.

    Attributes:
        value: noisy value of the query; for an output about a mean the covariance as the noise
            left it, (m, m).
        release: the release that drew it.
        noise: its noise of moments, to simulate.
        mean, weight: noisy mean (m,), and number of records over the stated one; for outputs about
            a mean.
        outcome: what all parts of a release in parts gave.
        shrinks: whether a private radius shrinks records.
    """

    value: Array
    release: Release
    noise: MomentNoise
    mean: Array | None = None
    weight: Array | float = 1.0
    outcome: Outcome | None = None
    shrinks: bool = False

    @property
    def part(self) -> AdditiveMechanism:
        """The release with additive noise that drew the value, one of several radii in parts."""
        return self.noise.release

    @LazyProperty
    def estimate(self) -> MeanCovariance:
        """Mean and covariance, projected to positive semi-definite."""
        assert self.mean is not None
        return MeanCovariance(self.mean, positive(self.value), np.asarray(self.weight))

    @property
    def share_beyond(self) -> float:
        """Noisy share of the records that a private radius shrinks; 0 where none does."""
        if self.outcome is None:
            return 0.0
        return float(np.clip(self.outcome.beyond / self.outcome.weight, 0, 1))
