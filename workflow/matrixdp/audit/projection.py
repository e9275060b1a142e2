"""Releases of which no likelihood ratio is known: what is proved, and what runs can show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.random import Generator

from matrixdp.audit import composition, runs
from matrixdp.audit.base import COST, Audit, Finding, Scale
from matrixdp.audit.blackbox import strength
from matrixdp.audit.neighbours import frobenius, worst
from matrixdp.checks import Array
from matrixdp.mechanisms.base import Release
from matrixdp.privacy import gaussian
from matrixdp.privacy.sensitivity import SecondMomentQuery

#: Runs on each neighbour on which the statistic is chosen: at least, and at most.
HELD = 200, 1000


class BlackBoxAudit(Audit):
    """Any release of a matrix: runs on the neighbours that change the value most in norm.

    All other records are zero. Of several statistics (:meth:`_looks`) the one is taken that tells
    the neighbours apart best in runs that are held back for this choice.
    """

    tool = "black box"
    attained = kappa = float("nan")

    def __init__(self, release: Release, stream: Generator) -> None:
        self.release = release
        query = release.query
        values = runs.values(query, worst(query, frobenius, stream))
        others = [(0, 0), (0, query.shape[1] - values[0].shape[1])]
        self._values = self._answers = [np.pad(value, others) for value in values]
        self.bound = release.epsilon_actual
        # In a released value, on either neighbour.
        self._numbers = self.cost = 2.0 * float(np.prod(query.shape))

    def statistic(self, count: int, stream: Generator) -> tuple[Array, Array]:
        """Return the statistic that was chosen, of each run."""
        first, second = self._seen([self._chosen], count, stream)
        return first[0], second[0]

    @cached_property
    def _chosen(self) -> str:
        """Name of the statistic: the projection on the change unless another sees more."""
        release, held = self.release, int(np.clip(COST / self.cost / 10, *HELD))
        names = [*self._looks]
        # A stream of its own: to choose must not move those of the audit.
        sample = np.stack(self._seen(names, held, np.random.default_rng(0)), axis=1)
        strengths = [strength(one, release.epsilon, release.delta) for one in sample]
        return names[int(np.argmax(strengths))]

    @property
    def _looks(self) -> dict[str, Callable[[Array], Array]]:
        """Statistics of released values (k, ...) by name.

        They see the change itself, the size of what is released and of its distance from either
        value, single entries, and for square matrices the support: extreme eigenvalues of the
        distances.
        """
        first, second = self._answers
        found: dict[str, Callable[[Array], Array]] = {
            "projection on the change": lambda y: np.einsum("kij,ij->k", y, first - second),
            "norm": frobenius,
            "largest entry": lambda y: y.max(axis=(1, 2)),
            "least entry": lambda y: y.min(axis=(1, 2)),
        }
        for number, answer in enumerate((first, second), 1):
            found[f"distance from value {number}"] = partial(_distance, answer)
            if answer.shape[0] == answer.shape[1]:
                for which, place in (("least", 0), ("largest", -1)):
                    name = f"{which} eigenvalue of the distance from value {number}"
                    found[name] = partial(_eigenvalue, answer, place)
        return found

    def _seen(self, names: Sequence[str], count: int, stream: Generator) -> tuple[Array, Array]:
        """Return statistics by name of runs on each neighbour, shape (names, count) each."""
        looks = [self._looks[name] for name in names]

        def part(value: Array, count: int) -> Array:
            drawn = self.release.sample(value, [stream] * count)
            if drawn.ndim == 2:
                drawn = drawn[:, :, None] * drawn[:, None, :]
            return np.stack([look(drawn) for look in looks])

        first, second = (
            runs.in_parts(partial(part, value), count, self._numbers) for value in self._values
        )
        return first, second


def _distance(value: Array, released: Array) -> Array:
    return frobenius(released - value)


def _eigenvalue(value: Array, place: int, released: Array) -> Array:
    """Return an eigenvalue, by its place in ascending order, of the distance from a value."""
    return np.asarray(np.linalg.eigvalsh(released - value)[:, place])


class ComposedAudit(BlackBoxAudit):
    """Several releases, the later ones along what the first ones say: their composition.

    The bound is that of Gaussian mechanisms whose mu^2 add up, each found apart: ``mus``, by the
    largest changes that a search finds. ``noisy`` audits the part whose noise is tested for its
    scale; None where replays alone see the noise.
    """

    tool = "composition"

    def __init__(
        self, release: Release, mus: Iterable[float], noisy: Audit | None, stream: Generator
    ) -> None:
        super().__init__(release, stream)
        self._noisy = noisy
        self.mu = float(np.linalg.norm([*mus]))
        self.bound = gaussian.epsilon(release.delta, self.mu)
        self.kappa = gaussian.mu(release.epsilon, release.delta) / self.mu

    def scale(self, stream: Generator) -> Scale:
        """Test the noise of the released second moments."""
        return self._noisy.scale(stream) if self._noisy else super().scale(stream)

    def executed(self, stream: Generator) -> Finding:
        """Replay the draws of all parts."""
        return composition.executed(self.release, stream)


class ChosenAudit(ComposedAudit):
    """Second moments by a mechanism that looks at the records for what it releases them with.

    The neighbours are those whose second moments differ most. All other records are zero.
    """

    def __init__(
        self, release: Release, mus: Iterable[float], noisy: Audit | None, stream: Generator
    ) -> None:
        super().__init__(release, mus, noisy, stream)
        query = release.query
        moments = SecondMomentQuery(query.domain, query.records, query.adjacency)
        pair = worst(moments, frobenius, stream)
        self._answers = [*runs.values(moments, pair)]
        others = [(0, 0), (0, query.records - 1)]
        self._values = [np.pad(record[:, None], others) for record in pair[:2]]
        self._numbers = 2.0 * query.features**2
        # Its eigenvectors may be computed as well.
        self.cost = 10 * self._numbers
