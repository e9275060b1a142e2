"""The audit of normal equations with a private ridge."""

from __future__ import annotations

import numpy as np

from matrixdp import library
from matrixdp.auditing import parts
from matrixdp.auditing.audit import Audit
from matrixdp.auditing.neighbours import worst
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.auditing.releases import audit_of
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.parts import covers, parts_mu
from matrixdp.privacy.sensitivity import RecordsQuery
from reproduction.mechanisms.adassp import NormalEquations, RidgedByHistogram, RidgedEquations


def audit_equations(release: RidgedEquations, stream: np.random.Generator) -> Audit:
    """Return the audit of normal equations."""
    query = release.query
    changes = {n: worst(query, norm, stream).size for n, (_, norm) in query.measures.items()}
    first = audit_of(release.design, stream)
    eigenvalue = changes["smallest eigenvalue of x"] / release.eigenvalue_std
    target = changes["l2, x times y"] / release.target_std
    return ComposedAudit(release, [eigenvalue, first.mu, target], first, equations_mu(release))


def audit_by_histogram(release: RidgedByHistogram, stream: np.random.Generator) -> Audit:
    """Return the audit of normal equations at a private radius."""
    return parts.audit_of_choice(release, stream, audit_of, histogram_mu(release))


def equations_mu(release: RidgedEquations) -> list[float]:
    """Return upper bounds on the mu of the parts; NaN where nothing is proven."""
    query = release.query
    if not (library.owns(release) and proofs.owned(query)):
        return [proofs.UNPROVEN]
    eigenvalue = query.l2_eigenvalue / release.eigenvalue_std
    target = query.l2_target / release.target_std
    return [eigenvalue, parts.noise_mu(release.design, query.design), target]


def histogram_mu(release: RidgedByHistogram) -> list[float]:
    """Return upper bounds on the mu of the histogram, and of the equations at the worst radius."""
    query = release.query
    plain = {type(release.candidates), type(release.equations)} == {tuple}
    records = proofs.owned(query) and type(query) is RecordsQuery
    if not (library.owns(release) and records and plain):
        return [proofs.UNPROVEN]
    mus = []
    for equations in release.equations:
        if not covers(equations.query, query, query.adjacency, NormalEquations):
            return [proofs.UNPROVEN]
        mus.append(float(np.linalg.norm(equations_mu(equations))))
    worst = proofs.UNPROVEN if np.isnan(mus).any() else max(mus)
    return [*parts_mu(release.parts[:1], query, query.adjacency, centred=False), worst]
