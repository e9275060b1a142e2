"""The interface of mechanisms, which ``calibrate(query, epsilon, delta)`` makes ready for use.

A :class:`Mechanism` is a frozen record of parameters. Calibration to a
:class:`~matrixdp.privacy.sensitivity.Query` and a budget gives a :class:`CalibratedMechanism`. It
holds the noise and the guarantee, simulates stacks of trials, and releases real records.
Calibration never sees data.
"""

from __future__ import annotations

import abc
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks, library
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms import intervals
from matrixdp.noise import safe
from matrixdp.noise.distributions import (
    GaussianDistribution,
    NoiseDistribution,
    Streams,
    laplaces,
    normals,
)
from matrixdp.noise.value import Noise
from matrixdp.privacy import exact_sums, gaussian
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, ADJACENCIES, Mu, Query, RecordsQuery


class NoGuarantee(InputError):
    """The mechanism has no valid calibration for this budget, and is not run."""


class BrokenPromise(NoGuarantee):
    """A calibrated mechanism promises less than what it was calibrated to."""


#: What sentences on a guarantee of another author's class end with.
UNAUDITED = "; declared by its class, not audited: see mdp.audit"

#: Largest delta that safe noise may add to a pure guarantee.
PURE = 1e-6


class Budget(NamedTuple):
    """(epsilon, delta) of a whole release, which may have several parts."""

    epsilon: float
    delta: float


class PrivacyStatement(NamedTuple):
    """The guarantee of a release for real use.

    Attributes:
        epsilon, delta: the guarantee, the sampler's error included.
        mu: Gaussian-DP parameter of the ideal release, of which the real one is a rounding; None
            for Laplace noise.
        sampler_delta: part of ``delta`` that covers the sampler's distance from the ideal noise.
        adjacency: neighbouring relation.
        per_person: largest number of records of one person, where neighbours differ in all of
            these; None where they differ in one record.

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> mdp.Laplace().calibrate(query, epsilon=1).statement.delta < 1e-6
    True
    """

    epsilon: float
    delta: float
    mu: float | None
    sampler_delta: float
    adjacency: str
    per_person: int | None = None


def delta_for_noise(epsilon: float, delta: float, numbers: int) -> float:
    """Return delta minus the part that the sampler takes for a number of random numbers.

    A ``delta`` of 0 is a pure guarantee, which allows ``PURE``. InputError: nothing is left.
    """
    total, spare = delta or PURE, safe.extra_delta(epsilon, numbers)
    if not spare < total:
        needs, larger = f"needs {spare:.2g}", "a larger delta, or "
        if spare >= 1:
            needs, larger = "needs more than any", ""
        most = safe.largest_epsilon(total, numbers)
        smaller = f"an epsilon of at most {most:g}" if most else "a smaller epsilon"
        raise InputError(
            f"delta is {delta:g}; safe noise on {checks.plural(numbers, 'number')} alone {needs} "
            f"at epsilon {epsilon:g}, as e^epsilon multiplies its distance from the ideal law, so "
            f"give {larger}{smaller}"
        )
    return total - spare


def _change(query: Query) -> str:
    """Return in words what neighbours of a query differ in."""
    verbs = {"replace": "replaced", "zero_out": "zeroed out", ADD_OR_REMOVE: "added or removed"}
    verb = verbs[query.adjacency]
    if query.per_person is None:
        return f"one record is {verb}"
    return f"all records of one person, {query.per_person} at most, are {verb}"


@functools.lru_cache(maxsize=1024)
def _epsilon(delta: float, mu: float) -> float:
    """Return the epsilon of mu-Gaussian DP; releases, and parts of them, often have the same mu."""
    return float(gaussian.epsilon(delta, mu))


