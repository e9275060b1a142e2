"""Many runs of a release at once, on a query with few records.

Let the columns of the noise be independent and identically distributed. Then a release of K copies
of one person's records is K runs of the columns that differ: their distribution does not depend on
the number of columns. The other columns of a real release are independent of them. Their
distribution is the same on both neighbours, so that they cannot distinguish the neighbours. The
test of the noise's scale draws the full query, and so detects a sampler whose columns depend on
their number. Second moments are released complete, for one person and otherwise zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from matrixdp.auditing.neighbours import Neighbours, changes, counts
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery

#: Numbers per draw, few enough for the processor's cache.
PART = 2**17


def value_of(query: Query, record: Array) -> Array:
    """Return f of one person's records and otherwise zeros: (m, k) columns, (m, 1), or x x^T / n.

    ``record`` is (m,), or (k, m) of a person with k records.

    A mean of bounds without zero has records near zero instead, so that its value is within them.
    """
    value = changes(query, record[None], np.zeros_like(record)[None])[0]
    if not (isinstance(query, MeanQuery) and isinstance(query.domain, Box)):
        return value
    lower, upper = query.domain.lower, query.domain.upper
    others = query.n_records - counts(query)[1]
    if query.domain.contains_zero or others <= 0:
        return value
    # A null record adds nothing, so that the others alone must hold the mean within its bounds.
    filler = np.clip(np.clip(0.0, lower, upper) * query.n_records / others, lower, upper)
    return np.asarray(value + filler[:, None] * others / query.n_records)


def within(query: Query, value: Array) -> Array:
    """Return the value of a mean or of records in the bounds, which a null record may leave."""
    bounded = isinstance(query, MeanQuery | RecordsQuery) and isinstance(query.domain, Box)
    return query.domain.clip(value) if bounded and not query.add_or_remove else value


def simulate(
    release: CalibratedMechanism, value: Array, stream: np.random.Generator, count: int
) -> Array:
    """Return ``count`` releases of a value, also where a null record takes it out of bounds.

    Additive noise does not depend on the value, so that it is drawn in the bounds. Others read the
    value, also of no record, unchecked.
    """
    if isinstance(release, AdditiveMechanism):
        inside = within(release.query, value)
        return release.simulate(inside, stream, count) + (value - inside)
    complete = value.shape == release.query.shape
    if complete and np.array_equal(within(release.query, value), value):
        return release.simulate(value, stream, count)
    return release._draw(value, stream, count)


def values(query: Query, pair: Neighbours) -> tuple[Array, Array]:
    """Return f of both data sets, see :func:`value_of`."""
    return value_of(query, pair.record), value_of(query, pair.other)


def others(query: Query, count: int) -> Array:
    """Return records of all others, (m, count): the one of the bounds that is nearest to zero."""
    return query.domain.clip(np.zeros((query.features, count)))


def padded(query: Query, value: Array) -> Array:
    """Return a value with columns for the records of all others, (m, n)."""
    return np.hstack([value, others(query, query.shape[1] - value.shape[1])])


def data_sets(query: Query, pair: Neighbours) -> tuple[Array, Array]:
    """Return the records of both data sets as columns: those of a person, then all others'.

    A null record is one of zeros, also where the bounds exclude these. Where the number of records
    is private, there is none in its place.
    """
    total, group = counts(query)
    record, other = (np.reshape(side, (-1, query.features)).T for side in pair[:2])
    rest = others(query, total - group)
    if query.add_or_remove:
        other = other[:, :0]
    return np.hstack([record, rest]), np.hstack([other, rest])


def alone(release: AdditiveMechanism) -> bool:
    """Return whether the columns of one person's records are drawn without the others'."""
    return isinstance(release.query, RecordsQuery) and release.noise.identical_columns


def in_blocks(draw: Callable[[int], Array], count: int, numbers: float) -> Array:
    """Return ``draw(count)``, computed in smaller blocks along its last axis, the runs.

    One run has ``numbers`` numbers.
    """
    step = max(1, int(PART // numbers))
    blocks = [draw(min(step, count - start)) for start in range(0, count, step)]
    return np.concatenate(blocks, axis=-1)


def runs(
    release: AdditiveMechanism,
    value: Array,
    count: int,
    stream: np.random.Generator,
    statistic: Callable[[Array], Array],
) -> Array:
    """Return a statistic of ``count`` releases of a value, shape (..., count).

    ``statistic`` maps released values (k, m, n) to (..., k). Where columns are drawn :func:`alone`,
    the value is the columns of one person, and released values are such columns. The noise of an
    ``AdditiveMechanism`` does not depend on the value. So a shift of releases of one neighbour
    gives releases of the other, and the counts of each stay binomial.
    """
    if not alone(release):

        def part(number: int) -> Array:
            return statistic(simulate(release, value, stream, number))

        return in_blocks(part, count, value.size)
    query = release.query
    columns = count * value.shape[1]
    few = replace(
        release,
        query=RecordsQuery(query.domain, columns, query.adjacency),
        noise=replace(release.noise, shape=(query.features, columns)),
    )
    released = simulate(few, np.tile(value, count), stream, 1)[0]
    return statistic(released.reshape(query.features, count, -1).swapaxes(0, 1))
