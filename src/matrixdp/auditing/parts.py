"""The audits of composed releases: mu of each part, by search and as the library proves it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp import library
from matrixdp.auditing.audit import Audit
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.projection import ComposedAudit
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.centred import CentredMoments, mean_query
from matrixdp.mechanisms.clipped import PrivatelyClippedMoments, shells
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.mechanisms.parts import parts_mu
from matrixdp.privacy.sensitivity import (
    Query,
    RecordsQuery,
    SecondMomentQuery,
)

#: Returns the audit of a part.
AuditOf = Callable[[CalibratedMechanism, np.random.Generator], Audit]

#: Classes of composed releases.
COMPOSED = PrivatelyClippedMoments, CentredMoments


def audit(release: CalibratedMechanism, stream: np.random.Generator, audit_of: AuditOf) -> Audit:
    """Return the audit of a release of one of the classes ``COMPOSED``."""
    proven = proven_mus(release)
    if isinstance(release, CentredMoments):
        query, about = release.query, audit_of(release.about, stream)
        moments = SecondMomentQuery(
            query.domain, query.n_records, release.adjacency, per_person=query.per_person
        )
        moved = farthest(mean_query(moments).mean_of_terms).size
        return ComposedAudit(release, [moved / release.centre_std, about.mu], about, proven)
    assert isinstance(release, PrivatelyClippedMoments)
    return audit_of_choice(release, stream, audit_of, proven)


def audit_of_choice(
    release: PrivatelyClippedMoments,
    stream: np.random.Generator,
    audit_of: AuditOf,
    proven: list[float],
) -> Audit:
    """Return the audit of a release that first chooses its radius, by the worst radius."""
    query = release.query
    radius, count = query.domain.radius, len(release.candidates)
    # A record of full norm and a record of zeros: no two records are further apart. Where their
    # number is private, there is none in place of the first.
    ends = np.zeros((2, query.features, 1))
    ends[0, 0] = radius
    longest, zero = shells(ends, radius, count)
    moved = query.group * (longest if release.add_or_remove else longest - zero)
    lengths_mu = float(np.linalg.norm(moved)) / release.count_std
    parts = [audit_of(release.release_at(number), stream) for number in range(count)]
    moments_mu = max(part.mu for part in parts)
    # The scale test is of the largest radius: the noise of all radii has one class and law.
    return ComposedAudit(release, [lengths_mu, moments_mu], parts[0], proven)


def noise_mu(release: CalibratedMechanism, query: Query) -> float:
    """Return an upper bound on the mu of a part's noise, for what the release asks of it.

    The part must answer this query itself: it may refuse, or change, a value of its own.
    """
    if isinstance(release, AdditiveGaussian) and library.plain(release) and release.query == query:
        return proofs.mu(query, release.noise)
    return proofs.UNPROVEN


def proven_mus(release: CalibratedMechanism) -> list[float]:
    """Return upper bounds on the mu of the parts, from sensitivities of the library alone.

    NaN: nothing is proven of a part, or of a release of another author's class.
    """
    if not library.plain(release):
        return [proofs.UNPROVEN]
    if isinstance(release, AdditiveGaussian):
        return [proofs.mu(release.query, release.noise)]
    if isinstance(release, COMPOSED) and type(release.query) is RecordsQuery:
        centred = isinstance(release, CentredMoments)
        return parts_mu(release.parts, release.query, release.adjacency, centred=centred)
    return [proofs.UNPROVEN]
