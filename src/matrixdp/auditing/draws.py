"""Draws of a release's noise, where another author's class makes them."""

from __future__ import annotations

import numpy as np

from matrixdp.auditing import runs
from matrixdp.auditing.neighbours import Neighbours
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.privacy.sensitivity import RecordsQuery


def value_within(release: AdditiveMechanism, pair: Neighbours) -> Array:
    """Return a value of the query within the public bounds: all records are the second one."""
    query = release.query
    if not isinstance(query, RecordsQuery):
        return runs.within(query, runs.value_of(query, pair.other))
    column = np.reshape(pair.other, (-1, query.features))[:1].T
    return np.tile(column, query.n_records)


def noise_of(
    release: AdditiveMechanism, value: Array, count: int, stream: np.random.Generator
) -> Array:
    """Return the noise of simulated releases of a value, shape (count, m, n)."""
    return np.asarray(release.simulate(value, [stream] * count) - value)
