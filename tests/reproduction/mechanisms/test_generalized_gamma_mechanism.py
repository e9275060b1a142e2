"""Generalized gamma noise as a mechanism: its size, its distribution, and what it is for."""

from __future__ import annotations

import numpy as np
import pytest

from matrixdp.checks import InputError
from matrixdp.mechanisms.gaussian import AnalyzeGauss, Gaussian
from matrixdp.privacy.sensitivity import Query
from reproduction.mechanisms.generalized_gamma import POWERS, GeneralizedGamma, SphericalGamma
from reproduction.privacy import generalized_gamma
from reproduction.privacy.published import CTG, LIVER, MOVEMENT

QUERIES = {"I": LIVER, "II": MOVEMENT, "III": CTG}


@pytest.mark.parametrize("power", [1.0, 1.25, None])
@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_half_a_percent_less_noise_would_pass_delta(query: Query, power: float | None) -> None:
    distribution = (
        SphericalGamma(power).calibrate(query, epsilon=1, delta=1 / query.n_records).noise
    )
    assert isinstance(distribution, GeneralizedGamma)
    # The upper triangle or a column is what has the sensitivity's length.
    shift = query.triangle_l2_sensitivity if query is MOVEMENT else query.l2_sensitivity
    assert distribution.dimension == (10 if query is MOVEMENT else query.features)
    spent, less = (
        generalized_gamma.delta(
            1, factor * distribution.scale / shift, distribution.power, distribution.dimension
        )
        for factor in (1, 0.995)
    )
    assert spent <= 1 / query.n_records < less


@pytest.mark.parametrize(("name", "ratio"), [("I", 0.811), ("II", 0.717), ("III", 0.886)])
def test_it_needs_less_noise_than_the_analytic_gaussian(name: str, ratio: float) -> None:
    query = QUERIES[name]
    gauss = AnalyzeGauss() if name == "II" else Gaussian()
    noise = [
        one.calibrate(query, epsilon=1, delta=1 / query.n_records).noise_std ** 2
        for one in (SphericalGamma(), gauss)
    ]
    assert noise[0] / noise[1] == pytest.approx(ratio, abs=1e-3)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_best_power_has_no_rival(query: Query) -> None:
    for epsilon in (0.01, 1, 1000):
        budget = {"epsilon": epsilon, "delta": 1 / query.n_records}
        best = SphericalGamma(None).calibrate(query, **budget)
        others = [SphericalGamma(power).calibrate(query, **budget).noise_std for power in POWERS]
        assert best.noise_std == pytest.approx(min(others), rel=1e-8)


def test_it_has_no_safe_noise() -> None:
    release = SphericalGamma().calibrate(LIVER, epsilon=1, delta=1e-6)
    with pytest.raises(InputError, match="no safe noise for GeneralizedGamma"):
        release.release(np.zeros(LIVER.shape[::-1]))
