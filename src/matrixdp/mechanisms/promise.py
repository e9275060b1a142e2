"""What a calibrated mechanism promises, held to what is asked of it."""

from __future__ import annotations

import numpy as np

from matrixdp import library
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import BrokenPromise, CalibratedMechanism, Mechanism
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import Query, RecordsQuery

#: Relative rounding of a guarantee that is computed from the one asked for.
_ROUNDING = 1e-9


def promised(
    mechanism: Mechanism, query: Query, *, epsilon: float, delta: float
) -> CalibratedMechanism:
    """Return a mechanism calibrated to a guarantee, which it must promise in full.

    A smaller epsilon or delta is fine. A release that reads the records, where the query asked for
    does not, has another query: its records must be as many and have the same neighbours.

    Raises:
        BrokenPromise: the calibrated mechanism promises less.
        Exception: as ``calibrate``.
    """
    release = mechanism.calibrate(query, epsilon=epsilon, delta=delta)
    check_promise(release, type(mechanism).__name__, query, epsilon=epsilon, delta=delta)
    return release


def check_promise(
    release: CalibratedMechanism, name: str, query: Query, *, epsilon: float, delta: float
) -> None:
    """Raise BrokenPromise if a calibrated mechanism promises less than what is asked.

    ``name`` is that of the mechanism in sentences.
    """
    answer = release.query
    for word, promise, goal in (
        ("epsilon", release.epsilon, epsilon),
        ("delta", release.delta, delta),
    ):
        # A subclass of float may compare as it likes.
        if type(promise) not in (int, float, np.float64):
            raise BrokenPromise(
                f"{name} promises {word} as a {type(promise).__name__}; give it as a float"
            )
        # A number that is not one is refused too.
        if not 0 <= promise <= goal * (1 + _ROUNDING):
            raise BrokenPromise(
                f"{name} promises {word} {promise:g}, where {goal:g} is asked for; calibrate its "
                "noise to what is asked"
            )
    # A composed release reads as many records as are stated: where their number is private, its
    # neighbours are those of zero_out. Records with noise would show the number.
    reads = type(answer) is RecordsQuery and not isinstance(release, AdditiveMechanism)
    relation = "zero_out" if query.add_or_remove and reads else query.adjacency
    if answer.adjacency != relation:
        raise BrokenPromise(
            f"{name} promises neighbours of {answer.adjacency!r}, where {query.adjacency!r} is "
            "asked for; calibrate it to the query"
        )
    if answer.n_records != query.n_records:
        raise BrokenPromise(
            f"{name} promises privacy among {answer.n_records} records, where there are "
            f"{query.n_records}; calibrate it to the query"
        )
    if answer.features != query.features or not _covers(answer, query):
        raise BrokenPromise(
            f"{name} promises privacy of records in {answer.domain}, where they lie in "
            f"{query.domain}; calibrate it to the query"
        )
    if not answer.group >= query.group:
        raise BrokenPromise(
            f"{name} promises privacy of {answer.group} records of one person, where "
            f"{query.group} is asked for; calibrate it to the query"
        )


def _covers(answer: Query, query: Query) -> bool:
    """Return whether the domain of an answer has all records of a query.

    Numbers are compared: another author's domain may equal any other. A query of the library clips
    records to a ball; another may not.
    """
    domain, target = answer.domain, query.domain
    if not library.plain(domain):
        return False
    if isinstance(domain, Ball):
        return library.owns(answer) or domain.radius >= target.radius
    return isinstance(target, Box) and (domain.lower, domain.upper) == (target.lower, target.upper)
