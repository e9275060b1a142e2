"""Which mechanism answers a query with the least noise, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from matrixdp import checks, safe
from matrixdp.checks import Array, InputError
from matrixdp.laws import Laplace as LaplaceLaw
from matrixdp.mechanisms.base import Additive, Mechanism
from matrixdp.mechanisms.directional import DirectionalGaussian
from matrixdp.mechanisms.gaussian import GOE, AnalyzeGauss, Gaussian
from matrixdp.mechanisms.laplace import Laplace
from matrixdp.privacy.domain import Box
from matrixdp.privacy.sensitivity import Covariance, Query

GUARANTEES = ("approximate", "pure")


@dataclass(frozen=True)
class Option:
    """A mechanism that can answer, and what it would do.

    Attributes:
        mechanism: with its parameters.
        release: calibrated.
        variances: of the noise, (m, m) for second moments, otherwise (m, 1).
        error: root mean square over the entries, weighted by importance, of the noise over half
            of the range that the public bounds allow; above 1 noise hides everything.

    >>> query = mdp.Mean(mdp.Box((0, 0), (1, 1)), records=400)
    >>> mdp.options(query, epsilon=1, delta=1e-6)[0].name
    'Laplace'
    """

    mechanism: Mechanism
    release: Additive
    variances: Array
    error: float

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return type(self.mechanism).__name__


def options(
    query: Query,
    *,
    epsilon: float,
    delta: float,
    importance: Sequence[float] | None = None,
    guarantee: str = "approximate",
) -> list[Option]:
    """Return the mechanisms that answer a query with noise that is safe, the least noise first.

    Nothing here has seen data: errors follow from the calibration. Mechanisms of one law stand
    here once.

    Args:
        query: with its public bounds.
        epsilon, delta: the guarantee.
        importance: of each feature, above 0, (m,), beside the range of its values, which errors are
            measured by; an entry of second moments weighs as the product of its features.
        guarantee: ``pure`` leaves out what needs a delta.

    Raises:
        InputError: a number is out of range.

    >>> query = mdp.SecondMoments(mdp.Box.cube(4, -1, 1), records=400)
    >>> for one in mdp.options(query, epsilon=1, delta=1e-6):
    ...     print(f"{one.name} {one.error:.3f}")
    Laplace 0.035
    AnalyzeGauss 0.042
    GOE 0.047
    """
    checks.choice(GUARANTEES, guarantee=guarantee)
    weights = _weights(query, importance) / _half_ranges(query) ** 2
    found: list[Mechanism] = [Laplace()]
    if guarantee == "approximate":
        symmetric = isinstance(query, Covariance)
        found += [GOE(), AnalyzeGauss("analytic")] if symmetric else [Gaussian()]
        if np.ptp(weights):
            found.append(DirectionalGaussian(weights=tuple(weights)))
    given = {"epsilon": epsilon, "delta": delta}
    listed = [option(one, query, importance, **given) for one in found]
    return sorted(listed, key=lambda one: one.error)


def recommend(
    query: Query,
    *,
    epsilon: float,
    delta: float,
    importance: Sequence[float] | None = None,
    guarantee: str = "approximate",
) -> Mechanism:
    """Return the mechanism of the least noise; arguments and errors as of :func:`options`.

    >>> query = mdp.Records(mdp.Ball(1.0, features=50), records=400)
    >>> mdp.recommend(query, epsilon=1, delta=1e-6)
    Gaussian(calibration='analytic')
    """
    given = {"epsilon": epsilon, "delta": delta}
    return options(query, **given, importance=importance, guarantee=guarantee)[0].mechanism


def option(
    mechanism: Mechanism,
    query: Query,
    importance: Sequence[float] | None,
    *,
    epsilon: float,
    delta: float,
) -> Option:
    """Return what a mechanism would do; arguments and errors as of :func:`options`."""
    weights = _weights(query, importance)
    release = mechanism.calibrate(query, epsilon=epsilon, delta=delta)
    assert isinstance(release, Additive)
    variances, half = _variances(release), _half_ranges(query)[:, None]
    important = weights[:, None]
    if isinstance(query, Covariance):
        # x_i x_j lies between -c_i c_j and c_i c_j.
        half, important = half * half.T, important * important.T
    error = float(np.sqrt(np.average(variances / half**2, weights=important)))
    return Option(mechanism, release, variances, error)


def _weights(query: Query, importance: Sequence[float] | None) -> Array:
    if importance is None:
        return np.ones(query.features)
    weights = checks.array(shape=(query.features,), importance=list(importance))
    if not (weights > 0).all():
        raise InputError(f"importance holds {weights.min()}; every weight must be above 0")
    return weights


def _variances(release: Additive) -> Array:
    """Return the variance of each entry of the noise, (m, 1) where columns are alike."""
    law, unit, _ = release.whitened
    if law.columns_alike:
        law = replace(law, shape=(law.shape[0], 1))
    size = law.whiten(np.zeros(law.shape)).size
    total = np.zeros(law.shape)
    for one in range(size):
        total += law.colour(np.eye(1, size, one)[0]) ** 2
    return total * (2 if isinstance(law, LaplaceLaw) and unit is safe.LAPLACE else 1)


def _half_ranges(query: Query) -> Array:
    """Return half of the range of each feature, for second moments its largest size, (m,)."""
    domain = query.domain
    if isinstance(domain, Box) and not isinstance(query, Covariance):
        return domain.widths / 2
    return domain.magnitudes