@dataclass(frozen=True, kw_only=True)
class CalibratedMechanism(abc.ABC):
    """A calibrated mechanism.

    Attributes:
        query: the query, with the public bounds of the calibration.
        epsilon, delta: the claimed guarantee (delta = 0: pure differential privacy).
        epsilon_delivered: the epsilon that the noise delivers at ``delta``, an upper bound unless
            ``epsilon_exact``.
        epsilon_exact: whether some neighbours attain ``epsilon_delivered``.
        mu: the Gaussian-DP parameter, an upper bound unless ``epsilon_exact``; None for noise that
            is not Gaussian.
        noise_std: root mean square over the released entries of the noise standard deviation;
            NaN where a release is not value plus noise.
        ridge: known multiple of the identity inside a sketch's Gram matrix, 0 elsewhere.
        author: class of another author that calibrated it; empty for one of the library.
    """

    query: Query
    epsilon: float
    delta: float = 0.0
    epsilon_delivered: float
    epsilon_exact: bool = False
    mu: float | None = None
    noise_std: float = float("nan")
    ridge: float = 0.0
    author: str = ""

    @classmethod
    def from_mu(cls, mu: Mu | float, budget: Budget, **others: Any) -> Self:
        """Return the release with Gaussian noise of this mu; for several parts mu^2 is the sum."""
        value, exact = mu if isinstance(mu, Mu) else (mu, False)
        actual = _epsilon(float(budget.delta), float(value)) if np.isfinite(value) else np.inf
        others |= {"mu": value, "epsilon_delivered": actual, "epsilon_exact": exact}
        return cls(**budget._asdict(), **others)

    @property
    def stream(self) -> str:
        """Name of the noise in keys of random streams.

        Each of ours is written, so that a class may be renamed; by default it is the class's name.
        Releases with identically distributed noise have the same name.
        """
        return type(self).__name__

    @property
    def noise_name(self) -> str:
        """Name of the noise in sentences."""
        return type(self).__name__

    @property
    def of_library(self) -> bool:
        """Whether classes of the library alone calibrated it, draw its noise and state its query.

        Otherwise a class of another author declares the guarantee.
        """
        return not self.author and library.plain(self)

    @property
    def output_type(self) -> str:
        """Type of the result of ``simulate``.

        - ``matrix``: a noisy matrix (trials, m, n);
        - ``second_moments``: noisy second moments (trials, m, m), which already contain the ridge
          of a regression if ``noise_std`` is NaN;
        - ``sketch``: a sketch (trials, m, r) whose Gram matrix estimates X X^T + ``ridge`` I;
        - ``direction``: a unit vector (trials, m).
        """
        return self.query.output_type

    def explain(self) -> str:
        """Return a sentence with the claimed and the tight guarantee, and the noise.

        It says where another author's class declares them, see :attr:`of_library`.

        >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
        >>> mdp.Laplace().calibrate(query, epsilon=1).explain()
        'Laplace: epsilon 1 where one record is replaced; really 1; noise of +- 0.01 an entry'
        """
        place = f" at delta {self.delta:g}" if self.delta else ""
        mu = "" if self.mu is None else f", mu {self.mu:.4g}"
        noise = f"; noise of +- {self.noise_std:.4g} an entry" if self.noise_std >= 0 else ""
        return (
            f"{self.noise_name}: epsilon {self.epsilon:g}{place} where {_change(self.query)}; "
            f"really {self.epsilon_delivered:.4g}{mu}{noise}{'' if self.of_library else UNAUDITED}"
        )

    def simulate(self, value: ArrayLike, streams: Streams) -> Array:
        """Simulate the release once per stream: not for publication, which ``release`` is for.

        Pseudo-random streams are predictable, float64 noise leaks through its last bits, and error
        messages show values.

        Args:
            value: the exact value of the query, ``query.shape``, or one per trial (trials, ...).
            streams: one independent Generator per trial; trial k uses ``streams[k]`` alone.

        Raises:
            InputError: the value has the wrong shape, is not finite, or lies outside the public
                bounds. Or the number of values differs from that of streams, or is 0.
        """
        return self._draw(self._checked(value, streams), streams)

    def simulate_all(
        self, values: Iterable[ArrayLike], streams: Callable[[], Streams]
    ) -> Iterator[Array]:
        """Yield simulated releases of several values under the same noise; see :meth:`simulate`.

        Args:
            values: as ``value`` of :meth:`simulate`, each.
            streams: returns the Generators, in the same state each time.
        """
        for value in values:
            yield self.simulate(value, streams())

    def _checked(self, value: ArrayLike, streams: Streams) -> Array:
        exact = self.query.check(value)
        if not len(streams):
            raise InputError("streams are empty; give one Generator per trial")
        if exact.ndim > 3 or (exact.ndim == 3 and len(exact) != len(streams)):
            raise InputError(
                f"value has shape {exact.shape} for {len(streams)} streams; give one value, "
                "or one per stream"
            )
        return exact

    @abc.abstractmethod
    def _draw(self, value: Array, streams: Streams) -> Array:
        """Return one simulated release per stream; ``value`` has been checked."""


