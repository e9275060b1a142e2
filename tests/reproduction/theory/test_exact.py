"""The exact checks come out as the theory says, and fail where a mechanism is changed."""

import itertools

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from reproduction import theory
from reproduction.discovery import collect
from reproduction.theory import exact, exact_errata, exact_mvg, leakage
from reproduction.theory.numbers import Number

#: Checks of claims that are wrong as printed, and of errata: their numbers must not all hold.
WRONG = {"M10", "M11", "M24", "M30", "I3_necessary", "I4", "I4_any", "I10", "I11", "R1"}
WRONG |= {"I5_necessary", "noise_along_directions"}
WRONG |= exact_errata.CHECKS.keys() - {"one_mechanism"}


@pytest.fixture(scope="module")
def table():
    return exact.exact(7)


def values(table, check):
    return table["value"][table["check"] == check].to_numpy()


def test_every_check_decides_as_it_should(table):
    assert {*table["check"]} == {*exact.CHECKS}
    assert {*table["check"][~table["holds"]]} == WRONG
    assert tuple(table.columns) == exact.COLUMNS
    assert {*table["relation"]} <= {"=", "<=", ">="}
    assert np.isfinite(table["value"]).all()


@pytest.mark.parametrize("name", exact.CHECKS)
def test_every_number_can_come_out_the_other_way(name):
    check = exact.CHECKS[name]
    plain, *altered = (
        [number.holds for number in check(np.random.default_rng(5), words)]
        for words in (None, *check.altered)
    )
    assert altered, "a check needs an altered statement that it decides otherwise"
    assert plain not in altered, "an alteration that changes nothing controls nothing"
    for k, other in enumerate(zip(*altered, strict=True)):
        assert not all(holds == plain[k] for holds in other), [*check(np.random.default_rng(5))][k]


def test_the_same_seed_gives_the_same_numbers(table, monkeypatch):
    monkeypatch.setattr(exact, "CHECKS", {"M9": exact.CHECKS["M9"]})
    once, other = (values(exact.exact(seed), "M9").tolist() for seed in (7, 8))
    assert values(table, "M9") == pytest.approx(once)
    assert once != other
    assert "exact" in collect(theory, "THEORY")


@pytest.mark.parametrize(
    ("check", "index", "oracle", "tolerance"),
    [
        # Many numbers, whose squared norm is nearly normal, and the largest delta.
        ("M1", 0, stats.norm.sf((-2 * np.log(0.99)) ** 0.5) / 0.99, 1e-3),
        # The smallest zeta is that of one number and the largest delta.
        ("M1", 1, 1 + 2 * np.sqrt(-np.log(0.99)) - 2 * np.log(0.99), 1e-12),
        ("M24", 0, 0.5370753923550924 / 0.6047104459892501, 1e-6),
        ("zeta_without_root", 0, 777909 / 18988.2, 1e-5),
        # As printed 277 to 16.7 million times the necessary noise, 144 to 78,110 with the root.
        ("zeta_without_root", 2, 277.5 / 144.21, 1e-3),
        ("zeta_without_root", 3, 16.72e6 / 78110.9, 1e-3),
        ("maxpnr_records", 0, 1161, 1e-3),
        ("M11", 0, -0.388, 0.002),  # Eq. (25) at the paper's parameters
        ("M30", 0, 0.4859 * np.log(2) / (np.log(2) / 2), 1e-3),  # a binary input at 0 dB, in bits
        ("divided_noise", 0, 32 / 64, 1e-12),
        ("I3_necessary", 0, 7.0683 / 10.602516, 1e-4),
        ("noise_along_directions", 1, 5.5665 / 12.754423, 1e-4),
        ("I10_bound", 0, np.e * (3 + 2 * 3**0.5) * (2 + 3**0.5) / (2 * 3**0.5), 1e-9),
        ("I11", 0, 12.65, 1e-3),
        ("I11", 1, 110.9, 1e-3),
        ("I4", 0, 1.1**2 / (2 * 1.01), 1e-9),
        ("I4_any", 0, (1.9490 / 2.1642) ** 2, 1e-4),
        ("loose_sensitivity", 0, np.sqrt(2), 1e-12),
        ("B2", 0, 0.352, 0.01),
        ("B2", 2, 0.883, 0.01),
        ("needless_gamma", 1, 248.8, 1e-3),
    ],
)
def test_numbers_against_independent_oracles(table, check, index, oracle, tolerance):
    assert values(table, check)[index] == pytest.approx(oracle, rel=tolerance)


