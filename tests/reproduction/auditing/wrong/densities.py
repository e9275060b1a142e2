"""Laplace, K-norm and generalized gamma noise, and sketches, of another law than is declared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy import special, stats
from wrong.base import Build, Case, case, pure_release
from wrong.evidence import event, losses, near
from wrong.hidden import laplace

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism, CalibratedMechanism
from matrixdp.noise import distributions
from matrixdp.noise.distributions import LaplaceNoise, NormDistribution, Streams
from matrixdp.privacy.sensitivity import Query
from reproduction.mechanisms.generalized_gamma import GammaRelease, GeneralizedGamma
from reproduction.mechanisms.jl import JohnsonLindenstrauss
from reproduction.privacy import generalized_gamma


class Positive(LaplaceNoise):
    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        super()._fill(stream, trial)
        np.abs(trial, out=trial)


class OppositePairs(LaplaceNoise):
    identical_columns = False

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        super()._fill(stream, trial)
        trial[1::2] = -trial[::2]


class RadiusShort(distributions.FrobeniusExponential):
    """The radius of one entry less."""

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        stream.standard_normal(out=trial)
        trial *= self.scale * stream.standard_gamma(trial.size - 1) / np.linalg.norm(trial)


class ExponentialRadius(distributions.ColumnL2Exponential):
    """The radius of one entry, whatever their number."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        distributions.normals(streams, self.shape, stack)
        radii = np.stack([stream.standard_exponential(self.shape[1]) for stream in streams])
        stack *= (self.scale * radii / np.linalg.norm(stack, axis=1))[:, None]


class FewerFree(RadiusShort):
    """The same, and ``free`` says so."""

    @property
    def gamma_shape(self) -> float:
        return super().gamma_shape - 1


class BoxRadiusShort(distributions.ColumnLinfExponential):
    """A uniform point of the box times a Gamma(m) number, which is one short."""

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        rows, columns = self.shape
        stream.random(out=trial)
        trial -= 0.5
        trial *= 2 * self.scale * stream.standard_gamma(rows, size=columns) * self._sides


class FlatRadius(GeneralizedGamma):
    """A radius for columns of one entry, and ``free`` says so."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        for stream, trial in zip(streams, stack, strict=True):
            stream.standard_normal(out=trial)
            radius = stream.standard_gamma(1 / self.power, self.shape[1]) ** (1 / self.power)
            distributions.scale_columns(trial, self.scale * radius)

    @property
    def gamma_shape(self) -> float:
        return self.shape[1] / self.power


@dataclass(frozen=True, eq=False)
class PowerSum(NormDistribution):
    """Density exp(-(sum |z|^p)^(1/p) / scale): for p = 1 a norm, for p = 1/2 none.

    Shares of the sum of |z|^p follow Dirichlet(1 / p, ..., 1 / p), and its root over the scale
    follows Gamma(d).
    """

    p: float

    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        shares = stream.standard_gamma(1 / self.p, trial.size)
        parts = (shares / shares.sum()) ** (1 / self.p)
        size = self.scale * stream.standard_gamma(trial.size)
        signs = np.sign(stream.random(trial.size) - 0.5)
        trial[...] = (signs * size * parts).reshape(trial.shape)

    def norm(self, z: Array) -> Array:
        return (np.abs(z) ** self.p).sum(axis=(-2, -1)) ** (1 / self.p)


def power_sum(p: float, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return noise for the size that the largest change has."""
    noise = PowerSum(query.shape, 1.0, p)
    scale, d, k = float(noise.norm(query.sides[:, None])) / epsilon, query.features, 1 / p
    # Shares are Dirichlet(k, ..., k); their moment of order 2 k is a quotient of products.
    shares = np.exp(sum(np.log((k + i) / (k * d + i)) for i in range(int(2 * k))))
    std = scale * np.sqrt(d * (d + 1) * shares)
    return pure_release(query, epsilon, replace(noise, scale=scale), noise_std=float(std))


