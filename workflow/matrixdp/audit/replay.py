"""The same noise on two neighbours: what then differs is the sensitivity that was really used.

It runs the whole way from records to what is released, and so sees clipping that comes too late, or
that looks at the data, which a search over changes of the declared query cannot.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp.audit.neighbours import frobenius, worst
from matrixdp.checks import Array
from matrixdp.gamma_laws import GeneralizedGamma
from matrixdp.laws import GaussianLaw, Law, NormLaw
from matrixdp.mechanisms.base import Additive, GaussianRelease, Release
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import Query

#: Random pairs of a record and what takes its place, besides the worst one of the search.
PAIRS = 8

#: From records (m, n) to what is released, with the noise of the Generator.
Run = Callable[[Array, np.random.Generator], Array]


def ratio(release: Release, source: Query, stream: np.random.Generator) -> float:
    """Return the largest difference on neighbours of a query over the declared one: at most 1.

    Differences are whitened where noise is Gaussian, and in the size of the law for Laplace and
    K-norm noise. NaN for others: what differs is no multiple of a sensitivity, or its declared size
    is not kept. The release may clip the records of ``source``, the query as it was posed.
    """
    if not isinstance(release, Additive) or isinstance(release.noise, GeneralizedGamma):
        return float("nan")
    if isinstance(release, GaussianRelease):
        declared = release.mu
    elif isinstance(release.noise, NormLaw):
        declared = release.epsilon_actual
    else:
        return float("nan")

    def run(records: Array, noise: np.random.Generator) -> Array:
        return release.sample(release.query.value(records), [noise])[0]

    return size(run, release, source, stream) / declared


def size(run: Run, release: Additive, source: Query, stream: np.random.Generator) -> float:
    """Return the difference for any way from records to what is released, in the release's law.

    It is infinite if the neighbours do not draw the same noise.
    """
    shape = (source.features, source.records)
    extremes = worst(source, frobenius, stream)
    pairs = [(extremes.record, extremes.other)]
    pairs += [(_records(source, 1, stream)[:, 0], extremes.other) for _ in range(PAIRS)]
    found = []
    for shared in (np.zeros(shape), _records(source, source.records, stream)):
        for pair in pairs:
            outputs, left = [], []
            for record in pair:
                records, noise = shared.copy(), np.random.default_rng(0)
                records[:, 0] = record
                outputs.append(run(records, noise))
                left.append(noise.bit_generator.state)
            if left[0] != left[1]:
                return float("inf")
            found.append(_length(release.noise, (outputs[0] - outputs[1])[None]))
    return max(found)


def _length(law: Law, change: Array) -> float:
    if isinstance(law, GaussianLaw):
        return float(np.linalg.norm(law.whiten(change)))
    assert isinstance(law, NormLaw)
    return float(np.max(law.size(change)))


def _records(query: Query, count: int, stream: np.random.Generator) -> Array:
    """Return records anywhere in the box, most of them near its corners, shape (m, count)."""
    assert isinstance(query.domain, Box)
    lower, upper = (np.array(side)[:, None] for side in (query.domain.lower, query.domain.upper))
    place = stream.beta(0.5, 0.5, (query.features, count))
    return np.asarray(lower + (upper - lower) * place)