def test_theorems_2_and_3_are_tightest_for_one_number(table):
    def allowed(epsilon, delta):
        def excess(x):
            below = stats.norm.logcdf(-epsilon / x - x / 2) + epsilon
            return stats.norm.cdf(x / 2 - epsilon / x) - np.exp(below) - delta

        return optimize.brentq(excess, 1e-6, 100)

    # gamma is 1 / 2 and s2 1, so that alpha is 3 / 2 and omega 2.
    for check, first in (("M2", 1.5), ("M3", 2.0)):
        shares = []
        for epsilon, delta in itertools.product(
            (1e-3, 0.1, 1.0, 10.0, 100.0), (0.1, 1e-3, 1e-5, 1e-12)
        ):
            x = np.log(1 / delta)
            beta = 2 * np.sqrt(1 + 2 * np.sqrt(x) + 2 * x)
            shares.append(np.roots([first, beta, -2 * epsilon]).max() / allowed(epsilon, delta))
        assert values(table, check)[1] == pytest.approx(max(shares), rel=1e-6)


def test_the_powers_of_section_6_4(table):
    rows = table[table["check"].eq("M10")]
    assert rows["value"].round(3).tolist() == [3, 3, 3, 3, 3, 6, 3, 3, 3, 1, 3, 3]
    assert rows["expected"].round(3).tolist() == [2, 2, 3, 2, 2, 4, 3, 3, 3, 2, 2, 3]
    rows = table[table["check"].eq("M10_directions")]
    assert rows["value"].round(3).tolist() == [1, 2, 3]
    assert rows["expected"].round(3).tolist() == [2, 2, 3]


@pytest.mark.parametrize(
    ("relation", "value", "holds"),
    [
        ("=", 1.01, True),
        ("=", 1.2, False),
        ("=", 0.8, False),
        ("<=", 1.05, True),
        ("<=", -9.0, True),
        ("<=", 1.2, False),
        (">=", 0.95, True),
        (">=", 9.0, True),
        (">=", 0.8, False),
        (">=", np.inf, False),
        ("<=", np.nan, False),
    ],
)
def test_a_number_holds_within_its_tolerance(relation, value, holds):
    assert Number("", value, relation, 1.0, 0.1).holds is holds


def test_too_little_mvg_noise_fails(monkeypatch):
    original = exact_mvg.MVG._limit
    monkeypatch.setattr(exact_mvg.MVG, "_limit", lambda *args: 10 * original(*args))
    for check in (exact_mvg.theorem_2, exact_mvg.budgets):
        assert not all(number.holds for number in check(np.random.default_rng(3)))


@pytest.mark.parametrize("distribution", [stats.norm(scale=0.3**0.5), leakage.Lattice(0.3, 2.0)])
def test_leakage_about_one_record_against_adaptive_quadrature(distribution):
    def density(y):
        return (distribution.cdf(y + 1e-4) - distribution.cdf(y - 1e-4)) / 2e-4

    def gain(y):
        one, mean = density(y - 1), (density(y - 1) + density(y + 1)) / 2
        return one * np.log(one / mean) if one > 1e-200 else 0.0

    parts = itertools.pairwise((-8, -3.5, -1.5, 0, 0.5, 1.5, 2.5, 3.5, 9))
    right = sum(integrate.quad(gain, *part, epsabs=1e-9)[0] for part in parts)
    assert leakage.information(distribution, 1) == pytest.approx(right, abs=1e-6)
    assert distribution.var() == pytest.approx(0.3)
    mass = integrate.quad(lambda z: z**2 * density(z), -6, 6, points=[-2, 0, 2], limit=200)[0]
    assert mass == pytest.approx(0.3, rel=1e-4)


def test_leakage_has_the_limits_that_it_must_have():
    normal = leakage.normal(1.0)
    assert leakage.information(normal) == pytest.approx(np.log(2) / 2, rel=1e-6)
    assert leakage.information(normal, 1000) == pytest.approx(np.log(2) / 2, rel=1e-5)
    # Noise that drowns the answer leaks what Gaussian noise of its Fisher information would,
    # and for the Laplace distribution that is twice the inverse of its variance.
    distribution = leakage.distributions(1e4)["Laplace"]
    assert leakage.information(distribution) == pytest.approx(leakage.gaussian(5e3), rel=0.05)
