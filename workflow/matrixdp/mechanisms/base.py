"""The shape of a mechanism: parameters, calibrated to a query and a budget, give a release.

A :class:`Mechanism` is a frozen record of parameters. ``calibrate`` turns it, for a
:class:`~matrixdp.privacy.sensitivity.Query` and a budget, into a :class:`Release`, which knows its
noise and its privacy and draws stacks of trials. Calibration never sees data.
"""

from __future__ import annotations

import abc
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from matrixdp import checks, safe
from matrixdp.checks import Array, InputError
from matrixdp.laws import GaussianLaw, Laplace, Law, Streams
from matrixdp.privacy import exact, gaussian
from matrixdp.privacy.sensitivity import Mu, Query


class NoGuarantee(InputError):
    """The mechanism has no valid calibration for this budget; it is never run all the same."""


class Budget(NamedTuple):
    """(epsilon, delta) of a whole release, where it is one of several parts as well."""

    epsilon: float
    delta: float


@dataclass(frozen=True, kw_only=True)
class Release(abc.ABC):
    """A calibrated mechanism.

    Attributes:
        query: what it answers, with the public bounds that it is calibrated to.
        epsilon, delta: the nominal guarantee (delta = 0: pure differential privacy).
        epsilon_actual: the epsilon really delivered at ``delta``: exact where a closed form
            exists, otherwise an upper bound.
        mu: the Gaussian-DP parameter over the structured neighbours, an upper bound unless
            ``mu_exact``; None for noise without a Gaussian form.
        noise_std: root mean square over the released entries of the noise standard deviation;
            NaN where a release is not value plus noise.
        ridge: known multiple of the identity inside a sketch's Gram matrix, 0 elsewhere.
    """

    query: Query
    epsilon: float
    delta: float = 0.0
    epsilon_actual: float
    mu: float | None = None
    mu_exact: bool = True
    noise_std: float = float("nan")
    ridge: float = 0.0

    @classmethod
    def by_mu(cls, mu: Mu | float, budget: Budget, **others: Any) -> Self:
        """Return the release of Gaussian noise with this mu; of several, mu^2 of all adds up."""
        value, exact = mu if isinstance(mu, Mu) else (mu, False)
        actual = gaussian.epsilon(budget.delta, value) if np.isfinite(value) else np.inf
        return cls(mu=value, mu_exact=exact, epsilon_actual=actual, **budget._asdict(), **others)

    @property
    def kind(self) -> str:
        """Name of what is drawn, whatever its parameters: releases of one law have one kind."""
        return type(self).__name__

    @property
    def yields(self) -> str:
        """What ``sample`` returns.

        A noisy ``matrix`` (trials, m, n), noisy ``second_moments`` (trials, m, m), which bring the
        ridge of a regression if ``noise_std`` is NaN, a ``sketch`` (trials, m, r) whose scaled Gram
        matrix estimates X X^T + ``ridge`` I, or a ``direction`` (trials, m).
        """
        return self.query.yields

    def explain(self) -> str:
        """Return in a sentence what is promised, what is delivered, and the noise.

        >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), records=400)
        >>> mdp.Laplace().calibrate(query, epsilon=1).explain()
        'Laplace: epsilon 1 where one record is replaced; really 1; noise of +- 0.01 an entry'
        """
        sides = "replaced" if self.query.adjacency == "replace" else "set to 0"
        at = f" at delta {self.delta:g}" if self.delta else ""
        mu = "" if self.mu is None else f", mu {self.mu:.4g}"
        noise = f"; noise of +- {self.noise_std:.4g} an entry" if self.noise_std >= 0 else ""
        return (
            f"{self.kind}: epsilon {self.epsilon:g}{at} where one record is {sides}; really "
            f"{self.epsilon_actual:.4g}{mu}{noise}"
        )

    def sample(self, value: ArrayLike, streams: Streams, out: Array | None = None) -> Array:
        """Release the query's value once per stream.

        Args:
            value: the exact value of the query, ``query.shape``, or one per trial (trials, ...).
            streams: one independent Generator per trial; trial k uses ``streams[k]`` alone.
            out: optional array for the result, (trials, ...); reusing it spares the allocation.

        Raises:
            InputError: the value has the wrong shape, is not finite, or lies outside the public
                bounds; or there are no streams, or not one value per stream.
        """
        exact = self.query.check(value)
        if not len(streams):
            raise InputError("streams are empty; give one Generator per trial")
        if exact.ndim > 3 or (exact.ndim == 3 and len(exact) != len(streams)):
            raise InputError(
                f"value has shape {exact.shape} for {len(streams)} streams; give one value, "
                "or one per stream"
            )
        return self._draw(exact, streams, out)

    @abc.abstractmethod
    def _draw(self, value: Array, streams: Streams, out: Array | None) -> Array:
        """Return one release per stream of a value that has been checked."""


