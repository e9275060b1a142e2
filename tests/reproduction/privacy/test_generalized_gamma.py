"""Privacy of spherical generalized gamma noise, against other computations of it."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy import special

from matrixdp.checks import InputError
from matrixdp.privacy import gaussian_dp
from reproduction.privacy import generalized_gamma as gamma

#: Scale and standard deviation per entry at epsilon 1, from two independent programs.
ORACLES = [
    (6, 1 / 248, {1: (0.75002, 1.9844), 1.25: (1.2993, 1.9490), 1.5: (1.8909, 1.9964)}),
    (10, 1 / 10176, {1: (0.80702, 2.6766), 1.25: (1.57283, 2.7016), 1.5: (2.49379, 2.8384)}),
    (21, 1 / 2126, {1: (0.56016, 2.6274), 1.25: (1.2387, 2.6192), 1.5: (2.07936, 2.6564)}),
]


@pytest.mark.parametrize(("dimension", "delta", "expected"), ORACLES)
def test_scale_is_that_of_two_other_programs(dimension: int, delta: float, expected: dict) -> None:
    powers = np.array(list(expected))
    scales = gamma.scale(1.0, delta, powers, dimension)
    deviations = gamma.deviation(scales, powers, dimension)
    found = np.transpose([scales, deviations])
    np.testing.assert_allclose(found, list(expected.values()), rtol=3e-5)


@pytest.mark.parametrize("dimension", [1, 2, 10, 231, 1488])
def test_power_2_is_the_gaussian_mechanism(dimension: int) -> None:
    epsilon, delta = np.array([0.001, 0.1, 1, 10, 100]), np.array([[0.1], [1e-3], [1e-12]])
    sigma = gamma.scale(epsilon, delta, 2.0, dimension) / np.sqrt(2)
    over = sigma * gaussian_dp.mu(epsilon, delta)
    assert over.min() >= 1
    assert over.max() < 1 + 3e-8


def integrated_radial_delta(epsilon: float, scale: float, power: float, dimension: int) -> float:
    """Return delta(epsilon) of a shift by 1 of density exp(-(|z| / scale)^power), by quadrature.

    Delta is the mean of max(0, 1 - e^(epsilon - loss)) over the radius and the angle to the shift.
    """
    nodes, weights = np.polynomial.legendre.leggauss(150)
    k, half = dimension / power, (dimension - 1) / 2
    # Integrate over a root of the radius: the integrand is then smooth near 0.
    ends = special.gammaincinv(k, 1e-30), special.gammainccinv(k, 1e-30)
    pieces = np.linspace(ends[0] ** 0.5, ends[1] ** 0.5, 33)
    width = np.diff(pieces)[:, None] / 2
    roots = (pieces[:-1, None] + width + width * nodes).ravel()
    mass = (width * weights).ravel() * 2 * roots ** (2 * k - 1)
    mass *= np.exp(-(roots**2) - special.gammaln(k))
    radius = scale * roots ** (2 / power)
    if dimension == 1:
        cosines, angular = np.array([[-1.0, 1.0]]), np.array([[0.5, 0.5]])
    else:
        # Only angles above the one at which the loss is epsilon contribute.
        border = scale * (roots**2 + epsilon) ** (1 / power)
        cosine = np.clip((radius**2 + 1 - border**2) / (2 * radius), -1, 1)
        first = np.arccos(cosine)[:, None]
        turn = (np.pi - first) / 2
        angles = first + turn * (1 + nodes)
        cosines = np.cos(angles)
        angular = turn * weights * np.sin(angles) ** (dimension - 2)
        angular *= np.exp(special.gammaln(half + 0.5) - special.gammaln(half)) / np.sqrt(np.pi)
    away = np.sqrt(np.maximum(radius[:, None] ** 2 + 1 - 2 * radius[:, None] * cosines, 0))
    loss = (away / scale) ** power - roots[:, None] ** 2
    gain = np.maximum(-np.expm1(np.minimum(epsilon - loss, 0)), 0)
    return float(mass @ (gain * angular).sum(axis=1))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("epsilon", "delta", "dimension"), [(10, 1e-15, 1), (1e5, 1 / 248, 21), (1e6, 1 - 1e-9, 231)]
)
def test_a_power_near_1_gives_no_warning_where_radii_underflow(
    epsilon: float, delta: float, dimension: int
) -> None:
    powers = np.array([1.04, 1.05, 1.06])
    scales = gamma.scale(epsilon, delta, powers, dimension)
    assert (np.diff(scales) > 0).all()
    deltas = gamma.delta(epsilon, scales, powers, dimension)
    assert (deltas <= delta).all()
    assert (deltas > delta * (1 - 1e-5)).all()


# Of p = 1 too, where delta is 0 from scale 1 / epsilon on.
@pytest.mark.parametrize("power", [1.0, 1.25, 2.0, 3.0])
@pytest.mark.parametrize("dimension", [1, 2, 6, 60])
def test_scale_is_just_private_by_another_integral(power: float, dimension: int) -> None:
    for epsilon, delta in ((0.01, 1e-6), (1.0, 0.1), (10.0, 1e-6)):
        scale = gamma.scale(epsilon, delta, power, dimension)
        assert gamma.delta(epsilon, scale, power, dimension) <= delta
        exact = integrated_radial_delta(epsilon, scale, power, dimension)
        less = integrated_radial_delta(epsilon, 0.995 * scale, power, dimension)
        assert delta * (1 - 1e-3) < exact < delta * (1 + 2e-5)
        # Half a per cent less noise is too little.
        assert less > delta * 1.001


@pytest.mark.parametrize(
    ("epsilon", "delta", "power", "dimension"),
    [(1e-6, 1e-15, 1, 2), (3e-6, 1e-15, 1, 2), (1e-5, 1e-15, 1, 3), (1e-6, 1e-15, 1.01, 1)],
)
def test_a_small_epsilon_is_kept_to_50_digits(
    epsilon: float, delta: float, power: float, dimension: int
) -> None:
    """Delta is what two terms leave that agree in up to twelve digits of sixteen."""
    scale = float(gamma.scale(epsilon, delta, power, dimension))
    exact = exact_delta(epsilon, scale, power, dimension)
    assert 0.9 * delta < exact <= delta
    # A noise that is too small by twice what rounding would have it.
    assert exact_delta(epsilon, scale * (1 - 2e-6), power, dimension) > delta


def exact_delta(epsilon: float, scale: float, power: float, dimension: int) -> float:
    """Return delta in 50 digits, in up to 3 dimensions."""
    distributions = {
        1: lambda x: (mpmath.sign(x) + mpmath.floor(x)) / 2,
        2: lambda x: 2 * mpmath.asin(mpmath.sqrt(x)) / mpmath.pi,
        3: lambda x: x,
    }
    with mpmath.workdps(50):
        e, a, p = (mpmath.mpf(number) for number in (epsilon, scale, power))
        k = dimension / p

        def gain(t: mpmath.mpf) -> mpmath.mpf:
            r, rho = a * t ** (1 / p), a * (t + e) ** (1 / p)
            first = (1 - rho + r) * (1 + rho + r) / (4 * r)
            second = (1 - rho + r) * (rho + r - 1) / (4 * rho)
            first, second = (distributions[dimension](min(max(x, 0), 1)) for x in (first, second))
            return mpmath.exp(-t) * (t ** (k - 1) * first - (t + e) ** (k - 1) * second)

        # Where triangles start: they need no shorter sides, and no sides that are further apart.
        ends = [mpmath.mpf(0), mpmath.mpf(1000)]
        short = e * a**p < 1

        def past(t: mpmath.mpf) -> bool:
            r, rho = a * t ** (1 / p), a * (t + e) ** (1 / p)
            return bool(rho + r > 1 if short else rho - r < 1)

        for _ in range(200):
            middle = (ends[0] + ends[1]) / 2
            ends[past(middle)] = middle
        nodes = [mpmath.mpf(10) ** n for n in (-9, -6, -4, -2, -1)] + [1, 4, 16, 40, 90]
        whole = mpmath.gammainc(k, 0, ends[1]) if short else 0
        total = mpmath.quad(gain, [ends[1], *(ends[1] + node for node in nodes)])
        return float((whole + total) / mpmath.gamma(k))


def test_epsilon_undoes_scale() -> None:
    for epsilon in (0.01, 1.0, 100.0):
        scale = gamma.scale(epsilon, 1e-5, 1.25, 6)
        assert gamma.epsilon(1e-5, scale, 1.25, 6) == pytest.approx(epsilon, rel=1e-6)
    assert gamma.epsilon(0.1, 1e6, 1.5, 6) == 0


@pytest.mark.filterwarnings("error")
def test_an_epsilon_that_rounding_would_spoil_is_refused() -> None:
    # At 1e-12 and this delta the scale would have a delta of 1.5e-13.
    for power in (1.25, 8.0):
        with pytest.raises(InputError, match="epsilon is 1e-12.*, at least 1e-6"):
            gamma.scale(1e-12, 1e-15, power, 1)
        scale = gamma.scale(1e-6, 1e-15, power, 1)
        assert gamma.delta(1e-6, scale, power, 1) <= 1e-15 * (1 + 1e-4)
