"""The audit of Gaussian sketches of lifted records."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from matrixdp import library
from matrixdp.auditing import draws
from matrixdp.auditing.audit import ROUNDING, Audit, Scale, gamma_scale, trials_of
from matrixdp.auditing.neighbours import farthest
from matrixdp.checks import Array
from matrixdp.mechanisms import proofs
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import SecondMomentQuery
from reproduction.mechanisms.jl import Sketch
from reproduction.privacy import sketching


class SketchAudit(Audit):
    """An audit by the exact curve at the leverage R^2 / (w^2 + R^2).

    The sketch has r columns N(0, (x x^T + w^2 I) / r). The curve is that of replacement if the
    search finds two orthogonal records of full norm. If not, it is that of zero-out neighbours,
    which the zero record attains.

    The likelihood ratio depends only on the coordinates in the plane of the two records. All other
    coordinates are independent of them and have the same distribution on both neighbours. So the
    runs sketch two features in that plane: N(0, G) is closed under projection.
    """

    tool = "exact curve"

    def __init__(self, release: Sketch, _stream: np.random.Generator) -> None:
        self.release: Sketch = release
        query = release.query
        squared = query.domain.radius**2
        self.leverage = squared / (release.ridge + squared)
        # One record of a person is some of that person's records.
        pair = farthest(replace(query, per_person=None))
        full = pair.size * query.n_records / squared
        self.adjacency = "replace" if full > np.sqrt(2) - 1e-9 else "zero_out"
        self._records = pair.record, pair.other
        if self.adjacency != "replace":
            self._records = _longest(query.domain), np.zeros(query.features)
        args = release.delta, self.leverage, release.sketch_size
        self.attained = sketching.epsilon(*args, self.adjacency)
        self.bound = sketching.epsilon(*args, query.adjacency)
        claimed = release.epsilon, release.delta, release.sketch_size
        exact = sketching.leverage(*claimed, query.adjacency)
        self.noise_inflation = float(np.sqrt(release.ridge / (squared * (1 - exact) / exact)))
        # The curve holds for all neighbours in one record, with the noise of the library's class.
        owned = library.plain(release) and proofs.owned(query) and query.group == 1
        self.proven = owned and self.bound <= release.epsilon * (1 + ROUNDING)
        # Count of numbers in a sketch of two features, on both neighbours together.
        self.cost = 4.0 * release.sketch_size

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the likelihood ratio of each sketch up to a constant: a quadratic form."""
        release, pair = self.release, np.stack(self._records, axis=1)
        plane, _ = np.linalg.qr(pair)
        query = SecondMomentQuery(Ball(release.query.domain.radius, 2), 1, release.query.adjacency)
        reduced = replace(release, query=query)
        values = [np.outer(x, x) for x in (plane.T @ pair).T]
        inverses = [np.linalg.inv(value + release.ridge * np.eye(2)) for value in values]
        form = release.sketch_size / 2 * (inverses[1] - inverses[0])

        def ratio(value: Array, count: int) -> Array:
            sketches = reduced.simulate(value, stream, count)
            return ((form @ sketches) * sketches).sum(axis=(1, 2))

        first, second = (
            draws.in_blocks(partial(ratio, value), count, 2 * self.cost) for value in values
        )
        return first, second

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the chi-square of the whitened sketch of all features."""
        white = self._white(trials_of(self._entries), stream)
        return gamma_scale(float((white**2).sum()) / 2, white.size / 2, root=True)

    @property
    def _entries(self) -> int:
        return self.release.query.features * self.release.sketch_size

    def _white(self, trials: int, stream: np.random.Generator) -> Array:
        """Return whitened sketches of all features."""
        release, m = self.release, self.release.query.features
        value = draws.value_of(release.query, self._records[0])
        moments = release.query.n_records * value + release.ridge * np.eye(m)
        sketches = release.simulate(value, stream, trials)
        return np.linalg.solve(np.linalg.cholesky(moments / release.sketch_size), sketches)


def _longest(domain: Box | Ball) -> Array:
    """Return a record of the largest norm."""
    if isinstance(domain, Ball):
        return np.full(domain.features, domain.radius / np.sqrt(domain.features))
    lower, upper = np.array(domain.lower), np.array(domain.upper)
    return np.where(-lower > upper, lower, upper)
