"""The audit of noise that another author's class whitens and colours.

A release is ``colour(whiten(value) + N)`` with white noise N of the library, simulated and real
(:class:`matrixdp.mechanisms.base.AdditiveMechanism`). It is private with the largest whitened
change of neighbours, whatever ``colour`` does. That change is searched for. ``whiten`` is a method
that may answer otherwise to a value that nothing tried, so that the release is tested at best.

Whether the release is value plus noise is a matter of the answer: equations of
:mod:`matrixdp.auditing.probes`. The class may sample noise itself, which no release uses; it is
tested by :mod:`matrixdp.auditing.whiteness`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from matrixdp import library
from matrixdp.auditing import draws, probes, proofs, runs, whiteness
from matrixdp.auditing.base import ROUNDING, RUNS, Audit, Scale
from matrixdp.auditing.gaussian import PURE, epsilon_of, waste_of
from matrixdp.auditing.neighbours import Neighbours, Size, worst
from matrixdp.auditing.normalised import normals_of
from matrixdp.auditing.status import DECLARED, REFUTED
from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.noise.distributions import GaussianDistribution, LaplaceNoise, laplaces, normals
from matrixdp.privacy.sensitivity import IdentityQuery

#: Numbers of whitened values that the search through the columns of records may make, and columns
#: that differ in their noise which it searches.
NUMBERS, KINDS = 2e7, 4

#: Largest difference of a sample and of coloured white noise, over the largest sample.
CLOSE = 1e-9

#: Largest number of runs of the black box, where each value is whitened and coloured alone.
MOST = 20_000

#: Scale of white noise of the library, which is right by construction.
EXACT = Scale(1.0, 1.0, 1.0, 0.0)


class WhitenedAudit(Audit):
    """An audit by the largest whitened change; ``order`` is that of the norm."""

    order: int

    def __init__(
        self,
        release: AdditiveMechanism,
        distribution: GaussianDistribution | LaplaceNoise,
        stream: np.random.Generator,
    ) -> None:
        self.release: AdditiveMechanism = release
        self._distribution = distribution
        self._whiten = probes.flat(distribution)
        query = release.query
        if isinstance(query, IdentityQuery):
            self._pair, first = self._worst_column(stream)
        else:
            self._pair, first = worst(query, self._size(self._stacks()), stream), 0
        value = draws.value_within(release, self._pair)
        self._values = [value, value]
        if isinstance(query, IdentityQuery):
            self._values = [value.copy(), value.copy()]
            for copy, side in zip(self._values, self._pair[:2], strict=True):
                columns = np.reshape(side, (-1, query.features)).T
                copy[:, first : first + columns.shape[1]] = columns
        else:
            self._values = [*runs.values(query, self._pair)]
        self._white = self._whiten(np.stack(self._values))
        self.cost = float(np.prod(query.shape))

    def _size(self, whiten: probes.Stacks) -> Size:
        return lambda change: np.linalg.norm(whiten(change), ord=self.order, axis=-1)

    def _stacks(self) -> probes.Stacks:
        """Return the map of stacks: that of the class where it serves stacks, or one by one."""
        sample = np.random.default_rng(0).standard_normal((3, *self._distribution.shape))
        expected = self._whiten(sample)
        try:
            together = np.asarray(self._distribution.whiten(sample))
        except (ValueError, IndexError, TypeError):
            return self._whiten
        if together.shape == expected.shape and np.array_equal(together, expected):
            return self._distribution.whiten
        return self._whiten

    def _worst_column(self, stream: np.random.Generator) -> tuple[Neighbours, int]:
        """Return the worst neighbours and the first column in which they differ.

        Columns may have other noise each. A few that differ most are searched: those of the
        largest bound on their whitened change.
        """
        query = self.release.query
        m, n = query.shape
        group = query.group
        count = int(np.clip(NUMBERS / (m * m * n * group), 2, n - group + 1))
        columns = np.unique(np.linspace(0, n - group, count).astype(int))
        if len(columns) < n - group + 1:
            self.unseen += f"; {len(columns)} of {n} columns were searched"
        maps: dict[tuple[str, bytes], tuple[float, int, Array]] = {}
        sides = np.ptp([query.domain.magnitudes, -query.domain.magnitudes], axis=0)
        for column in columns.tolist():
            basis = np.zeros((m * group, m, n))
            for index in range(m * group):
                basis[index, index // group, column + index % group] = 1.0
            white = self._whiten(basis)
            size = float(np.abs(white).max())
            shape = np.round(white @ white.T / max(size, 1e-300) ** 2, 9)
            key = (f"{size:.9g}", shape.tobytes())
            bound = float((np.linalg.norm(white, axis=1) * np.repeat(sides, group)).sum())
            support = white[:, np.any(white != 0, axis=0)]
            maps.setdefault(key, (bound, column, support))
        ranked = sorted(maps.values(), key=lambda one: -one[0])[:KINDS]
        results = []
        for _, column, white in ranked:
            results.append((worst(query, self._size(_linear(white)), stream), column))
        return max(results, key=lambda result: result[0].size)

    @property
    def runs(self) -> int:
        """Number of runs on each neighbour, of which each takes long."""
        return min(MOST, RUNS, super().runs)

    def _released(self, value: Array, count: int, stream: np.random.Generator) -> Array:
        """Return whitened releases (count, d) of a value."""

        def part(number: int) -> Array:
            return self._whiten(self.release.simulate(value, [stream] * number)).T

        return runs.in_blocks(part, count, self.cost).T

    def scale(self, stream: np.random.Generator) -> Scale:
        """Return 1: the noise is the library's by construction."""
        return EXACT

    def flaws(self, stream: np.random.Generator) -> list[str]:
        """Return verdicts on the equations, on the class's own sampler, and on other draws."""
        release, noise = self.release, self._distribution
        flaws = []
        symmetric = release.query.output_type != "matrix"
        if words := probes.defect(noise, symmetric, stream):
            flaws.append(f"{DECLARED}: {words}")
        if not library.owns(release) and isinstance(noise, GaussianDistribution):
            verdicts, seen = draws.flaws(release, noise, self._pair, stream)
            flaws += verdicts
            self.unseen += f"; {seen}"
        return flaws or _of_sampler(noise, stream)


