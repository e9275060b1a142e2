"""The audit and the replay of noise along private directions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from matrixdp import library
from matrixdp.auditing import proofs
from matrixdp.auditing.base import Audit
from matrixdp.auditing.composition import Answer, _matrix
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.parts import noise_mu
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.auditing.releases import audit_of
from matrixdp.checks import Array
from matrixdp.privacy.sensitivity import IdentityQuery, SecondMomentQuery, second_moments
from reproduction.mechanisms.mvg import AlongPrivateDirections


def audit_private_directions(release: AlongPrivateDirections, stream: np.random.Generator) -> Audit:
    """Return the audit of noise along private directions."""
    proven = _private_directions_mus(release)
    # Precisions are at most ``limit``, whatever the directions.
    along = farthest(release.query).size * np.sqrt(release.limit)
    first = audit_of(release.moments, stream)
    return ComposedAudit(release, [first.mu, along], first, proven)


def _private_directions_mus(release: AlongPrivateDirections) -> list[float]:
    """Return upper bounds on the mu of the parts; NaN where nothing is proven."""
    query = release.query
    drawn = library.owns(release.private) and type(query) is IdentityQuery
    if not (library.owns(release) and proofs.owned(query) and drawn):
        return [proofs.UNPROVEN]
    limited = release.allocation.keeps_budget and library.owns(release.allocation)
    along = query.l2_sensitivity * float(np.sqrt(release.limit)) if limited else np.nan
    second = SecondMomentQuery(
        query.domain, query.n_records, query.adjacency, per_person=query.per_person
    )
    return [noise_mu(release.moments, second), along]


def replay_private_directions(
    release: AlongPrivateDirections, records: Array, answer: Answer
) -> None:
    """Replay noise along private directions."""
    noisy = _matrix(release.moments, second_moments(records), answer)
    public: Any = SimpleNamespace(simulate=lambda *_: noisy[None])
    directions, spectrum = release.private.draw(public, records, [])
    shared = release.allocation.precisions(release.limit, len(noisy), spectrum)
    precisions = np.maximum(np.broadcast_to(shared, spectrum.shape)[0], 0)
    answer(np.sqrt(precisions)[:, None] * (directions[0].T @ records))
