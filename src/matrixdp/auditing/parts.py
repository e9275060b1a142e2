"""The audits of composed releases: mu of each part, by search and as the library proves it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp import library
from matrixdp.auditing import proofs, sensitivities
from matrixdp.auditing.base import Audit
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.projection import ChosenAudit, ComposedAudit
from matrixdp.mechanisms.adassp import RidgedEquations
from matrixdp.mechanisms.base import AdditiveGaussian, CalibratedMechanism
from matrixdp.mechanisms.centred import CentredMoments
from matrixdp.mechanisms.clipped import ChosenByHistogram, shells, squared_move
from matrixdp.privacy.sensitivity import Query

#: Returns the audit of a part.
AuditOf = Callable[[CalibratedMechanism, np.random.Generator], Audit]

#: Classes of composed releases.
COMPOSED = RidgedEquations, ChosenByHistogram, CentredMoments


def audit(release: CalibratedMechanism, stream: np.random.Generator, audit_of: AuditOf) -> Audit:
    """Return the audit of a release of one of the classes ``COMPOSED``."""
    proven = parts_mu(release)
    if isinstance(release, RidgedEquations):
        changes = sensitivities.largest_changes(release.query, stream)
        first = audit_of(release.explaining, stream)
        eigenvalue = changes["smallest eigenvalue of x"] / release.eigenvalue_std
        target = changes["l2, x times y"] / release.target_std
        return ComposedAudit(release, [eigenvalue, first.mu, target], first, proven)
    if isinstance(release, CentredMoments):
        moved = farthest(release.query).size / release.query.n_records
        about = audit_of(release.about, stream)
        return ChosenAudit(release, [moved / release.centre_std, about.mu], about, proven)
    assert isinstance(release, ChosenByHistogram)
    return _chosen(release, stream, audit_of, proven)


def _chosen(
    release: ChosenByHistogram,
    stream: np.random.Generator,
    audit_of: AuditOf,
    proven: list[float],
) -> Audit:
    """Return the audit of a release that first chooses its radius, by the worst radius."""
    query = release.query
    radius, count = query.domain.radius, len(release.candidates)
    # A record of full norm and a record of zeros: no two records are further apart.
    full = np.zeros((2, query.features, 1))
    full[0, 0] = radius
    counted = shells(full, radius, count)
    mus = [float(np.linalg.norm(counted[0] - counted[1])) / release.count_std]
    parts = [audit_of(release.part(number)[1], stream) for number in range(count)]
    rest = max(part.mu for part in parts)
    return ChosenAudit(release, [*mus, rest], parts[0], proven)


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
    if isinstance(release, RidgedEquations):
        eigenvalue = release.query.l2_eigenvalue / release.eigenvalue_std
        target = release.query.l2_target / release.target_std
        return [eigenvalue, _noise_mu(release.explaining, release.query.explaining), target]
    if isinstance(release, CentredMoments):
        mean = query.l2_sensitivity / query.n_records / release.centre_std
        return [mean, *parts_mu(release.about)]
    if isinstance(release, ChosenByHistogram):
        counted = query.group * float(np.sqrt(squared_move(query))) / release.count_std
        parts = [release.part(number)[1] for number in range(len(release.candidates))]
        return [counted, max(float(np.linalg.norm(parts_mu(part))) for part in parts)]
    return [proofs.UNPROVEN]