def ball(kind: type, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return noise for the l2 norm."""
    scale = query.l2_sensitivity / epsilon
    std = float(scale * np.sqrt(query.features + 1))
    return pure_release(query, epsilon, kind(query.shape, scale), noise_std=std)


def box(kind: type, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return noise for the norm whose unit ball is the box of changes."""
    m = query.features
    std = np.sqrt((m + 1) * (m + 2) / 3 * (query.sides**2).mean()) / epsilon
    noise = kind(query.shape, 1 / epsilon, query.sides)
    return pure_release(query, epsilon, noise, noise_std=float(std))


POWER = 1.5


def gamma(kind: type, query: Query, epsilon: float, delta: float) -> GammaRelease:
    """Return generalized gamma noise of the scale that its exact curve allows."""
    unit = generalized_gamma.scale(epsilon, delta, POWER, query.features)
    scale, m = unit * query.l2_sensitivity, query.features
    noise = kind(query.shape, scale, POWER)
    square = special.gamma((m + 2) / POWER) / special.gamma(m / POWER) / m
    std = float(scale * np.sqrt(square))
    declared = {"epsilon_delivered": epsilon, "delta": delta, "noise_std": std}
    return GammaRelease(query=query, epsilon=epsilon, noise=noise, **declared)


def sketch(factor: int) -> Build:
    """Return a sketch with a lift for 2 m rows that has ``factor`` times as many."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        release = JohnsonLindenstrauss(2.0).calibrate(query, epsilon=epsilon, delta=delta)
        return replace(release, sketch_size=factor * release.sketch_size)

    return build


def narrow_sketch(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
    """Return a sketch whose lift is calibrated as if a zeroed record had half of its length."""
    release = JohnsonLindenstrauss(2.0).calibrate(query, epsilon=epsilon, delta=delta)
    return replace(release, ridge=release.ridge / 4)


def chances_of_sketch(release: CalibratedMechanism, _: Case) -> float:
    """Bound epsilon by the sum of squares along the record, which is a multiple of chi-square."""
    lift, rows = release.ridge, release.sketch_size
    larger = 1 + release.query.domain.radius**2 / lift
    limits = np.linspace(1, 20, 2000) * rows
    # A record that is there makes the sum larger.
    above = stats.chi2.sf(limits / larger, rows) - release.delta, stats.chi2.sf(limits, rows)
    ratio = above[0] / np.maximum(above[1], 1e-300)
    return float(np.log(ratio.max()) / release.epsilon)


def below(y: Array, a: Array, b: Array) -> Array:
    """Return whether an entry is below the first answer."""
    return (y < a).any(axis=(1, 2))


def balanced(y: Array, a: Array, b: Array) -> Array:
    """Return whether the first two entries have the sum of those of the first answer."""
    return np.abs((y - a)[:, :2].sum(axis=(1, 2))) < 1e-9


PURE = {"delta": 0.0}

CASES = (
    case(
        "Laplace noise of one sign",
        "Laplace noise is never negative.",
        "records",
        (partial(laplace, Positive), partial(laplace, LaplaceNoise)),
        "a release below a value excludes that value",
        event(below, runs=4000),
        **PURE,
    ),
    case(
        "Laplace noise in opposite pairs",
        "The noise of every second feature is that of the one before, with the other sign.",
        "mean of 12",
        (partial(laplace, OppositePairs), partial(laplace, LaplaceNoise)),
        "exact entry: sums of two features have no noise",
        event(balanced, runs=2000),
        **PURE,
    ),
    case(
        "radius of one entry less",
        "Noise for the l2 norm with a Gamma(d - 1) radius.",
        "mean of 2",
        (partial(ball, RadiusShort), partial(ball, distributions.FrobeniusExponential)),
        "the density at the value is infinite",
        event(near(0.1)),
        **PURE,
    ),
    case(
        "exponential radius",
        "Noise for the l2 norm of a column with an exponential instead of a Gamma(m) radius.",
        "mean of 2",
        (partial(ball, ExponentialRadius), partial(ball, distributions.ColumnL2Exponential)),
        "the density at the value is infinite",
        event(near(0.1)),
        **PURE,
    ),
    case(
        "free entries declared one short",
        "The same with a Gamma distribution of the size that is declared to match.",
        "mean of 2",
        (partial(ball, FewerFree), partial(ball, distributions.FrobeniusExponential)),
        "the density at the value is infinite",
        event(near(0.1)),
        **PURE,
    ),
    case(
        "box radius one short",
        "Noise for a box with a Gamma(m) instead of a Gamma(m + 1) radius.",
        "mean of 2",
        (partial(box, BoxRadiusShort), partial(box, distributions.ColumnLinfExponential)),
        "the density at the value is infinite",
        event(near(0.1)),
        **PURE,
    ),
    case(
        "generalized gamma radius of one dimension",
        "The radius of two entries has the distribution for one.",
        "mean of 2",
        (partial(gamma, FlatRadius), partial(gamma, GeneralizedGamma)),
        "the density at the value is infinite",
        event(near(0.1)),
    ),
    case(
        "a size that is no norm",
        "Noise for (sum sqrt |z|)^2, which is not subadditive.",
        "mean of 12",
        (partial(power_sum, 0.5), partial(power_sum, 1.0)),
        "the loss of a change grows without bound beyond the change's own size",
        losses(),
        # Nothing but the black box knows such noise.
        goal="declared",
        **PURE,
    ),
    case(
        "twice the rows of a sketch",
        "A sketch is calibrated for half of the rows that it releases.",
        "moments, zeroed",
        (sketch(2), sketch(1)),
        "each row tells as much about a record as the others",
        chances_of_sketch,
    ),
    case(
        "a quarter of a sketch's lift",
        "The lift that hides records is for records of half of their length.",
        "moments, zeroed",
        (narrow_sketch, sketch(1)),
        "the sum of squares along a record shows it",
        chances_of_sketch,
    ),
)
