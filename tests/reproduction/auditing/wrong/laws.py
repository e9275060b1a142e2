"""Noise that is declared normal, and is not."""

from __future__ import annotations

import numpy as np
from scipy import special
from wrong.base import QUERIES, Independent, case, standard
from wrong.evidence import alternating, event, near, unlike
from wrong.whitening import of

from matrixdp.checks import Array
from matrixdp.noise.distributions import Streams, normals


class Student(Independent):
    """Student's distribution with 3 degrees of freedom, of the same variance."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        first, *squares = np.moveaxis(normals(streams, (4, *self.shape)), 1, 0)
        # The mean of three squares has the expectation 1; a variance of 3 becomes one of std^2.
        stack[...] = self.std * first / np.sqrt(sum(square**2 for square in squares))


class Uniform(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        uniform = 2 * special.ndtr(normals(streams, self.shape)) - 1
        stack[...] = np.sqrt(3) * self.std * uniform


class Grid(Independent):
    """Multiples of a quarter deviation, where values are not multiples of anything."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        np.round(stack * 4 / self.std, out=stack)
        stack *= self.std / 4


class OneNumber(Independent):
    """The same number in all entries."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[...] = stack[:, :1, :1]


class OneRay(Independent):
    """A normal number along a random direction; entries have the right covariance."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        size = self.shape[0] * self.shape[1]
        both = normals(streams, (size + 1,))
        ray = both[:, 1:] / np.linalg.norm(both[:, 1:], axis=1, keepdims=True)
        stack[...] = (self.std * np.sqrt(size) * both[:, :1] * ray).reshape(stack.shape)


class OftenNone(Independent):
    """No noise at all in a fiftieth of the trials."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack /= np.sqrt(0.98)
        stack[np.array([stream.random() for stream in streams]) < 0.02] = 0


class ExactIfClose(Independent):
    """A release within a twentieth of a deviation of the value is the value."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[np.abs(stack) < self.std / 20] = 0


class TwoSizes(Independent):
    """Half of the trials have a twentieth of the noise, the others more."""

    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        low = np.array([stream.random() for stream in streams]) < 0.5
        stack *= np.where(low, 0.05, np.sqrt(2 - 0.05**2))[:, None, None]


STD = standard(QUERIES["mean"], 1.0, 1e-3)
STD_OF_12 = standard(QUERIES["mean of 12"], 1.0, 1e-3)


def likely(y: Array, a: Array, b: Array) -> Array:
    """Return whether Student's distribution makes the first answer much likelier."""

    def log(z: Array) -> Array:
        return -2 * np.log1p((z / STD_OF_12) ** 2).sum(axis=(1, 2))

    return log(y - a) - log(y - b) > 1.2


def outside(y: Array, a: Array, b: Array) -> Array:
    """Return whether the release is further from the second answer than uniform noise reaches."""
    return (np.abs(y - b) > np.sqrt(3) * STD * (1 + 1e-9)).any(axis=(1, 2))


def on_grid(y: Array, a: Array, b: Array) -> Array:
    """Return whether the noise on the first answer is on the grid."""
    steps = (y - a) * 4 / STD
    return (np.abs(steps - np.round(steps)) < 1e-6).all(axis=(1, 2))


def flat(y: Array, a: Array, b: Array) -> Array:
    """Return whether all entries are off the first answer by the same number."""
    return np.ptp(y - a, axis=(1, 2)) < 1e-9


def some_exact(y: Array, a: Array, b: Array) -> Array:
    """Return whether an entry is that of the first answer."""
    return (np.abs(y - a) < 1e-12).any(axis=(1, 2))


RIGHT = of(Independent)

CASES = (
    case(
        "Student's distribution",
        "Noise of 3 degrees of freedom is declared normal.",
        "mean of 12",
        (of(Student), RIGHT),
        "by its likelihood ratio twelve entries tell neighbours apart as mu sqrt(2) does",
        event(likely, runs=100_000),
    ),
    case(
        "uniform noise",
        "Bounded noise of the same variance is declared normal.",
        "mean",
        (of(Uniform), RIGHT),
        "neighbours differ in support, with a probability of a fifth",
        event(outside),
    ),
    case(
        "noise on a grid",
        "Noise is rounded to a quarter of its deviation, and values are not.",
        "mean",
        (of(Grid), RIGHT),
        "a release minus the right value is on the grid",
        event(on_grid, unlike(1.0, 0.0), runs=2000),
    ),
    case(
        "one number for all entries",
        "All entries get the same noise.",
        "mean",
        (of(OneNumber), RIGHT),
        "exact entry: differences of entries have no noise",
        event(flat, unlike(alternating, 0.0), runs=2000),
    ),
    case(
        "noise along one ray",
        "A normal number along a random direction, with the right covariance.",
        "mean",
        (of(OneRay), RIGHT),
        "a release is near its value far more often than in four dimensions",
        event(near(0.2)),
    ),
    case(
        "no noise at times",
        "A fiftieth of releases has no noise.",
        "mean",
        (of(OftenNone), RIGHT),
        "exact entry: in a fiftieth of releases, which is 20 times delta",
        event(near(1e-9)),
    ),
    case(
        "exact if close",
        "A release close to the value is the value.",
        "mean",
        (of(ExactIfClose), RIGHT),
        "exact entry: in four of a hundred entries, far more than delta",
        event(some_exact),
    ),
    case(
        "noise of two sizes",
        "Half of the releases have a twentieth of the noise, the others more.",
        "mean",
        (of(TwoSizes), RIGHT),
        "with probability 1/2 mu is twenty times the declared one",
        event(near(0.4)),
    ),
)
