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
from matrixdp.mechanisms.clipped import ChosenByHistogram, shells, squared_move
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import (
    ADD_OR_REMOVE,
    MeanQuery,
    Query,
    RecordsQuery,
    SecondMomentQuery,
)

#: Returns the audit of a part.
AuditOf = Callable[[CalibratedMechanism, np.random.Generator], Audit]

#: Classes of composed releases.
COMPOSED = ChosenByHistogram, CentredMoments


def audit(release: CalibratedMechanism, stream: np.random.Generator, audit_of: AuditOf) -> Audit:
    """Return the audit of a release of one of the classes ``COMPOSED``."""
    proven = parts_mu(release)
    if isinstance(release, CentredMoments):
        moved = farthest(_mean(release)).size
        about = audit_of(release.about, stream)
        return ComposedAudit(release, [moved / release.centre_std, about.mu], about, proven)
    assert isinstance(release, ChosenByHistogram)
    return chosen(release, stream, audit_of, proven)


def chosen(
    release: ChosenByHistogram,
    stream: np.random.Generator,
    audit_of: AuditOf,
    proven: list[float],
) -> Audit:
    """Return the audit of a release that first chooses its radius, by the worst radius."""
    query = release.query
    radius, count = query.domain.radius, len(release.candidates)
    # A record of full norm and a record of zeros: no two records are further apart. Where their
    # number is private, there is none in place of the first.
    full = np.zeros((2, query.features, 1))
    full[0, 0] = radius
    first, second = shells(full, radius, count)
    moved = query.group * (first if release.private_count else first - second)
    mus = [float(np.linalg.norm(moved)) / release.count_std]
    parts = [audit_of(release.release_at(number), stream) for number in range(count)]
    rest = max(part.mu for part in parts)
    return ComposedAudit(release, [*mus, rest], parts[0], proven)


def counts_for_release(
    part: Query, query: Query, adjacency: str, kind: type[Query] = SecondMomentQuery
) -> bool:
    """Return whether a sensitivity of a part's query bounds what a release's neighbours change.

    The part's query is of class ``kind``, on as many records and features, for as large a group
    and of the same adjacency. A ball clips records to any radius; a box clips none, so that it must
    be that of the release. Under ``add_or_remove`` sensitivities are those of ``zero_out``, and
    sums are divided by the stated number of records, as there.
    """
    same = (adjacency, ADD_OR_REMOVE) if adjacency == "zero_out" else (adjacency,)
    return (
        type(part) is kind
        and proofs.owned(part)
        and part.n_records == query.n_records
        and part.features == query.features
        and part.adjacency in same
        and part.group >= query.group
        and (type(part.domain) is Ball or _same(part.domain, query.domain))
    )


def _same(first: object, second: object) -> bool:
    """Return whether objects of one class are equal, as that class compares them."""
    return type(first) is type(second) and bool(first == second)


def noise_mu(release: CalibratedMechanism, query: Query) -> float:
    """Return an upper bound on the mu of a part's noise, for what the release asks of it.

    The part must answer this query itself: it may refuse, or change, a value of its own.
    """
    same = proofs.owned(release.query) and _same(release.query, query)
    additive = isinstance(release, AdditiveGaussian) and library.owns(release)
    if not (additive and same and _same(release.query.domain, query.domain)):
        return proofs.UNPROVEN
    return proofs.mu(query, release.noise)  # type: ignore[attr-defined]


def parts_mu(release: CalibratedMechanism) -> list[float]:
    """Return upper bounds on the mu of the parts, from sensitivities of the library alone.

    NaN: nothing is proven of a part, or of a release of another author's class.
    """
    query = release.query
    if not (library.owns(release) and proofs.owned(query)):
        return [proofs.UNPROVEN]
    if isinstance(release, AdditiveGaussian):
        return [proofs.mu(query, release.noise)]
    if isinstance(release, CentredMoments) and type(query) is RecordsQuery:
        mean = _mean(release)
        about = parts_mu(release.about) if _about_mean(release) else [proofs.UNPROVEN]
        return [mean.l2_sensitivity / release.centre_std, *about]
    if isinstance(release, ChosenByHistogram) and type(query) is RecordsQuery:
        return [counts_mu(release), max(_candidate_mus(release))]
    return [proofs.UNPROVEN]


def counts_mu(release: ChosenByHistogram) -> float:
    """Return the mu of the numbers of records by length."""
    moved = float(np.sqrt(squared_move(release.candidates[0].query)))
    return release.query.group * moved / release.count_std


def _candidate_mus(release: ChosenByHistogram) -> list[float]:
    """Return upper bounds on the mu of the release at each radius; NaN alone if one has none."""
    query, mus = release.query, []
    if type(release.candidates) is not tuple:
        return [proofs.UNPROVEN]
    for number in range(len(release.candidates)):
        part = release.release_at(number)
        if not counts_for_release(part.query, query, query.adjacency):
            return [proofs.UNPROVEN]
        mus.append(float(np.linalg.norm(parts_mu(part))))
    return [proofs.UNPROVEN] if np.isnan(mus).any() else mus


def _private_count(release: CentredMoments) -> bool:
    """Return whether the number of records is private, which the identity query does not say."""
    about = release.about
    part = about.candidates[0] if isinstance(about, ChosenByHistogram) else about
    return part.query.private_count


def _mean(release: CentredMoments) -> MeanQuery:
    """Return the query of the mean of a release, of (x, 1) where the number is private."""
    query = release.query
    adjacency = ADD_OR_REMOVE if _private_count(release) else query.adjacency
    moments = SecondMomentQuery(
        query.domain, query.n_records, adjacency, per_person=query.per_person
    )
    return mean_query(moments).mean_of_terms


def _about_mean(release: CentredMoments) -> bool:
    """Return whether the part about the mean is calibrated to the records of the release.

    These records are clipped to a ball about the mean. A record that is set to zero is not zero
    about the mean, and so it is replaced. One that is added or removed adds its own square.
    """
    query, part, private = release.query, release.about.query, _private_count(release)
    if isinstance(release.about, AdditiveGaussian):
        adjacency = ADD_OR_REMOVE if private else "replace"
        return type(part.domain) is Ball and counts_for_release(part, query, adjacency)
    if not isinstance(release.about, ChosenByHistogram) or type(part) is not RecordsQuery:
        return False
    # It reads the records about the mean, which are at most as long as the domain is wide.
    widest = RecordsQuery(query.domain, query.n_records).l2_sensitivity
    return (
        type(part.domain) is Ball
        and part.domain.radius >= widest
        and (part.n_records, part.features) == (query.n_records, query.features)
        and part.adjacency == ("zero_out" if private else "replace")
        and part.group >= query.group
    )
