"""Audits of releases without a known likelihood ratio, by black box and by composition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import numpy as np
from numpy.random import Generator

from matrixdp import library
from matrixdp.auditing import alignment, draws
from matrixdp.auditing.audit import (
    COST,
    ROUNDING,
    Audit,
    Finding,
    Scale,
    epsilon_of,
    waste_of,
)
from matrixdp.auditing.blackbox import strength
from matrixdp.auditing.neighbours import farthest
from matrixdp.auditing.statistics import PROJECTION, of_centres
from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.mechanisms.programs import Program
from matrixdp.privacy.sensitivity import RecordsQuery, SecondMomentQuery

#: Least and largest number of runs on each neighbour that choose the statistic.
HELD = 200, 1000

#: Standard errors of a strength by which another statistic must exceed the projection.
CLEAR = 3.0


class BlackBoxAudit(Audit):
    """An audit of any release of a matrix, by runs on the worst neighbours in norm.

    All other records are as near to zero as the bounds allow. Separate runs choose the statistic
    (:meth:`_statistics`) that best distinguishes the neighbours.
    """

    tool = "black box"
    attained = noise_inflation = float("nan")

    def __init__(self, release: CalibratedMechanism) -> None:
        self.release = release
        query = release.query
        values = draws.values(query, farthest(query))
        self._values = self._answers = [draws.padded(query, value) for value in values]
        self.bound = release.epsilon_delivered
        # Count of numbers in a released value, on both neighbours together.
        self._numbers = self.cost = 2.0 * float(np.prod(query.shape))

    @LazyProperty
    def held(self) -> int:
        """Number of runs on each neighbour that choose the statistic."""
        return int(np.clip(COST / self.cost / 10, *HELD))

    def statistic(self, count: int, stream: Generator) -> tuple[Array, Array]:
        """Return the chosen statistic of each run."""
        first, second = self._evaluate([self._chosen], count, stream)
        return first[0], second[0]

    @LazyProperty
    def _chosen(self) -> str:
        """Name of the statistic with the most power: the projection unless another is clearly so.

        Of a private release all strengths are near 0, and the largest one is of chance. The
        projection has the most power where the noise is Gaussian, as that of composed releases.
        """
        release, names = self.release, [*self._statistics]
        # A separate stream: the choice must not advance the streams of the audit.
        sample = np.stack(self._evaluate(names, self.held, np.random.default_rng(0)), axis=1)
        strengths = [strength(values, release.epsilon, release.delta) for values in sample]
        best, projection = int(np.argmax(strengths)), names.index(PROJECTION)
        clear = strengths[best] - strengths[projection] > CLEAR / np.sqrt(self.held)
        return names[best if clear else projection]

    @property
    def _statistics(self) -> dict[str, Callable[[Array], Array]]:
        """Statistics of flat released values (k, d) by name."""
        return of_centres([np.ravel(answer) for answer in self._answers], self._answers[0].shape)

    def _evaluate(self, names: Sequence[str], count: int, stream: Generator) -> tuple[Array, Array]:
        """Return the named statistics of runs on each neighbour, shape (names, count) each."""
        statistics = [self._statistics[name] for name in names]

        def part(value: Array, count: int) -> Array:
            released = draws.simulate(self.release, value, stream, count)
            if released.ndim == 2:
                released = released[:, :, None] * released[:, None, :]
            flat = released.reshape(len(released), -1)
            return np.stack([statistic(flat) for statistic in statistics])

        first, second = (
            draws.in_blocks(partial(part, value), count, self._numbers) for value in self._values
        )
        return first, second


class ComposedAudit(BlackBoxAudit):
    """An audit of an adaptive composition, whose later releases depend on earlier noisy answers.

    The bound is that of Gaussian mechanisms, whose mu^2 add up. ``mus`` are the mu of the parts, by
    search, and ``proven`` upper bounds that the library proves. ``noisy`` audits the part whose
    noise has a scale test.

    A release of second moments that reads the records runs on those whose second moments differ
    most. Then ``_values`` are records, and statistics compare results with ``_answers``.
    """

    tool = "composition"
    release: Program

    def __init__(
        self,
        release: Program,
        mus: Iterable[float],
        noisy: Audit,
        proven: Iterable[float],
    ) -> None:
        super().__init__(release)
        query = release.query
        if isinstance(query, RecordsQuery) and release.output_type == SecondMomentQuery.output_type:
            relation = query.n_records, release.adjacency
            moments = SecondMomentQuery(query.domain, *relation, per_person=query.per_person)
            self._values = [*draws.data_sets(moments, farthest(moments))]
            self._answers = [moments.value(value) for value in self._values]
            self._numbers = 2.0 * query.features**2
            # The release may compute eigenvectors too.
            self.cost = 10 * self._numbers
        self._noisy = noisy
        self.mu = float(np.linalg.norm([*mus]))
        self.bound = epsilon_of(release.delta, self.mu)
        self.noise_inflation = waste_of(release, self.mu)
        largest = epsilon_of(release.delta, float(np.linalg.norm([*proven])))
        owned = library.plain(release)
        self.proven = owned and largest <= release.epsilon * (1 + ROUNDING)

    @property
    def reads(self) -> float:
        """Number of numbers of the values, on both neighbours together."""
        return 2.0 * self._values[0].size

    def scale(self, stream: Generator) -> Scale:
        """Test the noise of the released second moments."""
        return self._noisy.scale(stream)

    def replay(self, stream: Generator, most: int | None = None) -> Finding:
        """Replay the draws of all parts."""
        return alignment.replay(self.release, stream, most)
