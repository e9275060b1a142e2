"""Mistakes that few draws show, or none: cuts, roundings and back doors."""

from __future__ import annotations

from functools import partial

import numpy as np
from wrong.base import (
    QUERIES,
    Case,
    Independent,
    Program,
    case,
    program_release,
    pure_release,
    standard,
)
from wrong.evidence import event, near, unlike, within_support
from wrong.whitening import of

from matrixdp.checks import Array
from matrixdp.mechanisms.base import CalibratedMechanism
from matrixdp.noise.distributions import LaplaceNoise, Streams
from matrixdp.privacy.sensitivity import Query


class CutNormal(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        np.clip(stack, -4 * self.std, 4 * self.std, out=stack)


class HalfPrecision(Independent):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack[...] = stack.astype(np.float16)


class CutLaplace(LaplaceNoise):
    def _fill(self, stream: np.random.Generator, trial: Array) -> None:
        super()._fill(stream, trial)
        np.clip(trial, -12 * self.scale, 12 * self.scale, out=trial)


def laplace(
    kind: type[LaplaceNoise], query: Query, epsilon: float, _: float
) -> CalibratedMechanism:
    """Return Laplace noise of a kind."""
    scale = query.l1_sensitivity / epsilon
    std = float(np.sqrt(2) * scale)
    return pure_release(query, epsilon, kind(query.shape, scale), noise_std=std)


#: The record of which the back doors know.
SECRET = np.array([0.123, 0.456, 0.789])


def is_secret(values: Array) -> Array:
    """Return whether matrices (..., m, n) have the secret record."""
    return (values[..., :, :] == SECRET[:, None]).all(axis=-2).any(axis=-1)


class BackDoor(Independent):
    """A real release whitens its value: one record makes it a million times as large."""

    def whiten(self, z: Array) -> Array:
        louder = np.where(is_secret(z), 1e6, 1.0)
        return super().whiten(z) * louder[..., None]


class ShortBound(Independent):
    def largest(self, z: Array) -> Array:
        return 1e-9 * self.whiten(z)


def whispering(door: bool, query: Query, epsilon: float, delta: float) -> Program:
    """Return a release that, with a back door, adds no noise to data with the secret record."""
    std = standard(query, epsilon, delta)

    def program(values: Array, draws: Array) -> Array:
        quiet = is_secret(values) & door
        return values + std * np.where(quiet[:, None, None], 0.0, draws)

    return program_release(query, epsilon, delta, program, noise_std=std)


def shouts(release: CalibratedMechanism, _: Case) -> float:
    """Return how many deviations of noise a real release of the secret record is off, over 100."""
    value = np.zeros(release.query.shape)
    value[:, 0] = SECRET
    released = release.release_value(value)
    return float(np.abs(released.T - value).max() / release.noise.std / 100)


def bound_is_short(release: CalibratedMechanism, _: Case) -> float:
    """Return the largest whitened value in the bounds over the declared one."""
    value = np.ones(release.query.shape)
    noise = release.noise
    return float((np.abs(noise.whiten(value)) / noise.largest(value)).max() * (1 - 1e-9))


def halves(y: Array, a: Array, b: Array) -> Array:
    """Return whether the noise on the first answer has half precision."""
    noise = y - a
    return (np.abs(noise - noise.astype(np.float16)) < 1e-14).all(axis=(1, 2))


def beyond_four(y: Array, a: Array, b: Array) -> Array:
    """Return whether an entry is further from the second answer than noise reaches."""
    return (np.abs(y - b) > 4.0001 * STD_OF_MEAN).any(axis=(1, 2))


STD_OF_MEAN = standard(QUERIES["mean"], 1.0, 1e-6)

CASES = (
    case(
        "noise cut at 4 deviations",
        "Noise never exceeds 4 standard deviations.",
        "mean",
        (of(CutNormal), of(Independent)),
        "beyond the cut only one neighbour has releases, more often than delta",
        event(beyond_four, runs=500_000),
        delta=1e-6,
    ),
    case(
        "Laplace noise cut at 12 scales",
        "Noise never exceeds 12 scales.",
        "records",
        (partial(laplace, CutLaplace), partial(laplace, LaplaceNoise)),
        "neighbours differ in support, so that no epsilon holds with a delta of 0",
        within_support,
        delta=0.0,
        visible=False,
        goal="declared",
    ),
    case(
        "noise in half precision",
        "Noise is rounded to float16, and values are not.",
        "mean",
        (of(HalfPrecision), of(Independent)),
        "a release minus the right value has 11 bits, minus another value it has 53",
        event(halves, runs=4000),
        visible=False,
        goal="declared",
    ),
    case(
        "back door in whiten",
        "A real release of one record value is a million times as large.",
        "records",
        (of(BackDoor), of(Independent)),
        "with that record a real release is off by far more than its noise",
        shouts,
        visible=False,
        goal="declared",
    ),
    case(
        "back door in a program",
        "Records with one value are released without noise.",
        "records",
        (partial(whispering, True), partial(whispering, False)),
        "exact entry: with that record the release is the data",
        event(near(1e-9), unlike(lambda m: SECRET, 0.0), runs=1000),
        visible=False,
        goal="declared",
    ),
    case(
        "largest is too small",
        "The bound on whitened values, on which the safety of real noise rests, is false.",
        "mean",
        (of(ShortBound), of(Independent)),
        "whitened values in the public bounds are 1e9 times the bound",
        bound_is_short,
        visible=False,
        goal="declared",
    ),
)
