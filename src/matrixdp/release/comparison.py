"""Comparison of the mechanisms for a query by their noise, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from matrixdp import checks, library
from matrixdp.checks import Array, InputError
from matrixdp.isolation import isolate
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.mechanisms.mechanism import UNAUDITED, Mechanism, delta_for_noise
from matrixdp.mechanisms.promise import promised
from matrixdp.mechanisms.release import Release
from matrixdp.mechanisms.scaled import MinMaxScaled, units, unscaled
from matrixdp.privacy.ratios import RatioQuery
from matrixdp.privacy.sensitivity import Query, SecondMomentQuery
from matrixdp.status import CERTIFIED, DECLARED


@isolate
@dataclass(frozen=True)
class Option:
    """A mechanism for a query, with its noise.

    Attributes:
        mechanism: the mechanism and its parameters.
        release: the calibrated mechanism.
        error: noise over half of the range that the public bounds allow, as a root mean square
            over the entries. Above 1 noise hides everything.
        status: ``certified`` where mechanism, query and noise are of the library, which its audit
            certifies; ``declared`` where a class of another author states the guarantee, which is
            taken at its word: audit it first.
        key: key of the mechanism, as ``mechanism=`` takes it; for a query of your own its class.
        headline: what the noise means for the answer, in its unit; empty for a query of your own.
        losses: what noise takes from the answer where records fill little or much of their bounds,
            simulated, see :mod:`matrixdp.release.outlooks`; empty where nothing was simulated.
        worst: what an answer without any records loses.
        typical_loss: their geometric mean. The least decides; None where the noise does.
        readings: of a request for several answers, what it means for each of them; losses are then
            geometric means over the answers.

    >>> query = mdp.MeanQuery(mdp.Box((0, 0), (1, 1)), 400)
    >>> mdp.compare_mechanisms(query, epsilon=1, delta=1e-6)[0].name
    'Laplace'
    """

    mechanism: Mechanism
    # Its arrays would fill the screen where options are printed as a list.
    release: Release = field(repr=False)
    error: float
    key: str = field(default="", repr=False)
    headline: str = field(default="", repr=False)
    losses: tuple[float, ...] = ()
    worst: float = field(default=1.0, repr=False)
    typical_loss: float | None = None
    readings: tuple[Option, ...] = field(default=(), repr=False)
    status: str = field(init=False)

    def __post_init__(self) -> None:
        sound = self.release.of_library and library.plain(self.mechanism)
        object.__setattr__(self, "status", CERTIFIED if sound else DECLARED)
        object.__setattr__(self, "key", self.key or self.name)

    def __str__(self) -> str:
        about = self.status if self.status == CERTIFIED else UNAUDITED.removeprefix("; ")
        decides = "" if self.typical_loss is None else f"; typical loss {self.typical_loss:.3f}"
        return f"{self.key}: {self.says}{decides}; {about}"

    @property
    def says(self) -> str:
        """What the noise means for the answer, in its unit, and whether it hides everything."""
        if not self.headline:
            return f"noise of {self.error:.2%} of half the range"
        if self.readings:
            return self.headline
        hides = ": it hides everything, do not release this" * self.useless
        return f"{self.headline}{hides}"

    @property
    def useless(self) -> bool:
        """Whether noise hides everything, however much of its bounds is filled.

        Losses decide where they were simulated: nine tenths of what an answer without any records
        loses. Otherwise noise of half of the largest deviation does, or that bounds need more
        records than there are. Of several answers one is enough, as a release for it alone
        would be refused.
        """
        if self.readings:
            return any(reading.useless for reading in self.readings)
        if self.losses:
            return min(self.losses) >= 0.9 * self.worst > 0
        return self.error >= 1

    @property
    def name(self) -> str:
        """Class name of the mechanism, inside any scaling."""
        return type(unscaled(self.mechanism)).__name__


@isolate
def compare_mechanisms(
    query: Query,
    *,
    epsilon: float,
    delta: float,
    mechanisms: Sequence[Mechanism] | None = None,
) -> list[Option]:
    """Return the mechanisms that answer a query with safe noise, the least noise first.

    It compares additive noise alone, for a query of your own, and ``error`` decides, which
    ``print(option)`` shows. :func:`matrixdp.recommend` has the rule by which releases take a
    mechanism: it knows the answer that is read from the query and the account, and its first may
    be another one. No data are read: errors follow from the calibration.
    Mechanisms with the same noise distribution are listed once. The delta of safe noise is set
    aside before calibration. Where columns have ranges of several sizes, each mechanism works in
    units of the ranges: see :class:`~matrixdp.mechanisms.scaled.MinMaxScaled`.

    Args:
        query: the query, with its public bounds.
        epsilon, delta: the guarantee; a delta of 0 keeps only mechanisms of pure DP.
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
    checks.budget(epsilon=epsilon)
    pure = delta == 0
    delta = 0.0 if pure else checks.open_unit(delta=delta)
    # Slightly less, so that rounding does not decide whether a release fits its account.
    remainder = delta_for_noise(epsilon, delta, int(np.prod(query.shape))) * (1 - 1e-9)
    candidates = [*mechanisms] if mechanisms else _candidates(query, pure=pure)
    half = units(query)
    if np.ptp(half):
        candidates = [MinMaxScaled(mechanism) for mechanism in candidates]
    # x_i x_j lies between -c_i c_j and c_i c_j.
    sizes = np.outer(half, half) if isinstance(query, SecondMomentQuery) else half[:, None]
    ranking = []
    for mechanism in candidates:
        release = promised(mechanism, query, epsilon=epsilon, delta=0 if pure else remainder)
        if not isinstance(release, AdditiveMechanism):
            raise InputError(
                f"mechanisms has {type(mechanism).__name__}, which does not add noise; leave it out"
            )
        if release.delta:
            release = replace(release, delta=delta)
        error = float(np.sqrt(np.mean(variances(release) / sizes**2)))
        ranking.append(Option(mechanism, release, error))
    return sorted(ranking, key=lambda option: option.error)


def _candidates(query: Query, *, pure: bool) -> list[Mechanism]:
    """Return the library's mechanisms that serve a query."""
    if pure:
        return [Laplace()]
    of_moments = [AnalyzeGauss()] if isinstance(query, SecondMomentQuery) else []
    return [Laplace(), Gaussian(), *of_moments]


def variances(release: AdditiveMechanism) -> Array:
    """Return the noise's variance of each entry (m, m), or of each column (m, 1) of a matrix.

    A ratio of a sum to a count has its own to first order, see :class:`RatioQuery`.
    """
    distribution, _, _ = release.whitened
    spread, query = distribution.variances, release.query
    if isinstance(query, RatioQuery):
        return query.ratio_variances(spread)
    return spread[:, :1] if release.query.output_type == "matrix" else spread
