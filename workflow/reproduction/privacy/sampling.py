"""Amplification of a guarantee by Poisson sampling.

In every step each record is in the lot independently, with probability ``rate``. Neighbours differ
by one record added or removed.
"""

from __future__ import annotations

import numpy as np

from matrixdp import checks
from matrixdp.checks import InputError
from reproduction.privacy.kov import Guarantee

#: Relative rounding error of a number where nothing cancels.
_ROUNDING = 1e-14


def amplify(guarantee: Guarantee, rate: float) -> Guarantee:
    """Return the guarantee of a release on a Poisson lot: (ln(1 + q (e^epsilon - 1)), q delta).

    It holds for adding or removing a record (Li, Qardaji & Su 2012; Balle, Barthe & Gaboardi,
    NeurIPS 2018), for a sampling probability q above 0 and at most 1.
    """
    q = sampling_rate(rate=rate)
    epsilon, delta = (np.asarray(value, dtype=float) for value in guarantee)
    small = np.log1p(q * np.expm1(np.minimum(epsilon, 500)))
    large = epsilon + np.log(q + (1 - q) * np.exp(-epsilon))
    sampled = np.where(epsilon < 500, small, large) * (1 + _ROUNDING)
    return Guarantee(sampled[()], (q * delta)[()])


def invert_amplification(guarantee: Guarantee, rate: float) -> Guarantee:
    """Return the guarantee before sampling that becomes this one: the inverse of :func:`amplify`.

    Arguments and errors are those of :func:`amplify`; delta stays below 1.
    """
    q = sampling_rate(rate=rate)
    epsilon, delta = (np.asarray(value, dtype=float) for value in guarantee)
    # ln(1 + (e^epsilon - 1) / q), without overflow.
    unsampled = (epsilon + np.log1p(-np.expm1(-epsilon) * (1 - q) / q)) * (1 - _ROUNDING)
    return Guarantee(unsampled[()], np.minimum(delta / q, 1 - 1e-9)[()])


def linear_before_sampling_wrong(guarantee: Guarantee, rate: float) -> Guarantee:
    """Return (epsilon / q, delta / q), which is NOT private: only the limit of small epsilon / q.

    IMGM's paper states amplification like this (section 5.1). The correct inverse is
    :func:`invert_amplification`, which is far smaller where epsilon / q is large.
    """
    q = sampling_rate(rate=rate)
    return Guarantee(float(guarantee.epsilon) / q, min(float(guarantee.delta) / q, 1 - 1e-9))


def sampling_rate(**argument: object) -> float:
    """Return the value if it is a probability above 0."""
    ((name, value),) = argument.items()
    rate = checks.positive(**argument)
    if rate > 1:
        raise InputError(
            f"{name} is {value}; a sampling rate is at most 1, so a lot must not be larger than "
            "the data"
        )
    return rate
