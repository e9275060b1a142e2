"""Clipped second moments after Dong, Liang & Yi (NeurIPS 2022), composed as Gaussian DP.

Their adaptive method searches for a radius with the sparse vector technique. It then releases noisy
second moments, or noisy eigenvalues along noisy eigenvectors, whichever has the smaller error
bound. Constants are those of the authors' code (github.com/hkustDB/PrivateCovariance, AdaptiveCov),
except that the noise at radius 2^k has the factor 4^k; the search of that code has 2^k.

Under zCDP an eighth of rho is for the trace, an eighth for the search, the rest for the moments.
Here these are the shares of mu^2. The search is pure epsilon-DP, and so mu-Gaussian DP with
Phi(mu / 2) = e^epsilon / (1 + e^epsilon). That Gaussian trade-off curve passes through the corner
of the pure one; it is convex, and so nowhere above the two lines.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from matrixdp.checks import Array, InputError
from matrixdp.library import LazyProperty
from matrixdp.mechanisms.additive import AdditiveGaussian
from matrixdp.mechanisms.clipped import clipped, halvings, tallies
from matrixdp.mechanisms.gaussian import independent_triangle
from matrixdp.mechanisms.mechanism import Budget, CalibratedMechanism, Mechanism
from matrixdp.mechanisms.programs import Ask, Program, Records, Step, Value, answered
from matrixdp.mechanisms.ridge import lifted, moments_ridge
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.domain import squared_norms
from matrixdp.privacy.sensitivity import Query, RecordsQuery, SecondMomentQuery
from reproduction.mechanisms.base import MechanismEntry
from reproduction.mechanisms.noise import MatrixNormal

#: Shares of mu^2: for the trace, and for the search.
TRACE, SEARCH = 1 / 8, 1 / 8

#: Probability that the bounds of the choice fail, beta in the authors' code.
FAILURE = 0.1

#: Distance that clipping leaves between the smallest and the largest eigenvalue, over R^2.
SPREAD = 1e-6

#: Number of radii of the search: down to 2^-79 of the largest norm, or 2^-(m n).
RADII = 79


class SquaredNorms(RecordsQuery):
    """Squared norms of records over the largest one, (1, n)."""

    def value(self, records: Array) -> Array:
        """Return the squared norms of records (..., m, n)."""
        return (squared_norms(records) / self.domain.radius**2)[..., None, :]


class ClippingLosses(SquaredNorms):
    """The :func:`losses` at all steps, (1, s)."""

    @property
    def steps(self) -> Array:
        """Numbers of the candidate radii, from 0."""
        return np.arange(min(self.features * self.n_records, RADII) + 1.0)

    def value(self, records: Array) -> Array:
        """Return the losses of records (..., m, n)."""
        return losses(super().value(records), self.steps)


@dataclass(frozen=True, eq=False)
class SearchNoise(NoiseDistribution):
    """Laplace noise of a sparse-vector search of ``epsilon``: the threshold comes first."""

    epsilon: float
    stream = "SearchNoise"

    @property
    def scales(self) -> Array:
        """Scale of each entry, (k, 1)."""
        scales = np.full(self.shape, 4 / self.epsilon)
        scales[0] = 2 / self.epsilon
        return scales

    def sample(self, generator: np.random.Generator, count: int) -> Array:
        """Return independent draws, shape (count, k, 1)."""
        return generator.laplace(size=(count, *self.shape)) * self.scales

    def whiten(self, z: Array) -> Array:
        """Map noise (..., k, 1) to numbers of scale 1 (..., k)."""
        return np.asarray((z / self.scales)[..., 0])

    def colour(self, white: Array) -> Array:
        """Map numbers of scale 1 (k,) to noise (k, 1), the inverse."""
        return np.asarray(white[:, None] * self.scales)


@dataclass(frozen=True, kw_only=True)
class Spectrum(Program):
    """Noisy second moments with eigenvalues in [0, R^2].

    Eigenvectors are those of the noisy ``moments``, and so are the eigenvalues where
    ``eigenvalue_std`` is 0. Otherwise the eigenvalues are the exact ones plus noise of that
    standard deviation.

    Where noise is large, half of the eigenvalues are below 0. Were all of these 0, eigenvectors of
    the result would depend on rounding, and so on the processor. The range of the k-th one of m is
    from ``SPREAD`` R^2 k / m, k = 0, 1, ..., and clipped ones stay apart in the order of the noisy
    moments. This is post-processing of noisy numbers: it costs no privacy.
    """

    moments: AdditiveGaussian
    eigenvalue_std: float
    stream = "Spectrum"
    batches = True

    @LazyProperty
    def spread(self) -> Step:
        """The second part: the eigenvalues, if they have a noise of their own."""
        noise = MatrixNormal((self.query.features, 1), self.eigenvalue_std)
        # Eigenvalues move by no more than the matrix (Hoffman & Wielandt).
        return Step(noise, self.query.l2_sensitivity / self.eigenvalue_std)

    def run(self, records: Records, ask: Ask) -> Array:
        """Return the noisy second moments."""
        value = records.value(self.query)
        eigenvalues, vectors = np.linalg.eigh(ask(self.moments, value))
        if self.eigenvalue_std:
            exact = np.asarray(np.linalg.eigvalsh(value)[..., None], dtype=float)
            eigenvalues = ask(self.spread, exact)[..., 0]
        count = self.query.features
        least = SPREAD * self.query.largest_norm * np.arange(count) / count
        eigenvalues = np.clip(eigenvalues, least, self.query.largest_norm - least[::-1])
        return np.asarray((vectors * eigenvalues[..., None, :]) @ np.swapaxes(vectors, -2, -1))


@dataclass(frozen=True, kw_only=True)
class ChosenBySearch(Program):
    """The radius by a sparse-vector search: the first one at which clipping costs more than noise.

    Attributes:
        source: the query without clipping.
        trace_std: standard deviation of the noise on the mean squared norm over its largest value.
        search: the epsilon of the search.
        rest: the mu of the release at the chosen radius.
    """

    source: SecondMomentQuery
    trace_std: float
    search: float
    rest: float
    output_type = "second_moments"
    stream = "ChosenBySearch"
    batches = True

    def run(self, records: Records, ask: Ask) -> Array:
        """Return the noisy second moments at the radius, with the ridge of their noise."""
        numbers, _ = self.choose(records, ask)
        if not np.ndim(numbers):
            return self._at(int(numbers), records, ask)
        released = np.empty((len(numbers), *[self.query.features] * 2))
        for number in np.unique(numbers).tolist():
            which = numbers == number
            value = records.value(self.release_at(number)[1].query)
            # One value of all releases, or one of each.
            few = np.broadcast_to(value, (len(numbers), *value.shape[-2:]))[which]
            released[which] = self._at(number, Value(few), ask)
        return released

    def _at(self, number: int, records: Records, ask: Ask) -> Array:
        moments, part = self.release_at(number)
        ridge = moments_ridge(moments.noise_std, self.query.features)
        return lifted(answered(part, records, ask), ridge)

    # Trials choose few numbers, and calibration takes longer than noise.
    @functools.lru_cache(maxsize=512)  # noqa: B019
    def release_at(self, number: int) -> tuple[AdditiveGaussian, CalibratedMechanism]:
        """Return the moments and the release for a number of :meth:`choose`."""
        step, apart = divmod(number, 2)
        query = clipped(self.source, min(1.0, 4.0 ** (1 - step)))
        share = self.rest / np.sqrt(2) if apart else self.rest
        budget = Budget(self.epsilon, self.delta)
        moments = independent_triangle(query, share, budget)
        std = query.l2_sensitivity / share if apart else 0.0
        of = {"query": query, "moments": moments, "eigenvalue_std": std}
        return moments, Spectrum.from_mu(self.rest, budget, **of)

    def choose(self, records: Records, ask: Ask) -> tuple[NDArray[np.int_], float]:
        """Return twice the step of the search's stop, plus 1 for separate eigenvalues.

        Of the noisy comparisons only the first one that is not below the threshold may be used:
        the search's epsilon covers no more. Without one, the stop is the last step.
        """
        count, steps = self.query.n_records, self.steps
        squares = records.value(self._squares)
        noisy = ask(self.trace, squares.mean(axis=-1, keepdims=True))[..., 0, 0]
        noisy = noisy + self.trace_std * np.sqrt(2 * np.log(8 / FAILURE))
        whole, apart = self.expected(np.clip(noisy, 1e-16, 1.0), steps)
        exact = records.value(self._losses)[..., 0, :] - count * np.minimum(whole, apart)
        # The threshold is 0.
        threshold = np.zeros((*exact.shape[:-1], 1))
        questions = np.concatenate([threshold, exact], axis=-1)[..., None]
        answers = ask(self.comparison, questions)[..., 0]
        above = answers[..., 1:] >= answers[..., :1]
        first = np.where(above.any(axis=-1), above.argmax(axis=-1), len(steps) - 1)
        separate = np.take_along_axis(apart < whole, first[..., None], axis=-1)[..., 0]
        return 2 * first + separate, 1.0

    @LazyProperty
    def _squares(self) -> SquaredNorms:
        return SquaredNorms(self.query.domain, self.query.n_records)

    @LazyProperty
    def _losses(self) -> ClippingLosses:
        return ClippingLosses(self.query.domain, self.query.n_records)

    @LazyProperty
    def trace(self) -> Step:
        """The first part: the mean squared norm over the largest one."""
        noise = MatrixNormal((1, 1), self.trace_std)
        return Step(noise, 1 / (self.query.n_records * self.trace_std))

    @LazyProperty
    def comparison(self) -> Step:
        """The second part, the search."""
        noise = SearchNoise((len(self.steps) + 1, 1), self.search)
        # A pure guarantee is one of Gaussian DP; see the docstring of the module.
        mu = 2 * float(special.ndtri(special.expit(self.search)))
        return Step(noise, mu, 4 / self.search)

    @LazyProperty
    def steps(self) -> Array:
        """Numbers of the candidate radii, from 0."""
        return self._losses.steps

    def expected(self, trace: Array, steps: Array) -> tuple[Array, Array]:
        """Return the authors' bounds on the Frobenius error of both releases at the steps.

        Args:
            trace: bounds on the mean squared norm over its largest value, shape (...).
            steps: numbers j of the radii 2^-j of the largest norm, shape (s,).

        Returns:
            The bounds for the noisy matrix, and for separate eigenvectors and eigenvalues, shape
            (..., s) each.
        """
        m, n, beta = self.query.features, self.query.n_records, 0.75 * FAILURE
        root = self.rest / np.sqrt(2)
        log = np.log(2 / beta)
        size = np.sqrt(m * m + 2 * np.sqrt(m * log) * (1 + np.sqrt(2 * (m - 1))) + 6 * log)
        theta = min((np.log(m) / m) ** 0.3, 0.5)
        norm = 2 * np.sqrt(m) + 6 * np.sqrt(np.log(m)) / np.sqrt(np.log1p(theta))
        norm = (1 + theta) * norm + np.sqrt(2 * np.log(4 / beta))
        tail = np.sqrt(m + 2 * np.sqrt(m * log) + 2 * log)
        along = 2**1.25 * np.sqrt(trace / n / root * norm) / 6
        whole = 4.0**-steps * size / root / n
        apart = 2.0**-steps * along[..., None] + 4.0**-steps * np.sqrt(2) * tail / root / n
        return np.broadcast_to(whole, apart.shape), apart


def losses(squares: Array, steps: Array) -> Array:
    """Return upper bounds on the loss of squared norm by clipping, shape (..., s).

    Args:
        squares: squared norms over the largest one, shape (..., n); a record adds at most 1.
        steps: numbers j = 0, 1, ... of the squared radii 4^-j, shape (s,).
    """
    shell = 1 + np.maximum(np.floor(halvings(squares) / 2), 0)
    # Records beyond the last step are counted together, and left out.
    counts = tallies(np.minimum(shell, len(steps)), len(steps) + 1)[..., :-1]
    # Records of shell l have norms up to 2^(1 - l), of which clipping leaves 2^-j.
    remaining = np.cumsum(counts, axis=-1) * 4.0**-steps
    return np.asarray(np.cumsum(counts * 4.0 ** (1 - steps), axis=-1) - remaining)


@dataclass(frozen=True)
class AdaptiveCovariance(Mechanism):
    """The adaptive method of Dong, Liang & Yi; see the docstring of the module."""

    queries = frozenset({SecondMomentQuery})

    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> ChosenBySearch:
        """Return the (epsilon, delta)-DP release; InputError: there is one feature only."""
        budget = self._budget(query, epsilon, delta)
        assert isinstance(query, SecondMomentQuery)
        if query.features < 2:
            raise InputError("the query has 1 feature; the adaptive method needs at least 2")
        mu = gaussian_dp.mu(*budget)
        search = mu * np.sqrt(SEARCH) / 2
        return ChosenBySearch.from_mu(
            mu,
            budget,
            query=RecordsQuery(query.domain, query.n_records, query.adjacency),
            source=query,
            trace_std=float(1 / (query.n_records * mu * np.sqrt(TRACE))),
            search=float(special.log_ndtr(search) - special.log_ndtr(-search)),
            rest=float(mu * np.sqrt(1 - TRACE - SEARCH)),
        )


MECHANISMS = {"clipped_adaptive": MechanismEntry(AdaptiveCovariance)}