class Separable(CalibratedMechanism):
    """A release that combines its value with noise of a distribution that does not depend on it."""

    @abc.abstractmethod
    def _noise(self, streams: Streams) -> Array:
        """Return one draw of the noise per stream."""

    @abc.abstractmethod
    def _combined(self, value: Array, noise: Array) -> Array:
        """Return one release per draw of the noise."""

    def _draw(self, value: Array, streams: Streams) -> Array:
        return self._combined(value, self._noise(streams))

    def simulate_all(
        self, values: Iterable[ArrayLike], streams: Callable[[], Streams]
    ) -> Iterator[Array]:
        """Yield simulated releases of several values; the noise, the same, is drawn once."""
        generators = streams()
        # Before any noise, a value outside the public bounds is refused.
        exact = [self._checked(value, generators) for value in values]
        noise = self._noise(generators)
        return (self._combined(value, noise) for value in exact)


@dataclass(frozen=True, kw_only=True)
class AdditiveMechanism(Separable):
    """Value plus ``noise`` of a distribution that does not depend on the value.

    Noise that another author's class whitens and colours is not drawn by that class: a simulated
    release is then ``colour(whiten(value) + N)``, as a real one is, with white noise N of the
    library. It is a function of whiten(value) + N, and as private, whatever ``colour`` does.

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), n_records=400)
    >>> release = mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6)
    >>> release.epsilon_delivered <= 1, f"{release.noise_std:.4f}", f"{release.mu:.4f}"
    (True, '0.0211', '0.2367')
    """

    noise: Noise | NoiseDistribution

    @property
    def stream(self) -> str:
        """Name of the noise distribution in keys of random streams."""
        return self.noise.stream

    @property
    def noise_name(self) -> str:
        """Name of the noise's family of distributions, in sentences."""
        if isinstance(self.noise, Noise):
            return "Gaussian" if self.noise.unit == safe.NORMAL else "Laplace"
        return type(self.noise).__name__.removesuffix("Noise")

    @property
    def coloured(self) -> bool:
        """Whether simulated noise is coloured white noise, and not drawn by the distribution."""
        whitens = isinstance(self.noise, Noise | GaussianDistribution)
        return whitens and not library.plain(self.noise)

    def _draw(self, value: Array, streams: Streams) -> Array:
        if self.coloured:
            return self._combined(value, self._noise(streams))
        noisy = self.noise.sample(streams)
        # In place: a new array takes as long as the noise.
        noisy += value
        return noisy

    def _noise(self, streams: Streams) -> Array:
        if not self.coloured:
            return self.noise.sample(streams)
        assert isinstance(self.noise, Noise | GaussianDistribution)
        count = self.noise.whiten(np.zeros(self.noise.shape)).size
        if isinstance(self.noise, Noise) and self.noise.unit == safe.LAPLACE:
            return laplaces(streams, count)
        return normals(streams, (count,))

    def _combined(self, value: Array, noise: Array) -> Array:
        if not self.coloured:
            if noise.shape[1:] != value.shape[-2:]:
                # Numpy would share the noise of an entry between entries.
                raise InputError(
                    f"noise has shape {noise.shape[1:]} for a value of shape {value.shape[-2:]}; "
                    "give it the shape of the query"
                )
            return noise + value
        distribution = self.noise
        assert isinstance(distribution, Noise | GaussianDistribution)
        # A value that all trials share is whitened once.
        values = value[None] if value.ndim == 2 else value
        centres = [np.ravel(distribution.whiten(exact)) for exact in values]
        centres *= len(noise) // len(centres)
        pairs = zip(centres, noise, strict=True)
        return np.stack([distribution.colour(centre + white) for centre, white in pairs])

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

        Args:
            value: result of :func:`matrixdp.privacy.exact_sums.value`.

        Raises:
            InputError: as :attr:`rounding_factor`; whether it is raised never depends on the value.
        """
        noisy = self.add_noise(value, os.urandom)
        if self.query.output_type == "matrix":
            return noisy.T
        return noisy

    def add_noise(self, value: Array, bits: safe.Bits) -> Array:
        """Return a value plus safe noise from a source of random bits, which audits replace."""
        distribution, unit, _ = self.whitened
        rounding_factor = self.rounding_factor
        # Clipping takes neighbours no further apart. It affects only values beyond the public
        # bounds, which a private number of records allows.
        reach = 1 / safe.STEP / self._roundings
        white = np.clip(distribution.whiten(value), -reach, reach)
        steps = safe.rounded(white / rounding_factor) + safe.noise(unit, white.size, bits)
        return distribution.colour(steps * np.float64(rounding_factor * safe.STEP))

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
            NoGuarantee: the release does not deliver the guarantee that it claims.
        """
        distribution, unit, budget = self.whitened
        limit = self._limit
        side = self.query.domain.magnitudes[:, None]
        matrix = not distribution.symmetric
        largest = np.broadcast_to(side if matrix else side * side.T, self.noise.shape)
        white = distribution.largest(largest)
        # A record changes one column of a matrix, or all independent entries of second moments.
        changed = white.size
        if matrix and distribution.identical_columns:
            changed = min(changed, self.query.group * self.query.features)
        shift = 2 * safe.STEP * (np.sqrt(changed) if unit == safe.NORMAL else changed)
        if self._products:
            # Errors of products with a basis grow with unequal sizes, and unequal feature units.
            spread = float(np.max(distribution.size) / np.min(distribution.size))
            spread *= (side.max() / side.min()) ** self._products
            shift += limit * spread * max(self.noise.shape) * 2.0**-46
        if self.query.rounding:
            # Each of two neighbours may be off by so much.
            shift += 2 * float(
                np.linalg.norm(distribution.whiten(np.full(self.noise.shape, self.query.rounding)))
            )
        if not (shift <= limit / 2 and white.max() * self._roundings <= 1 / safe.STEP):
            raise InputError(
                f"noise of {self.noise_std:.3g} cannot be added safely to values of up to "
                f"{largest.max():.3g}; choose an epsilon nearer to 1, or bounds about 0"
            )
        return float(budget / (limit - shift))

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
        _, unit, budget = self.whitened
        delta = delta_for_noise(self.epsilon_delivered, self.delta, self.numbers)
        if unit == safe.LAPLACE:
            return budget
        return min(budget, _largest_mu(self.epsilon_delivered, delta))

    @property
    def statement(self) -> PrivacyStatement:
        """The guarantee of :meth:`release`, if :attr:`rounding_factor` exists."""
        mu = None if self.mu is None else self._limit
        spare = self.extra_delta
        return PrivacyStatement(
            self.epsilon_delivered,
            self.delta or spare,
            mu,
            spare,
            self.query.adjacency,
            self.query.per_person,
        )

    def interval(self, level: float = 0.95) -> Array:
        """Return simultaneous bounds on the noise of :meth:`release` in each entry.

        All entries of the exact value on clipped records lie within these distances of the released
        ones with probability ``level``. Effects of clipping and of sampling the records are not
        covered.

        Args:
            level: probability between 0 and 1.

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
        distribution, _, _ = self.whitened
        widths = intervals.widths(distribution, level, rounding_factor=self.rounding_factor)
        return widths if distribution.symmetric else widths.T

    #: Noise of a mean that was released before, and of the number of records over the stated one:
    #: none. A release in parts has both, and several radii.
    centre_std: ClassVar[float] = 0.0
    weight_std: ClassVar[float] = 0.0

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
        if noise.unit == safe.LAPLACE:
            return noise, safe.LAPLACE, self.epsilon_delivered
        if self.mu is None:
            raise InputError("the noise is Gaussian and states no mu; give it")
        return noise, safe.NORMAL, self.mu


@functools.lru_cache
def _largest_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu of a guarantee, which each of many releases asks for."""
    return float(gaussian.mu(epsilon, delta))


