"""Draws of a release's noise, where another author's class makes them."""

from __future__ import annotations

import numpy as np

from matrixdp.auditing import runs, whiteness
from matrixdp.auditing.neighbours import Neighbours
from matrixdp.auditing.status import REFUTED
from matrixdp.checks import Array
from matrixdp.mechanisms.base import AdditiveMechanism
from matrixdp.noise.distributions import GaussianDistribution
from matrixdp.privacy.sensitivity import IdentityQuery

#: Random signs of rounding errors.
SIGNS = 8


def value_within(release: AdditiveMechanism, pair: Neighbours) -> Array:
    """Return a value of the query within the public bounds: all records are the second one."""
    query = release.query
    if not isinstance(query, IdentityQuery):
        return runs.within(query, runs.value_of(query, pair.other))
    column = np.reshape(pair.other, (-1, query.features))[:1].T
    return np.tile(column, query.n_records)


def noise_of(
    release: AdditiveMechanism, value: Array, count: int, stream: np.random.Generator
) -> Array:
    """Return the noise of simulated releases of a value, shape (count, m, n)."""
    return np.asarray(release.simulate(value, [stream] * count) - value)


def flaws(
    release: AdditiveMechanism,
    distribution: GaussianDistribution,
    pair: Neighbours,
    stream: np.random.Generator,
) -> tuple[list[str], str]:
    """Return verdicts on the Gaussian noise that a release of another author draws itself.

    Returns:
        The verdicts, and what the tests see, in words.
    """
    value = value_within(release, pair)
    count = whiteness.draws_of(distribution.whiten(value).size)
    noise = noise_of(release, value, count, stream)
    white = np.stack([np.ravel(distribution.whiten(one)) for one in noise])
    result = whiteness.judge(white, stream, grid=_grid(distribution, value, noise))
    return [f"{REFUTED}: {result.defect}"] * bool(result.defect), result.explain()


def _grid(distribution: GaussianDistribution, value: Array, noise: Array) -> float:
    """Return the spacing of whitened noise that was rounded to float64 with a value.

    Whitening may mix entries: errors of random signs are whitened. Without a value there is none.
    """
    largest = np.abs(value) + np.abs(noise).max(axis=0)
    units = np.where(value == 0, 0.0, np.spacing(largest))
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(SIGNS, *units.shape))
    return max(float(np.abs(distribution.whiten(units * one)).max()) for one in signs)
