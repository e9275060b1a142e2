"""Replays: releases of two neighbours with the same noise, which differ by the sensitivity.

A replay runs the complete way from records to release. So it detects clipping that comes too late,
or that depends on the data. A search over changes of the declared query cannot.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp.auditing import draws
from matrixdp.auditing.audit import size_of
from matrixdp.auditing.neighbours import counts, edge_records, farthest
from matrixdp.checks import Array
from matrixdp.mechanisms.additive import AdditiveGaussian, AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise.distributions import NormDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import Query

#: Number of random pairs of a record and its replacement, besides the worst pair of the search.
PAIRS = 8

#: Function from records (m, n) and a Generator of the noise to a release.
Run = Callable[[Array, np.random.Generator], Array]


def ratio(
    release: CalibratedMechanism,
    source: Query,
    stream: np.random.Generator,
    most: int | None = None,
) -> float:
    """Return the largest difference on neighbours over the declared one; at most 1 if correct.

    Differences are those of :func:`largest_replayed_change`. Noise that is not Gaussian, Laplace or
    K-norm gives NaN, as its release declares no such difference. The release may clip the records
    of ``source``, the original query.
    """
    if not isinstance(release, AdditiveMechanism):
        return float("nan")
    if isinstance(release, AdditiveGaussian):
        declared = release.mu
    elif isinstance(release.noise, NormDistribution | Noise):
        declared = release.epsilon_delivered
    else:
        return float("nan")

    def run(records: Array, noise: np.random.Generator) -> Array:
        return draws.simulate(release, release.query.value(records), noise, 1)[0]

    return largest_replayed_change(run, release, source, stream, most) / declared


def largest_replayed_change(
    run: Run,
    release: AdditiveMechanism,
    source: Query,
    stream: np.random.Generator,
    most: int | None = None,
) -> float:
    """Return the largest difference of ``run`` between neighbours with the same noise.

    The difference is measured as :func:`matrixdp.auditing.audit.size_of` the noise says. Neighbours
    of ``source`` are the worst pair of a search, and random ones: ``PAIRS`` of them, or ``most`` if
    that is less. They stand among records of zeros, and among random records. The result is
    infinite if neighbours consume different amounts of randomness.
    """
    count, group = counts(source)
    shape = (source.features, count)
    # One record, or all those of a person, as columns.
    first, other = (np.reshape(side, (-1, source.features)).T for side in farthest(source)[:2])
    pairs = [(first, other)]
    more = PAIRS if most is None else min(most, PAIRS)
    pairs += [(edge_records(source, group, stream), other) for _ in range(more)]
    size, sizes = size_of(release.noise), []
    for shared in (
        source.domain.clip(np.zeros(shape)),
        edge_records(source, count, stream),
    ):
        for pair in pairs:
            outputs, states = [], []
            for record in pair:
                records, noise = shared.copy(), np.random.default_rng(0)
                records[:, :group] = record
                outputs.append(run(records, noise))
                states.append(noise.bit_generator.state)
            if states[0] != states[1]:
                return float("inf")
            sizes.append(float(np.max(size((outputs[0] - outputs[1])[None]))))
    return max(sizes)
