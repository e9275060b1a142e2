"""The audit of value plus noise of a declared law, by the size of the worst change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp import library
from matrixdp.auditing import draws, evidence
from matrixdp.auditing.audit import (
    ROUNDING,
    TIGHT,
    Audit,
    Scale,
    epsilon_of,
    free_numbers,
    gamma_scale,
    is_gaussian,
    size_of,
    trials_of,
    waste_of,
)
from matrixdp.auditing.neighbours import worst
from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.noise.distributions import GaussianDistribution
from matrixdp.noise.value import Noise

#: Decimals to which privacy losses are rounded.
DECIMALS = 9


class AdditiveAudit(Audit):
    """An audit by the size of the worst change (:func:`matrixdp.auditing.audit.size_of`).

    Of Gaussian noise the size is mu, and the exact curve gives epsilon. Of noise with density
    exp(-size) it is epsilon itself: the loss |Y - f(X')| - |Y - f(X)| is at most |f(X) - f(X')|,
    attained at Y = f(X). The supremum over neighbours is proven where
    :mod:`matrixdp.mechanisms.proofs` bounds the size, of noise of a class of the library.

    The black box sees the likelihood ratio. The noise's own size follows a chi distribution, or
    Gamma(d) with d the number of free entries; this tests the sampler.
    """

    def __init__(self, release: AdditiveMechanism, stream: np.random.Generator) -> None:
        self.release: AdditiveMechanism = release
        query, noise, delta = release.query, release.noise, release.delta
        self._noise, self._gaussian, self._size = noise, is_gaussian(noise), size_of(noise)
        self._pair = worst(query, self._size, stream)
        self._values: tuple[Array, ...] = draws.values(query, self._pair)
        if not draws.alone(release):
            self._values = tuple(draws.padded(query, value) for value in self._values)
        self.cost = float(self._values[0].size)
        size = self._pair.size
        if self._gaussian:
            self.tool, self.mu = "exact curve", size
            stated = size if release.mu is None or release.tight else release.mu
            largest = max(size, stated)
            self.attained, self.bound = (epsilon_of(delta, mu) for mu in (size, largest))
            self.noise_inflation = waste_of(release, largest)
            if delta and self.attained >= release.epsilon * (1 - TIGHT):
                self.needed = evidence.runs_needed(release.epsilon, delta)
            proven = epsilon_of(delta, proofs.mu(query, noise))
        else:
            self.tool, self.attained = "maximal loss", size
            self.bound = max(size, release.epsilon_delivered)
            self.noise_inflation = release.epsilon / self.bound
            proven = proofs.size(query, noise)
        allowed = release.epsilon * (1 + ROUNDING)
        self.proven = library.plain(release) and bool(proven <= allowed)

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the likelihood ratio of each run, or what it is a function of."""
        ratio = self._projections if self._gaussian else self._losses
        first, second = draws.runs(self.release, self._values[1], count, stream, ratio)
        return first, second

    @LazyProperty
    def _projections(self) -> Callable[[Array], Array]:
        """Projections on the whitened change: N(c + mu, 1) and N(c, 1) under the declared law."""
        noise, change = self._noise, np.subtract(*self._values)
        assert isinstance(noise, Noise | GaussianDistribution)
        # Weights of the linear functional that projects.
        units = np.eye(change.size).reshape(-1, *change.shape)
        weights = noise.whiten(units) @ noise.whiten(change) / self.mu
        apart = float(weights @ change.ravel())

        def projected(values: Array) -> Array:
            second = values.reshape(len(values), -1) @ weights
            return np.stack([second + apart, second])

        return projected

    def _losses(self, values: Array) -> Array:
        """Return the privacy losses of releases of both neighbours by the same noise, (2, k).

        ``values`` are releases Y = f(X') + z of the second neighbour, (k, m, n), and c = f(X) -
        f(X'). The size |.| of noise is minus its log density. The first row has the losses of
        Y + c, which X releases by z: |z + c| - |z|. The second one has those of Y: |z| - |z - c|.

        Losses have atoms at their extremes. Rounding errors differ between the neighbours, and an
        event must not split an atom by them.
        """
        before, after = self._values
        noise, change = values - after, before - after
        ahead, size, behind = map(self._size, (noise + change, noise, noise - change))
        return np.round([ahead - size, size - behind], DECIMALS)

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the sizes of the full query's noise: of Gaussian noise the sum of their squares."""
        order = 2 if self._gaussian else 1
        trials = trials_of(float(np.prod(self.release.query.shape)))
        sizes = self._size(self.release.noise.sample(stream, trials))
        shape = trials * free_numbers(self._noise) / order
        return gamma_scale(float((sizes**order).sum()) / order, shape, root=self._gaussian)