#: Bound on the roundings of a whitened entry without dense factors: three in the exact value, at
#: most three in whitening, one in the rounding factor.
_ROUNDINGS = 8


@dataclass(frozen=True, kw_only=True)
class AdditiveGaussian(AdditiveMechanism):
    """Value plus Gaussian noise; it always has a ``mu``."""

    mu: float
    noise: Noise | GaussianDistribution


def _signed(calibrate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method ``calibrate`` whose releases of the library's classes name its author."""

    @functools.wraps(calibrate)
    def signed(self: Mechanism, *terms: Any, **others: Any) -> Any:
        release = calibrate(self, *terms, **others)
        # A release of a class of the author's shows that itself.
        owned = isinstance(release, CalibratedMechanism) and library.owns(release)
        return replace(release, author=type(self).__qualname__) if owned else release

    return signed


class Mechanism(abc.ABC):
    """The parameters of a mechanism; subclasses are frozen dataclasses."""

    #: Whether noise follows from the sensitivities of the query alone, so that it also protects a
    #: person with several records, and a private number of records.
    sensitivity_only: ClassVar[bool] = False

    def __init_subclass__(cls, **words: Any) -> None:
        """Have releases of another author's class name it, see :attr:`CalibratedMechanism.author`.

        Where it inherits ``calibrate``, what that calls may be its own.
        """
        super().__init_subclass__(**words)
        if cls.__module__ not in library.MODULES:
            cls.calibrate = _signed(cls.calibrate)  # type: ignore[method-assign]

    @property
    @abc.abstractmethod
    def queries(self) -> frozenset[type[Query]]:
        """Types of the queries that the mechanism serves; subclasses of these do not count."""

    def _require(self, query: Query) -> None:
        """Raise InputError if the mechanism does not serve the query."""
        if type(query) not in self.queries:
            served = " and ".join(sorted(query_type.__name__ for query_type in self.queries))
            query_type, mechanism = type(query).__name__, type(self).__name__
            raise InputError(f"query is of type {query_type}; {mechanism} serves only {served}")
        if (query.per_person or query.private_count) and not self.sensitivity_only:
            raise InputError(
                f"{type(self).__name__} protects one record of a public number; leave per_person "
                f"out, and take {' or '.join(ADJACENCIES)}"
            )

    def _budget(self, query: Query, epsilon: float, delta: float) -> Budget:
        """Return the budget if it is in range and the mechanism can answer the query."""
        self._require(query)
        return Budget(*checks.privacy(epsilon, delta))

    @abc.abstractmethod
    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> CalibratedMechanism:
        """Return the (epsilon, delta)-differentially private release of ``query``.

        Raises:
            InputError: epsilon or delta is out of range, or a parameter does not fit the query.
            NoGuarantee: the mechanism is not private at this budget.
        """


#: Relative rounding of a guarantee that is computed from the one asked for.
_ROUNDING = 1e-9


def promised(
    mechanism: Mechanism, query: Query, *, epsilon: float, delta: float
) -> CalibratedMechanism:
    """Return a mechanism calibrated to a guarantee, which it must promise in full.

    A smaller epsilon or delta is fine. A release that reads the records, where the query asked for
    does not, has another query: its records must be as many and have the same neighbours.

    Raises:
        BrokenPromise: the calibrated mechanism promises less.
        Exception: as ``calibrate``.
    """
    release = mechanism.calibrate(query, epsilon=epsilon, delta=delta)
    check_promise(release, type(mechanism).__name__, query, epsilon=epsilon, delta=delta)
    return release


def check_promise(
    release: CalibratedMechanism, name: str, query: Query, *, epsilon: float, delta: float
) -> None:
    """Raise BrokenPromise if a calibrated mechanism promises less than what is asked.

    ``name`` is that of the mechanism in sentences.
    """
    answer = release.query
    for word, promise, goal in (
        ("epsilon", release.epsilon, epsilon),
        ("delta", release.delta, delta),
    ):
        # A subclass of float may compare as it likes.
        if not any(type(promise) is number_type for number_type in (int, float, np.float64)):
            raise BrokenPromise(
                f"{name} promises {word} as a {type(promise).__name__}; give it as a float"
            )
        # A number that is not one is refused too.
        if not 0 <= promise <= goal * (1 + _ROUNDING):
            raise BrokenPromise(
                f"{name} promises {word} {promise:g}, where {goal:g} is asked for; calibrate its "
                "noise to what is asked"
            )
    # Of a private number, a release that reads the records reads as many as are stated. A sum, or
    # records with noise, would show the number.
    reads = type(answer) is RecordsQuery and not isinstance(release, AdditiveMechanism)
    relation = "zero_out" if query.private_count and reads else query.adjacency
    if answer.adjacency != relation:
        raise BrokenPromise(
            f"{name} promises neighbours of {answer.adjacency!r}, where {query.adjacency!r} is "
            "asked for; calibrate it to the query"
        )
    if answer.n_records != query.n_records:
        raise BrokenPromise(
            f"{name} promises privacy among {answer.n_records} records, where there are "
            f"{query.n_records}; calibrate it to the query"
        )
    if answer.features != query.features or not _covers(answer, query):
        raise BrokenPromise(
            f"{name} promises privacy of records in {answer.domain}, where they lie in "
            f"{query.domain}; calibrate it to the query"
        )
    if not answer.group >= query.group:
        raise BrokenPromise(
            f"{name} promises privacy of {answer.group} records of one person, where "
            f"{query.group} is asked for; calibrate it to the query"
        )


def _covers(answer: Query, query: Query) -> bool:
    """Return whether the domain of an answer has all records of a query.

    Numbers are compared: another author's domain may equal any other. A query of the library clips
    records to a ball; another may not.
    """
    domain, target = answer.domain, query.domain
    if not library.plain(domain):
        return False
    if isinstance(domain, Ball):
        return library.owns(answer) or domain.radius >= target.radius
    return isinstance(target, Box) and (domain.lower, domain.upper) == (target.lower, target.upper)