@dataclass(frozen=True, kw_only=True)
class Additive(Release):
    """Value plus ``noise``, of a law that does not depend on the value.

    >>> query = mdp.MeanQuery(mdp.Ball(1.0, features=2), records=400)
    >>> release = mdp.Gaussian().calibrate(query, epsilon=1, delta=1e-6)
    >>> release.epsilon_actual <= 1, f"{release.noise_std:.4f}", f"{release.mu:.4f}"
    (True, '0.0211', '0.2367')
    """

    noise: Law

    @property
    def kind(self) -> str:
        """Name of the family of the noise's law."""
        return type(self.noise).__name__

    def _draw(self, value: Array, streams: Streams, out: Array | None) -> Array:
        released = self.noise.sample(streams, out)
        released += value
        return released

    def sample_once(self, records: ArrayLike, *, random_state: int | None = None) -> Array:
        """Return one release for real use: of records that are clipped to the public bounds.

        Args:
            records: one per row, (n, m).
            random_state: see :meth:`add_once`.

        Returns:
            The released value; a noisy matrix of records has one record per row again.

        Raises:
            InputError: as :func:`matrixdp.privacy.exact.value` and :meth:`add_once`.
        """
        return self.add_once(exact.value(self.query, [records]), random_state=random_state)

    def add_once(self, value: Array, *, random_state: int | None = None) -> Array:
        """Return a value plus noise that is safe on a real computer.

        They are added as whole numbers of steps (see :mod:`matrixdp.safe`), so that the sum is a
        rounding of the ideal release, and as private; what the law of the steps adds to delta is
        :attr:`extra_delta`. The noise is larger by the little that the rounding of the value costs:
        a part in a million or less at usual budgets.

        Args:
            value: of :func:`matrixdp.privacy.exact.value`.
            random_state: a seed, for tests alone: whoever knows it can take the noise off. None
                takes bits from the operating system.

        Raises:
            InputError: as :attr:`stretch`; never by what the value is.
        """
        law, unit, _ = self.whitened
        stretch = self.stretch
        bits = os.urandom
        if random_state is not None:
            warnings.warn("noise from a seed hides nothing from who knows the seed", stacklevel=2)
            bits = np.random.default_rng(random_state).bytes
        # Along directions the value may be larger than its bounds; neighbours stay as close.
        white = np.clip(law.whiten(value), -1 / safe.STEP, 1 / safe.STEP)
        steps = safe.rounded(white / stretch) + safe.noise(unit, white.size, bits)
        released = law.colour(steps * np.float64(stretch * safe.STEP))
        return released.T if self.query.yields == "matrix" else released

    @property
    def stretch(self) -> float:
        """How many times the ideal noise safe noise is, which pays for the rounding of the value.

        Raises:
            InputError: there is no safe noise of this law, or float64 cannot hold the noise and the
                largest value within the public bounds.
        """
        law, unit, budget = self.whitened
        side = self.query.domain.magnitudes[:, None]
        matrix = self.query.yields == "matrix"
        largest = np.broadcast_to(side if matrix else side * side.T, self.noise.shape)
        white = law.whiten(largest)
        # A record changes a column, or what is not a copy of another entry. Rounding moves each of
        # these by at most a step, and the arithmetic before it by less than another.
        changed = self.query.features if matrix and law.columns_alike else white.size
        moved = 2 * safe.STEP * (np.sqrt(changed) if unit is safe.NORMAL else changed)
        if moved > budget / 2 or np.abs(white).max() * self.query.features > 1 / safe.STEP:
            raise InputError(
                f"noise of {self.noise_std:.3g} cannot be added safely to values of up to "
                f"{largest.max():.3g}; choose an epsilon nearer to 1, or bounds about 0"
            )
        return float(1 / (1 - moved / budget))

    @property
    def numbers(self) -> int:
        """Numbers that :meth:`add_once` draws at most."""
        rows, columns = self.noise.shape
        return rows * columns

    @property
    def extra_delta(self) -> float:
        """What :meth:`add_once` adds to delta, at ``epsilon_actual``."""
        return safe.extra_delta(self.epsilon_actual, self.numbers)

    @property
    def whitened(self) -> tuple[GaussianLaw | Laplace, safe.Unit, float]:
        """The noise, its law when whitened, and how far whitened neighbours are then apart."""
        if isinstance(self.noise, GaussianLaw) and self.mu is not None:
            return self.noise, safe.NORMAL, self.mu
        if isinstance(self.noise, Laplace):
            return self.noise, safe.LAPLACE, self.epsilon_actual
        raise InputError(
            f"there is no safe noise for {type(self.noise).__name__}; take a mechanism with "
            "Gaussian or Laplace noise"
        )


@dataclass(frozen=True, kw_only=True)
class GaussianRelease(Additive):
    """Value plus Gaussian noise, which has a ``mu``."""

    mu: float
    noise: GaussianLaw


class Mechanism(abc.ABC):
    """Parameters of a mechanism; subclasses are frozen dataclasses."""

    @property
    def queries(self) -> frozenset[str]:
        """Names of the queries that the mechanism can answer."""
        return frozenset({"identity", "covariance"})

    def _require(self, query: Query) -> None:
        """Raise InputError if the mechanism cannot answer the query."""
        if query.name not in self.queries:
            raise InputError(
                f"query is {query.name!r}; {type(self).__name__} answers only "
                f"{' and '.join(sorted(self.queries))}"
            )

    def _budget(self, query: Query, epsilon: float, delta: float) -> Budget:
        """Return the budget if it is in range and the mechanism can answer the query."""
        self._require(query)
        return Budget(*checks.privacy(epsilon, delta))

    @abc.abstractmethod
    def calibrate(self, query: Query, *, epsilon: float, delta: float) -> Release:
        """Return the release of ``query`` that is (epsilon, delta)-differentially private.

        Raises:
            InputError: epsilon or delta is out of range, or a parameter does not fit the query.
            NoGuarantee: the mechanism is not private at this budget.
        """


@dataclass(frozen=True)
class Entry:
    """What config.yaml calls by a name.

    ``build`` makes the mechanism from one value per axis that it is run over, of ``direction``
    (``important``: indices of the features that get the larger share, empty for i.i.d. noise),
    ``tau`` (their share), ``rows`` (sketch rows as a multiple of m) and ``radius`` (the squared
    radius that records are clipped to, as a share of the largest one).
    """

    build: Callable[..., Mechanism]
    axes: tuple[str, ...] = ()
