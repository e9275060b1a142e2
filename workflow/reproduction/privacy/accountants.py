"""The privacy cost of many Gaussian releases, and the noise that each of them needs.

Three accountants, from loose to exact:

- RDP: the moments accountant, in its Renyi form (Mironov, Talwar & Zhang, arXiv 1908.10530);
- PLD: the privacy loss distribution, an upper bound as tight as its discretisation;
- the closed form of Gaussian noise without sampling: mu of all releases is the root of the sum of
  their mu^2 (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3; IMGM, Theorem 4).

:mod:`reproduction.privacy.sampling` defines the sampling. A noise ``multiplier`` is the standard
deviation of Gaussian noise over its sensitivity: 1 / mu of a release without sampling. Every result
is rounded to the side that promises less privacy.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from matrixdp import checks
from matrixdp.checks import Array
from matrixdp.privacy import gaussian_dp
from reproduction.privacy.kov import Guarantee
from reproduction.privacy.sampling import amplify, sampling_rate

#: Relative rounding error of a number where nothing cancels, and of divergences.
_ROUNDING = 1e-14
_DIVERGENCE_ROUNDING = 1e-10

#: Largest multiplier of the search.
LARGEST_MULTIPLIER = 1e7
#: Relative accuracy of the multiplier.
_MULTIPLIER_ACCURACY = 1e-7

#: Orders of the moments accountant.
ORDERS = np.unique(np.r_[2:65, np.geomspace(64, 8192, 52).astype(int)])

#: Points of the grid of privacy losses per standard deviation of one step's loss. The epsilon of
#: the discretised loss is then too large by about 2e-5, relatively.
_RESOLUTION = 64
#: Largest number of points of one step's grid.
_POINTS = 2**17


def release_mu(epsilon: float, delta: float, releases: int) -> float:
    """Return the largest mu of each of T equal Gaussian releases (IMGM, Theorem 4)."""
    epsilon, delta = checks.privacy(epsilon, delta)
    releases = checks.count(releases=releases)
    return float(gaussian_dp.mu(epsilon, delta) / np.sqrt(releases) * (1 - _ROUNDING))


@functools.lru_cache(maxsize=4096)
def rdp_epsilon(multiplier: float, *, rate: float, steps: int, delta: float) -> float:
    """Return an upper bound of epsilon from the moments accountant.

    It takes Renyi divergences of Poisson-sampled Gaussian noise at integer ``ORDERS``, converted by
    Canonne, Kamath & Steinke (NeurIPS 2020, Proposition 12). As the orders are bounded, the result
    stays above about 2e-4 (for delta = 1e-5) for every multiplier. A call takes 10 ms.

    Args:
        multiplier: standard deviation of the noise on the sum of a lot, over the sensitivity.
        rate: sampling probability, above 0 and at most 1.
        steps: number of releases.
        delta: delta of all releases together.
    """
    z, q, steps, delta = _arguments(multiplier, rate, steps, delta)
    divergence = steps * _divergences(z, q) * (1 + _DIVERGENCE_ROUNDING)
    converted = np.log1p(-1 / ORDERS) - (np.log(delta) + np.log(ORDERS)) / (ORDERS - 1)
    return float(max((divergence + converted).min(), 0))


def _divergences(multiplier: float, rate: float) -> Array:
    """Return the Renyi divergences of one step at ``ORDERS``.

    At order a the divergence is ln(E e^((k^2 - k) / (2 z^2))) / (a - 1) for binomial k of a. It is
    at least that of the opposite direction (Mironov, Talwar & Zhang 2019). As e^x - 1 is never
    negative and is 0 for k < 2, nothing cancels in the logarithm of 1 + E(e^x - 1).
    """
    if rate == 1:
        return ORDERS / (2 * multiplier**2)
    order = np.repeat(ORDERS, ORDERS - 1)
    starts = np.cumsum(ORDERS - 1) - (ORDERS - 1)
    k = np.arange(len(order)) - np.repeat(starts, ORDERS - 1) + 2
    binomial = gammaln(order + 1) - gammaln(k + 1) - gammaln(order - k + 1)
    weight = binomial + k * np.log(rate) + (order - k) * np.log1p(-rate)
    x = k * (k - 1) / (2 * multiplier**2)
    above_1 = np.logaddexp.reduceat(weight + x + np.log(-np.expm1(-x)), starts)
    return np.logaddexp(0, above_1) / (ORDERS - 1)


@functools.lru_cache(maxsize=4096)
def pld_epsilon(multiplier: float, *, rate: float, steps: int, delta: float) -> float:
    """Return epsilon from the privacy loss distribution: a nearly exact upper bound.

    Without sampling, and for one step, it is a closed form. Otherwise the library rounds the loss
    of one step up to a grid by its pessimistic "connect the dots" (Doroshenko et al., PoPETs 2022)
    and composes by a Fourier transform. The result is too large by about 2e-5, relatively, or by
    4e-4 where it is in the hundreds. A call takes 0.02 to 0.3 s.

    Arguments and errors are those of :func:`rdp_epsilon`.
    """
    z, q, steps, delta = _arguments(multiplier, rate, steps, delta)
    unsampled = gaussian_dp.epsilon(delta, np.sqrt(steps) / z * (1 + _ROUNDING))
    if q == 1 or unsampled == 0:
        return unsampled
    if steps == 1:
        # Amplification is exact for Gaussian noise: epsilon is 0 for delta >= q.
        lot = 0.0 if delta >= q else gaussian_dp.epsilon(delta / q, 1 / z * (1 + _ROUNDING))
        return float(amplify(Guarantee(lot, 0.0), q).epsilon)
    # Subtract the rounding errors of the discretised curve in every step, and of the transform.
    target = delta - 1e-15 * steps - 1e-13
    if target <= 0:
        return unsampled
    from dp_accounting.pld import privacy_loss_distribution

    distribution = privacy_loss_distribution.from_gaussian_mechanism(
        z, sampling_prob=q, value_discretization_interval=_interval(z, q, steps)
    )
    return float(min(distribution.self_compose(steps).get_epsilon_for_delta(target), unsampled))


def _arguments(
    multiplier: float, rate: float, steps: int, delta: float
) -> tuple[float, float, int, float]:
    return (
        checks.positive(multiplier=multiplier),
        sampling_rate(rate=rate),
        checks.count(steps=steps),
        checks.open_unit(delta=delta),
    )


def _interval(multiplier: float, rate: float, steps: int) -> float:
    """Return the spacing of the grid: a fraction of one step's standard deviation.

    Two lower bounds hold: one step's grid has at most ``_POINTS`` points, and rounding, of about
    1e-16 deviation / interval^2, does not add up over the steps.
    """
    u = np.linspace(-9, 9, 361)
    weights = np.exp(-u * u / 2)
    weights /= weights.sum()
    # In units of the sensitivity, a record's sum is 0 without the record and 1 with it.
    x = np.stack([multiplier * u, 1 + multiplier * u])
    mixture = np.stack([(1 - rate) * weights, rate * weights])
    loss = np.logaddexp(np.log1p(-rate), np.log(rate) + (x - 0.5) / multiplier**2)
    deviation = np.sqrt((mixture * (loss - (mixture * loss).sum()) ** 2).sum())
    finest = max(np.ptp(loss) / _POINTS, np.sqrt(1e-12 * steps * deviation))
    return float(max(deviation / _RESOLUTION, finest))


#: Function that returns epsilon, as :func:`rdp_epsilon` and :func:`pld_epsilon`.
Accountant = Callable[..., float]


@functools.lru_cache(maxsize=4096)
def smallest_multiplier(
    epsilon: float, delta: float, *, rate: float, steps: int, accountant: Accountant = pld_epsilon
) -> float:
    """Return the smallest noise multiplier for which the steps are (epsilon, delta)-DP.

    It is rounded up by at most 1e-6, relatively. It is infinite if no multiplier up to
    ``LARGEST_MULTIPLIER`` is large enough for the accountant, :func:`pld_epsilon` or
    :func:`rdp_epsilon`.
    """
    from scipy.optimize import brentq

    epsilon, delta = checks.privacy(epsilon, delta)
    q, steps = sampling_rate(rate=rate), checks.count(steps=steps)

    if q == 1 and accountant is pld_epsilon:
        return (1 + _ROUNDING) / release_mu(epsilon, delta, steps)

    def excess(log_multiplier: float) -> float:
        bound = accountant(float(np.exp(log_multiplier)), rate=q, steps=steps, delta=delta)
        return float(np.clip(np.log(max(bound, 1e-300) / epsilon), -50, 50))

    # Start from the limit of many steps with much noise (Bu, Dong, Long & Su, HDSR 2020).
    upper = float(np.log(q / release_mu(epsilon, delta, steps)))
    lower, step = upper, 0.05
    while excess(upper) > 0:
        lower, upper, step = upper, upper + step, 2 * step
        if upper > np.log(LARGEST_MULTIPLIER):
            return np.inf
    step = 0.05
    while excess(lower) <= 0:
        lower, step = lower - step, 2 * step
    log_multiplier = brentq(excess, lower, upper, xtol=_MULTIPLIER_ACCURACY)
    while excess(log_multiplier) > 0:
        log_multiplier += _MULTIPLIER_ACCURACY
    return float(np.exp(log_multiplier))
