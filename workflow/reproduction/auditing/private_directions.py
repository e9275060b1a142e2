"""The audit of noise along private directions."""

from __future__ import annotations

import numpy as np

from matrixdp import library
from matrixdp.auditing.audit import Audit
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.parts import noise_mu
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.auditing.releases import audit_of
from matrixdp.mechanisms import proofs
from matrixdp.privacy.sensitivity import RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.mvg import AlongPrivateDirections


def audit_private_directions(release: AlongPrivateDirections, stream: np.random.Generator) -> Audit:
    """Return the audit of noise along private directions."""
    proven = proven_mus(release)
    # Precisions are at most ``limit``, whatever the directions.
    along = farthest(release.query).size * np.sqrt(release.limit)
    first = audit_of(release.moments, stream)
    return ComposedAudit(release, [first.mu, along], first, proven)


def proven_mus(release: AlongPrivateDirections) -> list[float]:
    """Return upper bounds on the mu of the parts; NaN where nothing is proven."""
    query = release.query
    library_noise = library.owns(release.private) and type(query) is RecordsQuery
    if not (library.owns(release) and proofs.owned(query) and library_noise):
        return [proofs.UNPROVEN]
    limited = release.allocation.keeps_budget and library.owns(release.allocation)
    along = query.l2_sensitivity * float(np.sqrt(release.limit)) if limited else np.nan
    second = SecondMomentQuery(
        query.domain, query.n_records, query.adjacency, per_person=query.per_person
    )
    return [noise_mu(release.moments, second), along]
