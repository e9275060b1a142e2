"""The audit's negative control: wrong mechanisms from print and code, which every run must catch.

Each case names the tool that must object to the mistake. Its control does the same thing correctly,
and the same tool must accept it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from matrixdp.auditing.affine import Run, largest_size
from matrixdp.auditing.audit import size_of
from matrixdp.auditing.blackbox import Statistic, prove
from matrixdp.auditing.places import extremes
from matrixdp.auditing.projection import BlackBoxAudit
from matrixdp.auditing.releases import ROUNDING, audit_of
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.gaussian import Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import Ball, Box, Query, RecordsQuery, SecondMomentQuery
from reproduction.auditing import attacks
from reproduction.mechanisms import wishart
from reproduction.mechanisms.clipped import PUBLIC, ClippedMoments
from reproduction.mechanisms.exponential import PPCA, PrincipalDirection
from reproduction.mechanisms.gaussian import IMGM, GaussianByEntry
from reproduction.mechanisms.noise import MatrixNormal
from reproduction.mechanisms.rank_one import NonPrivateRankOne, deviation
from reproduction.privacy.published import LIVER
from reproduction.seeds import streams

COLUMNS = ("mechanism", "mistake", "tool", "caught", "evidence", "control")

Generators = list[np.random.Generator]

#: Builds what a tool judges: the mistake (True) or the control (False).
Build = Callable[[bool], Any]


class Outcome(NamedTuple):
    """Whether the tool objects, and its observation in words."""

    caught: bool
    evidence: str


class WrongMechanism(NamedTuple):
    """A wrong mechanism and its control: the mistake and its source, the tool that must catch it.

    ``judge`` maps what ``build`` returns, and four Generators, to the outcome.
    """

    mistake: str
    tool: str
    judge: Callable[[Any, Generators], Outcome]
    build: Build


CASES: dict[str, WrongMechanism] = {}


def run(seed: int) -> list[dict[str, object]]:
    """Return one row per case; ``control``: whether the tool accepts the control."""
    rows = []
    for name, case in CASES.items():
        wrong, right = (
            case.judge(
                case.build(kind == "wrong"), streams(seed, "known bug", name, kind, trials=range(4))
            )
            for kind in ("wrong", "right")
        )
        values = (name, case.mistake, case.tool, wrong.caught, wrong.evidence, not right.caught)
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def require(rows: Iterable[Mapping[str, object]]) -> None:
    """Refuse rows of :func:`run` with a wrong mechanism that passes, or a control that does not.

    Raises:
        InputError: there is one; the message names it.
    """
    missed = []
    for row in rows:
        missed += [f"{row['mechanism']} is not caught"] * (not row["caught"])
        missed += [f"the control of {row['mechanism']} is refused"] * (not row["control"])
    if missed:
        raise InputError(f"negative control: {'; '.join(missed)}; mend the audit's tool first")


def _case(
    name: str, mistake: str, tool: str, judge: Callable[[Any, Generators], Outcome]
) -> Callable[[Build], Build]:
    """Return the decorator that enters a case in ``CASES``."""

    def enter(build: Build) -> Build:
        CASES[name] = WrongMechanism(mistake, tool, judge, build)
        return build

    return enter


def _by_curve(release: CalibratedMechanism, generators: Generators) -> Outcome:
    tight, claimed = audit_of(release, generators[0]).attained, release.epsilon
    observation = f"tight epsilon {tight:.4g}, promised {claimed:g}"
    return Outcome(tight > claimed * (1 + ROUNDING), observation)


@_case(
    "noise / sqrt(batch)",
    "IMGM's published code divides the standard deviation by sqrt(256)",
    "exact curve",
    _by_curve,
)
def _divided_by_batch(wrong: bool) -> CalibratedMechanism:
    release = IMGM().calibrate(LIVER, epsilon=0.1, delta=1e-5)
    smaller = MatrixNormal(LIVER.shape, release.noise_std / np.sqrt(256))
    return replace(release, noise=smaller) if wrong else release


@_case(
    "epsilon / q",
    "IMGM, Type II: amplification by sampling, where nothing is sampled",
    "exact curve",
    _by_curve,
)
def _amplified(wrong: bool) -> CalibratedMechanism:
    query, q = RecordsQuery(Box.cube(6, -1, 1), 256), 256 / 25000 if wrong else 1.0
    release = IMGM().calibrate(query, epsilon=1 / q, delta=1e-5 / q)
    return replace(release, epsilon=1.0, delta=1e-5)


def _by_search(query: Query, generators: Generators) -> Outcome:
    row = attacks.attack(query, "l1", attacks.measures(query)["l1"], generators)
    observation = f"found {row['found']:.4g}, declared {row['declared']:.4g}"
    return Outcome(row["status"] == "violated", observation)


class _TwoRootP(SecondMomentQuery):
    @property
    def l1_sensitivity(self) -> float:
        return 2 * float(np.sqrt(self.features)) / self.n_records


@_case(
    "2 sqrt(p) / n",
    "an l1 sensitivity of 2 sqrt(p) / n for x x^T, at p = 20",
    "sensitivity search",
    _by_search,
)
def _entrywise_laplace(wrong: bool) -> Query:
    kind = _TwoRootP if wrong else SecondMomentQuery
    return kind(Ball(1.0, 20), 100, "zero_out")


def _by_constructor(build: Callable[[], object], _generators: Generators) -> Outcome:
    try:
        build()
    except InputError as error:
        return Outcome(True, str(error))
    return Outcome(False, "accepted")


@_case(
    "classical at epsilon 10",
    "the classical Gaussian mechanism beyond its proof",
    "constructor",
    _by_constructor,
)
def _classical(wrong: bool) -> Callable[[], object]:
    epsilon = 10.0 if wrong else 1.0
    return lambda: GaussianByEntry("2014").calibrate(LIVER, epsilon=epsilon, delta=1e-5)


class Attack(NamedTuple):
    """A release and what distinguishes its outputs on two neighbours."""

    release: CalibratedMechanism
    statistic: Statistic


def _by_black_box(attack: Attack, generators: Generators) -> Outcome:
    release, statistic = attack
    claim = {"claimed_epsilon": release.epsilon, "delta": release.delta}
    proof = prove(statistic, **claim, runs=4000, streams=generators[2:])
    observation = f"certified epsilon {proof.epsilon:.3g}, promised {release.epsilon:g}"
    return Outcome(proof.refuted, observation)


@_case(
    "rank-one noise",
    "noise along a random direction, of infinite density at 0 (R1SMG)",
    "black box",
    _by_black_box,
)
def _rank_one(wrong: bool) -> Attack:
    release = Gaussian().calibrate(RecordsQuery(Ball(0.5, 16), 1), epsilon=1.0, delta=1e-5)
    distribution = NonPrivateRankOne(release.query.shape, deviation(1.0, release.delta, 16))

    def statistic(count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        noise = distribution.sample(stream, count)[:, :, 0]
        lengths = np.linalg.norm(noise, axis=1)
        ahead = np.eye(1, 16)
        before, after = (np.linalg.norm(noise + move, axis=1) for move in (ahead, -ahead))
        return distribution.loss(lengths, before), distribution.loss(after, lengths)

    return Attack(release, statistic if wrong else BlackBoxAudit(release).statistic)


@_case(
    "Wishart noise",
    "positive definite noise on second moments (Jiang, Xie & Zhang, 2016)",
    "black box",
    _by_black_box,
)
def _wishart(wrong: bool) -> Attack:
    query = SecondMomentQuery(Ball(1.0, 4), 50)
    honest = Laplace().calibrate(query, epsilon=1.0)
    release = wishart.calibrate_wishart(query, 1.0) if wrong else honest
    return Attack(release, BlackBoxAudit(release).statistic)


def _by_scale(release: CalibratedMechanism, generators: Generators) -> Outcome:
    scale = audit_of(release, generators[0]).scale(generators[1])
    allowed = f"allowed [{scale.low:.3f}, {scale.high:.3f}]"
    return Outcome(scale.verdict != "right", f"noise of {scale.ratio:.3f} of its size, {allowed}")


@dataclass(frozen=True, kw_only=True)
class _InvertedRatio(PrincipalDirection):
    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        values, axes = np.linalg.eigh(self.kappa * value)
        losses, m = values[-1] - values, len(values)
        omega = 1 + 2 * losses / m
        accepted: list[Array] = []
        while sum(map(len, accepted)) < count:
            y = generator.standard_normal((4 * count, m)) / np.sqrt(omega)
            y /= np.linalg.norm(y, axis=1, keepdims=True)
            chance = np.exp(-(y**2) @ losses) * ((y**2) @ omega) ** (-m / 2)
            accepted.append(y[generator.random(len(y)) < chance])
        return np.concatenate(accepted)[:count] @ axes.T


@_case(
    "inverted Bingham ratio",
    "PPCA's sampler divides by its envelope (diffprivlib 0.6.6)",
    "statistical test",
    _by_scale,
)
def _inverted_ratio(wrong: bool) -> CalibratedMechanism:
    release = PPCA().calibrate(SecondMomentQuery(Box.cube(4, -1, 1), 1000), epsilon=1.0)
    return _InvertedRatio(**vars(release)) if wrong else release


#: A program from records to a release, the release that it should be, and the query of the records.
Replay = tuple[Run, AdditiveGaussian, Query]


def _by_replay(case: Replay, generators: Generators) -> Outcome:
    run, release, source = case
    mu = largest_size(run, extremes(source, generators[0]), size_of(release.noise))
    caught = mu > release.mu * (1 + ROUNDING)
    return Outcome(caught, f"mu {mu:.4g}, declared {release.mu:.4g}")


@_case(
    "radius of the data",
    "clipping to the median norm of the data, which nothing is paid for",
    "replay",
    _by_replay,
)
def _radius_of_data(wrong: bool) -> Replay:
    query = SecondMomentQuery(Box.cube(6, -1, 1), 50)

    def calibrate(squared_radius_fraction: float) -> AdditiveGaussian:
        mechanism = ClippedMoments(squared_radius_fraction)
        return mechanism.calibrate(query, epsilon=1.0, delta=0.01)

    def median_fraction(records: Array) -> float:
        median = float(np.median(np.linalg.norm(records, axis=1)))
        # The norm of a record's second moments is its own squared norm.
        return float(np.clip(median**2 / query.largest_norm, 0.01, 1))

    def run(records: Array, noise: np.random.Generator) -> Array:
        release = calibrate(median_fraction(records) if wrong else PUBLIC)
        return release.simulate(release.query.value(records.T), noise, 1)[0]

    return run, calibrate(PUBLIC), query


def _by_canaries(options: dict[str, Any], generators: Generators) -> Outcome:
    # JAX takes seconds to import.
    from reproduction.auditing import training

    guesses = training.guesses(generators, **options)
    tight, claimed = (gaussian_dp.epsilon(training.DELTA, mu) for mu in (guesses.mu, training.MU))
    observation = f"{guesses.right} of {guesses.canaries} canary records guessed right in one run"
    observation = f"{observation}: epsilon above {tight:.3g}, promised {claimed:.3g}"
    return Outcome(guesses.mu > training.MU, observation)


@_case(
    "unclipped gradients",
    "private gradients without clipping, with noise for clipped",
    "training run",
    _by_canaries,
)
def _unclipped_gradients(wrong: bool) -> dict[str, bool]:
    return {"clipping": not wrong}
