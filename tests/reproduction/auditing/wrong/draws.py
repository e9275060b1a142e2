"""Noise that is drawn otherwise than its class says: the draws of an honest one, changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy import special
from wrong.base import (
    ONE,
    QUERIES,
    Build,
    Case,
    Change,
    alternating,
    corrupted,
    event,
    loss,
    near,
    normal,
    normal_release,
    projection,
    pure_release,
    standard,
    unlike,
)

from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise import safe
from matrixdp.noise.distributions import NormDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Mu, Query
from reproduction.mechanisms.generalized_gamma import GammaRelease, GeneralizedGamma
from reproduction.mechanisms.noise import (
    ColumnL2Exponential,
    ColumnLinfExponential,
    FrobeniusExponential,
)
from reproduction.privacy import generalized_gamma


def exact_row(z: Array, noise: Any, generator: Generator) -> None:
    z[:, 0] = 0
    z[:, 1] *= np.sqrt(2)


def uneven_rows(z: Array, noise: Any, generator: Generator) -> None:
    z[:, 0] *= np.sqrt(1.9)
    z[:, 1] *= np.sqrt(0.1)


def reused_columns(z: Array, noise: Any, generator: Generator) -> None:
    z[:, :, 1::2] = z[:, :, ::2]


def exact_columns(z: Array, noise: Any, generator: Generator) -> None:
    z *= np.sqrt(2)
    z[:, :, ::2] = 0


def opposite(z: Array, noise: Any, generator: Generator) -> None:
    z[:, 1] = -z[:, 0]


def missing(shape: tuple[int, ...]) -> Array:
    """Return a random direction of matrices, of length 1."""
    direction = np.random.default_rng(5).standard_normal(shape)
    return direction / np.linalg.norm(direction)


def direction_short(z: Array, noise: Any, generator: Generator) -> None:
    along = missing(noise.shape)
    z -= np.tensordot(z, along, 2)[:, None, None] * along


def less(share: float) -> Change:
    """Return a draw of a share of its size."""

    def change(z: Array, noise: Any, generator: Generator) -> None:
        z *= share

    return change


def exact_diagonal(z: Array, noise: Any, generator: Generator) -> None:
    m = len(z[0])
    # The other entries make up for it in the sum of squares.
    z *= np.sqrt((m + 1) / (m - 1)) * (1 - np.eye(m))


def shared_entry(z: Array, noise: Any, generator: Generator) -> None:
    z[:, 2, 3] = z[:, 3, 2] = z[:, 0, 1]


def student(z: Array, noise: Any, generator: Generator) -> None:
    """Student's distribution with 3 degrees of freedom, of the same variance."""
    z /= np.sqrt(generator.chisquare(3, z.shape))


def uniform(z: Array, noise: Any, generator: Generator) -> None:
    z[...] = np.sqrt(3) * noise.std * (2 * special.ndtr(z / noise.std) - 1)


def grid(z: Array, noise: Any, generator: Generator) -> None:
    """Multiples of a quarter deviation, where values are not multiples of anything."""
    z[...] = np.round(z * 4 / noise.std) * noise.std / 4


def one_number(z: Array, noise: Any, generator: Generator) -> None:
    z[...] = z[:, :1, :1]


def one_ray(z: Array, noise: Any, generator: Generator) -> None:
    """A normal number along a random direction; entries have the right covariance."""
    size = generator.standard_normal(len(z))[:, None, None]
    size *= noise.std * np.sqrt(z[0].size)
    z *= size / np.maximum(np.linalg.norm(z, axis=(1, 2), keepdims=True), 1e-300)


def often_none(z: Array, noise: Any, generator: Generator) -> None:
    z /= np.sqrt(0.98)
    z[generator.random(len(z)) < 0.02] = 0


def exact_if_close(z: Array, noise: Any, generator: Generator) -> None:
    z[np.abs(z) < noise.std / 20] = 0


def two_sizes(z: Array, noise: Any, generator: Generator) -> None:
    low = generator.random(len(z)) < 0.5
    z *= np.where(low, 0.05, np.sqrt(2 - 0.05**2))[:, None, None]


def cut_at_four(z: Array, noise: Any, generator: Generator) -> None:
    np.clip(z, -4 * noise.std, 4 * noise.std, out=z)


