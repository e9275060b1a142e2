"""Gaussian noise whose draws are not what its ``whiten`` says."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from wrong.base import (
    Build,
    Independent,
    case,
    normal_release,
    standard,
)
from wrong.evidence import projection, unlike

from matrixdp.checks import Array
from matrixdp.mechanisms.base import CalibratedMechanism
from matrixdp.noise.distributions import Streams, SymmetricNormal, mirror_upper
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Mu, Query


def of(kind: type[Independent], share: float = 1.0) -> Build:
    """Return the calibration of a noise, of a share of the right size that is declared right."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        std = standard(query, epsilon, delta)
        return normal_release(query, epsilon, delta, kind(query.shape, std), noise_std=std)

    return build


def symmetric(kind: type[SymmetricNormal]) -> Build:
    """Return the calibration of symmetric noise, equal on and above the diagonal."""

    def build(query: Any, epsilon: float, delta: float) -> CalibratedMechanism:
        std = standard(query, epsilon, delta) * query.triangle_l2_sensitivity / query.l2_sensitivity
        noise, mu = kind(query.shape, std, std), gaussian.mu(epsilon, delta)
        declared = {"noise_std": std, "mu": Mu(mu, query.triangle_l2_exact)}
        return normal_release(query, epsilon, delta, noise, **declared)

    return build


class ExactDiagonal(SymmetricNormal):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        m = self.shape[0]
        # The other entries make up for it in the sum of squares.
        stack *= np.sqrt((m + 1) / (m - 1)) * (1 - np.eye(m))


class SharedEntry(SymmetricNormal):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[:, 2, 3] = stack[:, 0, 1]
        mirror_upper(stack)


