"""The audit of one mechanism in one experiment: a row per configuration and epsilon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from matrixdp.audit import real, replay, sensitivities
from matrixdp.audit.base import TIGHT, Audit, Finding, Scale
from matrixdp.audit.blackbox import Proof, prove
from matrixdp.audit.direction import DirectionAudit
from matrixdp.audit.gaussian import GaussianAudit
from matrixdp.audit.neighbours import farthest
from matrixdp.audit.norm import GeneralizedGammaAudit, NormAudit, is_norm
from matrixdp.audit.projection import BlackBoxAudit, ChosenAudit, ComposedAudit
from matrixdp.audit.sketch import SketchAudit
from matrixdp.distributions import GaussianDistribution, NormDistribution
from matrixdp.experiments.study import Settings, calibrated
from matrixdp.gamma_distributions import GeneralizedGamma
from matrixdp.mechanisms.adaptive import ChosenBySearch, Spectrum
from matrixdp.mechanisms.adassp import RidgedEquations
from matrixdp.mechanisms.base import AdditiveMechanism, CalibratedMechanism
from matrixdp.mechanisms.centred import CentredMoments
from matrixdp.mechanisms.clipped import Chosen, ChosenByHistogram, shells
from matrixdp.mechanisms.exponential import PrincipalDirection
from matrixdp.mechanisms.jl import Sketch
from matrixdp.mechanisms.mvg import AlongPrivateDirections
from matrixdp.mechanisms.target_mean import TargetMean
from matrixdp.privacy.sensitivity import IdentityQuery, Query
from matrixdp.seeds import streams

COLUMNS = (
    ["experiment", "mechanism", "variant", "direction", "query", "adjacency", "records"]
    + ["epsilon", "delta", "noise_std", "tool", "epsilon_attained", "epsilon_bound", "mu"]
    + ["runs", "epsilon_certified", "epsilon_largest", "refuted"]
    + ["scale", "scale_low", "scale_high", "real_scale", "executed", "shortfall"]
    + ["kappa", "rescaled_std", "replayed", "verdict", "note"]
)

#: Relative tolerance of epsilons that are computed in two ways.
ROUNDING = 1e-9

#: Steps of a radius search that are audited; all further ones scale with the radius.
STEPS = 4

#: The verdict where neighbours differ by more than declared.
REPLAYED = "violated: a replay on two neighbours shows it"

#: The reason where replays of a composition with the same noisy answers differ.
UNDECLARED = "the noise of its parts does not enter what is released as declared"


def audit_of(release: CalibratedMechanism, stream: np.random.Generator) -> Audit:
    """Return the audit for the class of a release and its noise; by default the black box."""
    if isinstance(release, Sketch):
        return SketchAudit(release)
    if isinstance(release, PrincipalDirection):
        return DirectionAudit(release)
    if isinstance(release, AlongPrivateDirections):
        # Precisions are at most ``limit``, whatever the directions.
        along = farthest(release.query).size * np.sqrt(release.limit)
        first = audit_of(release.moments, stream)
        return ComposedAudit(release, [first.mu, along], first)
    if isinstance(release, RidgedEquations):
        changes = sensitivities.largest_changes(release.query, stream)
        first = audit_of(release.explaining, stream)
        eigenvalue = changes["smallest eigenvalue of x"] / release.eigenvalue_std
        target = changes["l2, x times y"] / release.target_std
        return ComposedAudit(release, [eigenvalue, first.mu, target], first)
    if isinstance(release, TargetMean):
        change = sensitivities.largest_changes(release.query, stream)["mean of y"]
        return ComposedAudit(release, [change / release.mean_std], None)
    if isinstance(release, Chosen):
        return _chosen(release, stream)
    if isinstance(release, CentredMoments):
        moved = farthest(release.query).size / release.query.n_records
        about = audit_of(release.about, stream)
        return ChosenAudit(release, [moved / release.centre_std, about.mu], about)
    if isinstance(release, AdditiveMechanism):
        noise = release.noise
        # Auditing the column that differs suffices.
        one_column = noise.columns_alike or not isinstance(release.query, IdentityQuery)
        if isinstance(noise, GaussianDistribution) and one_column:
            return GaussianAudit(release, noise, stream)
        if isinstance(noise, GeneralizedGamma):
            return GeneralizedGammaAudit(release, noise, stream)
        if isinstance(noise, NormDistribution) and is_norm(noise):
            return NormAudit(release, noise, stream)
    return BlackBoxAudit(release)


def _chosen(release: Chosen, stream: np.random.Generator) -> Audit:
    """Return the audit of a release that first chooses its radius, by the worst radius."""
    query = release.query
    if isinstance(release, ChosenByHistogram):
        radius, count = query.domain.radius, len(release.candidates)
        # A record of full norm and a record of zeros: no two records are further apart.
        full = np.zeros((2, query.features, 1))
        full[0, 0] = radius
        counted = shells(full, radius, count)
        mus = [float(np.linalg.norm(counted[0] - counted[1])) / release.count_std]
        parts = [audit_of(release.part(number)[1], stream) for number in range(count)]
        rest = max(part.mu for part in parts)
        return ChosenAudit(release, [*mus, rest], parts[0])
    assert isinstance(release, ChosenBySearch)
    # An epsilon-DP release is mu-Gaussian DP with Phi(mu / 2) = 1 / (1 + e^-epsilon).
    search = 2 * float(special.ndtri(special.expit(release.search)))
    steps = []
    for number in range(2 * STEPS):
        moments, spectrum = release.part(number)
        assert isinstance(spectrum, Spectrum)
        first = audit_of(moments, stream)
        spectrum_mu = 0.0
        if spectrum.eigenvalue_std:
            spectrum_mu = farthest(spectrum.query).size / spectrum.eigenvalue_std
        steps.append((float(np.hypot(first.mu, spectrum_mu)), first))
    trace = 1 / (query.n_records * release.trace_std)
    rest = max(mu for mu, _ in steps)
    return ChosenAudit(release, [trace, search, rest], steps[0][1])


class Limits(NamedTuple):
    """Limits on the audit of a release; None where its power decides.

    Attributes:
        runs: of the black box per neighbour.
        pairs: of data sets that replays try, see :func:`matrixdp.audit.composition.executed`.
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