def half_precision(z: Array, noise: Any, generator: Generator) -> None:
    z[...] = z.astype(np.float16)


def cut_at_twelve(z: Array, noise: Any, generator: Generator) -> None:
    np.clip(z, -12 * noise.size, 12 * noise.size, out=z)


def positive(z: Array, noise: Any, generator: Generator) -> None:
    np.abs(z, out=z)


def opposite_pairs(z: Array, noise: Any, generator: Generator) -> None:
    z[:, 1::2] = -z[:, ::2]


def shorter(a: float, b: float, power: float = 1.0) -> Change:
    """Return a radius^p that follows Gamma(a) in place of Gamma(a + b)."""

    def change(z: Array, noise: Any, generator: Generator) -> None:
        shares = generator.beta(a, b, len(z))
        z *= shares[:, None, None] ** (1 / power)

    return change


class FewerFree(corrupted(FrobeniusExponential, shorter(1, 1))):
    """The radius of one entry less, and ``gamma_shape`` says so."""

    @property
    def gamma_shape(self) -> float:
        return super().gamma_shape - 1


@dataclass(frozen=True, eq=False)
class PowerSum(NormDistribution):
    """Density exp(-(sum |z|^p)^(1/p) / scale): for p = 1 a norm, for p = 1/2 none.

    Shares of the sum of |z|^p follow Dirichlet(1 / p, ..., 1 / p), and its root over the scale
    follows Gamma(d).
    """

    p: float

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        numbers = count, self.shape[0] * self.shape[1]
        shares = generator.standard_gamma(1 / self.p, numbers)
        parts = (shares / shares.sum(axis=1, keepdims=True)) ** (1 / self.p)
        size = self.scale * generator.standard_gamma(numbers[1], (count, 1))
        signs = np.sign(generator.random(numbers) - 0.5)
        return (signs * size * parts).reshape(count, *self.shape)

    def norm(self, z: Array) -> Array:
        return (np.abs(z) ** self.p).sum(axis=(-2, -1)) ** (1 / self.p)


