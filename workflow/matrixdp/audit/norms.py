"""Noise of density exp(-|Z| / scale) in some norm under audit: Laplace and K-norm."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from matrixdp import laws
from matrixdp.audit import few
from matrixdp.audit.laws import Law, Scale, gamma_scale, trials_of
from matrixdp.audit.neighbours import worst
from matrixdp.checks import Array
from matrixdp.mechanisms import laplace
from matrixdp.mechanisms.base import Additive

SAMPLERS = (
    laws.laplace,
    laplace.symmetric,
    laws.frobenius_exponential,
    laws.column_l2_exponential,
    laws.column_linf_exponential,
)


#: Decimals that are kept of a privacy loss.
DECIMALS = 9


class NormNoise(Law):
    """The loss (|Y - f(X')| - |Y - f(X)|) / scale is at most |f(X) - f(X')| / scale, at Y = f(X).

    So the largest pointwise loss is exact, for pure differential privacy. The norm of the noise
    over its scale follows Gamma(d), d the number of free entries, which tests the sampler.
    """

    tool = "maximal loss"

    def __init__(self, release: Additive, stream: np.random.Generator) -> None:
        self.release = release
        drawn = release.noise
        assert isinstance(drawn, partial)
        self._sampler, self._scale = drawn.func, float(drawn.keywords["scale"])
        self._norm = _norm(drawn)
        self._pair = worst(release.query, self._size, stream)
        self.attained = self._pair.size
        self.bound = max(self.attained, release.epsilon_actual)
        self.kappa = release.epsilon / self.bound

    def _size(self, z: Array) -> Array:
        return self._norm(z) / self._scale

    @property
    def _columns(self) -> bool:
        """Whether columns are independent, so that one is enough."""
        identity = self.release.query.name == "identity"
        return identity and self._sampler is not laws.frobenius_exponential

    @property
    def cost(self) -> float:
        """Entries that have to be drawn."""
        m, n = self.release.query.shape
        return float(m if self._columns else m * n)

    def statistic(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        """Return the privacy loss of each run."""
        release, query = self.release, self.release.query
        assert isinstance(release, Additive)
        if self._columns:
            runs = few.runs(release, self._pair, count, stream)
            first, second = (side[..., None] for side in runs)
        elif query.name == "identity":
            # One radius for all columns: all must be drawn. Zeros stand for the other records.
            return self._whole(count, stream)
        else:
            first, second = few.runs(release, self._pair, count, stream)
        return self._losses(first), self._losses(second)

    def _losses(self, released: Array) -> Array:
        query = self.release.query
        before, after = (few.value_of(query, x) for x in (self._pair.record, self._pair.other))
        # Losses have atoms at their extremes; an event must not split one by the last bits, which
        # differ between the neighbours. That is the rounding of floats, not the law of the noise.
        return np.round(self._size(released - after) - self._size(released - before), DECIMALS)

    def _whole(self, count: int, stream: np.random.Generator) -> tuple[Array, Array]:
        assert isinstance(self.release, Additive)
        change = self._pair.record - self._pair.other
        sides = np.empty((2, count))
        step = max(1, 2**20 // int(self.cost))
        for start in range(0, count, step):
            drawn = self.release.noise([stream] * min(step, count - start))
            part = slice(start, start + len(drawn))
            norms = {sign: self._moved(drawn, sign * change) for sign in (-1, 0, 1)}
            sides[:, part] = norms[1] - norms[0], norms[0] - norms[-1]
        return sides[0], sides[1]

    def _moved(self, drawn: Array, change: Array) -> Array:
        """Return the size of the noise after its first column has moved."""
        moved = drawn[:, :, 0] + change
        rest = self._norm(drawn) ** 2 - (drawn[:, :, 0] ** 2).sum(axis=1)
        return np.sqrt(np.maximum(rest, 0) + (moved**2).sum(axis=1)) / self._scale

    def scale(self, stream: np.random.Generator) -> Scale:
        """Test the sum of norms of the full query's noise."""
        assert isinstance(self.release, Additive)
        m, n = self.release.query.shape
        trials = trials_of(m * n)
        free = m * n if self.release.query.name == "identity" else m * (m + 1) // 2
        total = self._size(self.release.noise([stream] * trials)).sum()
        return gamma_scale(float(total), float(trials * free))


def _norm(drawn: partial) -> Callable[[Array], Array]:
    """Return the norm (..., m, n') -> (...) of a sampler's density."""
    if drawn.func is laws.laplace:
        return lambda z: np.abs(z).sum(axis=(-2, -1))
    if drawn.func is laplace.symmetric:
        return lambda z: np.abs(z * np.triu(np.ones(z.shape[-2:]))).sum(axis=(-2, -1))
    if drawn.func is laws.frobenius_exponential:
        return lambda z: np.sqrt((z**2).sum(axis=(-2, -1)))
    if drawn.func is laws.column_l2_exponential:
        return lambda z: np.sqrt((z**2).sum(axis=-2)).sum(axis=-1)
    weights = np.asarray(drawn.keywords["weights"], dtype=float)[:, None]
    return lambda z: (np.abs(z) / weights).max(axis=-2).sum(axis=-1)