def run(
    mechanism: str, queries: dict[str, Query], settings: Settings, limits: Limits = NO_LIMITS
) -> list[dict[str, object]]:
    """Return one row per variant and epsilon of a mechanism, with the columns ``COLUMNS``.

    Args:
        mechanism: name of the mechanism.
        queries: queries of the experiment's task by name, the paper's query first.
        settings: settings; their seed makes the rows reproducible.
        limits: limits on each audit.
    """
    rows: list[dict[str, object]] = []
    for case in calibrated(mechanism, queries, settings):
        configuration, query = case.configuration, case.query
        words = (
            settings.experiment,
            mechanism,
            configuration.direction,
            configuration.name,
            case.epsilon,
        )
        generators = streams(settings.seed, "audit", *words, trials=range(7))
        row = {
            "experiment": settings.experiment,
            "mechanism": mechanism,
            **case.where,
            "query": query.name,
            "adjacency": query.adjacency,
            "records": query.n_records,
            "epsilon": float(case.epsilon),
            "delta": case.delta,
        }
        rows.append(row)
        if case.release is None:
            row |= {"verdict": "not run: no guarantee", "note": case.note}
            continue
        audit = audit_of(case.release, generators[0])
        row |= judge(audit, [*generators[1:4], *generators[5:]], limits)
        # The replay starts from the records, which a mechanism may clip; the search does not.
        replayed = replay.ratio(case.release, query, generators[4], limits.pairs)
        if not np.isnan(replayed):
            row["replayed"] = replayed
        if replayed > 1 + ROUNDING:
            row["verdict"] = REPLAYED
    return rows


