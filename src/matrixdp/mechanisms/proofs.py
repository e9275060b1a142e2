"""Bounds on the change of neighbours that the library proves, and the deviation of its noise.

They follow from the library's sensitivities and from the numbers of a noise distribution. What a
release declares of itself is not used, nor is a method of another author's class: such a query, or
such noise, has no bound here.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from matrixdp import library
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.mechanism import NoGuarantee, epsilon_of
from matrixdp.noise import safe
from matrixdp.noise.distributions import NoiseDistribution
from matrixdp.noise.value import Noise
from matrixdp.privacy.domain import Ball, Box
from matrixdp.privacy.sensitivity import MeanQuery, Query, RecordsQuery, SecondMomentQuery

if TYPE_CHECKING:
    from matrixdp.mechanisms.additive import AdditiveMechanism

#: Relative tolerance of two numbers that are computed in two ways.
ROUNDING = 1e-9

#: No bound is proven.
UNPROVEN = float("nan")


def require(release: AdditiveMechanism) -> None:
    """Check what a release states against what its query and its noise prove.

    All real releases and charges come this way, each time anew: a field may have been changed since
    the calibration. Of noise or a query of another author nothing may be proven; the statement is
    then as declared, and says so.

    Raises:
        NoGuarantee: the noise gives less than is stated, or nothing proves that it gives it.
    """
    query, noise = release.query, release.noise
    remedy = "calibrate a mechanism, and change no field of what it returns"
    if isinstance(noise, Noise) and noise.law == safe.LAPLACE:
        if release.mu is not None:
            raise NoGuarantee(
                f"the release states mu {release.mu:.4g}, and Laplace noise has none; {remedy}"
            )
        name, stated, proven = "epsilon", release.epsilon_delivered, size(query, noise)
    else:
        name, stated, proven = "mu", _stated_mu(release, remedy), mu(query, noise)
    if np.isnan(proven) and not release.of_library:
        return
    if np.isnan(proven):
        raise NoGuarantee(
            f"the release states {name} {stated:.4g}, and nothing proves it of its noise; {remedy}"
        )
    if not proven <= stated * (1 + ROUNDING):
        raise NoGuarantee(
            f"the release states {name} {stated:.4g}, and its noise gives {proven:.4g}; {remedy}"
        )


def _stated_mu(release: AdditiveMechanism, remedy: str) -> float:
    """Return the mu that a release states, which must deliver the epsilon that it states."""
    if release.mu is None:
        raise NoGuarantee(f"the noise is Gaussian and states no mu; {remedy}")
    if not release.delta > 0:
        raise NoGuarantee(f"delta is {release.delta:g}, and Gaussian noise needs one; {remedy}")
    delivered = epsilon_of(float(release.delta), float(release.mu))
    if not delivered <= release.epsilon_delivered * (1 + ROUNDING) + 1e-11:
        raise NoGuarantee(
            f"the release states that it delivers epsilon {release.epsilon_delivered:.4g}, and its "
            f"mu gives {delivered:.4g} at delta {release.delta:g}; {remedy}"
        )
    return release.mu


def owned(query: Query, noise: Noise | NoiseDistribution | None = None) -> bool:
    """Return whether a query with its domain, and the noise, are of classes of the library.

    The noise has the shape of the query, and plain numbers and arrays in its fields: an object that
    only looks like an array may change.
    """
    if not library.plain(query):
        return False
    return noise is None or (library.plain(noise) and noise.shape == query.shape)


def mu(query: Query, noise: Noise | NoiseDistribution) -> float:
    """Return an upper bound on mu, the norm of the whitened change of neighbours.

    NaN: no bound is proven.
    """
    if not owned(query, noise):
        return UNPROVEN
    try:
        if isinstance(noise, Noise):
            return _normal(query, noise)
        # Noise of the study has its own proof.
        return float(noise.largest_mu(query)) if hasattr(noise, "largest_mu") else UNPROVEN
    except (InputError, np.linalg.LinAlgError):
        # A singular factor leaves some direction without noise; one near it, an uncertain one.
        return UNPROVEN


def _normal(query: Query, noise: Noise) -> float:
    """Return mu of independent normal numbers, by the least size of a row.

    Symmetric noise has sizes s_i s_j on the diagonal and at least c s_i s_j off it. Over these a
    change D becomes D', with F its Frobenius norm and d that of its diagonal. mu^2 is at most d^2 +
    (F^2 - d^2) / (2 c^2), and so at most F^2 max(1, 1 / (2 c^2)). Here F is the mu of equi-modal
    noise with variances s_i^2.
    """
    if noise.law != safe.NORMAL:
        return UNPROVEN
    if isinstance(query, SecondMomentQuery) and not noise.symmetric:
        return query.l2_sensitivity / float(np.min(noise.size))
    basis = None if noise.basis is None else noise.basis.tobytes()
    if not isinstance(query, SecondMomentQuery):
        sizes = np.min(noise.size, axis=1)
        return UNPROVEN if noise.symmetric else _rows_mu(query, sizes.tobytes(), basis)
    roots, off = _proportions(noise)
    return _moments_mu(query, roots.tobytes(), off, basis)


# The keys of these are values alone, so that a changed field makes another one.
@functools.lru_cache(maxsize=64)
def _rows_mu(query: Query, sizes: bytes, basis: bytes | None) -> float:
    """Return mu of independent rows of normal numbers, with a size for each."""
    return query.directional_mu(np.frombuffer(sizes) ** 2, _matrix(basis)).value


def _matrix(basis: bytes | None) -> Array | None:
    if basis is None:
        return None
    entries = np.frombuffer(basis)
    return entries.reshape(2 * (round(np.sqrt(entries.size)),))


@functools.lru_cache(maxsize=64)
def _moments_mu(
    query: SecondMomentQuery, proportions: bytes, off: float, basis: bytes | None
) -> float:
    """Return mu of symmetric normal noise, by :func:`_proportions`."""
    roots = np.frombuffer(proportions)
    largest = query.directional_mu(roots**2, _matrix(basis)).value
    bound = largest * max(1.0, np.sqrt(0.5) / off)
    scaled = None if basis is not None else _over(query, roots)
    return float(bound if scaled is None else min(bound, _triangle(scaled, off)))


def _proportions(noise: Noise) -> tuple[Array, float]:
    """Return roots s (m,) of the sizes on the diagonal, and the least size off it over s_i s_j."""
    size = np.asarray(noise.size)
    roots = np.sqrt(np.diag(size))
    shares = (size / np.outer(roots, roots))[~np.eye(len(size), dtype=bool)]
    return roots, float(shares.min(initial=np.inf))


def _over(query: Query, sizes: Array) -> Any:
    """Return the query on records over these sizes (m,), or None where its domain has no such."""
    if (sizes == sizes[0]).all() and isinstance(query.domain, Ball):
        return replace(query, domain=Ball(float(query.domain.radius / sizes[0]), query.features))
    if not isinstance(query.domain, Box):
        return None
    sides = (np.divide(side, sizes) for side in (query.domain.lower, query.domain.upper))
    try:
        return replace(query, domain=Box(*(tuple(side.tolist()) for side in sides)))
    except InputError:
        # Beyond the limits of a domain, where columns are of very unlike sizes.
        return None


def _triangle(query: SecondMomentQuery, off: float) -> float:
    """Return an upper bound on mu of independent entries of size 1 on the diagonal, ``off`` above.

    ``off`` is infinite for one column, which has no entries above. Let F be the Frobenius norm of a
    change D, U that of its upper triangle, d that of its diagonal, so that U^2 = (F^2 + d^2) / 2.
    With variances 1 on the diagonal and 1 / b above it, mu^2 is d^2 + b (F^2 - d^2) / 2 = (2 - b)
    U^2 + (b - 1) F^2. That bounds it where 1 <= b <= 2. For b < 1 it is at most U^2, and for b > 2
    at most b F^2 / 2, as d^2 (1 - b / 2) is negative.
    """
    b = off**-2
    upper, whole = query.triangle_l2_sensitivity**2, query.l2_sensitivity**2
    if b < 1:
        square = upper
    elif b <= 2:
        square = (2 - b) * upper + (b - 1) * whole
    else:
        square = b * whole / 2
    return float(np.sqrt(square))


def size(query: Query, noise: Noise | NoiseDistribution) -> float:
    """Return an upper bound on the size of a change, where the noise has density exp(-size).

    It is the epsilon of pure differential privacy. NaN: no bound is proven.
    """
    if not owned(query, noise):
        return UNPROVEN
    if isinstance(noise, Noise):
        return _laplace(query, noise)
    return float(noise.largest_size(query)) if hasattr(noise, "largest_size") else UNPROVEN


def _laplace(query: Query, noise: Noise) -> float:
    """Return the size of the largest change under independent Laplace numbers."""
    moments = isinstance(query, SecondMomentQuery)
    if noise.law != safe.LAPLACE or (noise.symmetric and not moments):
        return UNPROVEN
    if isinstance(query, SecondMomentQuery) and noise.symmetric:
        roots, off = _proportions(noise)
        return _moments_size(query, roots.tobytes(), off, float(np.min(noise.size)))
    return _rows_size(query, np.min(noise.size, axis=1).tobytes())


@functools.lru_cache(maxsize=64)
def _rows_size(query: Query, sizes: bytes) -> float:
    """Return the size of the largest change over independent rows, with a size for each."""
    rows = np.frombuffer(sizes)
    bound = query.l1_sensitivity / float(rows.min())
    # Of another query than these two the domain does not decide the change.
    plain = type(query) in (RecordsQuery, MeanQuery)
    scaled = _over(query, rows) if plain else None
    return float(bound if scaled is None else min(bound, scaled.l1_sensitivity))


@functools.lru_cache(maxsize=64)
def _moments_size(query: SecondMomentQuery, proportions: bytes, off: float, least: float) -> float:
    """Return the size of the largest change under symmetric noise, by :func:`_proportions`."""
    bound, scaled = query.triangle_l1_sensitivity / least, _over(query, np.frombuffer(proportions))
    if scaled is None:
        return float(bound)
    return float(min(bound, scaled.triangle_l1_sensitivity / min(1.0, off)))


def deviation(noise: Noise | NoiseDistribution) -> float:
    """Return the root mean square of the entries' standard deviations, or NaN for other noise."""
    if not library.plain(noise):
        return UNPROVEN
    return float(getattr(noise, "deviation", UNPROVEN))