def _linear(matrix: Array) -> probes.Stacks:
    """Return the map of changes (k, m, n') by a matrix (m n', d)."""
    return lambda change: change.reshape(len(change), -1) @ matrix


def _of_sampler(
    noise: GaussianDistribution | LaplaceNoise, stream: np.random.Generator
) -> list[str]:
    """Return the verdict on a class's own sampler, which no release uses.

    Samples are right if they are coloured white noise of the same stream, to rounding. If not, only
    a test can tell whether they have the declared distribution.
    """
    entries = noise.whiten(np.zeros(noise.shape)).size
    count, seed = whiteness.draws_of(entries), int(stream.integers(2**32))
    sampled = noise.sample([np.random.default_rng(seed)] * count)
    if any(_colours(noise, white, sampled) for white in _white_noise(noise, entries, count, seed)):
        return []
    white = probes.flat(noise)(sampled)
    defect = whiteness.judge(
        normals_of(white) if isinstance(noise, LaplaceNoise) else white, stream
    )
    own = "its own sampler, which no release uses"
    if defect.defect:
        return [f"{REFUTED}: {own}, differs: {defect.defect}"]
    return [f"{DECLARED}: {own}, does not colour white noise"]


def _white_noise(
    noise: GaussianDistribution | LaplaceNoise, entries: int, count: int, seed: int
) -> Iterator[Array]:
    """Yield white noise of a stream as the library draws it, entry by entry or of full matrices."""
    streams = [np.random.default_rng(seed)] * count
    if isinstance(noise, LaplaceNoise):
        yield laplaces(streams, entries)
    else:
        yield normals(streams, (entries,))
    if type(noise).white_noise.__module__ in library.MODULES:
        yield noise.white_noise([np.random.default_rng(seed)] * count)


def _colours(noise: GaussianDistribution | LaplaceNoise, white: Array, sampled: Array) -> bool:
    """Return whether samples are coloured white noise, to rounding."""
    limit = CLOSE * float(np.abs(sampled).max())
    pairs = zip(white, sampled, strict=True)
    return all(np.abs(noise.colour(numbers) - one).max() <= limit for numbers, one in pairs)


class WhitenedGaussianAudit(WhitenedAudit):
    """An audit of Gaussian noise of another author, by the exact curve."""

    tool = "exact curve"
    order = 2

    def __init__(
        self,
        release: AdditiveMechanism,
        distribution: GaussianDistribution,
        stream: np.random.Generator,
    ) -> None:
        super().__init__(release, distribution, stream)
        self.mu = self._pair.size
        declared = self.mu if release.mu is None or release.epsilon_exact else release.mu
        largest = max(self.mu, declared)
        self.attained = epsilon_of(release.delta, self.mu)
        self.bound = epsilon_of(release.delta, largest)
        self.noise_inflation = waste_of(release, largest)
        # Noise of the library whose columns differ.
        proven = epsilon_of(release.delta, proofs.mu(release.query, distribution))
        self.proven = library.plain(release) and proven <= release.epsilon * (1 + ROUNDING)

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the projections of whitened releases on the whitened change."""
        unit = (self._white[0] - self._white[1]) / max(self.mu, 1e-300)
        first, second = (self._released(value, count, stream) @ unit for value in self._values)
        return first, second

    def flaws(self, stream: np.random.Generator) -> list[str]:
        """Return verdicts as :class:`WhitenedAudit`, and on a pure claim."""
        return [PURE] if not self.release.delta else super().flaws(stream)


class WhitenedLaplaceAudit(WhitenedAudit):
    """An audit of Laplace noise of another author, by the largest privacy loss."""

    tool = "maximal loss"
    order = 1

    def __init__(
        self, release: AdditiveMechanism, distribution: LaplaceNoise, stream: np.random.Generator
    ) -> None:
        super().__init__(release, distribution, stream)
        self.attained = self._pair.size
        self.bound = max(self.attained, release.epsilon_delivered)
        self.noise_inflation = release.epsilon / self.bound

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the privacy loss of each run."""
        sides = []
        for value in self._values:
            released = self._released(value, count, stream)
            ahead, behind = (np.abs(released - white).sum(axis=1) for white in self._white)
            # Losses have atoms at their extremes, which an event must not split.
            sides.append(np.round(behind - ahead, 9))
        return sides[0], sides[1]
