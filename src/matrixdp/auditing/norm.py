"""The audit of noise with density exp(-size): Laplace and K-norm."""

from __future__ import annotations

from functools import partial

import numpy as np

from matrixdp import library
from matrixdp.auditing import draws
from matrixdp.auditing.audit import ROUNDING, Audit, Scale, gamma_scale, size_of, trials_of
from matrixdp.auditing.neighbours import counts, worst
from matrixdp.checks import Array
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.noise.distributions import SizedDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.sensitivity import RecordsQuery

#: Decimals to which privacy losses are rounded.
DECIMALS = 9


class NormAudit(Audit):
    """An audit by the largest pointwise privacy loss, which is exact for pure differential privacy.

    The loss (|Y - f(X')| - |Y - f(X)|) / scale is at most |f(X) - f(X')| / scale, attained at
    Y = f(X). The norm of the noise over its scale follows Gamma(d), with d the number of free
    entries; this tests the sampler.
    """

    tool = "maximal loss"

    def __init__(
        self,
        release: AdditiveMechanism,
        distribution: Noise | SizedDistribution,
        stream: np.random.Generator,
    ) -> None:
        self.release: AdditiveMechanism = release
        self._distribution = distribution
        self._size = size_of(distribution)
        self._pair = worst(release.query, self._size, stream)
        self.attained = self._pair.size
        self.bound = max(self.attained, release.epsilon_delivered)
        self.noise_inflation = release.epsilon / self.bound
        proven = proofs.size(release.query, distribution)
        self.proven = library.plain(release) and proven <= release.epsilon * (1 + ROUNDING)
        m, n = release.query.shape
        # The columns of one person suffice where columns are independent and identically
        # distributed.
        few = isinstance(release.query, RecordsQuery) and distribution.identical_columns
        self.cost = float(m * (counts(release.query)[1] if few else n))

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the privacy loss of each run."""
        release, query, size = self.release, self.release.query, self._size
        if isinstance(query, RecordsQuery) and not self._distribution.identical_columns:
            # All columns share one radius and must be drawn. Zeros stand for the other records.
            return tuple(draws.in_blocks(partial(self._whole, stream), count, self.cost))
        before, after = draws.values(query, self._pair)
        shift = before - after

        def losses(values: Array) -> Array:
            # Losses have atoms at their extremes. Rounding errors differ between the neighbours,
            # and an event must not split an atom by them.
            sides = values + shift, values
            return np.stack([np.round(size(z - after) - size(z - before), DECIMALS) for z in sides])

        first, second = draws.runs(release, self._pair, count, stream, losses)
        return first, second

    def _whole(self, stream: np.random.Generator, count: int) -> Array:
        # One column for each record of the person.
        change = np.atleast_2d(self._pair.record - self._pair.other).T
        columns = slice(change.shape[1])
        noise = self.release.noise.sample(stream, count)
        size = self._size(noise)
        noise[:, :, columns] += change
        ahead = self._size(noise)
        noise[:, :, columns] -= 2 * change
        return np.stack([ahead - size, size - self._size(noise)])

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the sum of norms of the full query's noise."""
        m, n = self.release.query.shape
        trials = trials_of(m * n)
        total = self._size(self.release.noise.sample(stream, trials)).sum()
        noise = self._distribution
        free = noise.count if isinstance(noise, Noise) else noise.gamma_shape
        return gamma_scale(float(total), float(trials * free))
