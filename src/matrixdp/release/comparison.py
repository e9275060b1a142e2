"""Comparison of the mechanisms for a query by their noise, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from matrixdp import checks, library
from matrixdp.auditing.status import CERTIFIED, DECLARED
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.base import UNAUDITED, Mechanism, delta_for_noise
from matrixdp.mechanisms.composed import InParts
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.promise import promised
from matrixdp.mechanisms.scaled import MinMaxScaled, units
from matrixdp.privacy.present import PresentMeanQuery
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery


@dataclass(frozen=True)
class Option:
    """A mechanism for a query, with its noise.

    Attributes:
        mechanism: the mechanism and its parameters.
        release: the calibrated mechanism.
        variances: upper bounds of the noise's variances, (m, m) for second moments, otherwise
            (m, 1).
        error: noise over half of the range that the public bounds allow, as a root mean square
            over the entries, weighted by importance. Above 1 noise hides everything.
        status: ``certified`` where mechanism, query and noise are of the library, which its audit
            certifies; ``declared`` where a class of another author states the guarantee, which is
            taken at its word: audit it first.
        losses: what noise takes from the answer where records fill little or much of their bounds,
            simulated, see :mod:`matrixdp.release.outlooks`; empty where nothing was simulated.
        says: the key of the mechanism, as ``mechanism=`` takes it, and what its noise means for an
            answer, in its unit; of :func:`matrixdp.recommend` alone.

    >>> query = mdp.MeanQuery(mdp.Box((0, 0), (1, 1)), 400)
    >>> mdp.compare_mechanisms(query, epsilon=1, delta=1e-6)[0].name
    'Laplace'
    """

    mechanism: Mechanism
    release: AdditiveMechanism | InParts
    variances: Array
    error: float
    losses: tuple[float, ...] = ()
    says: str = ""
    status: str = field(init=False)

    def __post_init__(self) -> None:
        sound = self.release.of_library and library.plain(self.mechanism)
        object.__setattr__(self, "status", CERTIFIED if sound else DECLARED)

    def __str__(self) -> str:
        about = self.status if self.status == CERTIFIED else UNAUDITED.removeprefix("; ")
        noise = self.says or f"{self.name}: noise of {self.error:.2%} of half the range"
        return f"{noise}; {about}"

    @property
    def name(self) -> str:
        """Class name of the mechanism, inside any scaling."""
        inner = (
            self.mechanism.mechanism if isinstance(self.mechanism, MinMaxScaled) else self.mechanism
        )
        return type(inner).__name__


def compare_mechanisms(
    query: Query,
    *,
    epsilon: float,
    delta: float,
    importance: Sequence[float] | None = None,
    mechanisms: Sequence[Mechanism] | None = None,
) -> list[Option]:
    """Return the mechanisms that answer a query with safe noise, the least noise first.

    It compares noise alone, for a query of your own; :func:`matrixdp.recommend` has the rule by
    which releases take a mechanism. No data are read: errors follow from the calibration.
    Mechanisms with the same noise distribution are listed once. The delta of safe noise is set
    aside before calibration. Where columns have ranges of several sizes, each mechanism works in
    units of the ranges: see :class:`~matrixdp.mechanisms.scaled.MinMaxScaled`.

    Args:
        query: the query, with its public bounds.
        epsilon, delta: the guarantee; a delta of 0 keeps only mechanisms of pure DP.
        importance: weight of each feature's relative error, above 0, (m,); an entry of second
            moments has the product of its two features' weights.
        mechanisms: mechanisms to compare; None takes all. Those of another author are ``declared``,
            see :attr:`Option.status`.

    Raises:
        InputError: a number is out of range, or no safe noise gives this guarantee.

    >>> query = mdp.SecondMomentQuery(mdp.Box.cube(4, -1, 1), n_records=400)
    >>> for one in mdp.compare_mechanisms(query, epsilon=1, delta=1e-6):
    ...     print(f"{one.name} {one.error:.3f}")
    Laplace 0.035
    AnalyzeGauss 0.042
    Gaussian 0.047
    """
    checks.positive(epsilon=epsilon)
    pure = delta == 0
    delta = 0.0 if pure else checks.open_unit(delta=delta)
    # Slightly less, so that rounding does not decide whether a release fits its account.
    remainder = delta_for_noise(epsilon, delta, int(np.prod(query.shape))) * (1 - 1e-9)
    important = _weights(query, importance)
    candidates = [*mechanisms] if mechanisms else _candidates(query, important, pure=pure)
    half = units(query)
    if np.ptp(half):
        candidates = [MinMaxScaled(mechanism) for mechanism in candidates]
    sizes, shares = half[:, None], important[:, None]
    if isinstance(query, SecondMomentQuery):
        # x_i x_j lies between -c_i c_j and c_i c_j.
        sizes, shares = sizes * sizes.T, shares * shares.T
    ranking = []
    for mechanism in candidates:
        release = promised(mechanism, query, epsilon=epsilon, delta=0 if pure else remainder)
        if not isinstance(release, AdditiveMechanism):
            raise InputError(
                f"mechanisms has {type(mechanism).__name__}, which does not add noise; leave it out"
            )
        if release.delta:
            release = replace(release, delta=delta)
        spread = variances(release)
        error = float(np.sqrt(np.average(spread / sizes**2, weights=shares)))
        ranking.append(Option(mechanism, release, spread, error))
    return sorted(ranking, key=lambda option: option.error)


def _candidates(query: Query, important: Array, *, pure: bool) -> list[Mechanism]:
    """Return the library's mechanisms that serve a query."""
    if pure:
        return [Laplace()]
    of_moments = [AnalyzeGauss()] if isinstance(query, SecondMomentQuery) else []
    shaped = [DirectionalGaussian(weights=tuple(important))] if np.ptp(important) else []
    return [Laplace(), Gaussian(), *of_moments, *shaped]


def _weights(query: Query, importance: Sequence[float] | None) -> Array:
    if importance is None:
        return np.ones(len(units(query)))
    weights = checks.array(shape=(query.features,), importance=list(importance))
    if not (weights > 0).all():
        raise InputError(f"importance holds {weights.min()}; every weight must be above 0")
    return weights


def variances(release: AdditiveMechanism) -> Array:
    """Return the noise's variance of each entry (m, m), or of each column (m, 1) of a matrix.

    A mean of values present has that of its ratio to first order, at the end of its bounds and with
    none missing.
    """
    distribution, _, _ = release.whitened
    spread, query = distribution.variances, release.query
    if isinstance(query, PresentMeanQuery):
        return spread[: query.columns] + spread[query.columns :] / query.weight**2
    return spread[:, :1] if release.query.output_type == "matrix" else spread
