"""The audit of a release: the tools for its class, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from matrixdp import library
from matrixdp.auditing import alignment, declarations, draws, foreign, parts, real
from matrixdp.auditing.additive import AdditiveAudit
from matrixdp.auditing.affine import largest_size
from matrixdp.auditing.alignment import REPLAYED as REPLAYED
from matrixdp.auditing.alignment import SHORTFALL
from matrixdp.auditing.alignment import UNDECLARED as UNDECLARED
from matrixdp.auditing.audit import (
    COST,
    OTHER_LAW,
    ROUNDING,
    TIGHT,
    Audit,
    Finding,
    Scale,
    declared,
    is_gaussian,
    of_proofs,
    row,
    size_of,
)
from matrixdp.auditing.blackbox import Proof, prove
from matrixdp.auditing.declarations import PURE
from matrixdp.auditing.places import RANDOM, extremes
from matrixdp.auditing.projection import BlackBoxAudit
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise.distributions import GaussianDistribution, NormDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Query
from matrixdp.status import CERTIFIED, NOT_REFUTED, REFUTED

#: Classes of noise whose law says what a change costs.
LAWS = Noise | GaussianDistribution | NormDistribution

#: Runs of a release of another author on each neighbour, where nothing limits them.
MOST = 20_000

#: What the tests of a release that is not proven do not see.
RARE = (
    "a black box sees no rare events: no cut far out, no noise of few digits, no other answer to "
    "one value"
)


def audit_of(release: CalibratedMechanism, stream: np.random.Generator) -> Audit:
    """Return the audit for the class of a release and its noise.

    A class of the study has the audit that ``library.AUDITS`` names. Releases of another author
    are judged as functions, by :mod:`matrixdp.auditing.foreign`.

    Raises:
        InputError: the class or its noise has no audit.
    """
    if name := library.audit_of(release):
        audit: Audit = declared(name)(release, stream)
        return audit
    if isinstance(release, parts.COMPOSED):
        return parts.audit(release, stream, audit_of)
    if isinstance(release, AdditiveMechanism) and isinstance(release.noise, LAWS):
        return AdditiveAudit(release, stream)
    raise InputError(
        f"a release of class {type(release).__name__} has no audit; name one in library.AUDITS"
    )


class Limits(NamedTuple):
    """Limits on the audit of a release; None where its power decides.

    Attributes:
        runs: of the black box per neighbour.
        pairs: of data sets that replays try, see :func:`matrixdp.auditing.alignment.replay`.
        numbers: that the counted runs of the black box read, on both neighbours together.
    """

    runs: int | None = None
    pairs: int | None = None
    numbers: int | None = None

    def runs_of(self, audit: Audit) -> int:
        """Return how many runs of an audit the black box may count."""
        limits = [audit.runs, self.runs, self.numbers and max(1, int(self.numbers // audit.reads))]
        return min(limit for limit in limits if limit is not None)


NO_LIMITS = Limits()


def judge_release(
    release: CalibratedMechanism,
    source: Query,
    generators: list[np.random.Generator],
    limits: Limits = NO_LIMITS,
) -> dict[str, Any]:
    """Return the columns of all tools for a release, those of :func:`judge` and of the replay.

    Args:
        release: the release, which may clip the records.
        source: the original query, at whose records the replay starts; the search does not.
        generators: seven streams.
        limits: limits on the audit.
    """
    if not library.plain(release):
        numbers = 4.0 * float(np.prod(release.query.shape))
        runs = int(limits.runs or np.clip(COST / numbers, 1000, MOST))
        if limits.numbers:
            runs = min(runs, max(1, int(limits.numbers // numbers)))
        return foreign.judge(release, source, generators, runs, limits.pairs)
    audit = audit_of(release, generators[0])
    change = replayed(release, source, generators[4], limits.pairs)
    return judge(audit, [*generators[1:4], *generators[5:]], limits, change)


def replayed(
    release: CalibratedMechanism,
    source: Query,
    stream: np.random.Generator,
    most: int | None = None,
) -> float:
    """Return the largest change that replays show over the declared one; at most 1 if correct.

    NaN: the release declares no such change. It may clip the records of ``source``, the original
    query. ``most`` limits the random neighbours.
    """
    if not (isinstance(release, AdditiveMechanism) and isinstance(release.noise, LAWS)):
        return float("nan")
    declared = release.mu if is_gaussian(release.noise) else release.epsilon_delivered
    pairs = extremes(source, stream, RANDOM if most is None else min(most, RANDOM))

    def simulate(records: Array, generator: np.random.Generator) -> Array:
        return draws.simulate(release, release.query.value(records.T), generator, 1)[0]

    size = largest_size(simulate, pairs, size_of(release.noise))
    return float("nan") if declared is None else size / declared


def judge(
    audit: Audit,
    generators: list[np.random.Generator],
    limits: Limits = NO_LIMITS,
    change: float = float("nan"),
) -> dict[str, object]:
    """Return the columns of all tools for an audit of one release.

    Args:
        audit: the audit.
        generators: five streams: one for the scale, two for :func:`prove`, one each for replays and
            real releases.
        limits: limits on the audit.
        change: result of :func:`replayed`.
    """
    release = audit.release
    # A stream of its own, so that the others stay as they are.
    (own,) = generators[4].spawn(1)
    scale, real_scale = audit.scale(generators[0]), real.scale(release, generators[4])
    finding = audit.replay(generators[3], limits.pairs)
    runs = limits.runs_of(audit)
    if isinstance(audit, BlackBoxAudit):
        audit.held = min(audit.held, runs)
    claimed_epsilon, delta = release.epsilon, release.delta
    betting = generators[1:3]
    proof = prove(
        audit.statistic, claimed_epsilon=claimed_epsilon, delta=delta, runs=runs, streams=betting
    )
    flaws = declarations.flaws(audit, own)
    stated = verdict(release.epsilon, audit, [scale, real_scale], finding, proof, flaws)
    if finding is not None and np.isnan(change):
        change = finding.mu
    elif change > 1 + ROUNDING:
        stated = REPLAYED
    return row(
        release,
        tool=audit.tool,
        verdict=stated,
        **of_proofs([proof]),
        epsilon_attained=audit.attained,
        epsilon_bound=audit.bound,
        mu=audit.mu,
        scale=scale.ratio,
        scale_low=scale.low,
        scale_high=scale.high,
        real_scale=real_scale.ratio,
        executed=np.nan if finding is None else 1 - finding.differing_share,
        detectable_effect=detectable_effect(scale, real_scale, finding),
        replayed=change,
        noise_inflation=audit.noise_inflation,
        rescaled_std=release.noise_std / audit.noise_inflation,
        note=note(audit, proof, stated),
    )


def note(audit: Audit, proof: Proof, stated: str) -> str:
    """Return a note on what the tests of a release do not see; empty where they suffice."""
    if stated.startswith(NOT_REFUTED):
        return RARE
    if audit.needed is None or proof.limit >= audit.needed or proof.refuted:
        return ""
    return (
        f"{proof.limit} runs are too few for the black box to reject a tenth too little noise "
        f"({audit.needed:.2g} would do): {proof.runs} of them certify epsilon "
        f"{proof.epsilon:.3g}, and could have certified {proof.largest:.3g} at most"
    )


def detectable_effect(scale: Scale, real_scale: Scale, finding: Finding | None) -> float:
    """Return the smallest share of missing noise that all tests detect with power ``audit.POWER``.

    It is NaN where only the black box tests the noise.
    """
    weakest = max(np.nan_to_num([scale.detectable_effect, real_scale.detectable_effect]))
    weakest = max(weakest, 0.0 if finding is None else SHORTFALL)
    return weakest or float("nan")


def verdict(
    claimed_epsilon: float,
    audit: Audit,
    scales: Sequence[Scale],
    finding: Finding | None,
    proof: Proof,
    flaws: Sequence[str] = (),
) -> str:
    """Return the first applicable verdict on a release; its first word is the status.

    Args:
        claimed_epsilon: epsilon that the release claims.
        audit: audit of the release.
        scales: tests of simulated noise and of noise for real releases.
        finding: result of replays, if there are any.
        proof: result of the black box.
        flaws: verdicts on what the release draws and declares.
    """
    sizes, of_replays = {scale.verdict for scale in scales}, alignment.verdict(finding)
    allowed = claimed_epsilon * (1 + ROUNDING)
    # Only what the library draws, from a distribution that it knows, can be certified.
    word = CERTIFIED if audit.proven else NOT_REFUTED
    cases = (
        (PURE in flaws, PURE),
        (proof.refuted, f"{REFUTED}: the black box proves it"),
        (audit.attained > allowed, f"{REFUTED}: the {audit.tool} shows it"),
        ("too small" in sizes, f"{REFUTED}: less noise is drawn than declared"),
        (of_replays == REPLAYED, REPLAYED),
        *((flaw.startswith(REFUTED), flaw) for flaw in flaws),
        ("too large" in sizes, f"{NOT_REFUTED}: more noise is drawn than declared"),
        ("of another distribution" in sizes, OTHER_LAW),
        (of_replays == UNDECLARED, UNDECLARED),
        *((True, flaw) for flaw in flaws),
        (not audit.bound <= allowed, f"{NOT_REFUTED}: the bound is above the claimed epsilon"),
        (word == NOT_REFUTED, word),
        (audit.attained >= claimed_epsilon * (1 - TIGHT), f"{word}: tight"),
        (audit.noise_inflation > 1 + TIGHT, f"{word}: wasteful"),
    )
    return next((words for holds, words in cases if holds), word)
