"""Known ways to get privacy wrong: each must be caught by the tool that it names, in every run.

Each canary comes with a control, the same thing done right, which that tool must let pass.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from matrixdp import laws, safe
from matrixdp.audit import composition, evidence, real, replay, sensitivities
from matrixdp.audit.blackbox import Event, Statistic, prove
from matrixdp.audit.projection import BlackBoxAudit
from matrixdp.audit.releases import ROUNDING, audit_of
from matrixdp.audit.replay import Run
from matrixdp.checks import Array, InputError
from matrixdp.laws import Law, Streams
from matrixdp.mechanisms import wishart
from matrixdp.mechanisms.adaptive import AdaptiveCovariance
from matrixdp.mechanisms.adassp import AdaSSP
from matrixdp.mechanisms.allocation import Binary, Shares
from matrixdp.mechanisms.base import Additive, GaussianRelease, Mechanism, Release
from matrixdp.mechanisms.centred import Centred
from matrixdp.mechanisms.clipped import PUBLIC, ClippedMoments, PrivatelyClipped
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.exponential import PPCA, KNorm, PrincipalDirection
from matrixdp.mechanisms.gaussian import IMGM, Gaussian
from matrixdp.mechanisms.jl import NonPrivateCirculantSketch
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.rank_one import NonPrivateRankOne, deviation
from matrixdp.privacy import gaussian
from matrixdp.privacy.published import LIVER
from matrixdp.privacy.sensitivity import (
    Ball,
    Box,
    IdentityQuery,
    NormalEquations,
    Query,
    SecondMomentQuery,
    second_moments,
)
from matrixdp.seeds import streams

Given = list[np.random.Generator]

COLUMNS = ("canary", "mistake", "tool", "caught", "evidence", "control")


class Outcome(NamedTuple):
    """Whether the tool objects, and what it saw."""

    caught: bool
    evidence: str


#: Runs the tool on the mistake (True) or on the control (False).
Try = Callable[[bool, Given], Outcome]


class Canary(NamedTuple):
    """What is wrong and where it has been seen, the tool that must catch it, and how to try."""

    mistake: str
    tool: str
    try_out: Try


CANARIES: dict[str, Canary] = {}


def _canary(tool: str, name: str, mistake: str) -> Callable[[Try], None]:
    """Enter the function below as the ``try_out`` of a canary."""

    def enter(try_out: Try) -> None:
        CANARIES[name] = Canary(mistake, tool, try_out)

    return enter


_black_box, _curve = partial(_canary, "black box"), partial(_canary, "exact curve")
_search, _constructor = partial(_canary, "sensitivity search"), partial(_canary, "constructor")
_test, _replay = partial(_canary, "statistical test"), partial(_canary, "replay")
_training = partial(_canary, "training run")


def run(seed: int) -> list[dict[str, object]]:
    """Return one row per canary; ``control``: whether the right thing passes the same tool."""
    rows = []
    for name, (mistake, tool, try_out) in CANARIES.items():
        wrong, right = (
            try_out(kind == "wrong", streams(seed, "canary", name, kind, trials=range(5)))
            for kind in ("wrong", "right")
        )
        values = (name, mistake, tool, wrong.caught, wrong.evidence, not right.caught)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def _proof(release: Release, statistic: Statistic, runs: int, given: Given) -> Outcome:
    nominal = release.epsilon
    proof = prove(statistic, nominal=nominal, delta=release.delta, runs=runs, streams=given)
    said = f"certified epsilon {proof.epsilon:.3g}, promised {nominal:g}"
    return Outcome(proof.refuted, said)


def _by_black_box(release: Release, given: Given) -> Outcome:
    audit = audit_of(release, given[0])
    return _proof(release, audit.statistic, audit.runs, given[2:])


def _by_scale(release: Release, given: Given) -> Outcome:
    scale = audit_of(release, given[0]).scale(given[1])
    seen = f"noise of {scale.ratio:.3f} of its size, allowed [{scale.low:.3f}, {scale.high:.3f}]"
    return Outcome(scale.verdict != "right", seen)


def _by_curve(release: Release, given: Given) -> Outcome:
    real, promised = audit_of(release, given[0]).attained, release.epsilon
    seen = f"true epsilon {real:.4g}, promised {promised:g}"
    return Outcome(real > promised * (1 + ROUNDING), seen)


def _by_constructor(build: Callable[[], object]) -> Outcome:
    try:
        build()
    except InputError as error:
        return Outcome(True, str(error))
    return Outcome(False, "accepted")


def _by_search(query: Query, measure: str, given: Given) -> Outcome:
    row = sensitivities.attack(query, measure, given)
    seen = f"found {row['found']:.4g}, declared {row['declared']:.4g}"
    return Outcome(row["verdict"] == "violated", seen)


def _by_replay(run: Run, release: GaussianRelease, source: Query, given: Given) -> Outcome:
    found = replay.size(run, release, source, given[0])
    seen = f"mu {found:.4g}, declared {release.mu:.4g}"
    return Outcome(found > release.mu * (1 + ROUNDING), seen)


def _by_execution(release: Release, given: Given) -> Outcome:
    finding = composition.executed(release, given[0])
    seen = f"{finding.other:.0%} of replays with the same noisy answers give another release"
    return Outcome(finding.other > 0, seen)


def _by_real_noise(release: Release, given: Given) -> Outcome:
    scale = real.scale(release, given[0])
    seen = f"noise of {scale.ratio:.3f} of its size, allowed [{scale.low:.3f}, {scale.high:.3f}]"
    return Outcome(scale.verdict != "right", seen)


class _Muffled:
    """A stream of which some draws, by their places, are multiplied by a factor."""

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


def _muffled(release: Release, factors: Mapping[int, float]) -> Release:
    """Return a release that declares the same, and multiplies draws of its parts by factors."""

    class Muffled(type(release)):  # type: ignore[misc]
        def _draw(self, value: Array, streams: Streams, out: Array | None) -> Array:
            less = [_Muffled(stream, factors) for stream in streams]
            return np.asarray(super()._draw(value, less, out))

    return Muffled(**{field.name: getattr(release, field.name) for field in fields(release)})


def _drawn(release: Additive, wrong: bool, kind: type[Law]) -> Additive:
    """Return the release, drawn in the way of another kind of law with the same numbers."""
    return replace(release, noise=kind(**vars(release.noise))) if wrong else release


class _Shrunk(laws.MatrixNormal):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack *= 0.9


@_black_box("noise x 0.9", "a sampler that draws 0.9 of the standard deviation it is told")
def _tenth_too_little(wrong: bool, given: Given) -> Outcome:
    mechanism = DirectionalGaussian(Binary((0, 5), 0.75))
    release = mechanism.calibrate(LIVER, epsilon=1.0, delta=1 / LIVER.records)
    return _by_black_box(_drawn(release, wrong, _Shrunk), given)


class _ExponentialRadius(laws.ColumnL2Exponential):
    def _draw(self, streams: Streams, stack: Array) -> None:
        laws.normals(streams, self.shape, stack)
        radii = np.stack([stream.standard_exponential(self.shape[1]) for stream in streams])
        stack *= (self.scale * radii / np.linalg.norm(stack, axis=1))[:, None]


@_black_box("exponential radius", "K-norm noise with an exponential instead of a Gamma(d) radius")
def _exponential_radius(wrong: bool, given: Given) -> Outcome:
    release = KNorm("record_l2").calibrate(LIVER, epsilon=1.0)
    return _by_black_box(_drawn(release, wrong, _ExponentialRadius), given)


@_black_box(
    "rank-one noise", "noise along one random direction, of infinite density at 0 (R1SMG, 2024)"
)
def _rank_one(wrong: bool, given: Given) -> Outcome:
    release = Gaussian().calibrate(IdentityQuery(Ball(0.5, 16), 1), epsilon=1.0, delta=1e-5)
    if not wrong:
        return _by_black_box(release, given)
    law = NonPrivateRankOne(release.query.shape, deviation(1.0, release.delta, 16))

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        drawn = law.sample([stream] * count)[:, :, 0]
        here = np.linalg.norm(drawn, axis=1)
        ahead = np.eye(1, 16)
        before, after = (np.linalg.norm(drawn + move, axis=1) for move in (ahead, -ahead))
        return law.loss(here, before), law.loss(after, here)

    return _proof(release, statistic, 20_000, given)


@_black_box(
    "data-dependent scaling", "scaling by the data's own range, and scaling the noise back with it"
)
def _own_range(wrong: bool, given: Given) -> Outcome:
    query = IdentityQuery(Box((0.0,), (1.0,)), 20)
    release = Laplace().calibrate(query, epsilon=1.0)
    # Nineteen records of 0.1; the last is 0.1 or 1. Scaled to [0, 1] by their maximum, and back.
    largest = (0.1, 1.0) if wrong else (1.0, 1.0)

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        sizes = []
        for high in largest:
            drawn = high * release.sample(np.full((1, 20), 0.1 / high), [stream] * count)
            sizes.append(np.abs(drawn[:, 0, :-1] - 0.1).sum(axis=1))
        return -sizes[0], -sizes[1]

    return _proof(release, statistic, 20_000, given)


@_black_box(
    "circulant sketch", "a JL sketch with a circulant matrix and random signs (Upadhyay 2014)"
)
def _circulant(wrong: bool, given: Given) -> Outcome:
    runs, sketch = 100, NonPrivateCirculantSketch(rows=5, lift=50.0)
    records = given[0].uniform(-1, 1, (2, 8))
    other = records.copy()
    other[:, 0] = given[3].uniform(-1, 1, 2)
    seen = []
    for data, stream in ((records, given[1]), (other, given[2])):
        factor = np.linalg.cholesky(data @ data.T + sketch.lift**2 * np.eye(2))
        drawn = (
            sketch.sample(data, stream) if wrong else stream.standard_normal((5, 2)) @ factor.T
            for _ in range(runs)
        )
        seen.append([float(sketch.support_residual(one, records) < 1e-9) for one in drawn])
    counts = Event(0.5, swapped=False).counts(*np.array(seen))
    bound, hits = evidence.epsilon(counts, 0.01), [int(sum(side)) for side in seen]
    said = f"{hits[0]} of {runs} sketches lie on a support that {hits[1]} of the neighbour's do"
    return Outcome(bound > 1, f"{said}: certified epsilon {bound:.3g}, promised 1")


@_curve("noise / sqrt(batch)", "IMGM's published code divides the standard deviation by sqrt(256)")
def _divided_by_batch(wrong: bool, given: Given) -> Outcome:
    release = IMGM().calibrate(LIVER, epsilon=0.1, delta=1e-5)
    if wrong:
        smaller = laws.MatrixNormal(LIVER.shape, release.noise_std / np.sqrt(256))
        release = replace(release, noise=smaller)
    return _by_curve(release, given)


@_curve(
    "epsilon / q",
    "IMGM's second experiment: amplification by sampling, though all records are released",
)
def _amplified(wrong: bool, given: Given) -> Outcome:
    query, q = IdentityQuery(Box.cube(150, -1, 1), 256), 256 / 25000 if wrong else 1.0
    release = IMGM().calibrate(query, epsilon=1 / q, delta=1e-5 / q)
    return _by_curve(replace(release, epsilon=1.0, delta=1e-5), given)


class _TwoRootP(SecondMomentQuery):
    @property
    def l1(self) -> float:
        return 2 * float(np.sqrt(self.features)) / self.records


@_search(
    "2 sqrt(p) / n", "Laplace noise on x x^T for an l1 sensitivity of 2 sqrt(p) / n, at p = 20"
)
def _entrywise_laplace(wrong: bool, given: Given) -> Outcome:
    kind = _TwoRootP if wrong else SecondMomentQuery
    return _by_search(kind(Ball(1.0, 20), 100, "zero_out"), "l1", given)


class _Halved(IdentityQuery):
    @property
    def l2(self) -> float:
        return super().l2 / 2


@_search("wrong sensitivity", "the l2 sensitivity of removing a record, where records are replaced")
def _wrong_sensitivity(wrong: bool, given: Given) -> Outcome:
    kind = _Halved if wrong else IdentityQuery
    return _by_search(kind(Box.cube(4, -1, 1), 50), "l2", given)


@_constructor(
    "classical at epsilon 10",
    "the classical Gaussian mechanism beyond the epsilons that it is proved for",
)
def _classical(wrong: bool, given: Given) -> Outcome:
    epsilon = 10.0 if wrong else 1.0
    sigma = np.sqrt(2 * np.log(1.25 / 1e-5)) / epsilon
    real = gaussian.delta(epsilon, 1 / sigma)
    found = _by_constructor(lambda: Gaussian("2014").calibrate(LIVER, epsilon=epsilon, delta=1e-5))
    # Both the constructor and the curve on which it decides must object.
    return Outcome(found.caught and real > 1e-5, found.evidence)


@_constructor("shares above 1", "MVG with precision shares that sum to more than 1")
def _shares_above_one(wrong: bool, given: Given) -> Outcome:
    return _by_constructor(lambda: Shares((0.75, 0.75 if wrong else 0.25)))


class _RadiusOneShort(laws.ColumnLinfExponential):
    def _draw(self, streams: Streams, stack: Array) -> None:
        points = np.stack([stream.uniform(-1, 1, self.shape) for stream in streams])
        radii = np.stack([stream.standard_gamma(*self.shape) for stream in streams])
        stack[...] = points * (self.scale * radii)[:, None] * self._sides


@_test("wrong radius", "l-infinity K-norm noise with a Gamma(m) instead of a Gamma(m + 1) radius")
def _radius_one_short(wrong: bool, given: Given) -> Outcome:
    release = KNorm("record_linf").calibrate(LIVER, epsilon=1.0)
    return _by_scale(_drawn(release, wrong, _RadiusOneShort), given)


@dataclass(frozen=True, kw_only=True)
class _InvertedRatio(PrincipalDirection):
    def _draw(self, value: Array, streams: Streams, out: Array | None) -> Array:
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


@_test(
    "inverted Bingham ratio",
    "PPCA's sampler divides by its envelope where it should multiply (diffprivlib 0.6.6)",
)
def _inverted_ratio(wrong: bool, given: Given) -> Outcome:
    release = PPCA().calibrate(SecondMomentQuery(Box.cube(4, -1, 1), 1000), epsilon=1.0)
    return _by_scale(_InvertedRatio(**vars(release)) if wrong else release, given)


_MOMENTS = SecondMomentQuery(Box.cube(6, -1, 1), 50)


@_curve(
    "unclipped moments", "noise for the radius of a ball on second moments of records in their box"
)
def _unclipped(wrong: bool, given: Given) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
    return _by_curve(replace(release, query=_MOMENTS) if wrong else release, given)


@_replay("clipped product", "clipping second moments to the radius, and not the records")
def _clipped_product(wrong: bool, given: Given) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
    most = release.query.gamma

    def run(records: Array, noise: np.random.Generator) -> Array:
        moments = second_moments(records)
        clipped = moments * min(1.0, most / float(np.trace(moments)))
        value = clipped if wrong else release.query.value(records)
        return release.sample(value, [noise])[0]

    return _by_replay(run, release, _MOMENTS, given)


@_replay("radius of the data", "clipping to the median norm of the data, which nothing is paid for")
def _radius_of_data(wrong: bool, given: Given) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)

    def run(records: Array, noise: np.random.Generator) -> Array:
        norms = np.linalg.norm(records, axis=0)
        share = float(np.median(norms)) ** 2 / _MOMENTS.gamma
        own = ClippedMoments(np.clip(share, 0.01, 1) if wrong else PUBLIC)
        used = own.calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
        return used.sample(used.query.value(records), [noise])[0]

    return _by_replay(run, release, _MOMENTS, given)


#: By name, what is wrong with a composition: mechanism, query, and the factors of its draws.
_COMPOSED: dict[str, tuple[str, Mechanism, Query, Mapping[int, float]]] = {
    "clipped_private: counts": (
        "a radius from the exact histogram of norms",
        PrivatelyClipped(),
        _MOMENTS,
        {0: 0.0},
    ),
    "clipped_private: 0.95": (
        "noise of 0.95 of its size on clipped second moments",
        PrivatelyClipped(),
        _MOMENTS,
        {1: 0.95},
    ),
    "clipped_private: 0.8": (
        "noise of 0.8 of its size on clipped second moments",
        PrivatelyClipped(),
        _MOMENTS,
        {1: 0.8},
    ),
    "clipped_adaptive: search": (
        "a search for the radius (Dong, Liang & Yi) with the exact trace and no noise",
        AdaptiveCovariance(),
        _MOMENTS,
        {0: 0.0, 1: 0.0},
    ),
    "centred_private: mean": (
        "second moments about the exact mean",
        Centred(),
        _MOMENTS,
        {0: 0.0},
    ),
    "adassp: target": (
        "AdaSSP with the exact moments of features and target",
        AdaSSP(),
        NormalEquations(Box.cube(6, -1, 1), 50, target=5),
        {2: 0.0},
    ),
}


def _composed(mechanism: Mechanism, query: Query, factors: Mapping[int, float]) -> Try:
    def try_out(wrong: bool, given: Given) -> Outcome:
        release = mechanism.calibrate(query, epsilon=1.0, delta=0.01)
        return _by_execution(_muffled(release, factors if wrong else {}), given)

    return try_out


for _name, (_mistake, _mechanism, _query, _factors) in _COMPOSED.items():
    _replay(_name, _mistake)(_composed(_mechanism, _query, _factors))


class _LittleRealNoise(GaussianRelease):
    def _noisy(self, value: Array, bits: safe.Bits) -> Array:
        return value + 0.95 * (super()._noisy(value, bits) - value)


@_test("real noise x 0.95", "a simulated release that is right, and a real one with less noise")
def _little_real_noise(wrong: bool, given: Given) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
    return _by_real_noise(_LittleRealNoise(**vars(release)) if wrong else release, given)


@_black_box("Wishart noise", "positive definite noise on second moments (Jiang, Xie & Zhang, 2016)")
def _wishart(wrong: bool, given: Given) -> Outcome:
    query = SecondMomentQuery(Ball(1.0, 4), 50)
    release: Release = wishart.calibrated(query, 1.0)
    if not wrong:
        release = Laplace().calibrate(query, epsilon=1.0)
    return _proof(release, BlackBoxAudit(release, given[0]).statistic, 4000, given[2:])


def _by_training(given: Given, **options: Any) -> Outcome:
    from matrixdp.audit import training

    found = training.guesses(given, **options)
    real, promised = (gaussian.epsilon(training.DELTA, mu) for mu in (found.mu, training.MU))
    seen = f"{found.right} of {found.canaries} canary records guessed right in one run"
    seen = f"{seen}: epsilon above {real:.3g}, promised {promised:.3g}"
    return Outcome(found.mu > training.MU, seen)


@_training("training noise x 0.8", "private gradients with 0.8 of the noise that is declared")
def _fifth_too_little(wrong: bool, given: Given) -> Outcome:
    return _by_training(given, factor=0.8 if wrong else 1.0)


@_training("banded noise x 0.7", "noise of two bands, in fixed order, of 0.7 of the declared size")
def _banded_too_little(wrong: bool, given: Given) -> Outcome:
    return _by_training(given, factor=0.7 if wrong else 1.0, correlated=True)


@_training("unclipped gradients", "private gradients that nobody clips, with the noise for clipped")
def _unclipped_gradients(wrong: bool, given: Given) -> Outcome:
    return _by_training(given, clipping=not wrong)
