"""What many private releases together cost, and how much noise each of them needs.

Four ways to account for a sequence of releases, from loose to exact for Gaussian noise:

- KOV: any (epsilon, delta)-DP releases (Kairouz, Oh & Viswanath, IEEE Trans. Inf. Theory 63, 2017),
  by their Theorem 3.4, or exactly for the worst of such releases by their Theorem 3.3;
- RDP: the moments accountant, in its Renyi form (Mironov, Talwar & Zhang, arXiv 1908.10530);
- PLD: the privacy loss distribution, an upper bound as tight as its discretisation;
- the closed form of Gaussian noise without sampling: mu of all releases is the root of the sum of
  their mu^2 (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3; IMGM, Theorem 4).

Sampling is Poisson: every record is in a lot with probability ``rate``, independently in every
step, and neighbours differ by one record added or removed. A noise ``multiplier`` is the standard
deviation of Gaussian noise over its sensitivity, 1 / mu of a release without sampling.

Every result is rounded to the side that promises less privacy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import betainc, gammaln

from matrixdp import checks
from matrixdp.checks import Array, InputError
from matrixdp.privacy import gaussian

Mask = NDArray[np.bool_]

#: Shares of delta that KOV's slack may take; 0 is basic composition.
SHARES = np.linspace(0, 0.99, 100)
THEOREMS = ("3.3", "3.4")

#: What rounding may move a number by, relatively, where nothing cancels.
_ROUNDING = 1e-14
#: The same for Renyi divergences, and for binomial tails.
_DIVERGENCE_ROUNDING = 1e-10
_TAIL_ROUNDING = 1e-10
_BISECTIONS = 60

#: No multiplier above this is searched for.
LARGEST_MULTIPLIER = 1e7
#: Relative accuracy of the multiplier that is found.
_MULTIPLIER_ACCURACY = 1e-7

#: Orders of the moments accountant.
ORDERS = np.unique(np.r_[2:65, np.geomspace(64, 8192, 52).astype(int)])

#: Points of the grid of privacy losses per standard deviation of one step's loss: the epsilon of
#: the discretised loss is then too large by about 2e-5 of itself.
_RESOLUTION = 64
#: Most points of one step's grid.
_POINTS = 2**17


class Guarantee(NamedTuple):
    """(epsilon, delta)-DP: two numbers, or two arrays of one shape."""

    epsilon: Any
    delta: Any

    def item(self, index: int) -> Guarantee:
        """Return one of many guarantees, as floats."""
        return Guarantee(float(self.epsilon[index]), float(self.delta[index]))


def composed_mu(mu: ArrayLike) -> float:
    """Return mu of all Gaussian releases together: the root of the sum of squares.

    It holds for releases that are chosen adaptively, and is exact if one pair of neighbours is the
    worst for all of them.

    Raises:
        InputError: a mu is below 0 or not finite.
    """
    values = checks.array(mu=mu)
    if (values < 0).any():
        raise InputError(f"mu holds {values.min():g}; every mu must be at least 0")
    # Correctly rounded sums, so that every processor gets the same last digits.
    return math.sqrt(math.fsum(values.ravel() ** 2))


def release_mu(epsilon: float, delta: float, releases: int) -> float:
    """Return the mu that each of equal Gaussian releases may have (IMGM, Theorem 4).

    The standard deviation of each is then sensitivity / mu = sensitivity sqrt(T) / B.

    Raises:
        InputError: an argument is out of range.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    releases = checks.count(releases=releases)
    return float(gaussian.mu(epsilon, delta) / np.sqrt(releases) * (1 - _ROUNDING))


def kov_epsilon(epsilon: ArrayLike, releases: int, slack: ArrayLike) -> Any:
    """Return epsilon of the composition of (epsilon, delta)-DP releases (KOV, Theorem 3.4).

    The composition is (kov_epsilon, 1 - (1 - delta)^k (1 - slack))-DP. Arguments broadcast.

    Args:
        epsilon: of one release, at least 0.
        releases: their number, k.
        slack: at least 0 and below 1; 0 is basic composition, k epsilon.
    """
    e, slack = np.asarray(epsilon, dtype=float), np.asarray(slack, dtype=float)
    k = checks.count(releases=releases)
    terms = [k * e, *(_kov_term(e, k, slope) for slope in _kov_slopes(e, k, slack))]
    return np.min(np.broadcast_arrays(*terms), axis=0)[()]