class ExactRow(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[:, 0] = 0
        stack[:, 1] *= np.sqrt(2)


class UnevenRows(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[:, 0] *= np.sqrt(1.9)
        stack[:, 1] *= np.sqrt(0.1)


class UnevenColour(Independent):
    """What ``sample`` draws is what ``colour`` makes of normals; ``whiten`` does not invert it."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        for stream, trial in zip(streams, stack, strict=True):
            trial[...] = self.colour(stream.standard_normal(trial.size))

    def colour(self, white: Array) -> Array:
        rows = np.ones((self.shape[0], 1))
        rows[:2, 0] = np.sqrt([1.9, 0.1])
        return rows * super().colour(white)


class ReusedColumns(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        pairs = self.shape[1] // 2
        stack[:, :, 1 : 2 * pairs : 2] = stack[:, :, 0 : 2 * pairs : 2]


class ExactColumns(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack *= np.sqrt(2)
        stack[:, :, ::2] = 0


class Opposite(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[:, 1] = -stack[:, 0]


def missing(shape: tuple[int, ...]) -> Array:
    """Return a random direction of matrices, of length 1."""
    direction = np.random.default_rng(5).standard_normal(shape)
    return direction / np.linalg.norm(direction)


class DirectionShort(Independent):
    identical_columns = False

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        along = missing(self.shape)
        for trial in stack:
            trial -= np.vdot(trial, along) * along


@dataclass(frozen=True, eq=False)
class RowsLeftOut(Independent):
    """No noise on the first rows, which ``whiten`` does not have either."""

    out: int
    identical_columns = True

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[:, : self.out] = 0

    def whiten(self, z: Array) -> Array:
        return super().whiten(z[..., self.out :, :])

    def colour(self, white: Array) -> Array:
        rows, columns = self.shape
        noise = np.zeros(self.shape)
        noise[self.out :] = self.std * white.reshape(rows - self.out, columns)
        return noise


def leaving_out(out: int, query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
    """Return noise on all rows but the first, calibrated to the change of these alone."""
    share = np.sqrt(1 - out / query.features)
    std = standard(query, epsilon, delta) * share
    noise = RowsLeftOut(query.shape, std, out)
    return normal_release(query, epsilon, delta, noise, noise_std=std * share)


def sized(share: float) -> type[Independent]:
    """Return noise of a share of its size."""

    class Less(Independent):
        def _draw(self, streams: Streams, stack: Array) -> None:
            super()._draw(streams, stack)
            stack *= share

    return Less


def between(first: tuple[int, int], second: tuple[int, int], sign: float = -1.0):
    """Return weights of an entry minus (or plus) another one."""

    def weights(release: CalibratedMechanism) -> Array:
        weight = np.zeros(release.query.shape)
        weight[first], weight[second] = 1.0, sign
        return weight

    return weights


ONE_OTHER = unlike(1.0, 0.0)


CASES = (
    case(
        "exact diagonal",
        "The diagonal of second moments has no noise; the rest has more.",
        "moments",
        (symmetric(ExactDiagonal), symmetric(SymmetricNormal)),
        "exact entry: the variance of the diagonal is 0, and a record changes it by 1 / n",
        projection(pair=ONE_OTHER, runs=4000),
    ),
    case(
        "exact feature",
        "One feature is released exactly; its neighbour has sqrt(2) times the noise.",
        "records",
        (of(ExactRow), of(Independent)),
        "exact entry: the first row of a release is that of the records",
        projection(runs=4000),
    ),
    case(
        "uneven rows",
        "Rows have variances 1.9 and .1 where whiten says 1 and 1.",
        "records",
        (of(UnevenRows), of(Independent)),
        "mu^2 is (1 / 1.9 + 1 / .1 + 1) / 3 = 3.8 of the declared one",
        projection(runs=4000),
    ),
    case(
        "colour that is not whiten's inverse",
        "Noise is colour of normals, with variances 1.9 and .1, and whiten says 1 and 1.",
        "mean",
        (of(UnevenColour), of(Independent)),
        "mu^2 is (1 / 1.9 + 1 / .1 + 2) / 4 = 3.1 of the declared one",
        projection(runs=4000),
        # A release whitens first: its answer is wrong, and private.
        goal="declared",
    ),
    case(
        "reused columns",
        "Every second record reuses the noise of the record before it.",
        "records",
        (of(ReusedColumns), of(Independent)),
        "exact entry: the difference of two released records is that of the records",
        projection(between((0, 0), (0, 1)), runs=4000),
    ),
    case(
        "exact columns",
        "Every second record is released exactly, the others have sqrt(2) times the noise.",
        "records",
        (of(ExactColumns), of(Independent)),
        "exact entry: the first column of a release is that of the records",
        projection(runs=4000),
    ),
    case(
        "reused entry",
        "One entry of second moments reuses the noise of another one.",
        "moments",
        (symmetric(SharedEntry), symmetric(SymmetricNormal)),
        "exact entry: the difference of both entries has no noise",
        projection(
            between((0, 1), (2, 3)),
            unlike(1.0, lambda m: np.where(np.arange(m) == 2, -1.0, 1.0)),
            runs=4000,
        ),
    ),
    case(
        "opposite rows",
        "The noise of one feature is that of another one with the opposite sign.",
        "mean",
        (of(Opposite), of(Independent)),
        "exact entry: the sum of both features has no noise",
        projection(between((0, 0), (1, 0), 1.0), runs=4000),
    ),
    case(
        "a direction of 441 is missing",
        "Noise on 441 entries lies in a subspace that lacks one random direction.",
        "moments of 21",
        (of(DirectionShort), of(Independent)),
        "the release along that direction is exact",
        projection(lambda release: missing(release.query.shape), ONE_OTHER, runs=500),
    ),
    case(
        "a direction of 900 is missing",
        "Noise on 900 entries lies in a subspace that lacks one random direction.",
        "moments of 30, zeroed",
        (of(DirectionShort), of(Independent)),
        "the release along that direction is exact",
        projection(lambda release: missing(release.query.shape), ONE_OTHER, runs=500),
    ),
    case(
        "whiten leaves a row out",
        "A row has no noise, and whiten does not return it.",
        "records",
        (partial(leaving_out, 1), partial(leaving_out, 0)),
        "exact entry: the first row of a release is that of the records",
        projection(runs=4000),
        # A release whitens first, and has no such row.
        goal="declared",
    ),
    case(
        "a tenth less is drawn",
        "The sampler draws .9 of the noise that whiten knows.",
        "records",
        (of(sized(0.9)), of(Independent)),
        "mu is 1 / .9 of the declared one",
        projection(),
    ),
    case(
        "a fiftieth less is drawn",
        "The sampler draws .98 of the noise that whiten knows.",
        "mean of 2",
        (of(sized(0.98)), of(Independent)),
        "mu is 1 / .98 of the declared one",
        projection(runs=400_000),
    ),
)
