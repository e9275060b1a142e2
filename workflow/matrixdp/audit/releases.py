"""The audit of one mechanism in one experiment: a row per variant."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from matrixdp import checks
from matrixdp.audit import gaussians, norms
from matrixdp.audit.bingham import Bingham
from matrixdp.audit.blackbox import Proof, prove
from matrixdp.audit.gaussians import GaussianNoise
from matrixdp.audit.laws import TIGHT, Law, Scale
from matrixdp.audit.norms import NormNoise
from matrixdp.audit.opaque import Composed, Opaque
from matrixdp.audit.sketches import GaussianSketch
from matrixdp.experiments.study import Settings, variants
from matrixdp.mechanisms import mvg, registry
from matrixdp.mechanisms.base import Additive, NoGuarantee, Release
from matrixdp.mechanisms.exponential import PrincipalDirection
from matrixdp.mechanisms.jl import Sketch
from matrixdp.privacy.sensitivity import Query
from matrixdp.seeds import streams

COLUMNS = (
    ["experiment", "mechanism", "label", "variant", "direction", "query", "adjacency", "records"]
    + ["epsilon", "delta", "noise_std", "tool", "epsilon_attained", "epsilon_bound", "mu"]
    + ["curve_error", "runs", "epsilon_certified", "epsilon_largest", "mu_certified", "refuted"]
    + ["scale", "scale_low", "scale_high", "kappa", "rescaled_std", "verdict", "note"]
)

#: Relative tolerance of epsilons that are computed in two ways.
ROUNDING = 1e-9

#: The largest error of a closed form against numerical integration.
CURVE = 1e-6


def law_of(release: Release, stream: np.random.Generator) -> Law:
    """Return the law of a release: the most telling one that fits."""
    if isinstance(release, Sketch):
        return GaussianSketch(release, stream)
    if isinstance(release, PrincipalDirection):
        return Bingham(release, stream)
    if isinstance(release, mvg.AlongPrivateDirections):
        first = law_of(release.moments, stream)
        return Composed(release, first, release.limit, stream)
    if isinstance(release, Additive) and isinstance(release.noise, partial):
        known: dict[Callable, type] = dict.fromkeys(gaussians.SAMPLERS, GaussianNoise)
        known |= dict.fromkeys(norms.SAMPLERS, NormNoise)
        if release.noise.func in known:
            law: Law = known[release.noise.func](release, stream)
            return law
    return Opaque(release, stream)


def run(
    mechanism: str, queries: dict[str, Query], settings: Settings, most: int | None = None
) -> pd.DataFrame:
    """Return one row per variant and epsilon of a mechanism, with the columns ``COLUMNS``.

    Args:
        mechanism: its name.
        queries: the queries of the experiment's task by name, its own first.
        settings: those of the experiment; its seed makes the rows reproducible.
        most: limit on the black box's runs per neighbour; None: as many as its power needs.

    Raises:
        InputError: the mechanism's name or a setting is not valid.
    """
    known = registry()
    entry = known[checks.choice(known, mechanism=mechanism)]
    rows = []
    for variant in variants(entry, settings):
        name = next((q for q in queries if q in variant.mechanism.queries), None)
        for epsilon in settings.epsilons if name else ():
            assert name is not None
            query = queries[name]
            delta = 1 / query.records if settings.delta is None else settings.delta
            words = (settings.experiment, mechanism, variant.direction, variant.name, epsilon)
            given = streams(settings.seed, "audit", *words, trials=range(5))
            row = {
                "experiment": settings.experiment,
                "mechanism": mechanism,
                "label": entry.label,
                "variant": variant.name,
                "direction": variant.direction,
                "query": name,
                "adjacency": query.adjacency,
                "records": query.records,
                "epsilon": float(epsilon),
                "delta": delta,
            }
            try:
                release = variant.mechanism.calibrate(query, epsilon=float(epsilon), delta=delta)
            except NoGuarantee as reason:
                rows.append(row | {"verdict": "not run: no guarantee", "note": str(reason)})
                continue
            rows.append(row | judge(release, given, most))
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))


def judge(
    release: Release, given: list[np.random.Generator], most: int | None = None
) -> dict[str, object]:
    """Return the findings on one release.

    Args:
        release: what is audited.
        given: five Generators: for the search, the scale, and the three of :func:`prove`.
        most: limit on the runs per neighbour, see :func:`run`.
    """
    return findings(law_of(release, given[0]), given[1:], most)


def findings(
    law: Law, given: list[np.random.Generator], most: int | None = None
) -> dict[str, object]:
    """Return what the tools find on a law; four Generators, as the last of :func:`judge`."""
    release = law.release
    scale = law.scale(given[0])
    proof = prove(
        law.statistic,
        nominal=release.epsilon,
        delta=release.delta,
        runs=law.runs if most is None else min(law.runs, most),
        streams=given[1:],
    )
    error = law.curve_error()
    return {
        "delta": release.delta,
        "noise_std": release.noise_std,
        "tool": law.tool,
        "epsilon_attained": law.attained,
        "epsilon_bound": law.bound,
        "mu": law.mu,
        "curve_error": error,
        "runs": proof.runs,
        "epsilon_certified": proof.epsilon,
        "epsilon_largest": proof.largest,
        "mu_certified": proof.mu if law.mu == law.mu else np.nan,
        "refuted": proof.refuted,
        "scale": scale.ratio,
        "scale_low": scale.low,
        "scale_high": scale.high,
        "kappa": law.kappa,
        "rescaled_std": release.noise_std / law.kappa,
        "verdict": verdict(release.epsilon, law, scale, proof, error),
        "note": note(law, proof),
    }


def note(law: Law, proof: Proof) -> str:
    """Return what the black box was too weak for, or nothing."""
    if law.needed is None or proof.runs >= law.needed or proof.refuted:
        return ""
    return (
        f"{proof.runs} runs are too few for the black box to reject a tenth too little noise "
        f"({law.needed:.2g} would do): they certify epsilon {proof.epsilon:.3g}, and could have "
        f"certified {proof.largest:.3g} at most"
    )


def verdict(nominal: float, law: Law, scale: Scale, proof: Proof, error: float = 0.0) -> str:
    """Return the verdict on a release in words; the first that applies.

    Args:
        nominal: the epsilon that is promised.
        law, scale, proof, error: what the tools found; ``error`` of the closed form.
    """
    allowed = nominal * (1 + ROUNDING)
    if proof.refuted:
        return "violated: the black box proves it"
    if law.attained > allowed:
        return f"violated: the {law.tool} shows it"
    if scale.verdict == "too small":
        return "violated: less noise is drawn than declared"
    if scale.verdict == "too large":
        return "undecided: more noise is drawn than declared"
    if error > CURVE:
        return "undecided: the closed form disagrees with numerical integration"
    if law.tool == "black box":
        return (
            "not certifiable at this sample size: the runs could have proved "
            f"epsilon {proof.largest:.2g} at most"
        )
    if not law.bound <= allowed:
        return "undecided: the bound is above the nominal epsilon"
    if law.attained >= nominal * (1 - TIGHT):
        return "private and tight"
    if law.kappa > 1 + TIGHT:
        return "private but wasteful"
    return "private"
