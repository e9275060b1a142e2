"""The interface of mechanisms, which ``calibrate(query, epsilon, delta)`` makes ready for use.

A :class:`Mechanism` is a frozen record of parameters. Calibration to a
:class:`~matrixdp.privacy.sensitivity.Query` and a budget gives a :class:`CalibratedMechanism`. It
holds the noise and the guarantee, simulates releases, and releases real records.
Calibration never sees data.
"""

from __future__ import annotations

import abc
import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks, library
from matrixdp.checks import Array, InputError
from matrixdp.equality import ByValue
from matrixdp.isolation import isolate
from matrixdp.noise import safe
from matrixdp.privacy import gaussian_dp
from matrixdp.privacy.sensitivity import ADD_OR_REMOVE, ADJACENCIES, Mu, Query


class NoGuarantee(InputError):
    """The mechanism has no valid calibration for this budget, and is not run."""


class BrokenPromise(NoGuarantee):
    """A calibrated mechanism promises less than what it was calibrated to."""


#: What sentences on a guarantee of another author's class end with.
UNAUDITED = "; declared by its class, not audited: see mdp.audit"

#: Largest delta that safe noise may add to a pure guarantee.
PURE = 1e-6

#: A delta over the part of it that safe noise may take, where an account reserves a hundredth.
_WITH_RESERVE = 110


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

    @classmethod
    def of(cls, release: Any, delta: float, mu: float | None) -> PrivacyStatement:
        """Return the guarantee of a release with safe noise."""
        epsilon, spare, query = release.epsilon_delivered, release.extra_delta, release.query
        return cls(epsilon, delta, mu, spare, query.adjacency, query.per_person)


def delta_for_noise(epsilon: float, delta: float, numbers: int) -> float:
    """Return delta minus the part that the sampler takes for a number of random numbers.

    A ``delta`` of 0 is a pure guarantee, which allows ``PURE``. InputError: nothing is left.
    """
    total, spare = delta or PURE, safe.extra_delta(epsilon, numbers)
    if not spare < total:
        needs = f"needs {spare:.2g}" if spare < 1 else "needs more than any"
        enough = least_delta(epsilon, numbers) if delta else 0.0
        most = safe.largest_epsilon(total / _WITH_RESERVE, numbers)
        remedies = [f"a delta of at least {enough:.2g}"] * (enough > 0)
        remedies += [f"an epsilon of at most {most:g}"] * (most > 0)
        remedy = f"give {' or '.join(remedies)}" if remedies else "release fewer numbers"
        raise InputError(
            f"delta is {delta:g}; safe noise on {checks.plural(numbers, 'number')} alone {needs} "
            f"at epsilon {epsilon:g}, as e^epsilon multiplies its distance from the ideal law, so "
            f"{remedy}"
        )
    return total - spare


def least_delta(epsilon: float, numbers: int) -> float:
    """Return a delta with room for a number of random numbers at an epsilon; 0 where none has.

    For these an account reserves a hundredth of delta, and no more than a pure one has.
    """
    enough = safe.extra_delta(epsilon, numbers) * _WITH_RESERVE
    return enough if enough <= 100 * PURE else 0.0


def _change(query: Query) -> str:
    """Return in words what neighbours of a query differ in."""
    verbs = {"replace": "replaced", "zero_out": "zeroed out", ADD_OR_REMOVE: "added or removed"}
    verb = verbs[query.adjacency]
    if query.per_person is None:
        return f"one record is {verb}"
    return f"all records of one person, {query.per_person} at most, are {verb}"


@functools.lru_cache(maxsize=1024)
def epsilon_of(delta: float, mu: float) -> float:
    """Return the epsilon of mu-Gaussian DP; releases, and parts of them, often have the same mu."""
    return float(gaussian_dp.epsilon(delta, mu))


@isolate
@dataclass(frozen=True, kw_only=True, eq=False)
class CalibratedMechanism(ByValue, abc.ABC):
    """A calibrated mechanism; two with the same fields are equal.

    Attributes:
        query: the query, with the public bounds of the calibration.
        epsilon, delta: the claimed guarantee (delta = 0: pure differential privacy).
        epsilon_delivered: the epsilon that the noise delivers at ``delta``, an upper bound unless
            ``tight``.
        tight: whether some neighbours attain ``epsilon_delivered``.
        mu: the Gaussian-DP parameter, an upper bound unless ``tight``; None for noise that
            is not Gaussian.
        noise_std: root mean square over the released entries of the noise standard deviation;
            NaN where a release is not value plus noise.
        author: class of another author that calibrated it; empty for one of the library.
    """

    query: Query
    epsilon: float
    delta: float = 0.0
    epsilon_delivered: float
    tight: bool = False
    mu: float | None = None
    noise_std: float = float("nan")
    author: str = ""

    @classmethod
    def from_mu(cls, mu: Mu | float, budget: Budget, **others: Any) -> Self:
        """Return the release with Gaussian noise of this mu; for several parts mu^2 is the sum."""
        value, exact = mu if isinstance(mu, Mu) else (mu, False)
        actual = epsilon_of(float(budget.delta), float(value)) if np.isfinite(value) else np.inf
        others |= {"mu": value, "epsilon_delivered": actual, "tight": exact}
        return cls(**budget._asdict(), **others)

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

        - ``matrix``: a noisy matrix (count, m, n);
        - ``second_moments``: noisy second moments (count, m, m), which already contain the ridge
          of a regression if ``noise_std`` is NaN;
        - ``sketch``: a sketch (count, m, r) whose Gram matrix estimates X X^T + ``ridge`` I;
        - ``direction``: a unit vector (count, m).
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

    def simulate(self, value: ArrayLike, generator: np.random.Generator, count: int) -> Array:
        """Simulate releases (count, ...): not for publication, which ``release`` is for.

        Pseudo-random numbers are predictable, float64 noise leaks through its last bits, and error
        messages show values.

        Args:
            value: the exact value of the query, ``query.shape``, or one per release (count, ...).
            generator: source of the noise.
            count: number of releases.

        Raises:
            InputError: the value has the wrong shape, is not finite, or lies outside the public
                bounds. Or ``count`` is below 1, or differs from the number of values.
        """
        exact, count = self.query.check(value), checks.count(count=count)
        if exact.ndim > 3 or (exact.ndim == 3 and len(exact) != count):
            raise InputError(
                f"value has shape {exact.shape} for a count of {count}; give one value, or one "
                "per release"
            )
        return self._draw(exact, generator, count)

    @abc.abstractmethod
    def _draw(self, value: Array, generator: np.random.Generator, count: int) -> Array:
        """Return simulated releases (count, ...); ``value`` has been checked."""


def _sign(calibrate: Callable[..., Any]) -> Callable[..., Any]:
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
        """Isolate ``calibrate``, and have releases of another author's class name it.

        See :attr:`CalibratedMechanism.author`. Where such a class inherits ``calibrate``, what that
        calls may be its own.
        """
        super().__init_subclass__(**words)
        if "calibrate" in vars(cls):
            cls.calibrate = isolate(cls.calibrate)  # type: ignore[method-assign]
        if cls.__module__ not in library.MODULES:
            cls.calibrate = _sign(cls.calibrate)  # type: ignore[method-assign]

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
        if (query.per_person or query.add_or_remove) and not self.sensitivity_only:
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