def _kov_slopes(epsilon: Array, releases: int, slack: Array) -> tuple[Array, Array]:
    """Return what multiplies epsilon in the second and third term of Theorem 3.4."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.e + np.sqrt(releases) * epsilon / slack), np.log(1 / slack)
    second, third = (np.sqrt(2 * releases * log) for log in logs)
    return second, third


def _kov_term(epsilon: Array, releases: int, slope: Array) -> Array:
    with np.errstate(invalid="ignore"):
        term = releases * epsilon * np.tanh(epsilon / 2) + epsilon * slope
    return np.where(epsilon > 0, term, 0)


def kov_delta(total: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, releases: int) -> Any:
    """Return delta of the composition of (epsilon, delta)-DP releases (KOV, Theorem 3.3).

    It is exact for the worst of such releases, that answer truthfully with odds e^epsilon. The
    theorem states it at total = (k - 2 i) epsilon; in between, the same sum is the exact curve.
    Arguments broadcast.

    Args:
        total: epsilon of the composition, at least 0.
        epsilon: of one release, above 0.
        delta: of one release, at least 0 and below 1.
        releases: their number, k.
    """
    k = checks.count(releases=releases)
    slack = _kov_slack(np.asarray(total, dtype=float), np.asarray(epsilon, dtype=float), k)
    log_rest = k * np.log1p(-np.asarray(delta, dtype=float)) + np.log1p(-slack)
    return (-np.expm1(log_rest))[()]


def _kov_slack(total: Array, epsilon: Array, releases: int) -> Array:
    """Return delta of the composition of pure releases.

    A release whose answer is a lie with probability 1 / (1 + e^epsilon) loses epsilon or gains it:
    l lies of k make a loss of (k - 2 l) epsilon. With L > total for l <= m, delta is
    P(l <= m) - e^total Q(l <= m), Q with the opposite odds.
    """
    most = np.ceil((releases - total / epsilon) / 2) - 1
    m = np.clip(most, 0, releases - 1)
    lie = 1 / (1 + np.exp(epsilon))
    p, q = betainc(releases - m, m + 1, 1 - lie), betainc(releases - m, m + 1, lie)
    with np.errstate(divide="ignore"):
        lost = np.exp(total + np.log(q))
    slack = p * (1 + _TAIL_ROUNDING) - lost * (1 - _TAIL_ROUNDING)
    return np.where(most < 0, 0, np.clip(slack, 0, 1 - 1e-16))


def splits(epsilon: float, delta: float, releases: int, *, theorem: str = "3.4") -> Guarantee:
    """Return what each of k releases may be, so that together they are (epsilon, delta)-DP.

    The slack of KOV's theorem takes one of ``SHARES`` of delta, and the releases share the rest:
    the more slack, the larger their epsilon and the smaller their delta. Which is best depends on
    the mechanism.

    Args:
        theorem: ``3.4``, or ``3.3`` for the exact composition.

    Returns:
        Per-release guarantees, arrays of the shape of ``SHARES``.

    Raises:
        InputError: an argument is out of range.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    k = checks.count(releases=releases)
    slack = SHARES * delta
    lower = _invert_theorem_3_4(epsilon, k, slack)
    if checks.choice(THEOREMS, theorem=theorem) == "3.3":

        def too_large(e: Array) -> Mask:
            return _kov_slack(np.asarray(epsilon), e, k) > slack

        upper = 2 * lower
        while not too_large(upper).all():
            upper = np.where(too_large(upper), upper, 2 * upper)
        lower = _bisect(too_large, lower, upper)
    each = -np.expm1((np.log1p(-delta) - np.log1p(-slack)) / k)
    return Guarantee(lower * (1 - _ROUNDING), each * (1 - _ROUNDING))


