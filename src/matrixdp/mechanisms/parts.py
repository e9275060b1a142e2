"""What the parts of a composed release spend, by what the library proves of their noise.

This decides what a real release in parts may draw and be charged as, and what an audit of it takes
as proven.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.centred import CentreQuery, mean_query
from matrixdp.mechanisms.clipped import ShellQuery
from matrixdp.mechanisms.programs import Part
from matrixdp.privacy.domain import Ball
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery


def parts_mu(parts: Iterable[Part], query: Query, adjacency: str, *, centred: bool) -> list[float]:
    """Return upper bounds on the mu of the parts of a release, in their order.

    NaN: nothing is proven of a part, or it protects fewer changes than the neighbours of the
    release have.

    Args:
        parts: what the release asks of its records, whatever it states of itself.
        query: the records that it reads.
        adjacency: of its neighbours, which a query of records cannot say where their number is
            private.
        centred: whether all parts but the mean ask of records minus a private mean.
    """
    return [
        float(
            np.max(
                [
                    proofs.mu(one.query, one.noise)
                    if _covers_part(one.query, query, adjacency, centred=centred)
                    else proofs.UNPROVEN
                    for one in part.releases
                ]
            )
        )
        for part in parts
    ]


def _covers_part(part: Query, query: Query, adjacency: str, *, centred: bool) -> bool:
    """Return whether a part's query bounds what a release's neighbours change in it."""
    if type(part) is ShellQuery:
        # A record has a length, whatever it is, and its count moves.
        return proofs.owned(part) and _protects(part, query, adjacency)
    if type(part) is CentreQuery:
        # Records (x, 1), where their number is private.
        moments = SecondMomentQuery(query.domain, query.n_records, part.adjacency)
        same = mean_query(moments).domain == part.domain
        return proofs.owned(part) and same and _protects(part, query, adjacency)
    # A record that is set to zero is not zero about the mean, and so it is replaced there. A box
    # clips no record minus the mean.
    suits = not centred or (type(part.domain) is Ball and part.adjacency != "zero_out")
    return suits and covers(part, query, adjacency)


def covers(
    part: Query, query: Query, adjacency: str, kind: type[Query] = SecondMomentQuery
) -> bool:
    """Return whether a sensitivity of a part's query bounds what a release's neighbours change.

    The part's query is of class ``kind``, on as many records and features, for as large a group and
    of neighbours that include those of the release. A ball clips records to any radius; a box clips
    none, so that it must be that of the release.
    """
    return (
        type(part) is kind
        and proofs.owned(part)
        and part.features == query.features
        and (type(part.domain) is Ball or _same(part.domain, query.domain))
        and _protects(part, query, adjacency)
    )


def _protects(part: Query, query: Query, adjacency: str) -> bool:
    """Return whether noise for a part's query protects neighbours of a release.

    A null record adds to no sum, as a record of zeros. Where zero lies in the domain, ``zero_out``
    is thus a case of ``replace``, for each of the records of a person.
    """
    if part.n_records != query.n_records or not part.group >= query.group:
        return False
    if (part.adjacency, adjacency) == ("replace", "zero_out"):
        return isinstance(part.domain, Ball) or bool(part.domain.contains_zero)
    return part.adjacency == adjacency


def _same(first: object, second: object) -> bool:
    """Return whether objects of one class are equal, as that class compares them."""
    return type(first) is type(second) and bool(first == second)
