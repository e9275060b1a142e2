"""Known-bug tests: privacy mistakes from the literature that the audit must catch in every run.

Each test names the tool that must object to the mistake. Its control does the same thing correctly,
and the same tool must accept it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from matrixdp import laws, safe
from matrixdp.audit import composition, evidence, real, replay, sensitivities
from matrixdp.audit.base import Scale
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

Generators = list[np.random.Generator]

COLUMNS = ("canary", "mistake", "tool", "caught", "evidence", "control")


class Outcome(NamedTuple):
    """Whether the tool objects, and its observation in words."""

    caught: bool
    evidence: str


#: Runs the tool on the mistake (True) or on the control (False).
Try = Callable[[bool, Generators], Outcome]


class KnownBug(NamedTuple):
    """A known-bug test: the mistake and its source, the tool that must catch it, the trial."""

    mistake: str
    tool: str
    try_out: Try


KNOWN_BUGS: dict[str, KnownBug] = {}


def _known_bug(tool: str, name: str, mistake: str) -> Callable[[Try], None]:
    """Return a decorator that enters a function in ``KNOWN_BUGS`` as ``try_out``."""

    def enter(try_out: Try) -> None:
        KNOWN_BUGS[name] = KnownBug(mistake, tool, try_out)

    return enter


_black_box, _curve = partial(_known_bug, "black box"), partial(_known_bug, "exact curve")
_search, _constructor = (
    partial(_known_bug, "sensitivity search"),
    partial(_known_bug, "constructor"),
)
_test, _replay = partial(_known_bug, "statistical test"), partial(_known_bug, "replay")
_training = partial(_known_bug, "training run")


def run(seed: int) -> list[dict[str, object]]:
    """Return one row per known-bug test; ``control``: whether the tool accepts the control."""
    rows = []
    # The word "canary" in the streams and in the columns is as in former results.
    for name, (mistake, tool, try_out) in KNOWN_BUGS.items():
        wrong, right = (
            try_out(kind == "wrong", streams(seed, "canary", name, kind, trials=range(5)))
            for kind in ("wrong", "right")
        )
        values = (name, mistake, tool, wrong.caught, wrong.evidence, not right.caught)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def _proof(release: Release, statistic: Statistic, runs: int, generators: Generators) -> Outcome:
    nominal = release.epsilon
    proof = prove(statistic, nominal=nominal, delta=release.delta, runs=runs, streams=generators)
    observation = f"certified epsilon {proof.epsilon:.3g}, promised {nominal:g}"
    return Outcome(proof.refuted, observation)


def _by_black_box(release: Release, generators: Generators) -> Outcome:
    audit = audit_of(release, generators[0])
    return _proof(release, audit.statistic, audit.runs, generators[2:])


def _by_scale(release: Release, generators: Generators) -> Outcome:
    return _of_scale(audit_of(release, generators[0]).scale(generators[1]))


def _of_scale(scale: Scale) -> Outcome:
    interval = f"[{scale.low:.3f}, {scale.high:.3f}]"
    observation = f"noise of {scale.ratio:.3f} of its size, allowed {interval}"
    return Outcome(scale.verdict != "right", observation)


def _by_curve(release: Release, generators: Generators) -> Outcome:
    real, promised = audit_of(release, generators[0]).attained, release.epsilon
    observation = f"tight epsilon {real:.4g}, promised {promised:g}"
    return Outcome(real > promised * (1 + ROUNDING), observation)


def _by_constructor(build: Callable[[], object]) -> Outcome:
    try:
        build()
    except InputError as error:
        return Outcome(True, str(error))
    return Outcome(False, "accepted")


def _by_search(query: Query, measure: str, generators: Generators) -> Outcome:
    row = sensitivities.attack(query, measure, generators)
    observation = f"found {row['found']:.4g}, declared {row['declared']:.4g}"
    return Outcome(row["verdict"] == "violated", observation)


def _by_replay(
    run: Run, release: GaussianRelease, source: Query, generators: Generators
) -> Outcome:
    mu = replay.largest_difference(run, release, source, generators[0])
    observation = f"mu {mu:.4g}, declared {release.mu:.4g}"
    return Outcome(mu > release.mu * (1 + ROUNDING), observation)


def _by_execution(release: Release, generators: Generators) -> Outcome:
    finding = composition.executed(release, generators[0])
    observation = f"{finding.other:.0%} of replays with the same noisy answers give another release"
    return Outcome(finding.other > 0, observation)


def _by_real_noise(release: Release, generators: Generators) -> Outcome:
    return _of_scale(real.scale(release, generators[0]))


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


def _muffled(release: Release, factors: Mapping[int, float]) -> Release:
    """Return a release with the same statement of privacy and rescaled noise of its parts."""

    class Muffled(type(release)):  # type: ignore[misc]
        def _draw(self, value: Array, streams: Streams, out: Array | None) -> Array:
            less = [_Muffled(stream, factors) for stream in streams]
            return np.asarray(super()._draw(value, less, out))

    return Muffled(**{field.name: getattr(release, field.name) for field in fields(release)})


def _sampled_as(release: Additive, wrong: bool, kind: type[Law]) -> Additive:
    """Return the release; if ``wrong``, with the sampler of another law of equal parameters."""
    return replace(release, noise=kind(**vars(release.noise))) if wrong else release


class _Shrunk(laws.MatrixNormal):
    def _draw(self, streams: Streams, stack: Array) -> None:
        super()._draw(streams, stack)
        stack *= 0.9


@_black_box("noise x 0.9", "a sampler that draws 0.9 of the standard deviation it is told")
def _tenth_too_little(wrong: bool, generators: Generators) -> Outcome:
    mechanism = DirectionalGaussian(Binary((0, 5), 0.75))
    release = mechanism.calibrate(LIVER, epsilon=1.0, delta=1 / LIVER.records)
    return _by_black_box(_sampled_as(release, wrong, _Shrunk), generators)


class _ExponentialRadius(laws.ColumnL2Exponential):
    def _draw(self, streams: Streams, stack: Array) -> None:
        laws.normals(streams, self.shape, stack)
        radii = np.stack([stream.standard_exponential(self.shape[1]) for stream in streams])
        stack *= (self.scale * radii / np.linalg.norm(stack, axis=1))[:, None]


@_black_box("exponential radius", "K-norm noise with an exponential instead of a Gamma(d) radius")
def _exponential_radius(wrong: bool, generators: Generators) -> Outcome:
    release = KNorm("record_l2").calibrate(LIVER, epsilon=1.0)
    return _by_black_box(_sampled_as(release, wrong, _ExponentialRadius), generators)


@_black_box(
    "rank-one noise", "noise along one random direction, of infinite density at 0 (R1SMG, 2024)"
)
def _rank_one(wrong: bool, generators: Generators) -> Outcome:
    release = Gaussian().calibrate(IdentityQuery(Ball(0.5, 16), 1), epsilon=1.0, delta=1e-5)
    if not wrong:
        return _by_black_box(release, generators)
    law = NonPrivateRankOne(release.query.shape, deviation(1.0, release.delta, 16))

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        noise = law.sample([stream] * count)[:, :, 0]
        lengths = np.linalg.norm(noise, axis=1)
        ahead = np.eye(1, 16)
        before, after = (np.linalg.norm(noise + move, axis=1) for move in (ahead, -ahead))
        return law.loss(lengths, before), law.loss(after, lengths)

    return _proof(release, statistic, 20_000, generators)


@_black_box(
    "data-dependent scaling", "scaling by the data's own range, and scaling the noise back with it"
)
def _data_range(wrong: bool, generators: Generators) -> Outcome:
    query = IdentityQuery(Box((0.0,), (1.0,)), 20)
    release = Laplace().calibrate(query, epsilon=1.0)
    # Nineteen records of 0.1; the last is 0.1 or 1. Scaled to [0, 1] by their maximum, and back.
    largest = (0.1, 1.0) if wrong else (1.0, 1.0)

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        sizes = []
        for high in largest:
            released = high * release.sample(np.full((1, 20), 0.1 / high), [stream] * count)
            sizes.append(np.abs(released[:, 0, :-1] - 0.1).sum(axis=1))
        return -sizes[0], -sizes[1]

    return _proof(release, statistic, 20_000, generators)


@_black_box(
    "circulant sketch", "a JL sketch with a circulant matrix and random signs (Upadhyay 2014)"
)
def _circulant(wrong: bool, generators: Generators) -> Outcome:
    runs, mechanism = 100, NonPrivateCirculantSketch(rows=5, lift=50.0)
    records = generators[0].uniform(-1, 1, (2, 8))
    other = records.copy()
    other[:, 0] = generators[3].uniform(-1, 1, 2)
    on_support = []
    for data, stream in ((records, generators[1]), (other, generators[2])):
        factor = np.linalg.cholesky(data @ data.T + mechanism.lift**2 * np.eye(2))
        sketches = (
            mechanism.sample(data, stream) if wrong else stream.standard_normal((5, 2)) @ factor.T
            for _ in range(runs)
        )
        residuals = [mechanism.support_residual(sketch, records) for sketch in sketches]
        on_support.append([float(residual < 1e-9) for residual in residuals])
    counts = Event(0.5, swapped=False).counts(*np.array(on_support))
    bound, hits = evidence.epsilon(counts, 0.01), [int(sum(side)) for side in on_support]
    shares = f"{hits[0]} of {runs} sketches lie on a support that {hits[1]} of the neighbour's do"
    return Outcome(bound > 1, f"{shares}: certified epsilon {bound:.3g}, promised 1")


@_curve("noise / sqrt(batch)", "IMGM's published code divides the standard deviation by sqrt(256)")
def _divided_by_batch(wrong: bool, generators: Generators) -> Outcome:
    release = IMGM().calibrate(LIVER, epsilon=0.1, delta=1e-5)
    if wrong:
        smaller = laws.MatrixNormal(LIVER.shape, release.noise_std / np.sqrt(256))
        release = replace(release, noise=smaller)
    return _by_curve(release, generators)


@_curve(
    "epsilon / q",
    "IMGM's second experiment: amplification by sampling, though all records are released",
)
def _amplified(wrong: bool, generators: Generators) -> Outcome:
    query, q = IdentityQuery(Box.cube(150, -1, 1), 256), 256 / 25000 if wrong else 1.0
    release = IMGM().calibrate(query, epsilon=1 / q, delta=1e-5 / q)
    return _by_curve(replace(release, epsilon=1.0, delta=1e-5), generators)


class _TwoRootP(SecondMomentQuery):
    @property
    def l1(self) -> float:
        return 2 * float(np.sqrt(self.features)) / self.records


@_search(
    "2 sqrt(p) / n", "Laplace noise on x x^T for an l1 sensitivity of 2 sqrt(p) / n, at p = 20"
)
def _entrywise_laplace(wrong: bool, generators: Generators) -> Outcome:
    kind = _TwoRootP if wrong else SecondMomentQuery
    return _by_search(kind(Ball(1.0, 20), 100, "zero_out"), "l1", generators)


class _Halved(IdentityQuery):
    @property
    def l2(self) -> float:
        return super().l2 / 2


@_search("wrong sensitivity", "the l2 sensitivity of removing a record, where records are replaced")
def _wrong_sensitivity(wrong: bool, generators: Generators) -> Outcome:
    kind = _Halved if wrong else IdentityQuery
    return _by_search(kind(Box.cube(4, -1, 1), 50), "l2", generators)


@_constructor(
    "classical at epsilon 10",
    "the classical Gaussian mechanism beyond the epsilons that it is proved for",
)
def _classical(wrong: bool, generators: Generators) -> Outcome:
    epsilon = 10.0 if wrong else 1.0
    sigma = np.sqrt(2 * np.log(1.25 / 1e-5)) / epsilon
    real = gaussian.delta(epsilon, 1 / sigma)
    outcome = _by_constructor(
        lambda: Gaussian("2014").calibrate(LIVER, epsilon=epsilon, delta=1e-5)
    )
    # Both the constructor and the curve on which it decides must object.
    return Outcome(outcome.caught and real > 1e-5, outcome.evidence)


@_constructor("shares above 1", "MVG with precision shares that sum to more than 1")
def _shares_above_one(wrong: bool, generators: Generators) -> Outcome:
    return _by_constructor(lambda: Shares((0.75, 0.75 if wrong else 0.25)))


class _RadiusOneShort(laws.ColumnLinfExponential):
    def _draw(self, streams: Streams, stack: Array) -> None:
        points = np.stack([stream.uniform(-1, 1, self.shape) for stream in streams])
        radii = np.stack([stream.standard_gamma(*self.shape) for stream in streams])
        stack[...] = points * (self.scale * radii)[:, None] * self._sides


@_test("wrong radius", "l-infinity K-norm noise with a Gamma(m) instead of a Gamma(m + 1) radius")
def _radius_one_short(wrong: bool, generators: Generators) -> Outcome:
    release = KNorm("record_linf").calibrate(LIVER, epsilon=1.0)
    return _by_scale(_sampled_as(release, wrong, _RadiusOneShort), generators)


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
def _inverted_ratio(wrong: bool, generators: Generators) -> Outcome:
    release = PPCA().calibrate(SecondMomentQuery(Box.cube(4, -1, 1), 1000), epsilon=1.0)
    return _by_scale(_InvertedRatio(**vars(release)) if wrong else release, generators)


_MOMENTS = SecondMomentQuery(Box.cube(6, -1, 1), 50)


@_curve(
    "unclipped moments", "noise for the radius of a ball on second moments of records in their box"
)
def _unclipped(wrong: bool, generators: Generators) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
    return _by_curve(replace(release, query=_MOMENTS) if wrong else release, generators)


@_replay("clipped product", "clipping second moments to the radius, and not the records")
def _clipped_product(wrong: bool, generators: Generators) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
    most = release.query.gamma

    def run(records: Array, noise: np.random.Generator) -> Array:
        moments = second_moments(records)
        clipped = moments * min(1.0, most / float(np.trace(moments)))
        value = clipped if wrong else release.query.value(records)
        return release.sample(value, [noise])[0]

    return _by_replay(run, release, _MOMENTS, generators)


@_replay("radius of the data", "clipping to the median norm of the data, which nothing is paid for")
def _radius_of_data(wrong: bool, generators: Generators) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)

    def run(records: Array, noise: np.random.Generator) -> Array:
        norms = np.linalg.norm(records, axis=0)
        share = float(np.median(norms)) ** 2 / _MOMENTS.gamma
        mechanism = ClippedMoments(np.clip(share, 0.01, 1) if wrong else PUBLIC)
        clipped = mechanism.calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
        return clipped.sample(clipped.query.value(records), [noise])[0]

    return _by_replay(run, release, _MOMENTS, generators)


#: Mistakes in compositions by name: the mistake, mechanism, query, and factors of the draws.
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
    def try_out(wrong: bool, generators: Generators) -> Outcome:
        release = mechanism.calibrate(query, epsilon=1.0, delta=0.01)
        return _by_execution(_muffled(release, factors if wrong else {}), generators)

    return try_out


for _name, (_mistake, _mechanism, _query, _factors) in _COMPOSED.items():
    _replay(_name, _mistake)(_composed(_mechanism, _query, _factors))


class _LittleRealNoise(GaussianRelease):
    def _noisy(self, value: Array, bits: safe.Bits) -> Array:
        return value + 0.95 * (super()._noisy(value, bits) - value)


@_test("real noise x 0.95", "a simulated release that is right, and a real one with less noise")
def _little_real_noise(wrong: bool, generators: Generators) -> Outcome:
    release = ClippedMoments().calibrate(_MOMENTS, epsilon=1.0, delta=0.01)
    return _by_real_noise(_LittleRealNoise(**vars(release)) if wrong else release, generators)


@_black_box("Wishart noise", "positive definite noise on second moments (Jiang, Xie & Zhang, 2016)")
def _wishart(wrong: bool, generators: Generators) -> Outcome:
    query = SecondMomentQuery(Ball(1.0, 4), 50)
    release: Release = wishart.calibrated(query, 1.0)
    if not wrong:
        release = Laplace().calibrate(query, epsilon=1.0)
    return _proof(release, BlackBoxAudit(release, generators[0]).statistic, 4000, generators[2:])


def _by_training(generators: Generators, **options: Any) -> Outcome:
    from matrixdp.audit import training

    guesses = training.guesses(generators, **options)
    real, promised = (gaussian.epsilon(training.DELTA, mu) for mu in (guesses.mu, training.MU))
    observation = f"{guesses.right} of {guesses.canaries} canary records guessed right in one run"
    observation = f"{observation}: epsilon above {real:.3g}, promised {promised:.3g}"
    return Outcome(guesses.mu > training.MU, observation)


@_training("training noise x 0.8", "private gradients with 0.8 of the noise that is declared")
def _fifth_too_little(wrong: bool, generators: Generators) -> Outcome:
    return _by_training(generators, factor=0.8 if wrong else 1.0)


@_training("banded noise x 0.7", "noise of two bands, in fixed order, of 0.7 of the declared size")
def _banded_too_little(wrong: bool, generators: Generators) -> Outcome:
    return _by_training(generators, factor=0.7 if wrong else 1.0, correlated=True)


@_training("unclipped gradients", "private gradients that nobody clips, with the noise for clipped")
def _unclipped_gradients(wrong: bool, generators: Generators) -> Outcome:
    return _by_training(generators, clipping=not wrong)
