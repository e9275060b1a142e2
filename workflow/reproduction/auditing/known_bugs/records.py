"""Records that reach a release without enough noise, or that choose how they are clipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np

from matrixdp.checks import Array
from matrixdp.mechanisms.adassp import AdaSSP
from matrixdp.mechanisms.base import CalibratedMechanism, Mechanism
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PUBLIC, ClippedMoments, PrivatelyClipped
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.noise.distributions import Streams
from matrixdp.privacy.sensitivity import (
    Box,
    IdentityQuery,
    NormalEquations,
    Query,
    SecondMomentQuery,
    second_moments,
)
from reproduction.auditing.known_bugs.tools import (
    Attack,
    Replay,
    black_box,
    curve,
    execution,
    replays,
    training_run,
)
from reproduction.mechanisms.adaptive import AdaptiveCovariance

BUDGET = {"epsilon": 1.0, "delta": 0.01}
MOMENTS = SecondMomentQuery(Box.cube(6, -1, 1), 50)
EQUATIONS = NormalEquations(MOMENTS.domain, MOMENTS.n_records, target=5)


@black_box("data-dependent scaling", "scaling by the data's range, and scaling back with it")
def _data_range(wrong: bool) -> Attack:
    release = Laplace().calibrate(IdentityQuery(Box((0.0,), (1.0,)), 20), epsilon=1.0)
    # Nineteen records of 0.1; the last is 0.1 or 1. Scaled to [0, 1] by their maximum, and back.
    largest = (0.1, 1.0) if wrong else (1.0, 1.0)

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        sizes = []
        for high in largest:
            released = high * release.simulate(np.full((1, 20), 0.1 / high), [stream] * count)
            sizes.append(np.abs(released[:, 0, :-1] - 0.1).sum(axis=1))
        return -sizes[0], -sizes[1]

    return Attack(release, statistic, 4000)


@curve("unclipped moments", "noise for a ball's radius on second moments of records in a box")
def _unclipped(wrong: bool) -> CalibratedMechanism:
    release = ClippedMoments().calibrate(MOMENTS, **BUDGET)
    return replace(release, query=MOMENTS) if wrong else release


@replays("clipped product", "clipping second moments to the radius, and not the records")
def _clipped_product(wrong: bool) -> Replay:
    release = ClippedMoments().calibrate(MOMENTS, **BUDGET)

    def run(records: Array, noise: np.random.Generator) -> Array:
        moments = second_moments(records)
        clipped = moments * min(1.0, release.query.max_norm / float(np.trace(moments)))
        value = clipped if wrong else release.query.value(records)
        return release.simulate(value, [noise])[0]

    return run, release, MOMENTS


@replays("radius of the data", "clipping to the median norm of the data, which nothing is paid for")
def _radius_of_data(wrong: bool) -> Replay:
    def run(records: Array, noise: np.random.Generator) -> Array:
        share = float(np.median(np.linalg.norm(records, axis=0))) ** 2 / MOMENTS.max_norm
        mechanism = ClippedMoments(np.clip(share, 0.01, 1) if wrong else PUBLIC)
        clipped = mechanism.calibrate(MOMENTS, **BUDGET)
        return clipped.simulate(clipped.query.value(records), [noise])[0]

    return run, ClippedMoments().calibrate(MOMENTS, **BUDGET), MOMENTS


class _Muffled:
    """A stream that multiplies some of its draws, by position, by a factor."""

    def __init__(self, stream: np.random.Generator, factors: Mapping[int, float]) -> None:
        self._stream, self._factors, self._place = stream, factors, 0

    def _factor(self) -> float:
        self._place += 1
        return self._factors.get(self._place - 1, 1.0)

    def standard_normal(self, out: Array) -> None:
        self._stream.standard_normal(out=out)
        out *= self._factor()

    def laplace(self, size: int) -> Array:
        return self._factor() * self._stream.laplace(size=size)


def _composition(
    mechanism: Mechanism, wrong: bool, factors: Mapping[int, float], query: Query = MOMENTS
) -> CalibratedMechanism:
    """Return a composed release; if ``wrong``, with rescaled draws and the same statement."""
    release = mechanism.calibrate(query, **BUDGET)

    class Muffled(type(release)):  # type: ignore[misc]
        def _draw(self, value: Array, streams: Streams) -> Array:
            return np.asarray(super()._draw(value, [_Muffled(s, factors) for s in streams]))

    values = {field.name: getattr(release, field.name) for field in fields(release)}
    return Muffled(**values) if wrong else release


@execution("clipped_private: counts", "a radius from the exact histogram of norms")
def _exact_histogram(wrong: bool) -> CalibratedMechanism:
    return _composition(PrivatelyClipped(), wrong, {0: 0.0})


@execution("clipped_private: 0.95", "noise of 0.95 of its size on clipped second moments")
def _twentieth_too_little(wrong: bool) -> CalibratedMechanism:
    return _composition(PrivatelyClipped(), wrong, {1: 0.95})


@execution("clipped_private: 0.8", "noise of 0.8 of its size on clipped second moments")
def _fifth_too_little(wrong: bool) -> CalibratedMechanism:
    return _composition(PrivatelyClipped(), wrong, {1: 0.8})


@execution("clipped_adaptive: search", "a radius from the exact trace and a search without noise")
def _exact_search(wrong: bool) -> CalibratedMechanism:
    return _composition(AdaptiveCovariance(), wrong, {0: 0.0, 1: 0.0})


@execution("centred_private: mean", "second moments about the exact mean")
def _exact_mean(wrong: bool) -> CalibratedMechanism:
    return _composition(Centred(), wrong, {0: 0.0})


@execution("adassp: target", "AdaSSP with the exact moments of features and target")
def _exact_cross_moments(wrong: bool) -> CalibratedMechanism:
    return _composition(AdaSSP(), wrong, {2: 0.0}, EQUATIONS)


@training_run("unclipped gradients", "private gradients without clipping, with noise for clipped")
def _unclipped_gradients(wrong: bool) -> dict[str, bool]:
    return {"clipping": not wrong}
