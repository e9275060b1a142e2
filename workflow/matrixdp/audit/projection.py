"""Releases of which no likelihood ratio is known: what is proved, and what runs can show."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.random import Generator

from matrixdp.audit import runs
from matrixdp.audit.base import Audit, Scale
from matrixdp.audit.neighbours import frobenius, worst
from matrixdp.checks import Array
from matrixdp.mechanisms.base import Release
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import SecondMomentQuery


class BlackBoxAudit(Audit):
    """Any release of a matrix: runs on the neighbours that change the value most in norm.

    All other records are zero. The statistic is the projection of what is released on the change.
    """

    tool = "black box"
    attained = kappa = float("nan")

    def __init__(self, release: Release, stream: Generator) -> None:
        self.release = release
        self._values = runs.values(release.query, worst(release.query, frobenius, stream))
        self._change = self._values[0] - self._values[1]
        self.bound = release.epsilon_actual
        # In a released value, on either neighbour.
        self._numbers = self.cost = 2.0 * float(np.prod(release.query.shape))

    def statistic(self, count: int, stream: Generator) -> tuple[Array, Array]:
        """Return the projections on the change of each run."""
        width = self._change.shape[1]

        def projected(value: Array, count: int) -> Array:
            drawn = self.release.sample(value, [stream] * count)
            if drawn.ndim == 2:
                drawn = drawn[:, :, None] * drawn[:, None, :]
            return np.einsum("kij,ij->k", drawn[:, :, :width], self._change)

        others = [(0, 0), (0, self.release.query.shape[1] - self._values[0].shape[1])]
        first, second = (
            runs.in_parts(partial(projected, np.pad(value, others)), count, self._numbers)
            for value in self._values
        )
        return first, second


class ComposedAudit(BlackBoxAudit):
    """Several releases, the later ones along what the first ones say: their composition.

    The bound is that of Gaussian mechanisms whose mu^2 add up, each found apart: ``mus``, by the
    largest changes that a search finds. ``noisy`` audits the part whose noise is tested for its
    scale.
    """

    tool = "composition"

    def __init__(
        self, release: Release, mus: Iterable[float], noisy: Audit, stream: Generator
    ) -> None:
        super().__init__(release, stream)
        self._noisy = noisy
        self.mu = float(np.linalg.norm([*mus]))
        self.bound = gaussian.epsilon(release.delta, self.mu)
        self.kappa = gaussian.mu(release.epsilon, release.delta) / self.mu

    def scale(self, stream: Generator) -> Scale:
        """Test the noise of the released second moments."""
        return self._noisy.scale(stream)


class ChosenAudit(ComposedAudit):
    """Second moments by a mechanism that looks at the records for what it releases them with.

    The neighbours are those whose second moments differ most. All other records are zero.
    """

    def __init__(
        self, release: Release, mus: Iterable[float], noisy: Audit, stream: Generator
    ) -> None:
        super().__init__(release, mus, noisy, stream)
        query = release.query
        moments = SecondMomentQuery(query.domain, query.records, query.adjacency)
        first, second, _ = worst(moments, frobenius, stream)
        self._values = first[:, None], second[:, None]
        self._change = np.outer(first, first) - np.outer(second, second)
        self._numbers = 2.0 * query.features**2
        # Its eigenvectors may be computed as well.
        self.cost = 10 * self._numbers
