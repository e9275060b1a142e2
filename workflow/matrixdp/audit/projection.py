"""Releases of which no likelihood ratio is known: what is proved, and what runs can show."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.random import Generator

from matrixdp.audit import runs
from matrixdp.audit.base import Audit, Scale
from matrixdp.audit.neighbours import frobenius, worst
from matrixdp.checks import Array
from matrixdp.mechanisms.base import Release
from matrixdp.mechanisms.mvg import AlongPrivateDirections
from matrixdp.privacy import gaussian


class BlackBoxAudit(Audit):
    """Any release of a matrix: runs on the neighbours that change the value most in norm.

    All other records are zero. The statistic is the projection of what is released on the change.
    """

    tool = "black box"

    def __init__(self, release: Release, stream: Generator) -> None:
        self.release = release
        query = release.query
        self._pair = worst(query, frobenius, stream)
        self.attained = float("nan")
        self.bound = release.epsilon_actual
        self.kappa = float("nan")

    @property
    def cost(self) -> float:
        """Numbers in a released value, on either neighbour."""
        return 2.0 * float(np.prod(self.release.query.shape))

    def statistic(self, count: int, stream: Generator) -> tuple[Array, Array]:
        """Return the projections on the change of each run."""
        values = runs.values(self.release.query, self._pair)
        change = values[0] - values[1]
        width = change.shape[1]

        def projected(value: Array, count: int) -> Array:
            drawn = self.release.sample(value, [stream] * count)
            if drawn.ndim == 2:
                drawn = drawn[:, :, None] * drawn[:, None, :]
            return np.einsum("kij,ij->k", drawn[:, :, :width], change)

        others = [(0, 0), (0, self.release.query.shape[1] - width)]
        first, second = (
            runs.in_parts(partial(projected, np.pad(value, others)), count, self.cost)
            for value in values
        )
        return first, second


class ComposedAudit(BlackBoxAudit):
    """Directions that are released first, then noise along them: the composition of both.

    The bound is that of two Gaussian mechanisms. The first is judged as such; the second has
    precisions of at most ``limit`` along whatever directions come out, so that its mu is at most
    that of i.i.d. noise of variance 1 / limit, against the largest change that the search finds.
    """

    tool = "composition"

    def __init__(self, release: AlongPrivateDirections, first: Audit, stream: Generator) -> None:
        super().__init__(release, stream)
        self._first = first
        self.mu = float(np.hypot(first.mu, self._pair.size * np.sqrt(release.limit)))
        self.bound = gaussian.epsilon(release.delta, self.mu)
        self.kappa = gaussian.mu(release.epsilon, release.delta) / self.mu

    def scale(self, stream: Generator) -> Scale:
        """Test the noise of the released second moments."""
        return self._first.scale(stream)
