"""Intervals and standard errors from the noise alone, for answers from noisy second moments.

An interval covers the answer that the records within their public bounds give without noise. Where
a private radius shrinks records further it would not, and its numbers are called noise alone. It
does not cover the effects of a regression's ridge, of records of a person that do not count, or of
sampling the records. All entries of an interval hold simultaneously. Intervals are post-processing:
noise is simulated from its calibration, with a fixed seed.

Take noisy moments S + N, a noisy mean b = a + n, and the covariance C = S - a a^T. The released
covariance differs from C by N - b n^T - n b^T + n n^T. So bounds on N and n, which hold together
with the level's probability, bound the error for any b. Eigenvalues move by at most the spectral
norm of the error (Weyl). A projection to positive semi-definite matrices takes them no further.
Moments about a noisy mean a + n that was released before them are S + N = C + n n^T + N.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.special import ndtri

from matrixdp.checks import Array
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.moments import CONSTANT, MeanCovariance
from matrixdp.noise import safe

#: Probability of the intervals that files state.
LEVEL = 0.95
#: Key of intervals in files.
KEY = f"interval_{LEVEL:.0%}".rstrip("%")
#: Name of the same numbers where they leave out what a private radius takes from the answer.
ALONE = f"noise_alone_{LEVEL:.0%}".rstrip("%")

#: Number of draws of noise in a simulation, its minimum for large matrices, and the seed. No
#: private noise depends on them.
_DRAWS, _LEAST_DRAWS, _SEED = 2000, 100, 0
#: Limits on draws x m^3 operations, and on the entries that are held in memory at once.
_WORK, _ENTRIES = 4e9, 1 << 19


class MomentNoise:
    """Noise of a mean and covariance in half ranges, simulated from its calibration.

    Args:
        release: calibrated mechanism for second moments: of records with a constant if ``mean_std``
            is None, otherwise of records about a mean that was released separately.
        mean_std: standard deviation of the noise of that mean as it is drawn, with its rounding
            factor.
        draws: number of draws at most.
    """

    def __init__(
        self, release: AdditiveMechanism, mean_std: float | None = None, draws: int = _DRAWS
    ) -> None:
        self.release, self._mean_std = release, mean_std
        most = int(np.clip(_WORK / release.noise.shape[0] ** 3, _LEAST_DRAWS, _DRAWS))
        self._draws = min(most, draws)

    def _blocks(self) -> Iterable[tuple[Array, Array]]:
        """Return :meth:`_draw_blocks`; what fits in memory is drawn once."""
        size = self.release.noise.shape[0]
        return self._small if self._draws * size**2 <= _ENTRIES else self._draw_blocks()

    @LazyProperty
    def _small(self) -> list[tuple[Array, Array]]:
        return [*self._draw_blocks()]

    def _draw_blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield the noise of moments (k, m, m) and of the mean (k, m), the same in each call."""
        stream, shape = np.random.default_rng(_SEED), self.release.noise.shape
        step = max(1, _ENTRIES // (shape[0] * shape[1]))
        for start in range(0, self._draws, step):
            count = min(step, self._draws - start)
            moments = self.release.noise.sample(stream, count) * self.release.rounding_factor
            if self._mean_std is None:
                columns = np.delete(np.arange(shape[0]), CONSTANT)
                yield moments[:, columns[:, None], columns], moments[:, CONSTANT, columns]
            else:
                yield moments, self._mean_std * stream.standard_normal(moments.shape[:2])

    @LazyProperty
    def _sizes(self) -> Array:
        """Spectral norms of the moments' noise, and norms of the mean's."""
        sizes = [
            [np.linalg.norm(moments, 2, axis=(1, 2)), np.linalg.norm(means, axis=1)]
            for moments, means in self._blocks()
        ]
        return np.concatenate(sizes, axis=1)

    def eigenvalue_width(self, mean: Array) -> float:
        """Return a bound on the errors of all eigenvalues of a covariance, about a mean (m,)."""
        # Weyl's inequality; each of the two bounds fails with half of the probability.
        part_level = (1 + LEVEL) / 2
        size, shift = np.quantile(self._sizes, part_level, axis=1, method="higher").tolist()
        if self._mean_std is not None:
            return float(size + shift**2)
        return size + 2 * float(np.linalg.norm(mean)) * shift + shift**2

    def covariance_widths(self, mean: Array) -> tuple[Array, Array]:
        """Return bounds on the errors of a mean (m,) and of the unprojected covariance (m, m)."""
        if self._mean_std is not None:
            part_level = (1 + LEVEL) / 2
            shifts = self._private_mean_widths(part_level, len(mean))
            return shifts, self.release.interval(part_level) + shifts[0] ** 2
        entries = self.release.interval(LEVEL)
        columns = np.delete(np.arange(len(entries)), CONSTANT)
        shifts = entries[CONSTANT, columns]
        cross = np.outer(np.abs(mean), shifts)
        return shifts, entries[columns[:, None], columns] + cross + cross.T + np.outer(
            shifts, shifts
        )

    def mean_widths(self, columns: int) -> Array:
        """Return bounds in half ranges on the errors of a mean of m ``columns`` alone, (m,)."""
        if self._mean_std is not None:
            return self._private_mean_widths(LEVEL, columns)
        entries = self.release.interval(LEVEL, columns)
        return np.delete(entries[CONSTANT], CONSTANT)

    def _private_mean_widths(self, level: float, columns: int) -> Array:
        """Return bounds that hold together on the noise of the mean that was released before, (m,).

        Its numbers have independent noise, so that the level is exact; entries of moments need a
        union bound.
        """
        assert self._mean_std is not None
        quantile = ndtri((1 + level ** (1 / columns)) / 2)
        # As in AdditiveMechanism.interval: the value is rounded to a step, and so is the noise.
        return np.full(columns, self._mean_std * (quantile + 2 * safe.STEP))

    def coefficient_errors(
        self, estimate: MeanCovariance, ridge: Array, origin: Array | None = None
    ) -> Array:
        """Return simulated errors of the coefficients and, last, of the intercept (draws, m).

        They are to first order in the noise, about the regression with the same ridge and no noise.

        Args:
            estimate: mean and covariance in half ranges.
            ridge: ridge on each column x, (m - 1,).
            origin: point (m,) on the line of a regression without an intercept.
        """
        mean, covariance, _ = estimate
        centre = mean if origin is None else origin
        # Moments about the mean depend on its noise only where they are shifted elsewhere.
        offset = centre if self._mean_std is None else centre - mean
        second = covariance + np.outer(mean - centre, mean - centre)
        inverse = np.linalg.pinv(second[:-1, :-1] + np.diag(ridge), hermitian=True)
        slopes = inverse @ second[:-1, -1]
        result = []
        for moments, means in self._blocks():
            cross = means[:, :, None] * offset
            shifted = moments - cross - np.swapaxes(cross, 1, 2)
            errors = (shifted[:, :-1, -1] - shifted[:, :-1, :-1] @ slopes) @ inverse
            shift = means[:, -1] - means[:, :-1] @ slopes - errors @ mean[:-1]
            result.append(np.column_stack([errors, shift if origin is None else 0 * shift]))
        return np.concatenate(result)


def eigenvalues(values: Array, width: float) -> Array:
    """Return intervals of eigenvalues (k, 2), cut off at 0."""
    return np.maximum(np.column_stack([values - width, values + width]), 0)
