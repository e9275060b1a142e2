"""The audits of composed releases: mu of each part, by search and as the library proves it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from matrixdp import library
from matrixdp.auditing import proofs, sensitivities
from matrixdp.auditing.base import Audit
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.projection import ChosenAudit, ComposedAudit
from reproduction.mechanisms.adaptive import ChosenBySearch, Spectrum
from matrixdp.mechanisms.adassp import RidgedEquations
from matrixdp.mechanisms.base import AdditiveGaussian, CalibratedMechanism
from matrixdp.mechanisms.centred import CentredMoments
from matrixdp.mechanisms.clipped import Chosen, ChosenByHistogram, shells, squared_move
from reproduction.mechanisms.mvg import AlongPrivateDirections
from reproduction.mechanisms.target_mean import TargetMean
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery

#: Steps of a radius search that are audited; all further ones scale with the radius.
STEPS = 4

#: Returns the audit of a part.
AuditOf = Callable[[CalibratedMechanism, np.random.Generator], Audit]

#: Classes of composed releases.
COMPOSED = AlongPrivateDirections, RidgedEquations, TargetMean, Chosen, CentredMoments


def audit(release: CalibratedMechanism, stream: np.random.Generator, audit_of: AuditOf) -> Audit:
    """Return the audit of a release of one of the classes ``COMPOSED``."""
    proven = parts_mu(release)
    if isinstance(release, AlongPrivateDirections):
        # Precisions are at most ``limit``, whatever the directions.
        along = farthest(release.query).size * np.sqrt(release.limit)
        first = audit_of(release.moments, stream)
        return ComposedAudit(release, [first.mu, along], first, proven)
    if isinstance(release, RidgedEquations):
        changes = sensitivities.largest_changes(release.query, stream)
        first = audit_of(release.explaining, stream)
        eigenvalue = changes["smallest eigenvalue of x"] / release.eigenvalue_std
        target = changes["l2, x times y"] / release.target_std
        return ComposedAudit(release, [eigenvalue, first.mu, target], first, proven)
    if isinstance(release, TargetMean):
        change = sensitivities.largest_changes(release.query, stream)["mean of y"]
        return ComposedAudit(release, [change / release.mean_std], None, proven)
    if isinstance(release, CentredMoments):
        moved = farthest(release.query).size / release.query.n_records
        about = audit_of(release.about, stream)
        return ChosenAudit(release, [moved / release.centre_std, about.mu], about, proven)
    assert isinstance(release, Chosen)
    return _chosen(release, stream, audit_of, proven)


def _chosen(
    release: Chosen, stream: np.random.Generator, audit_of: AuditOf, proven: list[float]
) -> Audit:
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
        return ChosenAudit(release, [*mus, rest], parts[0], proven)
    assert isinstance(release, ChosenBySearch)
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
    return ChosenAudit(release, [trace, _search_mu(release), rest], steps[0][1], proven)


def _search_mu(release: ChosenBySearch) -> float:
    # An epsilon-DP release is mu-Gaussian DP with Phi(mu / 2) = 1 / (1 + e^-epsilon).
    return 2 * float(special.ndtri(special.expit(release.search)))


def _noise_mu(release: CalibratedMechanism, query: Query) -> float:
    """Return an upper bound on the mu of a part's noise, for what the release asks of it."""
    additive = isinstance(release, AdditiveGaussian) and library.owns(release)
    return proofs.mu(query, release.noise) if additive else proofs.UNPROVEN  # type: ignore[attr-defined]


def parts_mu(release: CalibratedMechanism) -> list[float]:
    """Return upper bounds on the mu of the parts, from sensitivities of the library alone.

    NaN: nothing is proven of a part, or of a release of another author's class.
    """
    query = release.query
    if not (library.owns(release) and proofs.owned(query)):
        return [proofs.UNPROVEN]
    if isinstance(release, AdditiveGaussian):
        return [proofs.mu(query, release.noise)]
    if isinstance(release, AlongPrivateDirections):
        limited = release.allocation.keeps_budget and library.owns(release.allocation)
        along = query.l2_sensitivity * float(np.sqrt(release.limit)) if limited else np.nan
        second = SecondMomentQuery(query.domain, query.n_records, query.adjacency)
        return [_noise_mu(release.moments, second), along]
    if isinstance(release, RidgedEquations):
        eigenvalue = release.query.l2_eigenvalue / release.eigenvalue_std
        target = release.query.l2_target / release.target_std
        return [eigenvalue, _noise_mu(release.explaining, release.query.explaining), target]
    if isinstance(release, TargetMean):
        return [release.query.l2_mean / release.mean_std]
    if isinstance(release, CentredMoments):
        mean = query.l2_sensitivity / query.n_records / release.centre_std
        return [mean, *parts_mu(release.about)]
    if isinstance(release, ChosenByHistogram):
        counted = query.group * float(np.sqrt(squared_move(query))) / release.count_std
        parts = [release.part(number)[1] for number in range(len(release.candidates))]
        return [counted, max(float(np.linalg.norm(parts_mu(part))) for part in parts)]
    if isinstance(release, ChosenBySearch):
        rest: list[float] = []
        for number in range(2 * STEPS):
            moments, spectrum = release.part(number)
            assert isinstance(spectrum, Spectrum)
            apart = spectrum.eigenvalue_std
            sensitivity = spectrum.query.l2_sensitivity
            both = [*parts_mu(moments), sensitivity / apart if apart else 0.0]
            rest.append(float(np.linalg.norm(both)))
        trace = 1 / (query.n_records * release.trace_std)
        return [trace, _search_mu(release), max(rest)]
    return [proofs.UNPROVEN]
