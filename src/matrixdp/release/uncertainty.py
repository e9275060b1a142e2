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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.mechanisms.composed import ComposedMoments
from matrixdp.mechanisms.moments import CONSTANT, MeanCovariance
from matrixdp.release import answers
from matrixdp.release.answers import Output
from matrixdp.release.recommend import Option
from matrixdp.release.specification import Specification

#: Probability of the intervals that files state.
LEVEL = 0.95
#: Key of intervals in files.
KEY = f"interval_{LEVEL:.0%}".rstrip("%")
#: Name of the same numbers where they leave out what a private radius takes from the answer.
_ALONE = f"noise_alone_{LEVEL:.0%}".rstrip("%")

#: Key of standard errors of a regression, which leave out clipping and the ridge.
ERRORS = "standard_errors_of_the_noise_alone"
#: What files say in place of an interval of a regression.
NO_INTERVAL = {"uncertainty": "no interval; standard errors of the noise alone"}

#: Queries whose uncertainty depends on the answer, and stands beside it instead of in the receipt.
KINDS = ("covariance", "components", "regression")
#: Queries of a covariance, to whose noise that of the mean adds.
SPREADS = ("covariance", "components")

#: Noise of a weight, from which on answers that are divided by it may be off by any factor.
FAITHFUL = 0.15

#: Number of draws of noise in a simulation, its minimum for large matrices, and the seed. No
#: private noise depends on them.
_DRAWS, _FEW, _SEED = 2000, 100, 0
#: Limits on draws x m^3 operations, and on the entries that are held in memory at once.
_WORK, _ENTRIES = 4e9, 1 << 19


