"""The noise of real releases under audit, drawn from bits that the audit knows."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import special

from matrixdp import safe
from matrixdp.audit.base import ERROR, NO_SCALE, Scale, gamma_scale, trials_of
from matrixdp.checks import Array, InputError
from matrixdp.mechanisms.base import Additive, Release


def scale(release: Release, stream: np.random.Generator) -> Scale:
    """Return the test of the noise that a real release adds to its value, both ways.

    It is the size and the distribution of the noise after whitening, over the declared stretch.
    ``NO_SCALE`` where there is no such release.
    """
    if not isinstance(release, Additive):
        return NO_SCALE
    try:
        law, unit, _ = release.whitened
        stretch = release.stretch
    except InputError:
        return NO_SCALE
    side = release.query.domain.magnitudes[:, None]
    matrix = release.query.yields == "matrix"
    value = np.broadcast_to(side if matrix else side * side.T, release.noise.shape) / 2
    drawn = []
    for _ in range(trials_of(release.numbers)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            released = release.add_once(value, random_state=int(stream.integers(2**32)))
        drawn.append(law.whiten((released.T if matrix else released) - value) / stretch)
    noise = np.concatenate(drawn)
    normal = unit is safe.NORMAL
    total = noise @ noise / 2 if normal else np.abs(noise).sum()
    found = gamma_scale(float(total), noise.size / (2 if normal else 1), root=normal)
    return found if _follows(noise, normal) else found._replace(another_law=True)


def _follows(noise: Array, normal: bool) -> bool:
    """Return whether numbers follow the unit law, by the largest distance of distributions.

    The limit is that of Dvoretzky, Kiefer, Wolfowitz and Massart, at the probability ``ERROR``.
    """
    ordered = np.sort(noise)
    law = special.ndtr(ordered) if normal else _laplace(ordered)
    ranks = np.arange(len(noise) + 1) / len(noise)
    apart = max(np.abs(law - ranks[1:]).max(), np.abs(law - ranks[:-1]).max())
    return bool(apart <= np.sqrt(np.log(2 / ERROR) / (2 * len(noise))))


def _laplace(x: Array) -> Array:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)