def power_sum(p: float, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return noise for the size that the largest change has."""
    noise = PowerSum(query.shape, 1.0, p)
    scale, d, k = float(noise.norm(query.half_widths[:, None])) / epsilon, query.features, 1 / p
    # Shares are Dirichlet(k, ..., k); their moment of order 2 k is a quotient of products.
    shares = np.exp(sum(np.log((k + i) / (k * d + i)) for i in range(int(2 * k))))
    std = scale * np.sqrt(d * (d + 1) * shares)
    return pure_release(query, epsilon, replace(noise, scale=scale), std)


def symmetric(change: Change | None) -> Build:
    """Return the calibration of symmetric noise, equal on and above the diagonal."""
    kind = corrupted(Noise, change)

    def build(query: Any, epsilon: float, delta: float) -> CalibratedMechanism:
        std = standard(query, epsilon, delta) * query.triangle_l2_sensitivity / query.l2_sensitivity
        mu = Mu(gaussian_dp.mu(epsilon, delta), query.triangle_l2_tight)
        noise = kind.of(safe.NORMAL, std, query.shape, symmetric=True)
        return normal_release(query, epsilon, delta, noise, noise_std=std, mu=mu)

    return build


def laplace(change: Change | None, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return Laplace noise, whose draws are changed."""
    scale = query.l1_sensitivity / epsilon
    noise = corrupted(Noise, change).of(safe.LAPLACE, scale, query.shape)
    return pure_release(query, epsilon, noise, np.sqrt(2) * scale)


def ball(kind: type, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return noise for the l2 norm."""
    scale = query.l2_sensitivity / epsilon
    return pure_release(
        query, epsilon, kind(query.shape, scale), scale * np.sqrt(query.features + 1)
    )


def box(kind: type, query: Query, epsilon: float, _: float) -> AdditiveMechanism:
    """Return noise for the norm whose unit ball is the box of changes."""
    m = query.features
    std = np.sqrt((m + 1) * (m + 2) / 3 * (query.half_widths**2).mean()) / epsilon
    return pure_release(query, epsilon, kind(query.shape, 1 / epsilon, query.half_widths), std)


POWER = 1.5


def gamma(kind: type, query: Query, epsilon: float, delta: float) -> GammaRelease:
    """Return generalized gamma noise of the scale that its exact curve allows."""
    unit = generalized_gamma.scale(epsilon, delta, POWER, query.features)
    scale, m = unit * query.l2_sensitivity, query.features
    square = special.gamma((m + 2) / POWER) / special.gamma(m / POWER) / m
    return GammaRelease(
        query=query,
        epsilon=epsilon,
        delta=delta,
        epsilon_delivered=epsilon,
        noise=kind(query.shape, scale, POWER),
        noise_std=float(scale * np.sqrt(square)),
    )


STD, STD_OF_12 = (standard(QUERIES[name], 1.0, 1e-3) for name in ("mean", "mean of 12"))
STD_OF_CUT = standard(QUERIES["mean"], 1.0, 1e-6)


def likely(y: Array, a: Array, b: Array) -> Array:
    """Return whether Student's distribution makes the first answer much likelier."""
    logs = [-2 * np.log1p((z / STD_OF_12) ** 2).sum(axis=(1, 2)) for z in (y - a, y - b)]
    return logs[0] - logs[1] > 1.2


def beyond(limit: float) -> Any:
    """Return the event that an entry is further from the second answer than noise reaches."""
    return lambda y, a, b: (np.abs(y - b) > limit * (1 + 1e-5)).any(axis=(1, 2))


def on_grid(y: Array, a: Array, b: Array) -> Array:
    """Return whether the noise on the first answer is on the grid."""
    steps = (y - a) * 4 / STD
    return (np.abs(steps - np.round(steps)) < 1e-6).all(axis=(1, 2))


def halves(y: Array, a: Array, b: Array) -> Array:
    """Return whether the noise on the first answer has half precision."""
    noise = y - a
    return (np.abs(noise - noise.astype(np.float16)) < 1e-14).all(axis=(1, 2))


def balanced(y: Array, a: Array, b: Array) -> Array:
    """Return whether the first two entries have the sum of those of the first answer."""
    return np.abs((y - a)[:, :2].sum(axis=(1, 2))) < 1e-9


class Extreme(np.random.Generator):
    """A stream whose exponential numbers are 50: possible, though nobody sees it happen."""

    def __init__(self) -> None:
        super().__init__(np.random.PCG64(0))

    def standard_exponential(self, *_: object, out: Array) -> Array:
        """Fill an array with 50."""
        out[...] = 50.0
        return out


def within_support(release: AdditiveMechanism, case: Case) -> float:
    """Return infinity if Laplace noise never exceeds 49 scales: neighbours differ in support."""
    noise = np.abs(release.noise.sample(Extreme(), 1)).max()
    return float("inf") if noise < 49 * release.noise.size[0, 0] else 0.0


def between(first: tuple[int, int], second: tuple[int, int], sign: float = -1.0):
    """Return weights of an entry minus (or plus) another one."""

    def weights(release: CalibratedMechanism) -> Array:
        weight = np.zeros(release.query.shape)
        weight[first], weight[second] = 1.0, sign
        return weight

    return weights


def along_missing(release: CalibratedMechanism) -> Array:
    return missing(release.query.shape)


def sides(change: Change, build: Any = normal) -> tuple[Build, Build]:
    """Return a corrupted and an honest calibration."""
    return build(change), build(None)


def of_laplace(change: Change | None) -> Build:
    return partial(laplace, change)


def shortened(build: Any, kind: type, change: Change) -> tuple[Build, Build]:
    """Return the calibrations of a noise of shorter radius, and of the honest one."""
    return partial(build, corrupted(kind, change)), partial(build, kind)


TURN = unlike(1.0, lambda m: np.where(np.arange(m) == 2, -1.0, 1.0))
NEAR, EXACT = event(near(0.1)), event(near(1e-9))
FOUR = projection(runs=4000)

CASES = (
    Case("exact feature", "records", sides(exact_row), FOUR),
    Case("uneven rows", "records", sides(uneven_rows), FOUR),
    Case(
        "reused columns",
        "records",
        sides(reused_columns),
        projection(between((0, 0), (0, 1)), runs=4000),
    ),
    Case("exact columns", "records", sides(exact_columns), FOUR),
    Case(
        "opposite rows",
        "mean",
        sides(opposite),
        projection(between((0, 0), (1, 0), 1.0), runs=4000),
    ),
    Case(
        "a direction of 441 is missing",
        "moments of 21",
        sides(direction_short),
        projection(along_missing, ONE, runs=500),
    ),
    Case(
        "a direction of 900 is missing",
        "moments of 30, zeroed",
        sides(direction_short),
        projection(along_missing, ONE, runs=500),
    ),
    Case("a tenth less is drawn", "records", sides(less(0.9)), projection()),
    Case("a fiftieth less is drawn", "mean of 2", sides(less(0.98)), projection(runs=400_000)),
    Case(
        "exact diagonal",
        "moments",
        sides(exact_diagonal, symmetric),
        projection(pair=ONE, runs=4000),
    ),
    Case(
        "reused entry",
        "moments",
        sides(shared_entry, symmetric),
        projection(between((0, 1), (2, 3)), TURN, runs=4000),
    ),
    Case(
        "Student's distribution",
        "mean of 12",
        sides(student),
        event(likely, runs=100_000),
        reason="twelve entries tell neighbours apart as mu sqrt(2) does",
    ),
    Case("uniform noise", "mean", sides(uniform), event(beyond(np.sqrt(3) * STD))),
    Case("noise on a grid", "mean", sides(grid), event(on_grid, ONE, runs=2000)),
    Case(
        "one number for all entries",
        "mean",
        sides(one_number),
        event(lambda y, a, b: np.ptp(y - a, axis=(1, 2)) < 1e-9, unlike(alternating, 0.0), 2000),
    ),
    Case("noise along one ray", "mean", sides(one_ray), event(near(0.2))),
    Case("no noise at times", "mean", sides(often_none), EXACT),
    Case(
        "exact if close",
        "mean",
        sides(exact_if_close),
        event(lambda y, a, b: (np.abs(y - a) < 1e-12).any(axis=(1, 2))),
    ),
    Case("noise of two sizes", "mean", sides(two_sizes), event(near(0.4))),
    Case(
        "noise cut at 4 deviations",
        "mean",
        sides(cut_at_four),
        event(beyond(4 * STD_OF_CUT), runs=500_000),
        delta=1e-6,
    ),
    Case(
        "noise in half precision",
        "mean",
        sides(half_precision),
        event(halves, runs=4000),
        refutable=False,
    ),
    Case(
        "Laplace noise cut at 12 scales",
        "records",
        sides(cut_at_twelve, of_laplace),
        within_support,
        delta=0.0,
        refutable=False,
    ),
    Case(
        "Laplace noise of one sign",
        "records",
        sides(positive, of_laplace),
        event(lambda y, a, b: (y < a).any(axis=(1, 2)), runs=4000),
        delta=0.0,
    ),
    Case(
        "Laplace noise in opposite pairs",
        "mean of 12",
        sides(opposite_pairs, of_laplace),
        event(balanced, runs=2000),
        delta=0.0,
    ),
    Case(
        "radius of one entry less",
        "mean of 2",
        shortened(ball, FrobeniusExponential, shorter(1, 1)),
        NEAR,
        delta=0.0,
        reason="the density at the value is infinite, as for the next four",
    ),
    Case(
        "exponential radius",
        "mean of 2",
        shortened(ball, ColumnL2Exponential, shorter(1, 1)),
        NEAR,
        delta=0.0,
    ),
    Case(
        "free entries declared one short",
        "mean of 2",
        (partial(ball, FewerFree), partial(ball, FrobeniusExponential)),
        NEAR,
        delta=0.0,
    ),
    Case(
        "box radius one short",
        "mean of 2",
        shortened(box, ColumnLinfExponential, shorter(2, 1)),
        NEAR,
        delta=0.0,
    ),
    Case(
        "generalized gamma radius of one dimension",
        "mean of 2",
        shortened(gamma, GeneralizedGamma, shorter(1 / POWER, 1 / POWER, POWER)),
        NEAR,
    ),
    Case(
        "a size that is no norm",
        "mean of 12",
        (partial(power_sum, 0.5), partial(power_sum, 1.0)),
        loss,
        delta=0.0,
        # Nothing but the black box knows such noise.
        refutable=False,
    ),
)
