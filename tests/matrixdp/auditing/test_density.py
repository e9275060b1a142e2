"""Noise of another author that states its log density: tested where right, caught where wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from matrixdp.auditing import releases
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery

MEAN = MeanQuery(Box.cube(3, -1, 1), 50)


@dataclass(frozen=True, eq=False)
class Elliptical(NoiseDistribution):
    """Density exp(-|z|_2 / scale): a radius of Gamma(d), times ``less`` in the draws."""

    scale: float
    less: float = 1.0

    def _draw(self, streams, stack):
        for stream, trial in zip(streams, stack, strict=True):
            stream.standard_normal(out=trial)
            radius = self.less * self.scale * stream.standard_gamma(trial.size)
            trial *= radius / np.linalg.norm(trial)

    def log_density(self, noise):
        return -np.linalg.norm(noise, axis=(1, 2)) / self.scale


def judge(noise, query=MEAN, delta=0.0):
    streams = [np.random.default_rng([0, number]) for number in range(6)]
    release = AdditiveMechanism(
        query=query, epsilon=1.0, delta=delta, epsilon_delivered=1.0, noise=noise
    )
    return releases.judge(releases.audit_of(release, streams[0]), streams[1:])


@pytest.mark.parametrize(
    ("size", "less", "words"),
    [
        (1.0, 1.0, "tested: not refuted above epsilon 1;"),
        (0.99, 1.0, "refuted: the log density shows it"),
        (1.0, 0.98, "refuted: less noise is drawn than its density has"),
        (1.0, 1.02, "declared: its density is not that of its draws"),
    ],
)
def test_elliptical_laplace_noise_is_tested_and_its_wrong_twins_are_caught(size, less, words):
    row = judge(Elliptical(MEAN.shape, size * MEAN.l2_sensitivity, less))
    assert row["verdict"].startswith(words)
