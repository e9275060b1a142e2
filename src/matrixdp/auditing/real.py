"""An audit of the noise of real releases, from random bits that the audit chooses."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from scipy import special

from matrixdp.auditing.audit import CLOSE, ERROR, NO_SCALE, SCALE_DRAWS, Scale, gamma_scale
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.additive import AdditiveMechanism
from matrixdp.mechanisms.mechanism import CalibratedMechanism
from matrixdp.noise import safe

#: Real releases to replay from their bits at most, and the numbers that suffice.
RELEASES, REPLAYED = 8, 1000


def scale(release: CalibratedMechanism, stream: np.random.Generator) -> Scale:
    """Return the test of the noise that a real release adds to its value.

    The noise is that of the sampler for the same bits (:func:`factor`), and its size and its
    distribution are tested on many numbers. The result is ``NO_SCALE`` where no safe noise exists.
    """
    if not isinstance(release, AdditiveMechanism) or not (law := _law(release)):
        return NO_SCALE
    result = _of_sampler(law, safe.noise)
    ratio = factor(release, stream) / release.rounding_factor
    if np.isnan(ratio):
        return result._replace(another_distribution=True)
    return result if abs(ratio - 1) <= CLOSE else result._replace(ratio=ratio * result.ratio)


def factor(release: AdditiveMechanism, stream: np.random.Generator) -> float:
    """Return the size of real releases' noise over that of the sampler's output for their bits.

    It is 1 or slightly more of a right release, which covers roundings. The value and the noise
    are whitened, and nothing else that a class says of itself counts. NaN: the noise is no multiple
    of the sampler's output, so that it has another distribution; 1 where no safe noise exists.
    """
    if not (law := _law(release)):
        return 1.0
    distribution, *_ = release.whitened
    side = release.query.domain.magnitudes[:, None]
    matrix = release.query.output_type == "matrix"
    value = np.broadcast_to(side if matrix else side * side.T, release.noise.shape) / 2
    count = min(RELEASES, -(-REPLAYED // value.size))
    pairs = []
    for seed in stream.integers(2**32, size=count).tolist():
        released = release.add_noise(value, np.random.default_rng(seed).bytes)
        noise = np.ravel(distribution.whiten(released) - distribution.whiten(value))
        steps = safe.noise(law, noise.size, np.random.default_rng(seed).bytes)
        pairs.append((noise, steps * safe.STEP))
    noise, expected = (np.concatenate(side) for side in zip(*pairs, strict=True))
    result = float(noise @ expected / (expected @ expected))
    if np.abs(noise - result * expected).max() > CLOSE * max(1.0, np.abs(expected).max()):
        return float("nan")
    return result


def _law(release: AdditiveMechanism) -> str:
    """Return the law of a release's safe noise; empty where none can be added."""
    try:
        _, law, _ = release.whitened
        _ = release.rounding_factor
    except InputError:
        return ""
    return law


@functools.cache
def _of_sampler(law: str, sampler: Callable[..., safe.Whole]) -> Scale:
    """Return the test of a sampler, which all releases with noise of this law have in common."""
    bits = np.random.default_rng(0).bytes
    sample = np.asarray(sampler(law, SCALE_DRAWS, bits) * safe.STEP, float)
    normal = law == safe.NORMAL
    total = sample @ sample / 2 if normal else np.abs(sample).sum()
    result = gamma_scale(float(total), SCALE_DRAWS / (2 if normal else 1), root=normal)
    return result._replace(another_distribution=not _follows(sample, normal))


def _follows(noise: Array, normal: bool) -> bool:
    """Return whether numbers follow the standard normal, or else the Laplace, distribution.

    The test is that of Kolmogorov and Smirnov, with the limit of Dvoretzky, Kiefer, Wolfowitz and
    Massart at the error probability ``ERROR``.
    """
    ordered = np.sort(noise)
    distribution = special.ndtr(ordered) if normal else _laplace(ordered)
    ranks = np.arange(len(noise) + 1) / len(noise)
    apart = max(np.abs(distribution - ranks[1:]).max(), np.abs(distribution - ranks[:-1]).max())
    return bool(apart <= np.sqrt(np.log(2 / ERROR) / (2 * len(noise))))


def _laplace(x: Array) -> Array:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)
