"""Value plus noise: a release for real use, with its rounding, its statement and its intervals."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy  # its parts load at their first use, which many commands do without
from numpy.typing import ArrayLike

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.isolation import isolate
from matrixdp.mechanisms import proofs
from matrixdp.mechanisms.mechanism import (
    Budget,
    CalibratedMechanism,
    NoGuarantee,
    PrivacyStatement,
    delta_for_noise,
)
from matrixdp.mechanisms.release import Rows
from matrixdp.noise import safe
from matrixdp.noise.distributions import GaussianDistribution, NoiseDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy import exact_sums, gaussian_dp

# What an inherited field is annotated with, which documentation looks up here.
from matrixdp.privacy.sensitivity import Mu
from matrixdp.privacy.sensitivity import Query as Query
from matrixdp.privacy.sizes import SizeQuery


@isolate
@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveMechanism(CalibratedMechanism):
    """Value plus ``noise`` of a distribution that does not depend on the value.

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> release = mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6)
    >>> release.epsilon_delivered <= 1, f"{release.noise_std:.4f}", f"{release.mu:.4f}"
    (True, '0.0211', '0.2367')
    """

    noise: Noise | NoiseDistribution

    @property
    def noise_name(self) -> str:
        """Name of the noise's family of distributions, in sentences."""
        if isinstance(self.noise, Noise):
            return "Gaussian" if self.noise.law == safe.NORMAL else "Laplace"
        return type(self.noise).__name__.removesuffix("Noise")

    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        noisy = self.noise.sample(generator, count)
        # NumPy would broadcast some other shapes over the entries of a value.
        if noisy.shape[1:] != value.shape[-2:]:
            raise InputError(
                f"noise has shape {noisy.shape[1:]} for a value of shape {value.shape[-2:]}; give "
                "it the shape of the query"
            )
        # In place: a new array takes as long as the noise.
        noisy += value
        return noisy

    def release(self, records: ArrayLike) -> Array:
        """Return one release for real use, of records that are first clipped to the public bounds.

        Args:
            records: one per row, (n, m); a missing value (NaN) counts as the middle of its bounds.

        Returns:
            The released value; a noisy matrix of records has one record per row again.

        Raises:
            InputError: as :func:`matrixdp.privacy.exact_sums.value` and :meth:`release_value`. No
                number that float64 holds raises it; what is no number does, which tells of a
                record.
        """
        return self.release_value(exact_sums.value(self.query, [records]))

    def release_value(self, value: Array) -> Array:
        """Return a value plus noise that is safe against floating-point attacks.

        Both are added as integer multiples of a step (see :mod:`matrixdp.noise.safe`). The sum is a
        rounding of the ideal release, and as private. Its guarantee is :attr:`statement`. The noise
        is larger by the factor :attr:`rounding_factor`, at usual budgets by a millionth or less.

        The statement covers finite values alone. No rule for a NaN in a sum is private, as its
        neighbour may lie anywhere: it is for records one by one, where :meth:`release` has it. Of a
        NaN the noise alone is published, as of a value of 0, and an infinite value is clipped.

        Args:
            value: result of :func:`matrixdp.privacy.exact_sums.value`, real numbers in an array of
                the shape of the query.

        Raises:
            InputError: as :attr:`rounding_factor`, or the value is no array of real numbers, or of
                another shape; whether it is raised never depends on the numbers.
        """
        noisy = self.add_noise(value, os.urandom)
        if self.query.output_type == "matrix":
            return noisy.T
        return noisy

    def add_noise(self, value: Array, bits: safe.Bits) -> Array:
        """Return a value plus safe noise from a source of random bits, which audits replace."""
        distribution, law, _ = self.whitened
        rounding_factor, exact = self.rounding_factor, self._numbers_of(value)
        # Clipping takes neighbours no further apart. It affects only values beyond the public
        # bounds, which a private number of records allows.
        reach = 1 / safe.STEP / self._roundings
        white = np.clip(distribution.whiten(exact), -reach, reach)
        # An integer of a NaN would be the most negative one.
        np.copyto(white, 0.0, where=np.isnan(white))
        steps = safe.rounded(white / rounding_factor) + safe.noise(law, white.size, bits)
        return distribution.colour(steps * np.float64(rounding_factor * safe.STEP))

    def _numbers_of(self, value: Array) -> Array:
        """Return a value as float64; InputError: it has another shape, or is of no real numbers."""
        try:
            array = value if type(value) is np.ndarray else np.ma.asarray(value)
        except (TypeError, ValueError):
            array = np.asarray(None)
        real = array.dtype.kind in "biuf"
        if not real or array.shape != self.noise.shape:
            problem = f"has shape {array.shape}" if real else "is no array of real numbers"
            raise InputError(
                f"value {problem}; give the value of {self.query.name}, real numbers of shape "
                f"{self.noise.shape}"
            )
        return np.asarray(np.ma.filled(array.astype(np.float64, copy=False), np.nan))

    @property
    def rounding_factor(self) -> float:
        """Factor of safe noise over ideal noise.

        It covers the rounding of the value, and the sampler's part of delta. With whitened entries
        of absolute value at most L, each of k roundings before the last one moves an entry by at
        most 2^-53 L. So k L <= 2^26 costs at most one step of 2^-26 for two neighbours together.
        The rounding to whole steps costs another.

        Raises:
            InputError: there is no safe noise of this distribution, or delta is too small for the
                sampler. Or float64 cannot hold the noise beside the largest value in the bounds.
            NoGuarantee: the release does not deliver the guarantee that it claims, or states what
                its noise does not prove, see :func:`matrixdp.mechanisms.proofs.require`.
        """
        distribution, law, sensitivity = self.whitened
        proofs.require(self)
        limit = self._limit
        side = self.query.domain.magnitudes[:, None]
        matrix = not distribution.symmetric
        largest = np.broadcast_to(side if matrix else side * side.T, self.noise.shape)
        white = distribution.largest(largest)
        # A record changes one column of a matrix, or all independent entries of second moments.
        changed = white.size
        if matrix and distribution.identical_columns:
            changed = min(changed, self.query.group * self.query.features)
        shift = 2 * safe.STEP * (np.sqrt(changed) if law == safe.NORMAL else changed)
        if self._products:
            # Errors of products with a basis grow with unequal sizes, and unequal feature units. A
            # sum of n products is off by n 2^-53 of their sizes (Higham, 2002, Section 3.1); a
            # basis is orthonormal to rounding alone, for which 2^7 is a generous guess.
            spread = float(np.max(distribution.size) / np.min(distribution.size))
            spread *= (side.max() / side.min()) ** self._products
            shift += limit * spread * max(self.noise.shape) * 2.0**-46
        remedy = ""
        # Beyond half of the limit the noise would more than double.
        if not shift <= limit / 2:
            remedy = "choose a larger epsilon"
        elif not white.max() * self._roundings <= 1 / safe.STEP:
            remedy = (
                "choose a smaller epsilon or number of records, or bounds that are not far from 0"
            )
        if remedy:
            raise InputError(
                f"noise of {self.noise_std:.3g} cannot be added safely to values of up to "
                f"{largest.max():.3g}; {remedy}"
            )
        return float(sensitivity / (limit - shift))

    @property
    def _products(self) -> int:
        """Number of products with a basis that whiten a value."""
        distribution, _, _ = self.whitened
        return 0 if distribution.basis is None else 1 + distribution.symmetric

    @property
    def _roundings(self) -> int:
        """Bound on the rounding error of a whitened entry, in ulps of the largest one."""
        return _ROUNDINGS + self._products * self.noise.shape[0]

    @property
    def _limit(self) -> float:
        """Largest distance of whitened neighbours for which delta covers the sampler's part."""
        _, law, sensitivity = self.whitened
        delta = delta_for_noise(self.epsilon_delivered, self.delta, self.numbers)
        if law == safe.LAPLACE:
            return sensitivity
        return min(sensitivity, _largest_mu(self.epsilon_delivered, delta))

    @property
    def statement(self) -> PrivacyStatement:
        """The guarantee of :meth:`release`, if :attr:`rounding_factor` exists.

        Raises:
            InputError: as :attr:`rounding_factor`.
        """
        _ = self.whitened
        proofs.require(self)
        mu = None if self.mu is None else self._limit
        return PrivacyStatement.of(self, self.delta or self.extra_delta, mu)

    def interval(self, level: float = 0.95, entries: int | None = None) -> Array:
        """Return simultaneous bounds on the noise of :meth:`release` in each entry.

        All entries of the exact value on clipped records lie within these distances of the released
        ones with probability ``level``, by a union bound. Effects of clipping and of sampling the
        records are not covered.

        Args:
            level: probability between 0 and 1.
            entries: how many entries, chosen before the release, are to lie within their bounds
                together; None takes all that are independent.

        Returns:
            Bounds in the shape of :meth:`release`: (m, m) for second moments, otherwise one row
            per record.

        Raises:
            InputError: as :attr:`rounding_factor`, or the level is out of range.

        >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
        >>> mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6).interval(0.95).round(4)
        array([[0.0473, 0.0473]])
        """
        checks.open_unit(level=level)
        noise, law, _ = self.whitened
        deviations, chance = np.sqrt(noise.variances), (1 - level) / (entries or noise.count)
        if law == safe.NORMAL:
            quantile = -scipy.special.ndtri(chance / 2)
        else:
            quantile = -np.log(chance) / np.sqrt(2)
        # The value is rounded to a step, and so is the noise.
        bounds = self.rounding_factor * (quantile + 2 * safe.STEP) * deviations
        widths = np.broadcast_to(bounds, noise.shape)
        return widths if noise.symmetric else widths.T

    #: Noise of a mean that was released before, and of the number of records over the stated one:
    #: none. A release in parts has both, and several radii.
    centre_std: ClassVar[float] = 0.0
    weight_std: ClassVar[float] = 0.0

    def prepare(self, rows: Rows) -> Callable[[], Array]:
        """Read the records once, so that bad ones end it; return a function that draws a release.

        Args:
            rows: returns the records of the query in blocks (k, m).
        """
        if isinstance(self.query, SizeQuery):
            value = self.query.counts(rows())
        else:
            value = exact_sums.value(self.query, rows())
        return lambda: self.release_value(value)

    def check(self) -> None:
        """Check that it has the noise that it states, and that this can be drawn.

        Raises:
            InputError: as :attr:`rounding_factor`, or as :func:`matrixdp.noise.safe.table`.
        """
        _ = self.rounding_factor
        safe.table(self.whitened[1])

    def at(self, radius: float) -> AdditiveMechanism:
        """Return the release itself, whose records are clipped to one domain."""
        return self

    @property
    def costs(self) -> list[dict[str, Any]]:
        """What each part spends: there are none."""
        return []

    @property
    def widest(self) -> AdditiveMechanism:
        """The release itself, whose records are clipped to one domain."""
        return self

    @property
    def numbers(self) -> int:
        """Upper bound on the random numbers that :meth:`release_value` draws."""
        rows, columns = self.noise.shape
        return rows * columns

    @property
    def extra_delta(self) -> float:
        """The sampler's part of delta, at ``epsilon_delivered``."""
        return safe.extra_delta(self.epsilon_delivered, self.numbers)

    @property
    def whitened(self) -> tuple[Noise, str, float]:
        """The noise, the law of its independent numbers, and the whitened sensitivity."""
        if not self.epsilon_delivered <= self.epsilon * (1 + 1e-9) + 1e-11:
            raise NoGuarantee(
                f"the noise delivers epsilon {self.epsilon_delivered:.4g} and not {self.epsilon:g}"
                "; it is for simulation alone, so release nothing with it"
            )
        noise, symmetric = self.noise, self.query.output_type != "matrix"
        # Another author's class may whiten otherwise from call to call.
        if type(noise) is not Noise or noise.shape != self.query.shape:
            raise InputError(
                f"there is no safe noise for {type(noise).__name__}; take a mechanism with "
                "Gaussian or Laplace noise, a matrixdp.noise.value.Noise of the query's shape"
            )
        if noise.symmetric != symmetric:
            kind = "symmetric" if symmetric else "not symmetric"
            raise InputError(f"the noise does not suit {self.query.name}; make it {kind}")
        if noise.law == safe.LAPLACE:
            return noise, safe.LAPLACE, self.epsilon_delivered
        if self.mu is None:
            raise InputError("the noise is Gaussian and states no mu; give it")
        return noise, safe.NORMAL, self.mu


@functools.lru_cache
def _largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu of a guarantee, which each of many releases asks for."""
    return float(gaussian_dp.mu(epsilon, delta))


#: Bound on the roundings of a whitened entry without dense factors: three in the exact value, at
#: most three in whitening, one in the rounding factor.
_ROUNDINGS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class AdditiveGaussian(AdditiveMechanism):
    """Value plus Gaussian noise; it always has a ``mu``."""

    mu: float
    noise: Noise | GaussianDistribution

    @classmethod
    def independent(cls, query: Query, std: float, budget: Budget) -> Self:
        """Return a matrix with independent noise of one standard deviation on all entries."""
        mu = Mu(query.l2_sensitivity / std, query.l2_tight)
        noise = Noise.of(safe.NORMAL, std, query.shape)
        return cls.from_mu(mu, budget, query=query, noise=noise, noise_std=std)
