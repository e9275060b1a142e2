"""The tools that known-bug tests try: each objects to a mistake, and says so in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from matrixdp.auditing import composition, real, replay, sensitivities
from matrixdp.auditing.base import Scale
from matrixdp.auditing.blackbox import Statistic, prove
from matrixdp.auditing.releases import ROUNDING, audit_of
from matrixdp.checks import InputError
from matrixdp.mechanisms.base import AdditiveGaussian, CalibratedMechanism
from matrixdp.mechanisms.programs import Program
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import Query

Generators = list[np.random.Generator]

#: A program from records to a release, the release that it should be, and the query of the records.
Replay = tuple[replay.Run, AdditiveGaussian, Query]


class Outcome(NamedTuple):
    """Whether the tool objects, and its observation in words."""

    caught: bool
    evidence: str


class Tool(NamedTuple):
    """A tool of the audit; as a decorator it enters a case in ``KNOWN_BUGS``.

    ``judge`` maps what the case builds, and four Generators, to the outcome.
    """

    name: str
    judge: Callable[[Any, Generators], Outcome]

    def __call__(self, name: str, mistake: str) -> Callable[[Build], Build]:
        """Return the decorator for a case with this name and mistake."""

        def enter(build: Build) -> Build:
            KNOWN_BUGS[name] = KnownBug(mistake, self, build)
            return build

        return enter


#: Builds what a tool judges: the mistake (True) or the control (False).
Build = Callable[[bool], Any]


class KnownBug(NamedTuple):
    """A known-bug test: the mistake and its source, the tool that must catch it, the case."""

    mistake: str
    tool: Tool
    build: Build


KNOWN_BUGS: dict[str, KnownBug] = {}


class Attack(NamedTuple):
    """A release and what distinguishes its outputs on two neighbours, in this many runs."""

    release: CalibratedMechanism
    statistic: Statistic
    runs: int


def _by_black_box(case: CalibratedMechanism | Attack, generators: Generators) -> Outcome:
    if isinstance(case, CalibratedMechanism):
        audit = audit_of(case, generators[0])
        case = Attack(case, audit.statistic, audit.runs)
    claim = {"claimed_epsilon": case.release.epsilon, "delta": case.release.delta}
    proof = prove(case.statistic, **claim, runs=case.runs, streams=generators[2:])
    observation = f"certified epsilon {proof.epsilon:.3g}, promised {case.release.epsilon:g}"
    return Outcome(proof.refuted, observation)


def _by_curve(release: CalibratedMechanism, generators: Generators) -> Outcome:
    tight, claimed = audit_of(release, generators[0]).attained, release.epsilon
    observation = f"tight epsilon {tight:.4g}, promised {claimed:g}"
    return Outcome(tight > claimed * (1 + ROUNDING), observation)


def _by_constructor(build: Callable[[], object], _generators: Generators) -> Outcome:
    try:
        build()
    except InputError as error:
        return Outcome(True, str(error))
    return Outcome(False, "accepted")


def _by_search(case: tuple[Query, str], generators: Generators) -> Outcome:
    row = sensitivities.attack(*case, generators)
    observation = f"found {row['found']:.4g}, declared {row['declared']:.4g}"
    return Outcome(row["verdict"] == "violated", observation)


def _by_scale(release: CalibratedMechanism, generators: Generators) -> Outcome:
    return _of_scale(audit_of(release, generators[0]).scale(generators[1]))


def _by_real_scale(release: CalibratedMechanism, generators: Generators) -> Outcome:
    return _of_scale(real.scale(release, generators[0]))


def _of_scale(scale: Scale) -> Outcome:
    allowed = f"allowed [{scale.low:.3f}, {scale.high:.3f}]"
    return Outcome(scale.verdict != "right", f"noise of {scale.ratio:.3f} of its size, {allowed}")


def _by_replay(case: Replay, generators: Generators) -> Outcome:
    run, release, source = case
    mu = replay.largest_difference(run, release, source, generators[0])
    caught = mu > release.mu * (1 + ROUNDING)
    return Outcome(caught, f"mu {mu:.4g}, declared {release.mu:.4g}")


def _by_execution(release: Program, generators: Generators) -> Outcome:
    other = composition.executed(release, generators[0]).other
    observation = f"{other:.0%} of replays with the same noisy answers give another release"
    return Outcome(other > 0, observation)


def _by_training(options: dict[str, Any], generators: Generators) -> Outcome:
    # JAX takes seconds to import.
    from reproduction.auditing import training

    guesses = training.guesses(generators, **options)
    tight, claimed = (gaussian.epsilon(training.DELTA, mu) for mu in (guesses.mu, training.MU))
    observation = f"{guesses.right} of {guesses.canaries} canary records guessed right in one run"
    observation = f"{observation}: epsilon above {tight:.3g}, promised {claimed:.3g}"
    return Outcome(guesses.mu > training.MU, observation)


black_box = Tool("black box", _by_black_box)
curve = Tool("exact curve", _by_curve)
constructor = Tool("constructor", _by_constructor)
search = Tool("sensitivity search", _by_search)
scale = Tool("statistical test", _by_scale)
real_scale = Tool("statistical test", _by_real_scale)
replays = Tool("replay", _by_replay)
execution = Tool("replay", _by_execution)
training_run = Tool("training run", _by_training)