def judge(
    audit: Audit, generators: list[np.random.Generator], limits: Limits = NO_LIMITS
) -> dict[str, object]:
    """Return the columns of all tools for an audit of one release.

    Args:
        audit: the audit.
        generators: five streams: one for the scale, two for :func:`prove`, one each for replays and
            real releases.
        limits: limits on the audit.
    """
    release = audit.release
    scale, real_scale = audit.scale(generators[0]), real.scale(release, generators[4])
    finding = audit.executed(generators[3], limits.pairs)
    runs = limits.runs_of(audit)
    if isinstance(audit, BlackBoxAudit):
        audit.held = min(audit.held, runs)
    claimed_epsilon, delta = release.epsilon, release.delta
    betting = generators[1:3]
    proof = prove(
        audit.statistic, claimed_epsilon=claimed_epsilon, delta=delta, runs=runs, streams=betting
    )
    return {
        "delta": release.delta,
        "noise_std": release.noise_std,
        "tool": audit.tool,
        "epsilon_attained": audit.attained,
        "epsilon_bound": audit.bound,
        "mu": audit.mu,
        "runs": proof.runs,
        "epsilon_certified": proof.epsilon,
        "epsilon_largest": proof.largest,
        "refuted": proof.refuted,
        "scale": scale.ratio,
        "scale_low": scale.low,
        "scale_high": scale.high,
        "real_scale": real_scale.ratio,
        "executed": np.nan if finding is None else 1 - finding.other,
        "shortfall": shortfall(scale, real_scale, finding),
        "replayed": np.nan if finding is None else finding.mu,
        "kappa": audit.kappa,
        "rescaled_std": release.noise_std / audit.kappa,
        "verdict": verdict(release.epsilon, audit, [scale, real_scale], finding, proof),
        "note": note(audit, proof),
    }


def note(audit: Audit, proof: Proof) -> str:
    """Return a note on too few runs of the black box; empty where they suffice."""
    if audit.needed is None or proof.limit >= audit.needed or proof.refuted:
        return ""
    return (
        f"{proof.limit} runs are too few for the black box to reject a tenth too little noise "
        f"({audit.needed:.2g} would do): {proof.runs} of them certify epsilon "
        f"{proof.epsilon:.3g}, and could have certified {proof.largest:.3g} at most"
    )


def shortfall(scale: Scale, real_scale: Scale, finding: Finding | None) -> float:
    """Return the smallest share of missing noise that all tests detect with power ``base.POWER``.

    It is NaN where only the black box tests the noise.
    """
    weakest = max(np.nan_to_num([scale.shortfall, real_scale.shortfall]))
    weakest = max(weakest, 0.0 if finding is None else finding.shortfall)
    return weakest or float("nan")


def verdict(
    claimed_epsilon: float,
    audit: Audit,
    scales: Sequence[Scale],
    finding: Finding | None,
    proof: Proof,
) -> str:
    """Return the first applicable verdict on a release that claims epsilon ``nominal``.

    ``scales`` are the tests of simulated noise and of noise for real releases.
    """
    sizes = {scale.verdict for scale in scales}
    allowed = claimed_epsilon * (1 + ROUNDING)
    unproved = f"the runs could have proved epsilon {proof.largest:.2g} at most"
    cases = (
        (proof.refuted, "violated: the black box proves it"),
        (audit.attained > allowed, f"violated: the {audit.tool} shows it"),
        ("too small" in sizes, "violated: less noise is drawn than declared"),
        ("too large" in sizes, "undecided: more noise is drawn than declared"),
        (
            "of another distribution" in sizes,
            "undecided: the noise has another distribution than declared",
        ),
        (finding is not None and finding.mu > 1 + ROUNDING, REPLAYED),
        (finding is not None and finding.other > 0, f"undecided: {UNDECLARED}"),
        (audit.tool == "black box", f"not certifiable at this sample size: {unproved}"),
        (not audit.bound <= allowed, "undecided: the bound is above the claimed epsilon"),
        (audit.attained >= claimed_epsilon * (1 - TIGHT), "private and tight"),
        (audit.kappa > 1 + TIGHT, "private but wasteful"),
    )
    return next((words for holds, words in cases if holds), "private")
