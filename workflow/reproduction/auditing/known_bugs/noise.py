"""Noise that does not hide a record: of the wrong size or distribution."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from matrixdp.auditing.projection import BlackBoxAudit
from matrixdp.checks import Array
from matrixdp.mechanisms.allocation import Binary
from matrixdp.mechanisms.base import AdditiveGaussian, AdditiveMechanism, CalibratedMechanism
from matrixdp.mechanisms.clipped import ClippedMoments
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.noise import distributions, safe
from matrixdp.noise.distributions import NoiseDistribution, Streams
from matrixdp.privacy.sensitivity import Ball, Box, IdentityQuery, SecondMomentQuery
from reproduction.auditing.known_bugs.tools import (
    Attack,
    black_box,
    real_scale,
    scale,
    training_run,
)
from reproduction.mechanisms import wishart
from reproduction.mechanisms.exponential import PPCA, KNorm, PrincipalDirection
from reproduction.mechanisms.rank_one import NonPrivateRankOne, deviation
from reproduction.privacy.published import LIVER


def _sampled_as(
    release: AdditiveMechanism, wrong: bool, kind: type[NoiseDistribution]
) -> AdditiveMechanism:
    """Return the release; if ``wrong``, with another distribution of the same parameters."""
    return replace(release, noise=kind(**vars(release.noise))) if wrong else release


class _Shrunk(AdditiveGaussian):
    def _draw(self, value: Array, streams: Streams) -> Array:
        return value + 0.9 * self.noise.sample(streams)


@black_box("noise x 0.9", "a release that draws 0.9 of the standard deviation that it declares")
def _tenth_too_little(wrong: bool) -> CalibratedMechanism:
    mechanism = DirectionalGaussian(Binary((0, 5), 0.75))
    release = mechanism.calibrate(LIVER, epsilon=1.0, delta=1 / LIVER.n_records)
    return _Shrunk(**vars(release)) if wrong else release


class _ExponentialRadius(distributions.ColumnL2Exponential):
    def _draw(self, streams: Streams, stack: Array) -> None:
        distributions.normals(streams, self.shape, stack)
        radii = np.stack([stream.standard_exponential(self.shape[1]) for stream in streams])
        stack *= (self.scale * radii / np.linalg.norm(stack, axis=1))[:, None]


@black_box("exponential radius", "K-norm noise with an exponential instead of a Gamma(d) radius")
def _exponential_radius(wrong: bool) -> CalibratedMechanism:
    release = KNorm("record_l2").calibrate(LIVER, epsilon=1.0)
    return _sampled_as(release, wrong, _ExponentialRadius)


class _RadiusOneShort(distributions.ColumnLinfExponential):
    def _draw(self, streams: Streams, stack: Array) -> None:
        points = np.stack([stream.uniform(-1, 1, self.shape) for stream in streams])
        radii = np.stack([stream.standard_gamma(*self.shape) for stream in streams])
        stack[...] = points * (self.scale * radii)[:, None] * self._sides


@scale("wrong radius", "l-infinity K-norm noise with a Gamma(m), not a Gamma(m + 1) radius")
def _radius_one_short(wrong: bool) -> CalibratedMechanism:
    release = KNorm("record_linf").calibrate(LIVER, epsilon=1.0)
    return _sampled_as(release, wrong, _RadiusOneShort)


@black_box("rank-one noise", "noise along a random direction, of infinite density at 0 (R1SMG)")
def _rank_one(wrong: bool) -> CalibratedMechanism | Attack:
    release = Gaussian().calibrate(IdentityQuery(Ball(0.5, 16), 1), epsilon=1.0, delta=1e-5)
    distribution = NonPrivateRankOne(release.query.shape, deviation(1.0, release.delta, 16))

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        noise = distribution.sample([stream] * count)[:, :, 0]
        lengths = np.linalg.norm(noise, axis=1)
        ahead = np.eye(1, 16)
        before, after = (np.linalg.norm(noise + move, axis=1) for move in (ahead, -ahead))
        return distribution.loss(lengths, before), distribution.loss(after, lengths)

    return Attack(release, statistic, 4000) if wrong else release


@black_box("Wishart noise", "positive definite noise on second moments (Jiang, Xie & Zhang, 2016)")
def _wishart(wrong: bool) -> Attack:
    query = SecondMomentQuery(Ball(1.0, 4), 50)
    honest = Laplace().calibrate(query, epsilon=1.0)
    release = wishart.calibrated(query, 1.0) if wrong else honest
    return Attack(release, BlackBoxAudit(release).statistic, 4000)


@dataclass(frozen=True, kw_only=True)
class _InvertedRatio(PrincipalDirection):
    def _draw(self, value: Array, streams: Streams) -> Array:
        values, axes = np.linalg.eigh(self.kappa * value)
        losses, m, stream = values[-1] - values, len(values), streams[0]
        omega = 1 + 2 * losses / m
        accepted: list[Array] = []
        while sum(map(len, accepted)) < len(streams):
            y = stream.standard_normal((4 * len(streams), m)) / np.sqrt(omega)
            y /= np.linalg.norm(y, axis=1, keepdims=True)
            chance = np.exp(-(y**2) @ losses) * ((y**2) @ omega) ** (-m / 2)
            accepted.append(y[stream.random(len(y)) < chance])
        return np.concatenate(accepted)[: len(streams)] @ axes.T


@scale("inverted Bingham ratio", "PPCA's sampler divides by its envelope (diffprivlib 0.6.6)")
def _inverted_ratio(wrong: bool) -> CalibratedMechanism:
    release = PPCA().calibrate(SecondMomentQuery(Box.cube(4, -1, 1), 1000), epsilon=1.0)
    return _InvertedRatio(**vars(release)) if wrong else release


class _LittleRealNoise(AdditiveGaussian):
    def _noisy(self, value: Array, bits: safe.Bits) -> Array:
        return value + 0.95 * (super()._noisy(value, bits) - value)


@real_scale("real noise x 0.95", "a real release with less noise than a simulated one")
def _little_real_noise(wrong: bool) -> CalibratedMechanism:
    query = SecondMomentQuery(Box.cube(6, -1, 1), 50)
    release = ClippedMoments().calibrate(query, epsilon=1.0, delta=0.01)
    return _LittleRealNoise(**vars(release)) if wrong else release


@training_run("training noise x 0.8", "private gradients with 0.8 of the noise that is declared")
def _fifth_too_little(wrong: bool) -> dict[str, Any]:
    return {"factor": 0.8 if wrong else 1.0}


@training_run("banded noise x 0.7", "noise of two bands, in fixed order, of 0.7 of its size")
def _banded_too_little(wrong: bool) -> dict[str, Any]:
    return {"factor": 0.7 if wrong else 1.0, "correlated": True}
