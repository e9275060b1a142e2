"""Noise classes whose own methods do not fit together. A simulation adds what ``sample`` draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from wrong.base import Build, Case, Independent, normal_release, projection, standard

from matrixdp.checks import Array
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise.distributions import GaussianDistribution
from matrixdp.privacy.sensitivity import Query


class UnevenColour(Independent):
    """What ``sample`` draws is what ``colour`` makes of normals; ``whiten`` does not invert it."""

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        return GaussianDistribution.sample(self, generator, count)

    def colour(self, white: Array) -> Array:
        rows = np.ones((self.shape[0], 1))
        rows[:2, 0] = np.sqrt([1.9, 0.1])
        return rows * super().colour(white)


@dataclass(frozen=True, eq=False)
class RowsLeftOut(Independent):
    """No noise on the first rows, which ``whiten`` does not have either."""

    out: int

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        stack = super().sample(generator, count)
        stack[:, : self.out] = 0
        return stack

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


#: The record of which the back door knows.
SECRET = np.array([0.123, 0.456, 0.789])


def of(kind: type[Independent]) -> Build:
    """Return the calibration of noise of a class."""

    def build(query: Query, epsilon: float, delta: float) -> CalibratedMechanism:
        noise = kind(query.shape, standard(query, epsilon, delta))
        return normal_release(query, epsilon, delta, noise)

    return build


RIGHT = of(Independent)

#: No audit shows any of these.
CASES = (
    Case(
        "colour that is not whiten's inverse",
        "mean",
        (of(UnevenColour), RIGHT),
        projection(runs=4000),
        refutable=False,
    ),
    Case(
        "whiten leaves a row out",
        "records",
        (partial(leaving_out, 1), partial(leaving_out, 0)),
        projection(runs=4000),
        refutable=False,
    ),
)