class MomentNoise:
    """Noise of a mean and covariance in half ranges, simulated from its calibration.

    Args:
        release: calibrated mechanism for second moments: of records with a constant if ``mean_std``
            is None, otherwise of records about a mean that was released separately.
        mean_std: standard deviation of the noise of that mean.
    """

    def __init__(self, release: AdditiveMechanism, mean_std: float | None = None) -> None:
        self._release, self._mean_std = release, mean_std
        self._rounding_factor, size = release.rounding_factor, release.noise.shape[0]
        self._draws = int(np.clip(_WORK / size**3, _FEW, _DRAWS))

    def _blocks(self) -> Iterable[tuple[Array, Array]]:
        """Return :meth:`_drawn`; what fits in memory is drawn once."""
        size = self._release.noise.shape[0]
        return self._small if self._draws * size**2 <= _ENTRIES else self._drawn()

    @cached_property
    def _small(self) -> list[tuple[Array, Array]]:
        return [*self._drawn()]

    def _drawn(self) -> Iterator[tuple[Array, Array]]:
        """Yield the noise of moments (k, m, m) and of the mean (k, m), the same in each call."""
        stream, shape = np.random.default_rng(_SEED), self._release.noise.shape
        step = max(1, _ENTRIES // (shape[0] * shape[1]))
        columns = np.delete(np.arange(shape[0]), CONSTANT)
        for start in range(0, self._draws, step):
            count = min(step, self._draws - start)
            moments = self._release.noise.sample([stream] * count) * self._rounding_factor
            moments = (moments + np.swapaxes(moments, 1, 2)) / 2
            if self._mean_std is None:
                yield moments[:, columns[:, None], columns], moments[:, CONSTANT, columns]
            else:
                yield moments, self._mean_std * stream.standard_normal(moments.shape[:2])

    @cached_property
    def _sizes(self) -> Array:
        """Spectral norms of the moments' noise, and norms of the mean's."""
        sizes = [
            [np.linalg.norm(moments, 2, axis=(1, 2)), np.linalg.norm(means, axis=1)]
            for moments, means in self._blocks()
        ]
        return np.concatenate(sizes, axis=1)

    def eigenvalue_width(self, mean: Array, level: float = LEVEL) -> float:
        """Return a bound on the errors of all eigenvalues of a covariance.

        Args:
            mean: released mean, (m,).
            level: probability that the bound holds for all of them.
        """
        each = (1 + level) / 2
        size, shift = np.quantile(self._sizes, each, axis=1, method="higher").tolist()
        if self._mean_std is not None:
            return float(size + shift**2)
        return size + 2 * float(np.linalg.norm(mean)) * shift + shift**2

    def covariance_widths(self, mean: Array, level: float = LEVEL) -> tuple[Array, Array]:
        """Return bounds on the errors of the mean (m,) and of the unprojected covariance (m, m).

        Args:
            mean: released mean, (m,).
            level: probability that all bounds hold.
        """
        if self._mean_std is not None:
            each = (1 + level) / 2
            shift = float(self._mean_std * ndtri((1 + each ** (1 / len(mean))) / 2))
            return np.full(len(mean), shift), self._release.interval(each) + shift**2
        entries = self._release.interval(level)
        columns = np.delete(np.arange(len(entries)), CONSTANT)
        shifts = entries[CONSTANT, columns]
        cross = np.outer(np.abs(mean), shifts)
        return shifts, entries[columns[:, None], columns] + cross + cross.T + np.outer(
            shifts, shifts
        )

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
        apart = centre if self._mean_std is None else centre - mean
        second = covariance + np.outer(mean - centre, mean - centre)
        inverse = np.linalg.pinv(second[:-1, :-1] + np.diag(ridge), hermitian=True)
        slopes = inverse @ second[:-1, -1]
        result = []
        for moments, means in self._blocks():
            cross = means[:, :, None] * apart
            moved = moments - cross - np.swapaxes(cross, 1, 2)
            errors = (moved[:, :-1, -1] - moved[:, :-1, :-1] @ slopes) @ inverse
            shift = means[:, -1] - means[:, :-1] @ slopes - errors @ mean[:-1]
            result.append(np.column_stack([errors, shift if origin is None else 0 * shift]))
        return np.concatenate(result)


def standard_errors(
    noise: MomentNoise, output: Output, estimate: MeanCovariance, noise_std: float
) -> Array:
    """Return standard errors of coefficients and, last, of the intercept (m,), in records' units.

    The other arguments are those of :func:`matrixdp.release.answers.line`.
    """
    origin = None if output.intercept else -output.middle / output.half
    ridge = output.ridge(output.about_origin(estimate), noise_std)
    errors = noise.coefficient_errors(estimate, ridge, origin)
    moved = in_units(output, errors[:, :-1], errors[:, -1])
    deviations: Array = np.sqrt(np.mean(moved**2, axis=0))
    return deviations


def in_units(output: Output, slopes: Array, shifts: Array) -> Array:
    """Return errors (k, m) of coefficients and intercepts, in the records' own units."""
    about = replace(output, middle=np.append(output.middle[:-1], 0.0))
    return np.column_stack(about.in_units(slopes, shifts))


def eigenvalues(values: Array, width: float) -> Array:
    """Return intervals of eigenvalues (k, 2), cut off at 0."""
    return np.maximum(np.column_stack([values - width, values + width]), 0)


def details(
    spec: Specification,
    noise: MomentNoise,
    estimate: MeanCovariance,
    unprojected: Array,
    noise_std: float,
    *,
    clipped: bool = False,
) -> dict[str, Any]:
    """Return the intervals of an answer in the records' own units, as files state them.

    Args:
        spec: specification of a query of ``KINDS``.
        noise: simulated noise of the release.
        estimate: mean and covariance in half ranges.
        unprojected: covariance before its projection to positive semi-definite, (m, m).
        noise_std: standard deviation of the moments' noise.
        clipped: whether a private radius shrinks records. Only intervals of the mean cover then.
    """
    key = _ALONE if clipped else KEY
    query_name, names, middle, half = spec.query_name, spec.columns, spec.middle, spec.half
    mean = estimate.mean
    if query_name == "regression":
        errors = standard_errors(noise, spec.output, estimate, noise_std)
        return {**NO_INTERVAL, ERRORS: errors_table(names, errors)}
    if query_name == "components":
        values = answers.spectrum(estimate.covariance)[0]
        limits = eigenvalues(values, noise.eigenvalue_width(mean))
        return {key: {"eigenvalue": limits.tolist()}}
    shifts, widths = noise.covariance_widths(mean)
    limits = np.clip(mean[:, None] + shifts[:, None] * [-1, 1], -1, 1)
    entries = (unprojected[:, :, None] + widths[:, :, None] * [-1, 1]) * np.outer(half, half)[
        :, :, None
    ]
    content = {KEY: {"mean": answers.table(names, limits * half[:, None] + middle[:, None])}}
    rows = {name: answers.table(names, row) for name, row in zip(names, entries, strict=True)}
    content.setdefault(key, {})["covariance"] = rows
    return content


def weight_std(spec: Specification, option: Option) -> float:
    """Return the standard deviation of the noise of the weight that divides answers, 0 if none."""
    release, spread = option.release, option.variances
    if isinstance(release, ComposedMoments):
        return release.weight_std
    if not (spec.constant and spec.weighted and isinstance(release, AdditiveMechanism)):
        return 0.0
    variance = spread[CONSTANT, CONSTANT if spread.shape[1] > 1 else 0]
    return float(release.rounding_factor * np.sqrt(variance))


def deviations(spec: Specification, option: Option) -> tuple[Array, Array]:
    """Return standard deviations of the noise of each column's number, two arrays (m,).

    The number is a value or a mean in half ranges, otherwise a mean square or a variance in their
    squares. The first array holds where the column's mean b is 0, the middle of the bounds, and the
    second one where it is 1 or -1, the worst case. Clipped moments are those at the largest radius.

    In the terms of this module a variance has the noise N - 2 b n - n^2, or N + n^2 about a mean
    that was released before. Of deviation s, n^2 has the variance 2 s^4 for Gaussian noise and
    5 s^4 for Laplace noise. Division by a noisy weight 1 + e, for as many records as were stated,
    adds - b e to the noise of a mean, and at most e to that of a variance. What is of second order
    in e is a share of at most 8 times the variance of e, up to a deviation of ``FAITHFUL``.
    """
    release, spread, weight = option.release, option.variances, weight_std(spec, option) ** 2
    columns, covers = np.arange(len(spec.columns)), spread.shape[1] > 1
    mean = np.zeros(len(columns))
    if isinstance(release, ComposedMoments):
        spread = spread * release.widest.rounding_factor**2
        mean = mean + release.centre_std**2
    else:
        assert isinstance(release, AdditiveMechanism)
        spread = spread * release.rounding_factor**2
    if spec.constant:
        columns = np.delete(np.arange(len(spread)), CONSTANT)
        mean = spread[columns, CONSTANT] if covers else mean
    least = spread[columns, columns if covers else 0] + weight * covers
    largest = least + weight * (not covers)
    if spec.query_name in SPREADS:
        least = least + (2 if release.mu is not None else 5) * mean**2
        largest = least + 4 * mean * spec.constant
    second = 1 + 8 * weight
    return np.sqrt(second * least), np.sqrt(second * largest)


def receipt(spec: Specification, release: AdditiveMechanism) -> dict[str, Any]:
    """Return public bounds on the noise in the numbers of a release, as a receipt states them.

    Queries of ``KINDS`` have none here, as their intervals depend on the answer. Answers that are
    divided by a private number of records, or by one of values present, have none either.
    """
    if spec.query.private_count or spec.present:
        return {}
    widths = release.interval(LEVEL)
    if spec.query_name == "second_moments":
        return moments_table(spec.columns, widths * np.outer(spec.half, spec.half))
    if spec.query_name in ("records", "mean"):
        return {f"{KEY}_plus_or_minus": answers.table(spec.columns, widths[0] * spec.half)}
    return {}


def errors_table(names: Sequence[str], errors: Array) -> dict[str, Any]:
    """Return the errors (m,) of a regression of the last column, as files state them."""
    return answers.table([*names[:-1], "intercept"], errors)


def moments_table(names: Sequence[str], widths: Array, *, clipped: bool = False) -> dict[str, Any]:
    """Return bounds (m, m) on the noise of second moments, as files state them."""
    rows = zip(names, widths, strict=True)
    return {
        f"{_ALONE if clipped else KEY}_plus_or_minus": {
            name: answers.table(names, row) for name, row in rows
        }
    }
