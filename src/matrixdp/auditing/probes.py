"""Exact tests of how a noise distribution whitens and colours, on a few random values.

They are equations that hold to rounding or do not: no level, no power, in any dimension. A release
is ``colour(whiten(value) + N)``. It is private whatever ``colour`` does, and right if ``colour``
inverts ``whiten``. Noise that leaves out one direction of d differs from this by 1 / sqrt(d) of a
random value, where rounding errors are near 1e-13.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matrixdp.checks import Array
from matrixdp.noise.distributions import GaussianDistribution, LaplaceNoise, both_sides

#: Number of random values.
PROBES = 4

#: Largest relative error of an equation that holds, over the condition number of the noise.
CLOSE = 1e-11

#: Ways in which noise differs from what it declares.
ANSWER = "its answer is not the value plus noise: colour does not invert whiten"
LINEAR = "whiten is no linear map, so that noise depends on the value"
COVARIANCE = "whiten has another covariance than the factors declare"

#: Noise that can be whitened, and a map of stacks of changes (k, m, n') to (k, d).
Whitened = GaussianDistribution | LaplaceNoise
Stacks = Callable[[Array], Array]


def flat(noise: Whitened) -> Stacks:
    """Return a function that whitens stacks (k, m, n) to (k, d), of any class."""

    def whiten(stack: Array) -> Array:
        return np.stack([np.ravel(noise.whiten(one)) for one in stack])

    return whiten


def defect(noise: Whitened, symmetric: bool, stream: np.random.Generator) -> str:
    """Return how noise differs from what it declares; empty where every equation holds.

    ``symmetric``: whether values are symmetric matrices.
    """
    values = stream.standard_normal((PROBES, *noise.shape))
    if symmetric:
        values = (values + np.swapaxes(values, 1, 2)) / 2
    # Values of very different sizes, as a map that looks at the value may tell them apart.
    values *= 10.0 ** np.arange(-1, PROBES - 1)[:, None, None]
    whiten = flat(noise)
    with np.errstate(all="ignore"):
        white = whiten(values)
        coloured = np.stack([noise.colour(one) for one in white])
        sums = whiten(np.stack([first + values[0] for first in values]))
        noise_sizes = np.array(
            [_norm(noise.colour(one)) for one in stream.standard_normal(white.shape)]
        )
        # The gain of whitening times that of colouring; at least 1 for maps that are inverse.
        gain = np.array([_norm(one) for one in white]) / [_norm(one) for one in values]
        condition = max(1.0, float(np.max(gain * noise_sizes / np.sqrt(white.shape[1]))))
        errors = {
            LINEAR: max(map(_apart, sums, white + white[0])),
            ANSWER: max(map(_apart, coloured, values)),
        }
        if any(factor is not None for factor in noise.factors):
            declared = both_sides(values, *noise.factors, inverse=True)
            sizes = [np.array([_norm(one) for one in side]) for side in (white, declared)]
            errors[COVARIANCE] = float(np.max(np.abs(sizes[0] ** 2 / sizes[1] ** 2 - 1)))
    limit = CLOSE * condition
    return next((words for words, error in errors.items() if not error <= limit), "")


def _norm(values: Array) -> float:
    return float(np.linalg.norm(values))


def _apart(first: Array, second: Array) -> float:
    """Return the distance of two arrays over the size of the second."""
    if np.shape(first) != np.shape(second):
        return float("inf")
    return _norm(first - second) / _norm(second)