def _invert_theorem_3_4(epsilon: float, releases: int, slack: Array) -> Array:
    """Return the largest epsilon of one release: of the roots of the three terms, the largest."""
    none = np.zeros_like(slack)
    roots = [np.full_like(slack, epsilon / releases)]
    for index in range(2):

        def too_large(e: Array, index: int = index) -> Mask:
            return _kov_term(e, releases, _kov_slopes(e, releases, slack)[index]) > epsilon

        # The terms exceed epsilon_0 sqrt(2 k ln(1 / slack)), resp. epsilon_0 sqrt(2 k).
        upper = np.full_like(slack, epsilon / np.sqrt(2 * releases) * (1 + _ROUNDING))
        roots.append(_bisect(too_large, none, upper))
    return np.max(roots, axis=0)


def _bisect(too_large: Callable[[Array], Mask], lower: Array, upper: Array) -> Array:
    """Return the largest values that are not too large, from below, elementwise."""
    for _ in range(_BISECTIONS):
        middle = (lower + upper) / 2
        over = too_large(middle)
        lower, upper = np.where(over, lower, middle), np.where(over, middle, upper)
    return lower


def simple_split(epsilon: float, delta: float, releases: int) -> Guarantee:
    """Return a split in closed form: eps / (2 sqrt(k ln(e + eps / delta))), delta / (2 k) each.

    It is KOV's corollary of Theorem 3.4, with noise some 1.5 times as large as the best split's.
    It is private for epsilon up to 10 or so, and NOT for large ones: at epsilon = 100 the delta of
    10,000 releases is thousands of times too large.

    Raises:
        InputError: an argument is out of range.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    k = checks.count(releases=releases)
    log = np.log(np.e + epsilon / delta)
    return Guarantee(float(epsilon / (2 * np.sqrt(k * log))), delta / (2 * k))


def amplified(guarantee: Guarantee, rate: float) -> Guarantee:
    """Return the guarantee of a release on a Poisson lot: (ln(1 + q (e^epsilon - 1)), q delta).

    It holds for adding or removing a record (Li, Qardaji & Su 2012; Balle, Barthe & Gaboardi,
    NeurIPS 2018).

    Args:
        guarantee: of the release on its lot.
        rate: sampling probability q, above 0 and at most 1.

    Raises:
        InputError: the rate is out of range.
    """
    q = sampling_rate(rate=rate)
    epsilon, delta = (np.asarray(value, dtype=float) for value in guarantee)
    small = np.log1p(q * np.expm1(np.minimum(epsilon, 500)))
    large = epsilon + np.log(q + (1 - q) * np.exp(-epsilon))
    sampled = np.where(epsilon < 500, small, large) * (1 + _ROUNDING)
    return Guarantee(sampled[()], (q * delta)[()])


def before_sampling(guarantee: Guarantee, rate: float) -> Guarantee:
    """Return what a release on a Poisson lot may be, for this guarantee: ``amplified`` inverted.

    Arguments and errors are those of :func:`amplified`; delta stays below 1.
    """
    q = sampling_rate(rate=rate)
    epsilon, delta = (np.asarray(value, dtype=float) for value in guarantee)
    # ln(1 + (e^epsilon - 1) / q), without overflow.
    unsampled = (epsilon + np.log1p(-np.expm1(-epsilon) * (1 - q) / q)) * (1 - _ROUNDING)
    return Guarantee(unsampled[()], np.minimum(delta / q, 1 - 1e-9)[()])


def linear_before_sampling_wrong(guarantee: Guarantee, rate: float) -> Guarantee:
    """Return (epsilon / q, delta / q), which is NOT private: the limit of small epsilon / q only.

    IMGM's paper states amplification so (section 5.1). The right inverse is
    :func:`before_sampling`, which allows less by far where epsilon / q is large.
    """
    q = sampling_rate(rate=rate)
    return Guarantee(float(guarantee.epsilon) / q, min(float(guarantee.delta) / q, 1 - 1e-9))


def sampling_rate(**named: object) -> float:
    """Return the value if it is a probability above 0."""
    ((name, value),) = named.items()
    rate = checks.positive(**named)
    if rate > 1:
        raise InputError(
            f"{name} is {value}; a sampling rate is at most 1, so a lot must not be larger than "
            "the data"
        )
    return rate


@functools.lru_cache(maxsize=4096)
def rdp_epsilon(multiplier: float, *, rate: float, steps: int, delta: float) -> float:
    """Return an upper bound of epsilon from the moments accountant.

    Renyi divergences of Poisson-sampled Gaussian noise at the whole ``ORDERS``, converted by
    Canonne, Kamath & Steinke (NeurIPS 2020, Proposition 12). However large the multiplier, the
    result stays above some 2e-4 (for delta = 1e-5), because the orders end. A call takes 10 ms.

    Args:
        multiplier: standard deviation of the noise on the sum of a lot over the sensitivity.
        rate: sampling probability, above 0 and at most 1.
        steps: number of releases.
        delta: strictly between 0 and 1.

    Raises:
        InputError: an argument is out of range.
    """
    z, q, steps, delta = _arguments(multiplier, rate, steps, delta)
    divergence = steps * _divergences(z, q) * (1 + _DIVERGENCE_ROUNDING)
    converted = np.log1p(-1 / ORDERS) - (np.log(delta) + np.log(ORDERS)) / (ORDERS - 1)
    return float(max((divergence + converted).min(), 0))


def _divergences(multiplier: float, rate: float) -> Array:
    """Return the Renyi divergences of one step at ``ORDERS``.

    At order a it is ln(E e^((k^2 - k) / (2 z^2))) / (a - 1) for binomial k of a, which is at least
    that of the opposite direction (Mironov, Talwar & Zhang 2019). As e^x - 1 is never negative and
    0 for k < 2, nothing cancels in the logarithm of 1 + E(e^x - 1).
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
    """Return epsilon from the privacy loss distribution: an upper bound, and nearly exact.

    Without sampling, and for one step, it is a closed form. Otherwise the loss of one step is
    rounded up to a grid by the library's pessimistic "connect the dots" (Doroshenko et al., PoPETs
    2022), and composed by a Fourier transform; the result is too large by some 2e-5 of itself (4e-4
    where it is in the hundreds). A call takes 0.02 to 0.3 s.

    Arguments and errors are those of :func:`rdp_epsilon`.
    """
    z, q, steps, delta = _arguments(multiplier, rate, steps, delta)
    unsampled = gaussian.epsilon(delta, np.sqrt(steps) / z * (1 + _ROUNDING))
    if q == 1 or unsampled == 0:
        return unsampled
    if steps == 1:
        # Amplification is exact for Gaussian noise: no epsilon is needed up to delta = q.
        lot = 0.0 if delta >= q else gaussian.epsilon(delta / q, 1 / z * (1 + _ROUNDING))
        return float(amplified(Guarantee(lot, 0.0), q).epsilon)
    # What floating point may do: to the discretised curve in every step, and to the transform.
    target = delta - 1e-15 * steps - 1e-13
    if target <= 0:
        return unsampled
    from dp_accounting.pld import privacy_loss_distribution

    one = privacy_loss_distribution.from_gaussian_mechanism(
        z, sampling_prob=q, value_discretization_interval=_interval(z, q, steps)
    )
    return float(min(one.self_compose(steps).get_epsilon_for_delta(target), unsampled))


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
    """Return the distance of the grid's points: a fraction of one step's standard deviation.

    It is not so fine that one step's grid has too many points, nor that rounding, of some 1e-16
    deviation / interval^2, adds up over the steps.
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


#: Epsilon of (multiplier, rate, steps, delta).
Accountant = Callable[..., float]


@functools.lru_cache(maxsize=4096)
def smallest_multiplier(
    epsilon: float,
    delta: float,
    *,
    rate: float,
    steps: int,
    accountant: Accountant = pld_epsilon,
) -> float:
    """Return the smallest noise multiplier for which the steps are (epsilon, delta)-DP.

    It is rounded up by at most 1e-6 of itself, and infinite if none up to ``LARGEST_MULTIPLIER``
    is large enough for the accountant.

    Args:
        accountant: :func:`pld_epsilon` or :func:`rdp_epsilon`.

    Raises:
        InputError: an argument is out of range.
    """
    epsilon, delta = checks.privacy(epsilon, delta)
    q, steps = sampling_rate(rate=rate), checks.count(steps=steps)

    if q == 1 and accountant is pld_epsilon:
        return (1 + _ROUNDING) / release_mu(epsilon, delta, steps)

    def excess(log_multiplier: float) -> float:
        found = accountant(float(np.exp(log_multiplier)), rate=q, steps=steps, delta=delta)
        return float(np.clip(np.log(max(found, 1e-300) / epsilon), -50, 50))

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
